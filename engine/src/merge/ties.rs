//! Which tables a merge has to compare row by row: those that both sides changed, and those that rules tie to them.
//!
//! Each side keeps the rules by itself, so a result whose edges and nodes are both as one side has them needs no look, nor does one whose
//! edges, or whose nodes, are the same on both sides.

use std::collections::BTreeSet;

use super::plan::{Plan, Sides};
use super::table::TableMerge;
use crate::graph::Core;
use crate::ids::TableId;
use crate::publish::Snapshot;

/// The tables to compare. `asked`: those that resolutions name, as far as the sides differ there.
pub(super) fn to_compare(sides: &Sides, plan: &Plan, asked: &BTreeSet<TableId>) -> BTreeSet<TableId> {
    let differ = |id: &TableId| !plan.is_same(sides, *id);
    let both = plan.tables.iter().filter(|(_, merge)| matches!(merge, TableMerge::BothMoved)).map(|(id, _)| *id);
    let mut compared: BTreeSet<TableId> = both.chain(asked.iter().copied().filter(differ)).collect();
    let from_source = |id: &TableId| matches!(plan.tables.get(id), Some(TableMerge::TakeSource(_)));
    let ties: Vec<[TableId; 2]> = plan
        .catalog()
        .tables
        .iter()
        .filter_map(|table| Some((table.id, table.ends()?)))
        .flat_map(|(edges, (from, to))| [[edges, from], [edges, to]])
        .filter(|pair| pair.iter().all(|id| !plan.is_same(sides, *id)))
        .collect();
    for pair in &ties {
        if from_source(&pair[0]) != from_source(&pair[1]) {
            compared.extend(pair);
        }
    }
    // What becomes of a row may change what becomes of those it is tied to.
    loop {
        let before = compared.len();
        for pair in &ties {
            if pair.iter().any(|id| compared.contains(id)) {
                compared.extend(pair);
            }
        }
        if compared.len() == before {
            return compared;
        }
    }
}

/// Opens what a comparison may have to look at, so that it costs no time later: tables that differ between the sides.
pub(super) async fn open_ahead(core: &Core, source: &Snapshot, target: &Snapshot) {
    let mut opening = Vec::new();
    for table in &target.catalog.tables {
        let same_definition = source.catalog.table_by_id(table.id) == Some(table);
        if !same_definition || source.table_version(table.id) != target.table_version(table.id) {
            opening.extend([source, target].map(|at| open(core, at, table.id)));
        }
    }
    futures::future::join_all(opening).await;
}

/// Whatever is wrong is told when it is needed.
async fn open(core: &Core, at: &Snapshot, id: TableId) {
    if let Some(table) = at.catalog.table_by_id(id) {
        drop(core.open_table(at, table).await);
    }
}
