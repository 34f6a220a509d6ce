//! One updating statement on its way into a branch: read, done, judged, published.
//!
//! Invariants
//! 1. All of it happens on one head: binding, reading, doing, judging. On another head it begins anew, with the same time, the same
//!    chance and the same ids.
//! 2. It depends on every table that its patterns may read, whatever it found there, and on those tied to what it wrote.
//!
//! Order of effects: read the rows · do the effects in memory, looking up stored rows by key · compute what is returned · judge and stage,
//! by the road of all writes. A fault or a refusal stages nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use crate::clock::Timestamp;
use crate::error::Error;
use crate::graph::{ChangeInfo, CommitInfo, Core};
use crate::ids::{ChangeId, TableId};
use crate::lane::{Coalesce, Drafted, Undone, Weight};
use crate::publish::{Fingerprint, Fingerprinter, Snapshot};
use crate::query::bind::bind;
use crate::query::bound::{Body, Output, Plan, Statement, Update, VarId};
use crate::query::eval::EvalContext;
use crate::query::exec::{QueryContext, rows};
use crate::query::memory::{Account, weight};
use crate::query::output::Looks;
use crate::query::run::warnings_of;
use crate::query::{CypherValue, Params};
use crate::record::ChangeKind;
use crate::syntax::{self, Problem, Span};
use crate::write::footprint::Footprint;
use crate::write::shape::Shapes;
use crate::write::{Counts, EdgeIds, TypedOperation, typed_input};

use super::apply::Apply;
use super::error::UpdateError;
use super::evaluator::Evaluator;
use super::overlay::Overlay;
use super::reads::{all_of, reads_of};
use super::uses::used_after_reading;
use super::working::Working;

/// What violations call the input of a statement.
const SOURCE: &str = "statement";

/// An updating statement.
#[derive(Debug)]
pub(super) struct UpdateWork {
    pub(super) core: Arc<Core>,
    pub(super) text: String,
    /// The text as it was read, once for all heads.
    pub(super) parsed: syntax::Statement,
    pub(super) params: Params,
    pub(super) now: Timestamp,
    pub(super) seed: u128,
    pub(super) change: ChangeId,
    pub(super) edge_ids: EdgeIds,
}

/// What a statement came to.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) tables: Counts,
    /// `None`: it took effect before, and its rows are not known any more.
    pub(super) returned: Option<Returned>,
    pub(super) warnings: Vec<Problem>,
}

/// The rows that a statement returns.
#[derive(Debug, Default)]
pub(super) struct Returned {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<CypherValue>>,
}

/// What is kept of a statement that was read and done until it is judged.
#[derive(Debug)]
pub(super) struct Applied {
    returned: Returned,
    warnings: Vec<Problem>,
    /// What in the text asks for each operation.
    spans: Vec<Span>,
    /// Holds the operations until they are written.
    _account: Account,
}

#[async_trait]
impl Coalesce for UpdateWork {
    type Draft = Applied;
    type Report = Done;

    fn weight(&self) -> Weight {
        let params = self.params.names().filter_map(|name| self.params.get(name)).map(weight);
        Weight { rows: 0, bytes: (self.text.len() + params.sum::<usize>()) as u64 }
    }

    async fn draft(&self, at: &Snapshot, shapes: &Arc<Shapes>) -> Result<Drafted<Applied>, Undone> {
        let bound = bind(&self.text, &self.parsed, &at.catalog, &self.params);
        let statement = Arc::new(bound.map_err(Undone::by_schema)?);
        let Body::Update(update) = &statement.body else {
            return Err(Undone::by_schema(UpdateError::NothingToDo));
        };
        let reads = patterns_of(&statement);
        let undone = |error| Undone { error, touched: all_of(&statement, update, shapes), reads: reads.clone() };
        let (operations, draft, touched) = self.apply(at, &statement, update, shapes).await.map_err(undone)?;
        let input = typed_input(shapes, SOURCE, self.change, operations).await.map_err(undone)?;
        Ok(Drafted { input, touched, reads, draft })
    }

