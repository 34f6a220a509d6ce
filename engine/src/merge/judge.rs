//! What the rows of both sides come to: compared, merged, settled and judged by the rules of the schema; nothing is written yet.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::try_join_all;

use super::answers::Answers;
use super::cases::{Cases, Fate, Written};
use super::constraints::{self, Broken, CaseRef};
use super::detached::{self, Detached};
use super::ends::{EdgeEnds, Tables};
use super::keys::{Place, Versions};
use super::lens::{Lens, Lenses};
use super::origin::Origins;
use super::plan::{Plan, Sides};
use super::row::{self, Resolution, RowRules, Side};
use super::rows;
use super::schema::Base;
use super::tuples::AllTuples;
use super::{describe, ties};
use crate::error::{Conflict, Error};
use crate::graph::Core;
use crate::ids::{Digest, PropertyId, TableId};
use crate::publish::Snapshot;
use crate::schema::SchemaHash;
use crate::write::WriteError;
use crate::write::shape::{Shapes, TableShape};

/// What a merge comes to.
pub(super) struct Judgement {
    /// The tables whose rows were compared, by their index in the shapes.
    pub(super) tables: Tables,
    /// What is left to people, in order.
    pub(super) conflicts: Vec<Conflict>,
}

/// Judges a plan. `all`: compares every table that moved, so that all counts are known.
///
/// # Errors
/// When rows cannot be read, or a resolution settles nothing.
pub(super) async fn judge(
    core: &Arc<Core>,
    sides: &Sides,
    plan: &Plan,
    shapes: &Arc<Shapes>,
    answers: Answers,
    all: bool,
) -> Result<Judgement, Error> {
    let mut compared = ties::to_compare(sides, plan, &answers.tables());
    if all {
        compared.extend(plan.moved());
    }
    if compared.is_empty() {
        answers.all_used()?;
        return Ok(Judgement { tables: Tables::new(), conflicts: Vec::new() });
    }
    let found;
    let origins = if let Some(origins) = &plan.schemas.origins {
        origins
    } else {
        found = Origins::find(core, &sides.bases).await?;
        &found
    };
    let mut eyes = Eyes { core, plan, own: BTreeMap::new() };
    let later = if sides.source.record.commit > sides.target.record.commit { Side::Source } else { Side::Target };
    let mut comparing = Vec::new();
    for (index, shape) in shapes.tables.iter().enumerate() {
        if compared.contains(&shape.table_id()) {
            let lenses = eyes.on(sides, origins, shape)?;
            comparing.push(compare(core, sides, origins, (index, shape), lenses).boxed());
        }
    }
    let mut compared: Vec<(usize, Cases)> = try_join_all(comparing).await?;
    let mut merging = Vec::with_capacity(compared.len());
    for (_, cases) in &mut compared {
        let answers = &answers;
        merging.push(
            async move {
                rows::merge(cases, shapes, origins, answers, later).await?;
                rows::read_own(cases, shapes).await
            }
            .boxed(),
        );
    }
    try_join_all(merging).await?;
    let mut tables: Tables = compared.into_iter().collect();
    // Edges may go by resolutions of their own, and their node is no conflict then; a node's resolution is about its edges too.
    choose_rows(shapes, &mut tables, &answers, true);
    let ends = EdgeEnds::read(shapes, &tables).boxed().await?;
    let open: Vec<Detached> = detached::settle(shapes, &mut tables, &ends, &answers);
    choose_rows(shapes, &mut tables, &answers, false);
    set_properties(shapes, &mut tables, &answers).boxed().await?;
    let mut tuples = AllTuples::new();
    let mut broken: Vec<Broken> = constraints::judge(shapes, &mut tables, &ends, &answers, &mut tuples).boxed().await?;
    if give_way(&mut tables, &answers, &broken) {
        broken = constraints::judge(shapes, &mut tables, &ends, &answers, &mut tuples).boxed().await?;
    }
    answers.all_used()?;
    let conflicts = describe::describe(shapes, &tables, &open, &broken).boxed().await?;
    Ok(Judgement { tables, conflicts })
}

/// Compares one table.
async fn compare(
    core: &Arc<Core>,
    sides: &Sides,
    origins: &Origins,
    (index, shape): (usize, &TableShape),
    lenses: Lenses,
) -> Result<(usize, Cases), Error> {
    let layout = &shape.layout;
    let versions = Versions::compare(core, layout, (&sides.source, &sides.target), origins, lenses).await?;
    let equal_too = RowRules::new(&layout.table).judges_equal_rows();
    Ok((index, Cases::find((layout.table.id, index), versions, origins, equal_too)?))
}

/// Finds out how tables are read, and knows the schemas that this takes.
struct Eyes<'a> {
    core: &'a Arc<Core>,
    plan: &'a Plan,
    /// All tables of a commit, where they are not those of the merged schema.
    own: BTreeMap<SchemaHash, Arc<Shapes>>,
}

impl Eyes<'_> {
    fn on(&mut self, sides: &Sides, origins: &Origins, shape: &TableShape) -> Result<Lenses, WriteError> {
        let base = Some(self.plan.schemas.base());
        Ok(Lenses {
            source: self.lens(&sides.source, base, shape)?,
            target: self.lens(&sides.target, base, shape)?,
            commits: origins.commits.iter().map(|at| self.lens(at, None, shape)).collect::<Result<_, _>>()?,
        })
    }

    fn lens(
        &mut self,
        at: &Snapshot,
        base: Option<&Base>,
        shape: &TableShape,
    ) -> Result<Option<Arc<Lens>>, WriteError> {
        let ids = &self.plan.schemas.ids;
        let Some(table) = ids.table_in(&at.catalog, shape.table_id()) else { return Ok(None) };
        let own = || match self.own.entry(at.record.schema) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(slot) => {
                let shapes = Shapes::new(&at.catalog, |table| self.core.layout(at, table))?;
                Ok(slot.insert(Arc::new(shapes)).clone())
            }
        };
        Lens::new(ids, base, shape, table, own).map(|lens| Some(Arc::new(lens)))
    }
}

