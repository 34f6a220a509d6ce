//! How many rows of something that one side dropped the other side changed: their values would be lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::TryStreamExt as _;
use futures::future::try_join_all;
use roaring::RoaringTreemap;

use super::plan::Sides;
use super::row::Side;
use super::schema::{Dropped, Identities};
use crate::error::Error;
use crate::graph::Core;
use crate::ids::{Digest, PropertyId, TableId};
use crate::publish::Snapshot;
use crate::schema::{JsonText, PropertyDef, TableDef};
use crate::table::{Delta, Table};
use crate::value::{Value, parse_json, read_value};
use crate::write::lookup::addresses;

/// Counts for each of `dropped`: rows of a table that the other side added or changed; rows in which it gave a property another value, or which
/// it added with one that is not the default. Reads nothing where the other side left the table as it was.
///
/// # Errors
/// When rows cannot be read.
pub(super) async fn count(
    core: &Arc<Core>,
    sides: &Sides,
    ids: &Identities,
    dropped: &[Dropped],
) -> Result<BTreeMap<Dropped, u64>, Error> {
    let mut tables: BTreeMap<(TableId, Side), Vec<Dropped>> = BTreeMap::new();
    for it in dropped {
        tables.entry((it.subject.table, it.by)).or_default().push(*it);
    }
    let mut counting = Vec::new();
    for ((table, by), dropped) in tables {
        let at = sides.of(by.other());
        if let Some(table) = ids.table_in(&at.catalog, table) {
            counting.push(in_table(core, sides, ids, (at, table), dropped));
        }
    }
    Ok(try_join_all(counting).await?.into_iter().flatten().collect())
}

async fn in_table(
    core: &Arc<Core>,
    sides: &Sides,
    ids: &Identities,
    (at, table): (&Snapshot, &TableDef),
    dropped: Vec<Dropped>,
) -> Result<Vec<(Dropped, u64)>, Error> {
    let known: Vec<Option<(&Snapshot, &TableDef)>> =
        sides.bases.iter().map(|base| Some((base, ids.table_in(&base.catalog, table.id)?))).collect();
    let untouched = |base: &Option<(&Snapshot, &TableDef)>| {
        base.is_some_and(|(base, before)| {
            before.id == table.id && base.table_version(before.id) == at.table_version(table.id)
        })
    };
    if known.iter().all(untouched) {
        return Ok(dropped.into_iter().map(|it| (it, 0)).collect());
    }
    let after = core.open_table(at, table).await?;
    let mut pairs: Vec<(Option<(Table, &TableDef)>, Delta)> = Vec::with_capacity(known.len());
    for base in known {
        let before = match base {
            Some((base, before)) => Some((core.open_table(base, before).await?, before)),
            None => None,
        };
        let delta = Table::delta(before.as_ref().map(|(table, _)| table), Some(&after)).await?;
        pairs.push((before, delta));
    }
    let mut counts = Vec::with_capacity(dropped.len());
    for it in dropped {
        let mut rows: BTreeSet<Digest> = BTreeSet::new();
        for (before, delta) in &pairs {
            match it.subject.property {
                None => {
                    let there = delta.changes.iter().filter(|change| change.after.is_some());
                    rows.extend(there.map(|change| change.key));
                }
                Some(property) => {
                    let before = before.as_ref().map(|(before, table)| (before, *table));
                    rows.extend(edited(ids, property, before, (&after, table), delta).await?);
                }
            }
        }
        counts.push((it, rows.len() as u64));
    }
    Ok(counts)
}

/// The keys of rows in which a property has another value than before.
async fn edited(
    ids: &Identities,
    property: PropertyId,
    before: Option<(&Table, &TableDef)>,
    (after, table): (&Table, &TableDef),
    delta: &Delta,
) -> Result<Vec<Digest>, Error> {
    let Some(own) = ids.property_in(table, property) else { return Ok(Vec::new()) };
    let is = delta.changes.iter().filter_map(|change| Some(change.after?.address)).collect();
    let is = values(after, own, &is).await?;
    let was = match before.and_then(|(before, table)| Some((before, ids.property_in(table, property)?))) {
        Some((before, property)) => {
            let addresses = delta.changes.iter().filter_map(|change| Some(change.before?.address)).collect();
            values(before, property, &addresses).await?
        }
        None => BTreeMap::new(),
    };
    let nothing = [own.default.as_ref(), own.fill.as_ref()].map(|json| value_of(json, own));
    let changed = delta.changes.iter().filter(|change| {
        let Some(is) = change.after.and_then(|spot| is.get(&spot.address)) else { return false };
        match change.before.and_then(|spot| was.get(&spot.address)) {
            Some(was) => !is.is_same(was),
            None => !is.is_null() && nothing.iter().all(|nothing| !is.is_same(nothing)),
        }
    });
    Ok(changed.map(|change| change.key).collect())
}

fn value_of(json: Option<&JsonText>, property: &PropertyDef) -> Value {
    json.and_then(|json| parse_json(json.raw(), &property.ty).ok()).unwrap_or(Value::Null)
}

/// What rows have of a property, by their addresses.
async fn values(table: &Table, property: &PropertyDef, rows: &RoaringTreemap) -> Result<BTreeMap<u64, Value>, Error> {
    let Some(column) = table.column_of(property.id) else { return Ok(BTreeMap::new()) };
    let fill = value_of(property.fill.as_ref(), property);
    let mut values = BTreeMap::new();
    let mut batches = table.take(vec![column], rows);
    while let Some(batch) = batches.try_next().await? {
        let Some(addresses) = addresses(&batch) else { continue };
        for (at, address) in addresses.values().iter().enumerate() {
            let value = read_value(batch.column(0).as_ref(), at, &property.ty);
            values.insert(*address, if value.is_null() { fill.clone() } else { value });
        }
    }
    Ok(values)
}
