//! The rules of the schema, judged on the result: what is broken is settled by the sides that win, until nothing new is, and else told.
//!
//! Each side keeps the rules by itself, so a rule can only be broken between rows of which one is as the source has it and the other as
//! the target does, or by a row that neither has.

use std::collections::BTreeMap;

use super::answers::Answers;
use super::cases::Fate;
use super::ends::{EdgeEnds, Tables};
use super::tuples::{self, AllTuples, Other, Twins, unique_spaces};
use crate::error::{ConflictKind, Error};
use crate::ids::Digest;
use crate::write::broken_checks;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// A case: the index of its table and its number.
pub(super) type CaseRef = (usize, usize);

/// A rule that the result breaks.
#[derive(Debug)]
pub(super) struct Broken {
    /// Which sort of rule.
    pub(super) kind: ConflictKind,
    /// The rows that differ between the sides: first the one that it is told of.
    pub(super) cases: Vec<CaseRef>,
    /// The columns that are to be unique, by their space.
    pub(super) space: Option<usize>,
    /// The row that it meets, if neither side changed that.
    pub(super) unchanged: Option<Row>,
    /// The condition that is false.
    pub(super) check: Option<String>,
}

/// Judges the result; changes what becomes of rows as far as a side wins in their table. What it reads of rows is kept in `all_tuples`, and holds
/// as long as no row is written besides.
///
/// # Errors
/// When rows cannot be read.
pub(super) async fn judge(
    shapes: &Shapes,
    tables: &mut Tables,
    ends: &EdgeEnds,
    answers: &Answers,
    all_tuples: &mut AllTuples,
) -> Result<Vec<Broken>, Error> {
    loop {
        tuples::read(shapes, tables, all_tuples).await?;
        let mut broken = dangling(shapes, tables, ends);
        broken.extend(checks(shapes, tables));
        broken.extend(repeated(shapes, tables, all_tuples));
        // Every round takes at least one row to the side that wins in its table, and none back. What a person said of a row stays.
        let mut settled = false;
        for case in broken.iter().flat_map(|broken| &broken.cases) {
            let Some(cases) = tables.get_mut(&case.0) else { continue };
            let winner = answers.side(cases.table);
            let table = cases.table;
            if let (Some(side), Some(case)) = (winner, cases.all.get_mut(case.1))
                && case.fate != Fate::As(side)
                && !answers.concern(table, case.key)
            {
                case.fate = Fate::As(side);
                settled = true;
            }
        }
        if !settled {
            return Ok(broken);
        }
    }
}

/// Edges that stand while a node of theirs does not.
fn dangling(shapes: &Shapes, tables: &Tables, ends: &EdgeEnds) -> Vec<Broken> {
    let mut found: BTreeMap<CaseRef, Vec<CaseRef>> = BTreeMap::new();
    for ((index, at, side), keys) in ends.iter() {
        let Some(nodes) = shapes.tables.get(index).and_then(|shape| shape.ends) else { continue };
        let Some(cases) = tables.get(&index) else { continue };
        let Some(case) = cases.all.get(at).filter(|case| !case.is_open()) else { continue };
        let has_these_ends = match case.fate {
            Fate::As(fate) => fate == side,
            Fate::Written(row) => {
                let digest = |space| {
                    let shape = shapes.tables.get(index)?;
                    cases.written.get(row)?.row.digest(shapes, shape, space)
                };
                [digest(nodes.from.space), digest(nodes.to.space)] == keys.map(Some)
            }
        };
        for (node, key) in [(nodes.from.node, keys[0]), (nodes.to.node, keys[1])] {
            if has_these_ends && let Some(node) = gone(tables, node, key) {
                found.entry((index, at)).or_default().push(node);
            }
        }
    }
    let broken = |(edge, nodes): (CaseRef, Vec<CaseRef>)| Broken {
        kind: ConflictKind::DanglingEdge,
        cases: std::iter::once(edge).chain(nodes).collect(),
        space: None,
        unchanged: None,
        check: None,
    };
    found.into_iter().map(broken).collect()
}

/// The case of a node that does not stand.
fn gone(tables: &Tables, index: usize, key: Digest) -> Option<CaseRef> {
    let cases = tables.get(&index)?;
    let at = cases.place_of(key)?;
    cases.all.get(at).filter(|case| !case.stands() && !case.is_open()).map(|_| (index, at))
}

/// Rows that neither side vouches for and that break a condition, or lack a value.
fn checks(shapes: &Shapes, tables: &Tables) -> Vec<Broken> {
    let mut found = Vec::new();
    for (index, cases) in tables {
        let Some(shape) = shapes.tables.get(*index) else { continue };
        for (at, _) in cases.all.iter().enumerate().filter(|(_, case)| !case.is_open()) {
            let Some(written) = cases.judged(at) else { continue };
            let nulls = nulls(shape, &written.row);
            found.extend(broken_checks(shape, &written.row).into_iter().map(str::to_owned).chain(nulls).map(|check| {
                Broken {
                    kind: ConflictKind::Check,
                    cases: vec![(*index, at)],
                    space: None,
                    unchanged: None,
                    check: Some(check),
                }
            }));
        }
    }
    found
}

/// The properties that a row must have and lacks, as conditions.
fn nulls<'a>(shape: &'a TableShape, row: &Row) -> impl Iterator<Item = String> + use<'a> {
    let lacks: Vec<bool> = row.meant(shape).iter().map(crate::value::Value::is_null).collect();
    let properties = shape.properties.iter().zip(lacks);
    let lacking = properties.filter(|(property, lacks)| *lacks && property.def.not_null);
    lacking.map(|(property, _)| format!("{} IS NOT NULL", property.def.name))
}

/// Rows with a tuple that another one has.
fn repeated(shapes: &Shapes, tables: &Tables, all: &AllTuples) -> Vec<Broken> {
    let mut found = Vec::new();
    for (index, tuples) in all {
        let (Some(cases), Some(shape)) = (tables.get(index), shapes.tables.get(*index)) else { continue };
        let kinds = unique_spaces(shape);
        for Twins { space, case, other, .. } in tuples.twins(shapes, shape, cases) {
            let kind = kinds.iter().find(|(known, _)| *known == space).map_or(ConflictKind::Unique, |(_, kind)| *kind);
            let mut broken =
                Broken { kind, cases: vec![(*index, case)], space: Some(space), unchanged: None, check: None };
            match other {
                Other::Case(other) => broken.cases.push((*index, other)),
                Other::Unchanged(row) => broken.unchanged = Some(row),
            }
            found.push(broken);
        }
    }
    found
}
