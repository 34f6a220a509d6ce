//! Deleted nodes and their edges.

use crate::error::ConflictKind;
use crate::merge::row::{DetachConflict, EdgeChange, EdgeFate, NodeDeletion, Side, declared_winner, detach_conflicts};
use crate::schema::OnMerge::{Cascade, Keep};

fn deletion(node: char, changed: bool) -> NodeDeletion<char> {
    NodeDeletion { node, by: Side::Target, changed }
}

fn edge(edge: u32, from: char, to: char, fate: EdgeFate) -> EdgeChange<char, u32> {
    EdgeChange { edge, ends: [from, to], fate }
}

#[test]
fn a_node_and_its_edges_are_one_conflict() {
    let edges = [
        edge(3, 'a', 'x', EdgeFate::Deleted(Side::Target)),
        edge(1, 'y', 'a', EdgeFate::DeletedAndChanged(Side::Target)),
        edge(2, 'a', 'a', EdgeFate::Put(Side::Source)),
        edge(4, 'x', 'y', EdgeFate::DeletedAndChanged(Side::Target)),
    ];
    let conflicts: Vec<DetachConflict<char, u32>> = detach_conflicts([deletion('a', true)], edges);
    let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}") };
    assert_eq!(
        (conflict.node, conflict.deleted_by, conflict.kind),
        ('a', Side::Target, ConflictKind::ChangedAndDeleted)
    );
    assert_eq!(conflict.edges, [1, 2, 3], "each once, in order, and none of other nodes");
}

#[test]
fn a_deletion_that_nobody_minds_is_no_conflict() {
    let edges =
        [edge(1, 'a', 'x', EdgeFate::Deleted(Side::Target)), edge(2, 'a', 'x', EdgeFate::Deleted(Side::Source))];
    assert_eq!(detach_conflicts([deletion('a', false)], edges), []);
}

#[test]
fn an_edge_added_at_a_deleted_node_dangles() {
    let edges = [edge(1, 'x', 'a', EdgeFate::Put(Side::Source)), edge(2, 'a', 'x', EdgeFate::Deleted(Side::Target))];
    let conflicts = detach_conflicts([deletion('a', false), deletion('b', false)], edges);
    assert_eq!(conflicts.len(), 1);
    assert_eq!((conflicts[0].kind, conflicts[0].edges.as_slice()), (ConflictKind::DanglingEdge, &[1, 2][..]));
}

#[test]
fn an_edge_between_two_deleted_nodes_stands_in_both() {
    let edges = [edge(1, 'a', 'b', EdgeFate::Put(Side::Source))];
    let conflicts = detach_conflicts([deletion('b', false), deletion('a', false)], edges);
    let found: Vec<_> = conflicts.iter().map(|conflict| (conflict.node, conflict.edges.clone())).collect();
    assert_eq!(found, [('a', vec![1]), ('b', vec![1])]);
}

#[test]
fn an_edge_that_was_changed_makes_its_deletion_a_conflict() {
    let edges = [edge(1, 'a', 'x', EdgeFate::DeletedAndChanged(Side::Target))];
    let conflicts = detach_conflicts([deletion('a', false)], edges.clone());
    assert_eq!(conflicts[0].kind, ConflictKind::ChangedAndDeleted);
    // The other side deleted the node, and this one the edge: two matters.
    let other = NodeDeletion { node: 'a', by: Side::Source, changed: false };
    assert_eq!(detach_conflicts([other], edges), []);
}

#[test]
fn a_declaration_counts_if_every_table_makes_one_and_keeping_goes_first() {
    let winner = |rules: &[Option<crate::schema::OnMerge>]| declared_winner(Side::Source, rules.iter().copied());
    assert_eq!(winner(&[Some(Cascade), Some(Cascade)]), Some(Side::Source));
    assert_eq!(winner(&[Some(Keep)]), Some(Side::Target));
    assert_eq!(winner(&[Some(Cascade), Some(Keep)]), winner(&[Some(Keep), Some(Cascade)]));
    assert_eq!(winner(&[Some(Keep), Some(Cascade)]), Some(Side::Target));
    assert_eq!(winner(&[Some(Keep), None]), None);
    assert_eq!(winner(&[None, Some(Cascade)]), None);
    assert_eq!(winner(&[]), None);
}
