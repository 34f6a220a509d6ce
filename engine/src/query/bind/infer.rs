//! Which tables a pattern's nodes and edges can come from: an edge's type fixes its nodes, and nodes fix the edges between them.

use std::collections::BTreeSet;

use crate::ids::TableId;
use crate::query::bound::Direction;
use crate::schema::{Catalog, TableKind};

/// An edge between two of the nodes.
#[derive(Clone)]
pub(super) struct EdgeTables {
    pub tables: BTreeSet<TableId>,
    pub left: usize,
    pub right: usize,
    pub direction: Direction,
}

/// Takes away all tables that no match can use, until nothing changes. What contradicts itself ends with no tables.
pub(super) fn infer(catalog: &Catalog, nodes: &mut [BTreeSet<TableId>], edges: &mut [EdgeTables]) {
    // Sets only shrink, so this ends.
    while edges.iter_mut().any(|edge| narrow(catalog, nodes, edge)) {}
}

/// Narrows one edge and its two nodes; whether that changed anything.
fn narrow(catalog: &Catalog, nodes: &mut [BTreeSet<TableId>], edge: &mut EdgeTables) -> bool {
    let (Some(left), Some(right)) = (nodes.get(edge.left), nodes.get(edge.right)) else { return false };
    let (mut lefts, mut rights, mut tables) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for id in &edge.tables {
        let Some(TableKind::Edge { from, to, .. }) = catalog.table_by_id(*id).map(|table| &table.kind) else {
            continue;
        };
        let ways = match edge.direction {
            Direction::Out => vec![(from, to)],
            Direction::In => vec![(to, from)],
            Direction::Either => vec![(from, to), (to, from)],
        };
        // An edge from a node to itself needs a table that joins one table with itself.
        let fits = |one: &TableId, other: &TableId| {
            left.contains(one) && right.contains(other) && (edge.left != edge.right || one == other)
        };
        for (one, other) in ways.into_iter().filter(|(one, other)| fits(one, other)) {
            lefts.insert(*one);
            rights.insert(*other);
            tables.insert(*id);
        }
    }
    let mut changed = tables.len() < edge.tables.len();
    edge.tables = tables;
    for (index, kept) in [(edge.left, lefts), (edge.right, rights)] {
        if let Some(node) = nodes.get_mut(index) {
            let before = node.len();
            node.retain(|table| kept.contains(table));
            changed |= node.len() < before;
        }
    }
    changed
}
