//! In which order the nodes and edges of a pattern are found: pure, from estimates alone.
//!
//! What is bound already comes first, then whatever is reached from what is known, an edge whose two ends are known before all others.
//! Where nothing is reached, the cheapest start is taken: a key, the smallest table by what its conditions leave, or an edge table, if
//! the pattern asks no more of its ends than edges bear.

use crate::query::bound::{Direction, Pattern};

/// An end of an edge as the pattern writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Left,
    Right,
}

impl Place {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// One step: it makes one node or edge known, or holds two against each other. Numbers are places in the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// All nodes of a place, with all rows so far.
    ScanNode { node: usize },
    /// The node whose key is computed from what is known.
    LookupNode { node: usize },
    /// All edges of a place, with all rows so far.
    ScanEdge { edge: usize },
    /// The edges at a known node.
    ExpandEdge { edge: usize, from: Place },
    /// The edges between two known nodes.
    CloseEdge { edge: usize },
    /// The node at an end of a known edge.
    FetchNode { node: usize, edge: usize, place: Place },
    /// Keeps the rows in which a known edge joins its known ends.
    CheckEdge { edge: usize },
}

/// What is known of the cost of a pattern's parts.
#[derive(Debug, Default)]
pub(crate) struct Estimates {
    pub nodes: Vec<NodeEstimate>,
    pub edges: Vec<EdgeEstimate>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct NodeEstimate {
    /// Rows of its tables.
    pub all: f64,
    /// Rows that its own conditions leave.
    pub left: f64,
    /// Whether its key alone will do, so that an edge at it tells all of it.
    pub only_key: bool,
    /// The nodes and edges of the pattern that must be known for its key to be computed; none if the key cannot be computed.
    pub lookup: Option<Needs>,
}

/// Nodes and edges of a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub nodes: Vec<usize>,
    pub edges: Vec<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct EdgeEstimate {
    /// Rows that its own conditions leave.
    pub left: f64,
}

/// Decides the order.
pub(crate) fn order(pattern: &Pattern, estimates: &Estimates) -> Vec<Step> {
    let mut search = Search {
        pattern,
        estimates,
        nodes: pattern.nodes.iter().map(|node| node.bound).collect(),
        edges: vec![false; pattern.edges.len()],
        steps: Vec::new(),
    };
    for (edge, bound) in pattern.edges.iter().enumerate().filter(|(_, edge)| edge.bound) {
        let known = search.nodes[bound.left] || search.nodes[bound.right];
        search.fetch_ends(edge);
        // Both ends by themselves may be either end of the edge.
        if known || bound.direction == Direction::Either || bound.left == bound.right {
            search.steps.push(Step::CheckEdge { edge });
        }
    }
    while search.step() {}
    search.steps
}

struct Search<'a> {
    pattern: &'a Pattern,
    estimates: &'a Estimates,
    /// Which nodes are known.
    nodes: Vec<bool>,
    /// Which edges are known.
    edges: Vec<bool>,
    steps: Vec<Step>,
}

impl Search<'_> {
    /// One more step; `false` once everything is known.
    fn step(&mut self) -> bool {
        let open = |search: &Self| (0..search.edges.len()).filter(|edge| !search.edges[*edge]).collect::<Vec<_>>();
        let ends = |edge: usize| (self.pattern.edges[edge].left, self.pattern.edges[edge].right);
        if let Some(edge) = open(self).into_iter().find(|edge| self.nodes[ends(*edge).0] && self.nodes[ends(*edge).1]) {
            self.edges[edge] = true;
            self.steps.push(Step::CloseEdge { edge });
            return true;
        }
        let reached = open(self).into_iter().filter_map(|edge| {
            let (left, right) = ends(edge);
            match (self.nodes[left], self.nodes[right]) {
                (true, false) => Some((edge, Place::Left, self.fan_out(edge, left, right))),
                (false, true) => Some((edge, Place::Right, self.fan_out(edge, right, left))),
                _ => None,
            }
        });
        if let Some((edge, from, _)) = reached.min_by(|a, b| a.2.total_cmp(&b.2)) {
            self.steps.push(Step::ExpandEdge { edge, from });
            self.fetch_ends(edge);
            return true;
        }
        self.start()
    }

    /// Rows that come of one row by going from `known` over `edge` to `other`.
    fn fan_out(&self, edge: usize, known: usize, other: usize) -> f64 {
        let (from, to) = (&self.estimates.nodes[known], &self.estimates.nodes[other]);
        self.estimates.edges[edge].left / from.all.max(1.0) * (to.left / to.all.max(1.0))
    }

    /// Begins a part of the pattern that nothing known reaches.
    fn start(&mut self) -> bool {
        let ready = |search: &Self, needs: &Needs| {
            needs.nodes.iter().all(|node| search.nodes[*node]) && needs.edges.iter().all(|edge| search.edges[*edge])
        };
        let mut best: Option<(f64, Step)> = None;
        let mut offer = |cost: f64, step: Step| {
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, step));
            }
        };
        for node in (0..self.nodes.len()).filter(|node| !self.nodes[*node]) {
            let estimate = &self.estimates.nodes[node];
            if estimate.lookup.as_ref().is_some_and(|needs| ready(self, needs)) {
                offer(0.5, Step::LookupNode { node });
            } else {
                // One whose key waits for another node is better reached from there.
                let waits = if estimate.lookup.is_some() { 2.0 } else { 1.0 };
                offer(estimate.left * waits, Step::ScanNode { node });
            }
        }
        for (edge, pattern) in self.pattern.edges.iter().enumerate().filter(|(edge, _)| !self.edges[*edge]) {
            if pattern.direction != Direction::Either && pattern.left != pattern.right {
                let fetches = [pattern.left, pattern.right].map(|node| f64::from(!self.estimates.nodes[node].only_key));
                offer(self.estimates.edges[edge].left * (1.0 + fetches[0] + fetches[1]), Step::ScanEdge { edge });
            }
        }
        let Some((_, step)) = best else { return false };
        self.steps.push(step);
        match step {
            Step::ScanNode { node } | Step::LookupNode { node } => self.nodes[node] = true,
            Step::ScanEdge { edge } => self.fetch_ends(edge),
            _ => {}
        }
        true
    }

    /// Makes an edge and what is not known of its ends known.
    fn fetch_ends(&mut self, edge: usize) {
        self.edges[edge] = true;
        let pattern = &self.pattern.edges[edge];
        for (node, place) in [(pattern.left, Place::Left), (pattern.right, Place::Right)] {
            if !self.nodes[node] {
                self.nodes[node] = true;
                self.steps.push(Step::FetchNode { node, edge, place });
            }
        }
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
