//! Finds out what a schema change means for the rows that are there: one scan for each table that it asks something of, of the columns that
//! are asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use roaring::RoaringTreemap;

use super::report::PlannedStep;
use super::rules::{Rule, Translation};
use crate::error::Error;
use crate::graph::Core;
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::schema::{SchemaChange, SchemaPlan, SchemaStep, StepClass};
use crate::table::{Layout, Scan, Table};
use crate::write::WriteError;
use crate::write::facts::{Fact, Facts, What};
use crate::write::groups::for_each_group;
use crate::write::lookup::{addresses, rows_at};
use crate::write::pool::Pool;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// Tables that are read side by side.
const SIDE_BY_SIDE: usize = 16;
/// Bytes of facts that are held in memory, over all tables that are read at once.
const FACTS_IN_MEMORY: usize = 96 << 20;
/// Rows that break one rule and are named.
const NAMED: u64 = 5;

/// The steps of `plan`, with what they mean for the rows of `at`.
pub(super) async fn survey(core: &Arc<Core>, at: &Snapshot, plan: &SchemaPlan) -> Result<Vec<PlannedStep>, Error> {
    let old = Shapes::new(&at.catalog, |table| core.layout(at, table))?;
    let new = Shapes::new(&plan.schema, |table| Layout::new(&plan.schema, table))?;
    let mut steps: Vec<PlannedStep> = plan.steps.iter().map(|step| known(at, step)).collect();
    let mut by_table: BTreeMap<TableId, Vec<(usize, &SchemaStep)>> = BTreeMap::new();
    for (place, step) in plan.steps.iter().enumerate() {
        by_table.entry(step.table).or_default().push((place, step));
    }
    let mut surveys = Vec::new();
    for (id, steps) in by_table {
        let Some(old_shape) = shape_of(&old, id) else { continue };
        let new_shape = shape_of(&new, id);
        surveys.extend(TableSurvey::new(at, (&old, old_shape), (&new, new_shape), &steps)?);
    }
    let mut running: Vec<BoxFuture<'_, Result<Vec<Found>, Error>>> = Vec::with_capacity(surveys.len());
    for survey in surveys {
        running.push(survey.run(core, at).boxed());
    }
    let found: Vec<Vec<Found>> = stream::iter(running).buffer_unordered(SIDE_BY_SIDE).try_collect().await?;
    for Found { place, loses, count, examples } in found.into_iter().flatten() {
        let Some(step) = steps.get_mut(place) else { continue };
        if loses {
            step.rows = count;
        } else {
            step.breaks += count;
            let room = usize::try_from(NAMED).unwrap_or(usize::MAX).saturating_sub(step.examples.len());
            step.examples.extend(examples.into_iter().take(room));
        }
    }
    Ok(steps)
}

fn shape_of(shapes: &Shapes, table: TableId) -> Option<&TableShape> {
    shapes.tables.iter().find(|shape| shape.table_id() == table)
}

/// A step with what the record alone tells.
fn known(at: &Snapshot, step: &SchemaStep) -> PlannedStep {
    let rows = at.table_version(step.table).map_or(0, |version| version.rows);
    let concerned = step.change.class() != StepClass::Untouched
        || matches!(&step.change, SchemaChange::AddProperty { fill: Some(_), .. });
    PlannedStep { step: step.clone(), rows: if concerned { rows } else { 0 }, breaks: 0, examples: Vec::new() }
}

/// What was found about one rule.
struct Found {
    /// The place of its step.
    place: usize,
    /// Whether values that go were counted, and not rows that break it.
    loses: bool,
    count: u64,
    examples: Vec<String>,
}

/// A rule, and the rows that it was found to concern.
struct Asked {
    place: usize,
    rule: Rule,
    facts: Option<Facts>,
    count: u64,
    some: RoaringTreemap,
}

impl Asked {
    fn take(&mut self, address: u64) {
        self.count += 1;
        if matches!(self.rule, Rule::LosesValue(_)) {
            return;
        }
        // The first of the table, in whatever order they are read.
        self.some.insert(address);
        if self.some.len() > NAMED
            && let Some(last) = self.some.max()
        {
            self.some.remove(last);
        }
    }
}

