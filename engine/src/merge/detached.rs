//! Nodes that one side deleted while the other changed them or put edges at them: one conflict for each node with its edges.
//!
//! What settles one, in this order: a resolution or strategy of the node; resolutions that let all its edges go; what the tables of edges
//! declare (`ON MERGE`), unless the other side changed the node itself.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Answers;
use super::cases::{Case, Fate};
use super::ends::{EdgeEnds, Tables};
use super::row::{
    DetachConflict, EdgeChange, EdgeFate, NodeDeletion, Resolution, RowConflict, Seen, Side, declared_winner,
    detach_conflicts,
};
use crate::ids::Digest;
use crate::schema::OnMerge;
use crate::write::shape::Shapes;

/// A node: the index of its table and its key.
type Node = (usize, Digest);
/// An edge: the index of its table and the number of its case.
type Edge = (usize, usize);

/// A deleted node that is left to people.
pub(super) type Detached = DetachConflict<Node, Edge>;

/// Settles what there is an answer for, the edges with their node; returns the rest, in no order that matters to people.
pub(super) fn settle(shapes: &Shapes, tables: &mut Tables, ends: &EdgeEnds, answers: &Answers) -> Vec<Detached> {
    let found = detach_conflicts(deletions(shapes, tables), edge_changes(shapes, tables, ends));
    let mut open = Vec::new();
    // An edge between two such nodes is kept only if both are.
    let mut edges: BTreeMap<Edge, Vec<Side>> = BTreeMap::new();
    for conflict in found {
        let declared = || declared(shapes, tables, &conflict, answers);
        let Some(side) = winner(tables, &conflict, answers).or_else(declared) else {
            if !solved_by_edges(tables, &conflict) {
                open.push(conflict);
            }
            continue;
        };
        let (index, key) = conflict.node;
        if let Some(case) = case_of_key(tables, index, key) {
            (case.fate, case.open) = (Fate::As(side), Vec::new());
        }
        for edge in conflict.edges {
            edges.entry(edge).or_default().push(side);
        }
    }
    let lacking = lacking(shapes, tables, ends, &edges);
    for ((index, at), sides) in edges {
        let Some(cases) = tables.get_mut(&index) else { continue };
        let table = cases.table;
        let Some(case) = cases.all.get_mut(at) else { continue };
        if answers.settles_row(table, case.key) {
            continue;
        }
        // One that is brought back with a node needs the other one too.
        let without_node = lacking.contains(&(index, at)) && !case.clash;
        let absent = [Side::Source, Side::Target].into_iter().find(|side| case.on(*side).is_none());
        let gone = sides.iter().copied().find(|side| case.on(*side).is_none()).or(absent.filter(|_| without_node));
        if let Some(side) = gone.or_else(|| sides.first().copied()) {
            (case.fate, case.open) = (Fate::As(side), Vec::new());
        }
    }
    for conflict in &open {
        let (index, key) = conflict.node;
        if let Some(case) = case_of_key(tables, index, key) {
            (case.open, case.detached) = (Vec::new(), true);
        }
        for (index, at) in &conflict.edges {
            if let Some(case) = tables.get_mut(index).and_then(|cases| cases.all.get_mut(*at)) {
                (case.open, case.detached) = (Vec::new(), true);
            }
        }
    }
    open
}

/// Those of `edges` that were deleted with a node and have an end that is gone for good.
fn lacking(shapes: &Shapes, tables: &Tables, ends: &EdgeEnds, edges: &BTreeMap<Edge, Vec<Side>>) -> BTreeSet<Edge> {
    let is_gone = |index: usize, key: Digest| {
        tables.get(&index).and_then(|cases| cases.of(key)).is_some_and(|node| !node.stands() && !node.is_open())
    };
    let lacks = |((index, at, _), keys): ((usize, usize, Side), [Digest; 2])| {
        let nodes = shapes.tables.get(index)?.ends?;
        let was_deleted = tables.get(&index)?.all.get(at)?.deleted_by().is_some();
        let lacks = is_gone(nodes.from.node, keys[0]) || is_gone(nodes.to.node, keys[1]);
        (was_deleted && lacks && edges.contains_key(&(index, at))).then_some((index, at))
    };
    ends.iter().filter_map(lacks).collect()
}

