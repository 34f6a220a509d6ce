//! Merging the rows of keys that both sides changed: read, merged property by property, and settled as far as there is an answer.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use roaring::RoaringTreemap;

use super::answers::Answers;
use super::cases::{Case, Cases, Fate, Moved, Written};
use super::keys::{Of, Place, Versions};
use super::lens::{Lens, RowAt};
use super::origin::Origins;
use super::row::{self, Decision, RowRules, Side, merge_row};
use crate::error::Error;
use crate::ids::ChangeId;
use crate::table::{Table, TableError};
use crate::value::Value;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// Keys whose rows are held at a time.
const KEYS_AT_A_TIME: usize = 2_000;

/// Rows by version and address, in the merged form.
#[derive(Default)]
pub(super) struct Found(BTreeMap<(Of, u64), (Row, Option<ChangeId>)>);

impl Found {
    /// The row at a place.
    pub(super) fn at(&self, place: Option<Place>) -> Option<&Row> {
        let place = place?;
        self.0.get(&(place.of, place.spot.address)).map(|(row, _)| row)
    }

    /// The change that wrote it, where that was read.
    fn change(&self, place: Option<Place>) -> Option<ChangeId> {
        let place = place?;
        self.0.get(&(place.of, place.spot.address)).and_then(|(_, change)| *change)
    }

    /// The row that a side has of a case, with what it inherits from the other side, or from a base. `bases`: where those have it.
    pub(super) fn on(&self, versions: &Versions, case: &Case, side: Side, bases: &[Option<Place>]) -> Option<Row> {
        let mut row = self.at(case.on(side))?.clone();
        if let Some(lens) = versions.lenses.of(side).filter(|lens| lens.reading.inherits) {
            let bases = bases.iter().map(|base| self.at(*base));
            let others: Vec<Option<&Row>> = std::iter::once(self.at(case.on(side.other()))).chain(bases).collect();
            lens.complete(&mut row, &others);
        }
        Some(row)
    }
}

/// Where the merge bases have the row of a case.
fn bases_of(versions: &Versions, case: &Case) -> Vec<Option<Place>> {
    (0..versions.bases()).map(|base| versions.at(base, case.key, case.source)).collect()
}

/// Reads the layout's columns `columns` of rows, wherever they lie, side by side.
///
/// # Errors
/// When the store fails, or there is no such row.
pub(super) async fn read(
    versions: &Versions,
    shape: &TableShape,
    columns: &[usize],
    places: impl IntoIterator<Item = Place>,
) -> Result<Found, Error> {
    let mut wanted: BTreeMap<Of, RoaringTreemap> = BTreeMap::new();
    for place in places {
        wanted.entry(place.of).or_default().insert(place.spot.address);
    }
    let mut reading = Vec::new();
    for (of, wanted) in &wanted {
        if let Some((table, lens)) = versions.read(*of) {
            reading.push(read_from((table, lens), *of, shape, columns, wanted));
        }
    }
    Ok(Found(try_join_all(reading).await?.into_iter().flatten().collect()))
}

type FoundRow = ((Of, u64), (Row, Option<ChangeId>));

async fn read_from(
    (table, lens): (&Table, &Lens),
    of: Of,
    shape: &TableShape,
    columns: &[usize],
    wanted: &RoaringTreemap,
) -> Result<Vec<FoundRow>, Error> {
    let asked = lens.asked(shape, columns);
    let mut batches = table.take(asked.own.clone(), wanted);
    let mut rows = Vec::new();
    while let Some(batch) = batches.try_next().await? {
        let read = lens.rows(shape, &asked, &batch).into_iter();
        rows.extend(read.map(|(address, row, change)| ((of, address), (row, change))));
    }
    Ok(rows)
}