/// What is asked of one table.
struct TableSurvey<'a> {
    shapes: &'a Shapes,
    old: &'a TableShape,
    later: &'a Shapes,
    new: &'a TableShape,
    columns: Vec<usize>,
    asked: Vec<Asked>,
}

impl<'a> TableSurvey<'a> {
    /// None if the steps ask nothing of its rows.
    fn new(
        at: &Snapshot,
        (shapes, old): (&'a Shapes, &'a TableShape),
        (later, new): (&'a Shapes, Option<&'a TableShape>),
        steps: &[(usize, &SchemaStep)],
    ) -> Result<Option<Self>, Error> {
        let (Some(new), true) = (new, at.table_version(old.table_id()).is_some_and(|version| version.rows > 0)) else {
            return Ok(None);
        };
        let pool = Pool::new(FACTS_IN_MEMORY / SIDE_BY_SIDE);
        let (mut asked, mut columns) = (Vec::new(), BTreeSet::new());
        for (place, step) in steps {
            for rule in Rule::of(step, old, new)? {
                columns.extend(rule.columns(step, later, old, new));
                let facts = matches!(rule, Rule::Alone(_)).then(|| Facts::new(&pool));
                asked.push(Asked { place: *place, rule, facts, count: 0, some: RoaringTreemap::new() });
            }
        }
        let columns = columns.into_iter().collect();
        Ok((!asked.is_empty()).then_some(Self { shapes, old, later, new, columns, asked }))
    }

    async fn run(mut self, core: &Arc<Core>, at: &Snapshot) -> Result<Vec<Found>, Error> {
        let table = core.open_table(at, &self.old.layout.table).await?;
        let temporary = |source: io::Error| WriteError::Temporary { source };
        self.read(&table).await?;
        for asked in &mut self.asked {
            let Some(facts) = asked.facts.take() else { continue };
            let mut others = Vec::new();
            for_each_group([&facts], |group| others.extend(group.skip(1).map(|fact| fact.at))).map_err(temporary)?;
            for address in others {
                asked.take(address);
            }
        }
        let wanted: RoaringTreemap = self.asked.iter().flat_map(|asked| &asked.some).collect();
        let columns = self.old.checked_columns(&self.shapes.spaces);
        let rows =
            if wanted.is_empty() { BTreeMap::new() } else { rows_at(&table, self.old, None, columns, &wanted).await? };
        let key = |address| Some(rows.get(&address)?.text(self.shapes, self.old, self.old.key));
        let found = self.asked.iter().map(|asked| Found {
            place: asked.place,
            loses: matches!(asked.rule, Rule::LosesValue(_)),
            count: asked.count,
            examples: asked.some.iter().filter_map(key).collect(),
        });
        Ok(found.collect())
    }

    async fn read(&mut self, table: &Table) -> Result<(), Error> {
        let scan = Scan { columns: self.columns.clone(), addresses: true, ..Scan::default() };
        let mut batches = table.scan(scan);
        let translation = Translation::new(self.old, self.new);
        while let Some(batch) = batches.try_next().await? {
            let Some(addresses) = addresses(&batch) else { continue };
            for (i, address) in addresses.values().iter().enumerate() {
                let row = Row::read(self.old, &self.columns, &batch, i);
                let later = translation.of(&row);
                let (earlier_values, later_values) = (row.meant(self.old), later.meant(self.new));
                for asked in &mut self.asked {
                    if let (Rule::Alone(space), Some(facts)) = (&asked.rule, &mut asked.facts) {
                        if let Some(digest) = later.digest(self.later, self.new, *space) {
                            facts
                                .push(&Fact::new(digest, What::Stored, 0, *address))
                                .map_err(|source| WriteError::Temporary { source })?;
                        }
                    } else if asked.rule.applies_to(&later_values, &earlier_values) {
                        asked.take(*address);
                    }
                }
            }
        }
        Ok(())
    }
}