/// The case that a resolution is about: the index of its table and its number.
fn case_of(tables: &Tables, table: TableId, key: Digest) -> Option<(usize, usize)> {
    let cases = tables.values().find(|cases| cases.table == table)?;
    Some((cases.index, cases.place_of(key)?))
}

/// Resolutions of whether a row is there that only one side has, of edges or of nodes, as far as they are no conflict by themselves: they may
/// be what keeps a rule.
fn choose_rows(shapes: &Shapes, tables: &mut Tables, answers: &Answers, of_edges: bool) {
    for (table, key, property, resolution) in answers.unused() {
        let (None, Resolution::Choose(side)) = (property, resolution) else { continue };
        let Some((index, at)) = case_of(tables, table, key) else { continue };
        if shapes.tables.get(index).is_some_and(|shape| shape.ends.is_some()) != of_edges {
            continue;
        }
        let Some(case) = tables.get_mut(&index).and_then(|cases| cases.all.get_mut(at)) else { continue };
        if case.source.is_some() != case.target.is_some() {
            (case.fate, case.open) = (Fate::As(side), Vec::new());
            answers.used(table, key, property);
        }
    }
}

/// Resolutions of rows that both sides have and that break a rule: they become what a side has. True if there are any.
fn give_way(tables: &mut Tables, answers: &Answers, broken: &[Broken]) -> bool {
    let concerned: BTreeSet<CaseRef> = broken.iter().flat_map(|broken| broken.cases.iter().copied()).collect();
    let mut any = false;
    for (table, key, property, resolution) in answers.unused() {
        let (None, Resolution::Choose(side)) = (property, resolution) else { continue };
        let Some(at) = case_of(tables, table, key).filter(|at| concerned.contains(at)) else { continue };
        let Some(case) = tables.get_mut(&at.0).and_then(|cases| cases.all.get_mut(at.1)) else { continue };
        if case.fate != Fate::As(side) {
            case.fate = Fate::As(side);
            answers.used(table, key, property);
            any = true;
        }
    }
    any
}

/// Resolutions of properties that are no conflict by themselves. The rows are read for all of them at once.
async fn set_properties(shapes: &Shapes, tables: &mut Tables, answers: &Answers) -> Result<(), Error> {
    let mut wanted: BTreeMap<usize, Vec<Asked>> = BTreeMap::new();
    for (table, key, property, resolution) in answers.unused() {
        let Some(property) = property else { continue };
        if let Some((index, at)) = case_of(tables, table, key) {
            wanted.entry(index).or_default().push(Asked { at, key, property, resolution });
        }
    }
    let mut setting = Vec::new();
    for (index, cases) in tables.iter_mut() {
        if let (Some(asked), Some(shape)) = (wanted.remove(index), shapes.tables.get(*index)) {
            setting.push(set_in(shapes, shape, cases, asked, answers).boxed());
        }
    }
    try_join_all(setting).await?;
    Ok(())
}

/// A resolution of a property.
struct Asked {
    /// The number of the case.
    at: usize,
    key: Digest,
    property: PropertyId,
    resolution: Resolution,
}

async fn set_in(
    shapes: &Shapes,
    shape: &TableShape,
    cases: &mut Cases,
    asked: Vec<Asked>,
    answers: &Answers,
) -> Result<(), Error> {
    let places = asked.iter().filter_map(|asked| cases.all.get(asked.at));
    let places: Vec<Place> = places.flat_map(|case| [case.source, case.target]).flatten().collect();
    let found = rows::read(&cases.versions, shape, &shape.layout.all_columns(), places).await?;
    for Asked { at, key, property, resolution } in asked {
        let Some(case) = cases.all.get(at) else { continue };
        // In the merged form, with what a side inherits.
        let [source, target] = [Side::Source, Side::Target].map(|side| match cases.own.get(&(at, side)) {
            Some(own) => Some(&own.row),
            None => found.at(case.on(side)),
        });
        let on = |side: Side| if side == Side::Source { source } else { target };
        let current = match case.fate {
            Fate::As(side) => on(side),
            Fate::Written(row) => cases.written.get(row).map(|written| &written.row),
        };
        let Some(current) = current else { continue };
        let place = row::Place::Property(property);
        let mut merged = rows::places_of(shape, current);
        let value = match resolution {
            Resolution::Value(value) => value,
            Resolution::Choose(side) => {
                let Some(row) = on(side) else { continue };
                rows::places_of(shape, row).get(place).clone()
            }
        };
        merged.0.insert(place, value);
        let row = rows::row_of(shape, current, &merged);
        let same = [Side::Target, Side::Source]
            .into_iter()
            .find(|side| on(*side).is_some_and(|known| known.hash(shape) == row.hash(shape)));
        let fate = if let Some(side) = same {
            Fate::As(side)
        } else {
            let vouching = |side: Side| on(side).filter(|_| cases.vouches(side));
            let written = Written::new(shapes, shape, row, [vouching(Side::Source), vouching(Side::Target)]);
            cases.written.push(written);
            Fate::Written(cases.written.len() - 1)
        };
        if let Some(case) = cases.all.get_mut(at) {
            case.fate = fate;
        }
        answers.used(cases.table, key, Some(property));
    }
    Ok(())
}