/// Merges the rows of all keys that both sides changed. What has no answer stays open.
///
/// # Errors
/// When rows cannot be read.
pub(super) async fn merge(
    cases: &mut Cases,
    shapes: &Shapes,
    origins: &Origins,
    answers: &Answers,
    later: Side,
) -> Result<(), Error> {
    let Some(shape) = shapes.tables.get(cases.index) else { return Ok(()) };
    let rules = RowRules::new(&shape.layout.table);
    let inherits = |side: Side| cases.versions.lenses.of(side).is_some_and(|lens| lens.reading.inherits);
    let inherits = [Side::Source, Side::Target].map(|side| (side, inherits(side)));
    // What a side does not know of itself takes both.
    let is_contested = |case: &Case| {
        case.moved == Moved::Both || inherits.iter().any(|(side, inherits)| *inherits && case.on(*side).is_some())
    };
    let contested: Vec<usize> =
        cases.all.iter().enumerate().filter(|(_, case)| is_contested(case)).map(|(at, _)| at).collect();
    for part in contested.chunks(KEYS_AT_A_TIME) {
        let at_hand: Vec<Case> = part.iter().filter_map(|at| cases.all.get(*at).cloned()).collect();
        let of_origins = |case: &Case| {
            let (key, source) = (case.key, case.source);
            (0..origins.commits.len()).filter_map(|commit| cases.versions.at(commit, key, source)).collect::<Vec<_>>()
        };
        let places = at_hand.iter().flat_map(|case| of_origins(case).into_iter().chain(case.source).chain(case.target));
        let found = read(&cases.versions, shape, &shape.layout.all_columns(), places).await?;
        for (at, case) in part.iter().zip(at_hand) {
            let bases = bases_of(&cases.versions, &case);
            let [source, target] =
                [Side::Source, Side::Target].map(|side| found.on(&cases.versions, &case, side, &bases));
            let (source, target) = (source.as_ref(), target.as_ref());
            let [on_source, on_target] = [source, target].map(|row| row.map(|row| places_of(shape, row)));
            let at_origin = |commit: usize| {
                found.at(cases.versions.at(commit, case.key, case.source)).map(|row| places_of(shape, row))
            };
            let base = origins.base(&at_origin);
            let proposal = merge_row(&rules, &base, on_source.as_ref(), on_target.as_ref(), later);
            let clash = proposal.is_clash();
            let (decision, open) = proposal.settle(|conflict| answers.to(cases.table, case.key, conflict));
            let fate = match decision {
                Decision::Keep => Fate::As(Side::Target),
                // Gone is what the side has that does not have it.
                Decision::Delete => Fate::As(if target.is_none() { Side::Target } else { Side::Source }),
                Decision::Take => Fate::As(Side::Source),
                Decision::Write(merged) => match target.or(source) {
                    Some(like) => {
                        let row = row_of(shape, like, &merged);
                        let sides = [(Side::Source, source), (Side::Target, target)];
                        let vouching = sides.map(|(side, row)| row.filter(|_| cases.vouches(side)));
                        cases.written.push(Written::new(shapes, shape, row, vouching));
                        Fate::Written(cases.written.len() - 1)
                    }
                    None => Fate::As(Side::Target),
                },
            };
            if let Some(case) = cases.all.get_mut(*at) {
                (case.fate, case.open, case.clash) = (fate, open, clash);
            }
        }
    }
    Ok(())
}

