//! What may occur once in a table: tuples of `UNIQUE` columns, and ends of edges of which a node has at most one.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::TryStreamExt as _;
use futures::future::{try_join, try_join_all};

use super::cases::{Case, Cases, Fate};
use super::ends::Tables;
use super::keys::Of;
use super::row::Side;
use super::rows::on_side;
use crate::error::{ConflictKind, Error};
use crate::ids::Digest;
use crate::table::Scan;
use crate::value::Value;
use crate::write::lookup::tuples_filter;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// The tuples of the rows that differ between the sides, by table.
pub(super) type AllTuples = BTreeMap<usize, Tuples>;

/// Those of one table.
#[derive(Debug, Default)]
pub(super) struct Tuples {
    /// Of each side's row of a case: each with the number of the space it is unique in.
    of_cases: BTreeMap<(usize, Side), Vec<(usize, Digest)>>,
    /// Rows that neither side changed and that a written row meets.
    unchanged: Vec<Twins>,
}

/// Two rows of the result with one tuple.
#[derive(Debug, Clone)]
pub(super) struct Twins {
    /// The form of the case that is meant: as a side has it, or none if it is written.
    form: Option<Side>,
    /// The space.
    pub(super) space: usize,
    /// The number of a case.
    pub(super) case: usize,
    /// The other row.
    pub(super) other: Other,
}

/// A row that another one collides with.
#[derive(Debug, Clone)]
pub(super) enum Other {
    /// That of a case.
    Case(usize),
    /// One that neither side changed, as its key columns have it.
    Unchanged(Row),
}

/// The spaces in which rows of a table are unique, with what it is that they break otherwise.
pub(super) fn unique_spaces(shape: &TableShape) -> Vec<(usize, ConflictKind)> {
    let unique = shape.unique.iter().map(|space| (*space, ConflictKind::Unique));
    let ends = shape.ends.iter().flat_map(|ends| [ends.from, ends.to]).filter(|end| end.at_most_one);
    unique.chain(ends.map(|end| (end.space, ConflictKind::Cardinality))).collect()
}

/// Reads the tuples of those tables that `all` does not have yet, in which rows of both sides, or rows that are written, come together.
///
/// # Errors
/// When rows cannot be read.
pub(super) async fn read(shapes: &Shapes, tables: &Tables, all: &mut AllTuples) -> Result<(), Error> {
    let mut reading = Vec::new();
    for (index, cases) in tables.iter().filter(|(index, _)| !all.contains_key(index)) {
        let Some(shape) = shapes.tables.get(*index) else { continue };
        let spaces: Vec<usize> = unique_spaces(shape).into_iter().map(|(space, _)| space).collect();
        if !spaces.is_empty() && comes_together(cases) {
            reading.push(async move { Ok::<_, Error>((*index, of_table(shapes, shape, cases, &spaces).await?)) });
        }
    }
    all.extend(try_join_all(reading).await?);
    Ok(())
}

/// Whether the result of a table is not wholly that of one side that keeps the rules by itself.
fn comes_together(cases: &Cases) -> bool {
    !cases.sides().any(|side| cases.vouches(side)) || cases.all.iter().any(Case::is_open)
}

async fn of_table(shapes: &Shapes, shape: &TableShape, cases: &Cases, spaces: &[usize]) -> Result<Tuples, Error> {
    let columns: BTreeSet<usize> = spaces.iter().flat_map(|space| shapes.columns_of(*space)).copied().collect();
    let columns: Vec<usize> = columns.into_iter().collect();
    let of_side = |side| of_side(shapes, shape, cases, spaces, &columns, side);
    let ((source, target), unchanged) =
        try_join(try_join(of_side(Side::Source), of_side(Side::Target)), among_unchanged(shapes, shape, cases)).await?;
    Ok(Tuples { of_cases: source.into_iter().chain(target).collect(), unchanged })
}

/// The tuples of a case on a side.
type Found = Vec<((usize, Side), Vec<(usize, Digest)>)>;

async fn of_side(
    shapes: &Shapes,
    shape: &TableShape,
    cases: &Cases,
    spaces: &[usize],
    columns: &[usize],
    side: Side,
) -> Result<Found, Error> {
    let mut found = Vec::new();
    let Some(mut rows) = on_side(cases, shape, columns, side) else { return Ok(found) };
    while let Some(rows) = rows.try_next().await? {
        found.extend(rows.into_iter().map(|(case, row)| ((case, side), digests(shapes, shape, &row, spaces))));
    }
    Ok(found)
}

fn digests(shapes: &Shapes, shape: &TableShape, row: &Row, spaces: &[usize]) -> Vec<(usize, Digest)> {
    spaces.iter().filter_map(|space| Some((*space, row.digest(shapes, shape, *space)?))).collect()
}

