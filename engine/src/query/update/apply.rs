//! Does the effects of a statement, one after another, each for all rows in order.
//!
//! Nothing is written here: effects change the overlay, and what they come to is judged as a whole afterwards. Stored rows that an
//! effect needs are looked up for all rows of it at once.

use std::sync::Arc;

use crate::error::Error;
use crate::graph::Core;
use crate::publish::Snapshot;
use crate::query::CypherValue;
use crate::query::bound::{Assignment, Effect, Expr, Plan, Statement, VarId};
use crate::query::exec::failure;
use crate::query::fault::Fault;
use crate::query::kind::Kind;
use crate::query::memory::Account;
use crate::syntax::Span;
use crate::write::EdgeIds;
use crate::write::shape::TableShape;

use super::error::UpdateError;
use super::evaluator::Evaluator;
use super::fault::Wrong;
use super::fetch::fetch;
use super::overlay::{Overlay, Wanted};
use super::property::describe_value;
use super::rows::{Known, key_of, known};
use super::uses::looks_of_plan;
use super::working::Working;

/// Rows after which other tasks get their turn.
const ROWS_BETWEEN_YIELDS: usize = 1_000;

/// A statement that is being done.
#[derive(Debug)]
pub(super) struct Apply<'a> {
    pub(super) core: &'a Arc<Core>,
    pub(super) at: &'a Snapshot,
    pub(super) statement: &'a Statement,
    pub(super) evaluator: Evaluator<'a>,
    pub(super) edge_ids: EdgeIds,
    pub(super) overlay: Overlay,
    pub(super) working: Working,
    /// Holds all of it.
    pub(super) account: Account,
}

impl Apply<'_> {
    /// Does an effect for all rows.
    ///
    /// # Errors
    /// The first fault, with its place in the text; or why stored rows could not be looked up.
    pub(super) async fn run(&mut self, effect: &Effect) -> Result<(), Error> {
        let before = self.bytes();
        match effect {
            Effect::Create(_) | Effect::Delete { .. } => {}
            Effect::Set(assignments) => self.look_up_assigned(assignments).await?,
            Effect::Merge { creation, on_create, on_match } => {
                self.look_up_assigned(on_create.iter().chain(on_match)).await?;
                self.look_up_merged(creation).await?;
            }
        }
        let mut accounted = before;
        for row in 0..self.working.len() {
            if row % ROWS_BETWEEN_YIELDS == ROWS_BETWEEN_YIELDS - 1 {
                tokio::task::yield_now().await;
            }
            self.working.refresh(row, &self.overlay);
            match effect {
                Effect::Create(creations) => {
                    creations.iter().try_for_each(|creation| self.create(row, creation))?;
                }
                Effect::Merge { creation, on_create, on_match } => {
                    self.merge(row, creation, on_create, on_match).await?;
                }
                Effect::Set(assignments) => self.assign_all(row, assignments)?,
                Effect::Delete { operands, detach } => {
                    operands.iter().try_for_each(|operand| self.delete(row, operand, *detach))?;
                }
            }
            let bytes = self.bytes();
            self.hold(bytes - accounted)?;
            accounted = bytes;
        }
        Ok(())
    }

    /// How many bytes were put into rows and overlay since the statement began.
    const fn bytes(&self) -> usize {
        self.overlay.bytes() + self.working.bytes()
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Error> {
        self.account.hold(bytes).map_err(|error| failure(self.evaluator.text, error))
    }

    /// Takes the rows as they are in the end, for `plan` to look at.
    ///
    /// # Errors
    /// If it looks into what was deleted.
    pub(super) fn settled(&mut self, plan: &Plan) -> Result<Working, Error> {
        let mut working = std::mem::take(&mut self.working);
        (0..working.len()).for_each(|row| working.refresh(row, &self.overlay));
        if self.overlay.has_deleted() {
            for (var, span) in looks_of_plan(plan) {
                let mut values = (0..working.len()).map(|row| working.value(row, var));
                values.try_for_each(|value| self.evaluator.refuse_deleted(value, span, &self.overlay))?;
            }
        }
        Ok(working)
    }

    fn delete(&mut self, row: usize, operand: &Expr, detach: bool) -> Result<(), Error> {
        // What was deleted for an earlier row may be deleted once more.
        let value = self.evaluator.value_even_of_deleted(operand, &self.working, row)?;
        if value.is_null() {
            return Ok(());
        }
        let known = self.known(&value, operand.span)?;
        if !self.overlay.is_deleted(&known) {
            self.overlay.delete(&known, detach, operand.span);
        }
        Ok(())
    }

    /// Looks up the rows that are to be changed, where the statement has not read them whole.
    async fn look_up_assigned(&mut self, assignments: impl IntoIterator<Item = &Assignment>) -> Result<(), Error> {
        let mut wanted = Wanted::default();
        for assignment in assignments {
            let (Assignment::Property { var, .. } | Assignment::Properties { var, .. }) = assignment;
            for row in 0..self.working.len() {
                let found = known(self.overlay.shapes(), self.working.value(row, *var));
                if let Some(known) = found.filter(|known| !self.is_read_whole(*var, known)) {
                    let shapes = self.overlay.shapes();
                    wanted.add(&self.overlay, known.id, || key_of(shapes, known.id.table, &known.row));
                }
            }
        }
        self.look_up(&wanted).await
    }

    pub(super) async fn look_up(&mut self, wanted: &Wanted) -> Result<(), Error> {
        if wanted.is_empty() { Ok(()) } else { fetch(self.core, self.at, &mut self.overlay, wanted).await }
    }

    /// Whether the statement reads all properties of a variable's row.
    pub(super) fn is_read_whole(&self, var: VarId, known: &Known) -> bool {
        let vars = self.statement.vars.get(var.0 as usize);
        let Some(Kind::Entity(entity)) = vars.map(|var| &var.kind) else { return false };
        let Some(entity) = self.statement.entities.get(entity.0 as usize) else { return false };
        let Some(shape) = self.overlay.shapes().tables.get(known.id.table) else { return false };
        let needs = entity.needs.get(&shape.table_id());
        let is_read = |id| shape.layout.table.key.contains(&id) || needs.is_some_and(|needs| needs.contains(&id));
        shape.properties.iter().all(|property| is_read(property.def.id))
    }

    /// The node or edge that a value is.
    pub(super) fn known(&self, value: &CypherValue, span: Span) -> Result<Known, Error> {
        known(self.overlay.shapes(), value).ok_or_else(|| {
            let message = format!("expected a node or an edge, found {}", describe_value(value));
            self.fault(&Wrong::Type, message, None, span)
        })
    }

    pub(super) fn shape(&self, table: usize) -> Result<&TableShape, Error> {
        self.overlay.shapes().tables.get(table).ok_or_else(|| UpdateError::NoSuchTable.into())
    }

    pub(super) fn fault(&self, wrong: &Wrong, message: String, help: Option<String>, span: Span) -> Error {
        self.evaluator.fault(Fault { code: wrong.code(), message, help, span })
    }
}
