//! A node deleted on one side with its edges, while the other side changed the node or an edge of it, is one conflict: whoever settles it
//! decides on the node and all of these edges at once.

use std::collections::{BTreeMap, BTreeSet};

use super::Side;
use crate::error::ConflictKind;
use crate::schema::OnMerge;

/// A node that one side deleted. `N` is the identity of a node: its table and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeDeletion<N> {
    /// The node.
    pub node: N,
    /// Who deleted it.
    pub by: Side,
    /// Whether the other side changed it.
    pub changed: bool,
}

/// What the sides did to an edge. `E` is its identity: table and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EdgeChange<N, E> {
    /// The edge.
    pub edge: E,
    /// The nodes that it joins, on the side that has it (before the merge on the base, if neither has).
    pub ends: [N; 2],
    /// What was done.
    pub fate: EdgeFate,
}

/// What was done to an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeFate {
    /// That side deleted it, the other left it as it was.
    Deleted(Side),
    /// That side deleted it, the other changed it.
    DeletedAndChanged(Side),
    /// That side added it, or changed it and the other has it too.
    Put(Side),
}

/// One conflict over a deleted node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetachConflict<N, E> {
    /// The node.
    pub node: N,
    /// Who deleted it.
    pub deleted_by: Side,
    /// `ChangedAndDeleted` if the other side changed the node or an edge that was deleted, else `DanglingEdge`.
    pub kind: ConflictKind,
    /// The edges that are settled with it, in order: whichever side is chosen, they become what that side has. Deletions that are no
    /// conflict by themselves are among them, so that who keeps the node gets its edges back.
    pub edges: Vec<E>,
}

/// The conflicts over deleted nodes, in the order of nodes. What the other side did to an edge that stands in one of them is no
/// conflict of its own; an edge between two such nodes stands in both, and is kept only if both are.
pub(crate) fn detach_conflicts<N: Ord + Clone, E: Ord + Clone>(
    deletions: impl IntoIterator<Item = NodeDeletion<N>>,
    edges: impl IntoIterator<Item = EdgeChange<N, E>>,
) -> Vec<DetachConflict<N, E>> {
    struct Case<E> {
        by: Side,
        changed: bool,
        dangling: bool,
        edges: BTreeSet<E>,
    }
    let case = |deletion: NodeDeletion<N>| {
        let case = Case { by: deletion.by, changed: deletion.changed, dangling: false, edges: BTreeSet::new() };
        (deletion.node, case)
    };
    let mut cases: BTreeMap<N, Case<E>> = deletions.into_iter().map(case).collect();
    for change in edges {
        for end in &change.ends {
            let Some(case) = cases.get_mut(end) else { continue };
            match change.fate {
                EdgeFate::Deleted(by) if by == case.by => {}
                EdgeFate::DeletedAndChanged(by) if by == case.by => case.changed = true,
                EdgeFate::Put(by) if by != case.by => case.dangling = true,
                // The other side deleted it, or this side put it: that it is without its node is for the check of the result to say.
                EdgeFate::Deleted(_) | EdgeFate::DeletedAndChanged(_) | EdgeFate::Put(_) => continue,
            }
            case.edges.insert(change.edge.clone());
        }
    }
    let conflicts = cases.into_iter().filter(|(_, case)| case.changed || case.dangling);
    conflicts
        .map(|(node, case)| DetachConflict {
            node,
            deleted_by: case.by,
            kind: if case.changed { ConflictKind::ChangedAndDeleted } else { ConflictKind::DanglingEdge },
            edges: case.edges.into_iter().collect(),
        })
        .collect()
}

/// The side whose form of a node and its edges counts by what the schema declares. `rules`: what the table of each edge that is in
/// dispute says. Keeping goes before letting go; a table that says nothing leaves it to people.
pub(crate) fn declared_winner(deleted_by: Side, rules: impl IntoIterator<Item = Option<OnMerge>>) -> Option<Side> {
    let mut winner = None;
    for rule in rules {
        match rule? {
            OnMerge::Keep => winner = Some(deleted_by.other()),
            OnMerge::Cascade => winner = winner.or(Some(deleted_by)),
        }
    }
    winner
}