impl Tuples {
    /// Rows of the result with one tuple. Rows that people have to decide on are left out: what they come to is not known.
    pub(super) fn twins(&self, shapes: &Shapes, shape: &TableShape, cases: &Cases) -> Vec<Twins> {
        let spaces: Vec<usize> = unique_spaces(shape).into_iter().map(|(space, _)| space).collect();
        let mut first: HashMap<(usize, Digest), usize> = HashMap::new();
        let is_as_meant = |twins: &&Twins| {
            cases.all.get(twins.case).is_some_and(|case| {
                !case.is_open()
                    && match case.fate {
                        Fate::Written(_) => twins.form.is_none(),
                        Fate::As(side) => twins.form == Some(side),
                    }
            })
        };
        let mut found: Vec<Twins> = self.unchanged.iter().filter(is_as_meant).cloned().collect();
        for (at, case) in cases.all.iter().enumerate().filter(|(_, case)| !case.is_open()) {
            let own = match case.fate {
                Fate::As(side) => self.of_cases.get(&(at, side)).cloned().unwrap_or_default(),
                Fate::Written(row) => {
                    let written = cases.written.get(row);
                    written.map(|written| digests(shapes, shape, &written.row, &spaces)).unwrap_or_default()
                }
            };
            for tuple in own {
                match first.entry(tuple) {
                    Entry::Vacant(slot) => drop(slot.insert(at)),
                    Entry::Occupied(other) => {
                        found.push(Twins { form: None, space: tuple.0, case: at, other: Other::Case(*other.get()) });
                    }
                }
            }
        }
        found
    }
}

/// A row that has a tuple which nobody promises to be the only one: the number of its case, in which form, and the tuple.
type Novel = (usize, Option<Side>, Vec<Value>);

/// The rows of cases that have to be looked for among those that neither side changed, by their tuple in a space: written ones that are the first
/// to have it at their key, and those of a side that does not keep the rule.
fn novel(shapes: &Shapes, shape: &TableShape, cases: &Cases, space: usize) -> HashMap<Digest, Vec<Novel>> {
    let written = cases.all.iter().enumerate().filter_map(|(at, case)| match case.fate {
        Fate::Written(row) if !case.is_open() => Some((at, None, cases.written.get(row)?)),
        Fate::Written(_) | Fate::As(_) => None,
    });
    let own = cases.own.iter().map(|((at, side), row)| (*at, Some(*side), row));
    let mut found: HashMap<Digest, Vec<Novel>> = HashMap::new();
    for (at, form, written) in written.chain(own).filter(|(_, _, written)| written.novel.contains(&space)) {
        if let Some(digest) = written.row.digest(shapes, shape, space) {
            found.entry(digest).or_default().push((at, form, written.row.tuple(shapes, shape, space)));
        }
    }
    found
}

/// Finds rows that neither side changed and that have a tuple which a row of the result may not have besides them. They are on both sides, so
/// they are looked up where they can be filtered by the columns of the tuple.
///
/// # Errors
/// When rows cannot be read.
async fn among_unchanged(shapes: &Shapes, shape: &TableShape, cases: &Cases) -> Result<Vec<Twins>, Error> {
    let mut found = Vec::new();
    let alike = |side: &Side| cases.versions.lenses.of(*side).is_some_and(|lens| lens.reading.alike);
    let side = [Side::Target, Side::Source].into_iter().find(alike).unwrap_or(Side::Target);
    let Some((table, lens)) = cases.versions.read(Of::Side(side)) else { return Ok(found) };
    let known: BTreeSet<u64> =
        cases.all.iter().filter_map(|case| case.on(side).map(|place| place.spot.address)).collect();
    for (space, _) in unique_spaces(shape) {
        let novel = novel(shapes, shape, cases, space);
        if novel.is_empty() {
            continue;
        }
        let tuples: Vec<&[Value]> =
            novel.values().filter_map(|rows| rows.first()).map(|(_, _, tuple)| tuple.as_slice()).collect();
        // A version that is read under its own definition has no columns of the merged one to filter by.
        let filter = if lens.reading.alike { tuples_filter(shape, shapes.columns_of(space), &tuples)? } else { None };
        let columns: BTreeSet<usize> =
            [space, shape.key].into_iter().flat_map(|space| shapes.columns_of(space)).copied().collect();
        let columns: Vec<usize> = columns.into_iter().collect();
        let asked = lens.asked(shape, &columns);
        let mut batches = table.scan(Scan { columns: asked.own.clone(), filter, limit: None, addresses: true });
        while let Some(batch) = batches.try_next().await? {
            for (address, row, _) in lens.rows(shape, &asked, &batch) {
                let digest = row.digest(shapes, shape, space).filter(|_| !known.contains(&address));
                for (case, form, _) in digest.and_then(|digest| novel.get(&digest)).into_iter().flatten() {
                    let (case, form) = (*case, *form);
                    found.push(Twins { form, space, case, other: Other::Unchanged(row.clone()) });
                }
            }
        }
    }
    Ok(found)
}