    /// Tells what breaks rules by the lines of the statement that ask for it.
    fn refusal(&self, draft: &Applied, error: Error) -> Error {
        let Some(violations) = error.violations() else { return error };
        let line_of = |operation: u64| {
            let span = draft.spans.get(usize::try_from(operation.checked_sub(1)?).ok()?)?;
            Some(self.text.get(..span.start)?.matches('\n').count() as u64 + 1)
        };
        let violations = Box::new(violations.clone().with_lines(line_of));
        UpdateError::Refused { violations }.into()
    }

    fn report(&self, draft: Applied, tables: Counts) -> Done {
        Done { tables, returned: Some(draft.returned), warnings: draft.warnings }
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Write
    }

    fn asks(&self) -> Option<Fingerprint> {
        let print = Fingerprinter::new("statement").with(self.text.as_bytes());
        let named = self.params.names().filter_map(|name| Some((name, self.params.get(name)?)));
        Some(
            named
                .fold(print, |print, (name, value)| print.with(name.as_bytes()).with(value.to_json().as_bytes()))
                .finish(),
        )
    }

    fn replay(&self, _: &CommitInfo, change: &ChangeInfo) -> Done {
        Done { tables: change.tables.clone(), returned: None, warnings: Vec::new() }
    }
}

impl UpdateWork {
    /// Reads and does the statement: its operations, what is kept of it, and what it read.
    async fn apply(
        &self,
        at: &Snapshot,
        statement: &Arc<Statement>,
        update: &Update,
        shapes: &Arc<Shapes>,
    ) -> Result<(Vec<TypedOperation>, Applied, Footprint), Error> {
        let context = Arc::new(EvalContext::new(at.catalog.clone(), self.now, self.seed));
        let cx = QueryContext::new(&self.core, at, &self.text, statement.clone(), context.clone());
        let used = used_after_reading(update);
        let columns: Vec<VarId> = update.read.columns().into_iter().filter(|var| used.contains(var)).collect();
        let mut account = cx.memory().account("rows of the statement");
        let found = match update.read {
            // One row, of which there is nothing to read.
            Plan::Unit => vec![Vec::new()],
            _ => rows(&cx, &update.read, &columns, &mut account).await?,
        };
        let mut apply = Apply {
            core: &self.core,
            at,
            statement,
            evaluator: Evaluator { context: &context, text: &self.text },
            edge_ids: self.edge_ids,
            overlay: Overlay::new(shapes.clone()),
            working: Working::new(&columns, found),
            account,
        };
        for effect in &update.effects {
            apply.run(effect).await?;
        }
        let returned = match &update.output {
            Some(output) => {
                let looks = Looks::new(statement, output, &at.catalog);
                returned(apply.settled(&output.plan)?, output, cx, &looks, &mut apply.account).await?
            }
            None => Returned::default(),
        };
        let touched = reads_of(update, &apply.overlay);
        let (operations, spans) = apply.overlay.finish();
        let warnings = warnings_of(statement, &self.text);
        Ok((operations, Applied { returned, warnings, spans, _account: apply.account }, touched))
    }
}

/// Computes what is returned from the rows that were worked on.
async fn returned(
    working: Working,
    output: &Output,
    cx: QueryContext,
    looks: &Looks,
    account: &mut Account,
) -> Result<Returned, Error> {
    let given = given_rows(&output.plan);
    let cx = cx.with_rows(&given, &working.into_rows(&given), account)?;
    let (columns, vars): (Vec<String>, Vec<VarId>) = output.columns.iter().cloned().unzip();
    let mut rows = rows(&cx, &output.plan, &vars, account).await?;
    looks.apply(&mut rows);
    Ok(Returned { columns, rows })
}

/// The columns of the statement's rows that a plan begins with.
fn given_rows(plan: &Plan) -> Vec<VarId> {
    match plan {
        Plan::Rows(columns) => columns.clone(),
        Plan::Unit => Vec::new(),
        Plan::Match { input, .. }
        | Plan::Filter { input, .. }
        | Plan::Project { input, .. }
        | Plan::Aggregate { input, .. }
        | Plan::Distinct { input }
        | Plan::Sort { input, .. }
        | Plan::Slice { input, .. }
        | Plan::Unwind { input, .. }
        | Plan::Union { left: input, .. } => given_rows(input),
    }
}

/// Every table that the statement's patterns may read.
fn patterns_of(statement: &Statement) -> BTreeSet<TableId> {
    statement.entities.iter().flat_map(|entity| entity.tables.iter().copied()).collect()
}