/// Reads the rows of those sides whose definition is not the merged one, as far as they have to be written or judged.
///
/// # Errors
/// When rows cannot be read.
pub(super) async fn read_own(cases: &mut Cases, shapes: &Shapes) -> Result<(), Error> {
    let Some(shape) = shapes.tables.get(cases.index) else { return Ok(()) };
    let columns = shape.layout.all_columns();
    for side in [Side::Source, Side::Target] {
        let Some(lens) = cases.versions.lenses.of(side).cloned() else { continue };
        let reading = lens.reading;
        if reading.alike && reading.vouches {
            continue;
        }
        // What may occur once has to be looked for if the side does not promise it.
        let novel: Vec<usize> = if reading.vouches {
            Vec::new()
        } else {
            super::tuples::unique_spaces(shape).into_iter().map(|(space, _)| space).collect()
        };
        let numbers: Vec<usize> =
            cases.all.iter().enumerate().filter(|(_, case)| case.on(side).is_some()).map(|(at, _)| at).collect();
        for part in numbers.chunks(KEYS_AT_A_TIME) {
            let at_hand: Vec<(usize, Case, Vec<Option<Place>>)> = part
                .iter()
                .filter_map(|at| {
                    let case = cases.all.get(*at)?.clone();
                    let bases = if reading.inherits { bases_of(&cases.versions, &case) } else { Vec::new() };
                    Some((*at, case, bases))
                })
                .collect();
            let places = at_hand.iter().flat_map(|(_, case, bases)| {
                let other = case.on(side.other()).filter(|_| reading.inherits);
                case.on(side).into_iter().chain(other).chain(bases.iter().copied().flatten())
            });
            let found = read(&cases.versions, shape, &columns, places).await?;
            for (at, case, bases) in &at_hand {
                if let Some(row) = found.on(&cases.versions, case, side, bases) {
                    let change = found.change(case.on(side));
                    cases.own.insert((*at, side), Written { row, novel: novel.clone(), change });
                }
            }
        }
    }
    Ok(())
}

/// A row as the merge of rows sees it.
pub(super) fn places_of(shape: &TableShape, row: &Row) -> row::Row {
    let meant = row.meant(shape);
    let properties = shape
        .properties
        .iter()
        .zip(meant)
        .filter(|(property, value)| !value.is_null() && !shape.layout.table.key.contains(&property.def.id));
    let mut places: BTreeMap<row::Place, Value> =
        properties.map(|(property, value)| (row::Place::Property(property.def.id), value)).collect();
    if shape.ends.is_some_and(|ends| ends.multi) {
        places.insert(row::Place::Ends, Value::List(row.from.iter().chain(&row.to).cloned().collect()));
    }
    row::Row(places)
}

/// The row with the key of `like` and what `merged` says of the rest.
pub(super) fn row_of(shape: &TableShape, like: &Row, merged: &row::Row) -> Row {
    let mut row = like.clone();
    for (property, value) in shape.properties.iter().zip(&mut row.properties) {
        if !shape.layout.table.key.contains(&property.def.id) {
            *value = merged.get(row::Place::Property(property.def.id)).clone();
        }
    }
    if let Value::List(ends) = merged.get(row::Place::Ends) {
        let (from, to) = ends.split_at(like.from.len().min(ends.len()));
        (row.from, row.to) = (from.to_vec(), to.to_vec());
    }
    row
}

/// Rows with the numbers of their cases, as they are read.
type Numbered<'a> = BoxStream<'a, Result<Vec<(usize, Row)>, TableError>>;

/// What a side has of all cases, with their numbers: the columns `columns` of the merged layout, in no order.
pub(super) fn on_side<'a>(
    cases: &'a Cases,
    shape: &'a TableShape,
    columns: &[usize],
    side: Side,
) -> Option<Numbered<'a>> {
    let (table, lens) = cases.versions.read(Of::Side(side))?;
    let numbered = cases.all.iter().enumerate();
    let mut places: Vec<(u64, usize)> =
        numbered.filter_map(|(at, case)| Some((case.on(side)?.spot.address, at))).collect();
    places.sort_unstable();
    let wanted = places.iter().map(|(address, _)| *address).collect();
    let asked = lens.asked(shape, columns);
    let batches = table.take(asked.own.clone(), &wanted);
    Some(batches.map_ok(move |batch| placed(&places, lens.rows(shape, &asked, &batch))).boxed())
}

/// Rows with the numbers of their cases; `places` are in the order of addresses.
fn placed(places: &[(u64, usize)], rows: Vec<RowAt>) -> Vec<(usize, Row)> {
    let case = |address: u64| {
        let found = places.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        places.get(found).map(|(_, case)| *case)
    };
    rows.into_iter().filter_map(|(address, row, _)| Some((case(address)?, row))).collect()
}
