//! Looking up stored rows by key, many at once: one scan a table, all tables side by side.

use std::sync::Arc;

use futures::TryStreamExt as _;

use crate::error::Error;
use crate::graph::Core;
use crate::publish::Snapshot;
use crate::table::Scan;
use crate::value::Value;
use crate::write::lookup::tuples_filter;
use crate::write::row::Row;

use super::overlay::{Overlay, Wanted};
use super::rows::RowId;

/// Keys that a filter lists; with more of them the table is read through.
const MOST_LISTED: usize = 2_000;

/// Looks up all that is wanted and tells the overlay what there is and what there is not.
pub(super) async fn fetch(
    core: &Arc<Core>,
    at: &Snapshot,
    overlay: &mut Overlay,
    wanted: &Wanted,
) -> Result<(), Error> {
    let scans = wanted.0.iter().map(|(table, keys)| {
        let shapes = overlay.shapes().clone();
        async move {
            let mut found: Vec<(RowId, Row)> = Vec::new();
            let Some(shape) = shapes.tables.get(*table) else { return Ok(found) };
            if at.table_version(shape.table_id()).is_none_or(|version| version.rows == 0) {
                return Ok(found);
            }
            let filter = if keys.len() <= MOST_LISTED {
                let mut listed: Vec<_> = keys.iter().collect();
                // In the order of digests, so that equal look-ups are equal requests.
                listed.sort_unstable_by_key(|(id, _)| id.key);
                let listed: Vec<&[Value]> = listed.into_iter().map(|(_, key)| key.as_slice()).collect();
                tuples_filter(shape, shapes.columns_of(shape.key), &listed)?
            } else {
                None
            };
            let columns = shape.layout.all_columns();
            let open = core.open_table(at, &shape.layout.table).await?;
            let mut batches = open.scan(Scan { columns: columns.clone(), filter, limit: None, addresses: false });
            while let Some(batch) = batches.try_next().await? {
                for place in 0..batch.num_rows() {
                    let mut row = Row::read(shape, &columns, &batch, place);
                    // A row that is written anew says what it meant.
                    row.properties = row.meant(shape);
                    // A filter by parts of keys lets mixtures of them pass.
                    let id = RowId::of_row(&shapes, *table, &row).filter(|id| keys.contains_key(id));
                    found.extend(id.map(|id| (id, row)));
                }
            }
            Ok::<_, Error>(found)
        }
    });
    let found = futures::future::try_join_all(scans).await?;
    found.into_iter().flatten().for_each(|(id, row)| overlay.learn(id, Some(row)));
    wanted.0.values().flat_map(|keys| keys.keys()).for_each(|id| overlay.learn(*id, None));
    Ok(())
}
