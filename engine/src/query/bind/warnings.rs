//! What a statement may ask and yet hardly means.

use std::collections::BTreeSet;

use super::Binder;
use super::infer::{EdgeTables, infer};
use super::places::Places;
use crate::ids::TableId;
use crate::query::bound::Direction;
use crate::schema::TableKind;
use crate::syntax::Finding;

/// Edge tables whose ends a warning tells.
const MOST_TOLD: usize = 3;

impl Binder<'_> {
    /// Warns of edges that can never be found, whatever the graph holds: their tables join others than the labels ask for. openCypher says
    /// that nothing matches. `nodes` and `edges` are as their labels have them.
    pub(super) fn warn_of_no_match(&mut self, places: &Places, nodes: &[BTreeSet<TableId>], edges: &[EdgeTables]) {
        // What has no tables by itself contradicts itself, and no edge is to blame.
        if nodes.iter().any(BTreeSet::is_empty) || places.nodes.iter().chain(&places.edges).any(|part| part.wrong) {
            return;
        }
        let matches = |edges: Vec<EdgeTables>| {
            let (mut nodes, mut edges) = (nodes.to_vec(), edges);
            infer(self.catalog, &mut nodes, &mut edges);
            edges.iter().all(|edge| !edge.tables.is_empty())
        };
        let asked = || places.edges.iter().zip(edges).filter(|(_, edge)| !edge.tables.is_empty());
        let mut warnings = Vec::new();
        for (part, edge) in asked().filter(|(_, edge)| !matches(vec![(*edge).clone()])) {
            let message = format!("nothing can match this edge: {}", self.ends_of(&edge.tables));
            let warning = Finding::new(part.span, message);
            let turned = match edge.direction {
                Direction::Out => Some(Direction::In),
                Direction::In => Some(Direction::Out),
                Direction::Either => None,
            };
            let turned = turned.is_some_and(|direction| matches(vec![EdgeTables { direction, ..edge.clone() }]));
            warnings.push(if turned { warning.with_help("does the arrow point the other way?") } else { warning });
        }
        if warnings.is_empty()
            && let Some((part, _)) = asked().next()
            && !matches(asked().map(|(_, edge)| edge.clone()).collect())
        {
            let tables = asked().flat_map(|(_, edge)| edge.tables.iter().copied()).collect();
            let message = format!("nothing can match this edge and the others together: {}", self.ends_of(&tables));
            warnings.push(Finding::new(part.span, message));
        }
        self.warnings.extend(warnings);
    }

    /// What edge tables join, in words.
    fn ends_of(&self, tables: &BTreeSet<TableId>) -> String {
        let name = |id: &TableId| self.catalog.table_by_id(*id).map_or("?", |table| table.name.as_str());
        let told = tables.iter().take(MOST_TOLD).filter_map(|id| match &self.catalog.table_by_id(*id)?.kind {
            TableKind::Edge { from, to, .. } => {
                Some(format!("`{}` goes from `{}` to `{}`", name(id), name(from), name(to)))
            }
            TableKind::Node { .. } => None,
        });
        let mut told: Vec<String> = told.collect();
        if tables.len() > MOST_TOLD {
            told.push(format!("and {} more do not fit either", tables.len() - MOST_TOLD));
        }
        told.join(", ")
    }
}