fn case_of_key(tables: &mut Tables, index: usize, key: Digest) -> Option<&mut Case> {
    let cases = tables.get_mut(&index)?;
    let at = cases.place_of(key)?;
    cases.all.get_mut(at)
}

/// The side whose form of the node and of its edges counts.
fn winner(tables: &Tables, conflict: &Detached, answers: &Answers) -> Option<Side> {
    let (index, key) = conflict.node;
    let cases = tables.get(&index)?;
    let seen = || Seen::Unknown;
    let asked = RowConflict { kind: conflict.kind, place: None, base: seen(), source: seen(), target: seen() };
    match answers.to(cases.table, key, &asked) {
        Some(Resolution::Choose(side)) => Some(side),
        Some(Resolution::Value(_)) | None => None,
    }
}

/// The side whose form counts by what the tables of the edges in dispute declare. What the caller says of an edge, or of its table, goes
/// before: where that is otherwise than declared, it is for people to say what becomes of the node.
fn declared(shapes: &Shapes, tables: &Tables, conflict: &Detached, answers: &Answers) -> Option<Side> {
    let by = conflict.deleted_by;
    if tables.get(&conflict.node.0)?.of(conflict.node.1)?.clash {
        return None;
    }
    let rule = |(index, at): &Edge| {
        let cases = tables.get(index)?;
        let case = cases.all.get(*at)?;
        // An edge that goes anyway, with its node or by a resolution, has no say.
        if !case.stands() && case.open.is_empty() {
            return None;
        }
        let rule = shapes.tables.get(*index).and_then(|shape| shape.layout.table.on_merge());
        let stays = answers.settles_row(cases.table, case.key) || matches!(case.fate, Fate::Written(_));
        let asked = if stays { Some(by.other()) } else { answers.side(cases.table) };
        Some(rule.filter(|rule| match rule {
            OnMerge::Cascade => asked != Some(by.other()),
            OnMerge::Keep => asked != Some(by),
        }))
    };
    declared_winner(by, conflict.edges.iter().filter_map(rule))
}

/// Whether every edge that was put at the node goes by a resolution of its own, so that nothing is left to decide.
fn solved_by_edges(tables: &Tables, conflict: &Detached) -> bool {
    let node = tables.get(&conflict.node.0).and_then(|cases| cases.of(conflict.node.1));
    if node.is_none_or(|case| case.clash) {
        return false;
    }
    conflict.edges.iter().all(|(index, at)| {
        let case = tables.get(index).and_then(|cases| cases.all.get(*at));
        case.is_some_and(|case| !case.stands() && case.open.is_empty())
    })
}

fn deletions(shapes: &Shapes, tables: &Tables) -> Vec<NodeDeletion<Node>> {
    let nodes =
        tables.values().filter(|cases| shapes.tables.get(cases.index).is_some_and(|shape| shape.ends.is_none()));
    nodes
        .flat_map(|cases| {
            cases.all.iter().filter_map(|case| {
                let by = case.deleted_by()?;
                Some(NodeDeletion { node: (cases.index, case.key), by, changed: case.clash })
            })
        })
        .collect()
}

fn edge_changes(shapes: &Shapes, tables: &Tables, ends: &EdgeEnds) -> Vec<EdgeChange<Node, Edge>> {
    let change = |((index, at, side), keys): ((usize, usize, Side), [Digest; 2])| {
        let case = tables.get(&index)?.all.get(at)?;
        let nodes = shapes.tables.get(index)?.ends?;
        // An edge that both sides have has its nodes on both.
        if case.on(side.other()).is_some() {
            return None;
        }
        let fate = match case.deleted_by() {
            Some(by) if case.clash => EdgeFate::DeletedAndChanged(by),
            Some(by) => EdgeFate::Deleted(by),
            None => EdgeFate::Put(side),
        };
        Some(EdgeChange { edge: (index, at), ends: [(nodes.from.node, keys[0]), (nodes.to.node, keys[1])], fate })
    };
    ends.iter().filter_map(change).collect()
}
