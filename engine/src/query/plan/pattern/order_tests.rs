use super::*;
use crate::query::bound::{EdgePattern, NodePattern, VarId};

fn node(bound: bool) -> NodePattern {
    NodePattern { var: VarId(0), tables: Vec::new(), bound }
}

fn edge(left: usize, right: usize, direction: Direction) -> EdgePattern {
    EdgePattern { var: VarId(9), tables: Vec::new(), bound: false, left, right, direction }
}

fn rows(all: f64, left: f64) -> NodeEstimate {
    NodeEstimate { all, left, only_key: false, lookup: None }
}

fn edges(left: &[f64]) -> Vec<EdgeEstimate> {
    left.iter().map(|left| EdgeEstimate { left: *left }).collect()
}

#[test]
fn a_key_is_the_start_and_the_rest_is_reached_from_it() {
    let pattern = Pattern {
        nodes: vec![node(false), node(false), node(false)],
        edges: vec![edge(0, 1, Direction::Out), edge(2, 1, Direction::Out)],
        conditions: Vec::new(),
    };
    let nodes = vec![rows(100.0, 100.0), rows(100.0, 100.0), rows(100.0, 1.0)];
    let steps = order(&pattern, &Estimates { nodes, edges: edges(&[500.0, 500.0]) });
    assert_eq!(
        steps,
        [
            Step::ScanNode { node: 2 },
            Step::ExpandEdge { edge: 1, from: Place::Left },
            Step::FetchNode { node: 1, edge: 1, place: Place::Right },
            Step::ExpandEdge { edge: 0, from: Place::Right },
            Step::FetchNode { node: 0, edge: 0, place: Place::Left },
        ]
    );
}

#[test]
fn a_cycle_is_closed_by_its_last_edge() {
    let pattern = Pattern {
        nodes: vec![node(false), node(false)],
        edges: vec![edge(0, 1, Direction::Out), edge(1, 0, Direction::Out)],
        conditions: Vec::new(),
    };
    let nodes = vec![rows(10.0, 1.0), rows(10.0, 10.0)];
    let steps = order(&pattern, &Estimates { nodes, edges: edges(&[50.0, 5.0]) });
    assert_eq!(
        steps,
        [
            Step::ScanNode { node: 0 },
            Step::ExpandEdge { edge: 1, from: Place::Right },
            Step::FetchNode { node: 1, edge: 1, place: Place::Left },
            Step::CloseEdge { edge: 0 },
        ]
    );
}

#[test]
fn edges_are_the_start_where_their_ends_need_not_be_fetched() {
    let only_key = NodeEstimate { only_key: true, ..rows(100.0, 100.0) };
    let mut pattern = Pattern {
        nodes: vec![node(false), node(false)],
        edges: vec![edge(0, 1, Direction::Out)],
        conditions: Vec::new(),
    };
    let estimates = |edge: f64| Estimates { nodes: vec![only_key.clone(), only_key.clone()], edges: edges(&[edge]) };
    let from_edges = [
        Step::ScanEdge { edge: 0 },
        Step::FetchNode { node: 0, edge: 0, place: Place::Left },
        Step::FetchNode { node: 1, edge: 0, place: Place::Right },
    ];
    assert_eq!(order(&pattern, &estimates(60.0)), from_edges);
    pattern.edges[0].direction = Direction::Either;
    assert_eq!(order(&pattern, &estimates(60.0))[0], Step::ScanNode { node: 0 }, "each edge twice is for an expansion");
    pattern.edges[0] = edge(0, 0, Direction::Out);
    pattern.nodes.truncate(1);
    let steps = order(&pattern, &Estimates { nodes: vec![only_key], edges: edges(&[60.0]) });
    assert_eq!(steps, [Step::ScanNode { node: 0 }, Step::CloseEdge { edge: 0 }], "a loop is closed");
}

#[test]
fn parts_that_nothing_joins_are_started_one_by_one() {
    let pattern = Pattern { nodes: vec![node(false), node(true), node(false)], ..Pattern::default() };
    let looked_up =
        NodeEstimate { lookup: Some(Needs { nodes: vec![0], edges: Vec::new() }), ..rows(1_000_000.0, 1_000_000.0) };
    let nodes = vec![rows(10.0, 10.0), rows(5.0, 5.0), looked_up];
    let steps = order(&pattern, &Estimates { nodes, edges: Vec::new() });
    assert_eq!(steps, [Step::ScanNode { node: 0 }, Step::LookupNode { node: 2 }]);
}

#[test]
fn a_bound_edge_gives_its_ends_and_is_checked_where_they_do_not_follow() {
    let bound = |left, right, direction| EdgePattern { bound: true, ..edge(left, right, direction) };
    let mut pattern = Pattern {
        nodes: vec![node(false), node(false)],
        edges: vec![bound(0, 1, Direction::Out)],
        conditions: Vec::new(),
    };
    let estimates = Estimates { nodes: vec![rows(10.0, 10.0), rows(10.0, 10.0)], edges: edges(&[5.0]) };
    let fetched = [
        Step::FetchNode { node: 0, edge: 0, place: Place::Left },
        Step::FetchNode { node: 1, edge: 0, place: Place::Right },
    ];
    assert_eq!(order(&pattern, &estimates), fetched);
    pattern.edges[0].direction = Direction::Either;
    assert_eq!(order(&pattern, &estimates), [fetched[0], fetched[1], Step::CheckEdge { edge: 0 }]);
    pattern.edges[0].direction = Direction::Out;
    pattern.nodes[0].bound = true;
    assert_eq!(order(&pattern, &estimates), [fetched[1], Step::CheckEdge { edge: 0 }]);
}
