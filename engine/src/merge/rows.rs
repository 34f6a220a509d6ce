//! Merging the rows of keys that both sides changed: read, merged property by property, and settled as far as there is an answer.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use futures::TryStreamExt as _;
use futures::future::try_join_all;
use roaring::RoaringTreemap;

use super::answers::Answers;
use super::cases::{Case, Cases, Fate, Moved, Written};
use super::keys::{Of, Place, Versions};
use super::origin::Origins;
use super::row::{self, Decision, RowRules, Side, merge_row};
use crate::error::Error;
use crate::table::{BatchStream, Table};
use crate::value::Value;
use crate::write::lookup::addresses;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// Keys whose rows are held at a time.
const KEYS_AT_A_TIME: usize = 2_000;

/// Rows by version and address.
#[derive(Default)]
pub(super) struct Found(BTreeMap<(Of, u64), Row>);

impl Found {
    /// The row at a place.
    pub(super) fn at(&self, place: Option<Place>) -> Option<&Row> {
        let place = place?;
        self.0.get(&(place.of, place.spot.address))
    }
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
        if let Some(table) = versions.table(*of) {
            reading.push(read_from(table, *of, shape, columns, wanted));
        }
    }
    Ok(Found(try_join_all(reading).await?.into_iter().flatten().collect()))
}

async fn read_from(
    table: &Table,
    of: Of,
    shape: &TableShape,
    columns: &[usize],
    wanted: &RoaringTreemap,
) -> Result<Vec<((Of, u64), Row)>, Error> {
    let mut batches = table.take(columns.to_vec(), wanted);
    let mut rows = Vec::new();
    while let Some(batch) = batches.try_next().await? {
        let Some(addresses) = addresses(&batch) else { continue };
        let read = |(at, address): (usize, &u64)| ((of, *address), Row::read(shape, columns, &batch, at));
        rows.extend(addresses.values().iter().enumerate().map(read));
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
    let contested: Vec<usize> =
        cases.all.iter().enumerate().filter(|(_, case)| case.moved == Moved::Both).map(|(at, _)| at).collect();
    for part in contested.chunks(KEYS_AT_A_TIME) {
        let at_hand: Vec<Case> = part.iter().filter_map(|at| cases.all.get(*at).cloned()).collect();
        let of_origins = |case: &Case| {
            let (key, source) = (case.key, case.source);
            (0..origins.commits.len()).filter_map(|commit| cases.versions.at(commit, key, source)).collect::<Vec<_>>()
        };
        let places = at_hand.iter().flat_map(|case| of_origins(case).into_iter().chain(case.source).chain(case.target));
        let found = read(&cases.versions, shape, &shape.layout.all_columns(), places).await?;
        for (at, case) in part.iter().zip(at_hand) {
            let (source, target) = (found.at(case.source), found.at(case.target));
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
                        cases.written.push(Written::new(shapes, shape, row, [source, target]));
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

/// What a side has of all cases: batches of the layout's columns `columns`, whose rows [`Placed::rows`] tells apart.
pub(super) fn on_side(cases: &Cases, columns: &[usize], side: Side) -> Option<(BatchStream, Placed)> {
    let table = cases.versions.table(Of::Side(side))?;
    let numbered = cases.all.iter().enumerate();
    let mut places: Vec<(u64, usize)> =
        numbered.filter_map(|(at, case)| Some((case.on(side)?.spot.address, at))).collect();
    places.sort_unstable();
    let asked = places.iter().map(|(address, _)| *address).collect();
    Some((table.take(columns.to_vec(), &asked), Placed(places)))
}

/// The addresses of rows with the numbers of their cases, in order.
pub(super) struct Placed(Vec<(u64, usize)>);

impl Placed {
    /// The rows of a batch with the numbers of their cases.
    pub(super) fn rows(&self, shape: &TableShape, columns: &[usize], batch: &RecordBatch) -> Vec<(usize, Row)> {
        let Some(addresses) = addresses(batch) else { return Vec::new() };
        let case = |address: &u64| {
            let found = self.0.binary_search_by_key(address, |(address, _)| *address).ok()?;
            self.0.get(found).map(|(_, case)| *case)
        };
        let rows = addresses.values().iter().enumerate();
        rows.filter_map(|(at, address)| Some((case(address)?, Row::read(shape, columns, batch, at)))).collect()
    }
}
