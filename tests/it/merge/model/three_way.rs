//! The three-way merge of whole states.

use std::collections::{BTreeMap, BTreeSet};

use super::{Conflict, Key, Kind, Row, State};

/// What is known of one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    /// Nothing, or it is in conflict.
    Open,
    Is(Option<i64>),
}

/// What is known of a key at a base.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Known {
    Nothing,
    Absent,
    Row([Cell; 3]),
}

/// What a key comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Comes {
    Nothing,
    Absent,
    /// One side changed what the other deleted.
    Clash,
    Row([Cell; 3]),
}

impl Known {
    pub(crate) fn of(row: Option<&Row>) -> Self {
        row.map_or(Self::Absent, |row| Self::Row(row.map(Cell::Is)))
    }
}

impl From<Comes> for Known {
    fn from(comes: Comes) -> Self {
        match comes {
            Comes::Nothing | Comes::Clash => Self::Nothing,
            Comes::Absent => Self::Absent,
            Comes::Row(row) => Self::Row(row),
        }
    }
}

/// Merges one key.
pub(crate) fn key(base: &Known, source: &Known, target: &Known) -> Comes {
    match (source, target) {
        (Known::Nothing, _) | (_, Known::Nothing) => Comes::Nothing,
        (Known::Absent, Known::Absent) => Comes::Absent,
        (Known::Row(row), Known::Absent) | (Known::Absent, Known::Row(row)) => match base {
            Known::Absent => Comes::Row(*row),
            Known::Row(base) if base == row && !row.contains(&Cell::Open) => Comes::Absent,
            Known::Row(_) | Known::Nothing => Comes::Clash,
        },
        (Known::Row(source), Known::Row(target)) => Comes::Row(std::array::from_fn(|at| {
            let (Cell::Is(source), Cell::Is(target)) = (source[at], target[at]) else { return Cell::Open };
            value(at == 2, base, at, source, target)
        })),
    }
}

fn value(adds_up: bool, base: &Known, at: usize, source: Option<i64>, target: Option<i64>) -> Cell {
    let base = match base {
        Known::Absent if adds_up => return Cell::Is(Some(source.unwrap_or(0) + target.unwrap_or(0))),
        Known::Nothing | Known::Absent => Cell::Open,
        Known::Row(base) => base[at],
    };
    match base {
        Cell::Is(base) if source == base => Cell::Is(target),
        Cell::Is(base) if target == base => Cell::Is(source),
        Cell::Is(base) if adds_up => match (source, target, base) {
            (Some(source), Some(target), Some(base)) => Cell::Is(Some(source + target - base)),
            _ => Cell::Open,
        },
        Cell::Open if adds_up => Cell::Open,
        _ if source == target => Cell::Is(source),
        _ => Cell::Open,
    }
}

/// One side of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Target,
}

/// Merges whole states. `base` tells of each key; `choose` settles conflicts, or leaves them. Returns all conflicts that were left, and the
/// result if there are none.
pub(crate) fn states(
    base: &impl Fn(Key) -> Known,
    source: &State,
    target: &State,
    keys: &BTreeSet<Key>,
    choose: &impl Fn(&Conflict) -> Option<Side>,
) -> (Vec<Conflict>, State) {
    let side = |side: Side| if side == Side::Source { source } else { target };
    let mut result = State::new();
    let mut conflicts: Vec<Conflict> = Vec::new();
    let mut clashes: BTreeSet<Key> = BTreeSet::new();
    for at in keys {
        let (known, s, t) = (base(*at), source.get(at), target.get(at));
        match key(&known, &Known::of(s), &Known::of(t)) {
            Comes::Absent => {}
            Comes::Nothing | Comes::Clash => {
                clashes.insert(*at);
            }
            Comes::Row(row) => {
                let kind = if known == Known::Absent { Kind::BothAdded } else { Kind::BothChanged };
                let row = std::array::from_fn(|property| {
                    if let Cell::Is(value) = row[property] {
                        return value;
                    }
                    let conflict = Conflict { key: *at, property: Some(property), kind, edges: Vec::new() };
                    let chosen = choose(&conflict).unwrap_or_else(|| {
                        conflicts.push(conflict);
                        Side::Target
                    });
                    side(chosen)[at][property]
                });
                result.insert(*at, row);
            }
        }
    }
    let detached = detached(source, target, &result, &clashes, keys);
    let with_nodes: BTreeSet<Key> = detached.iter().flat_map(|conflict| conflict.edges.iter().copied()).collect();
    let mut edges: BTreeMap<Key, Vec<Option<Side>>> = BTreeMap::new();
    for conflict in detached {
        let chosen = choose(&conflict);
        match chosen.map(|chosen| side(chosen).get(&conflict.key)) {
            Some(Some(row)) => drop(result.insert(conflict.key, *row)),
            _ => drop(result.remove(&conflict.key)),
        }
        conflict.edges.iter().for_each(|edge| edges.entry(*edge).or_default().push(chosen));
        if chosen.is_none() {
            conflicts.push(conflict);
        }
    }
    for (edge, sides) in edges {
        let rows: Option<Vec<&Row>> = sides.iter().map(|chosen| side((*chosen)?).get(&edge)).collect();
        // One that is brought back with a node needs the other one too.
        let was_deleted = !result.contains_key(&edge) && !clashes.contains(&edge);
        let lacks = edge.ends().is_some_and(|ends| ends.iter().any(|end| !result.contains_key(&Key::Node(*end))));
        if was_deleted && lacks {
            continue;
        }
        match rows.as_deref() {
            Some([row, ..]) => drop(result.insert(edge, **row)),
            _ => drop(result.remove(&edge)),
        }
    }
    let is_node = |key: &Key| matches!(key, Key::Node(_));
    for at in clashes.iter().filter(|key| !is_node(key) && !with_nodes.contains(key)) {
        let conflict = Conflict { key: *at, property: None, kind: Kind::ChangedAndDeleted, edges: Vec::new() };
        match choose(&conflict) {
            Some(chosen) => drop(side(chosen).get(at).map(|row| result.insert(*at, *row))),
            None => conflicts.push(conflict),
        }
    }
    conflicts.sort();
    (conflicts, result)
}

/// The conflicts over nodes that one side deleted.
fn detached(
    source: &State,
    target: &State,
    result: &State,
    clashes: &BTreeSet<Key>,
    keys: &BTreeSet<Key>,
) -> Vec<Conflict> {
    let only_on = |key: &Key| match (source.contains_key(key), target.contains_key(key)) {
        (true, false) => Some(Side::Source),
        (false, true) => Some(Side::Target),
        _ => None,
    };
    let is_gone = |key: &Key| clashes.contains(key) || !result.contains_key(key);
    let mut found = Vec::new();
    for node in keys.iter().filter(|key| matches!(key, Key::Node(_)) && is_gone(key)) {
        let (Key::Node(id), Some(kept_by)) = (*node, only_on(node)) else { continue };
        let (mut changed, mut dangling, mut edges) = (clashes.contains(node), false, Vec::new());
        for edge in keys.iter().filter(|key| key.ends().is_some_and(|ends| ends.contains(&id))) {
            // Whoever deleted the node has none of its edges.
            if only_on(edge) != Some(kept_by) {
                continue;
            }
            edges.push(*edge);
            changed |= clashes.contains(edge);
            dangling |= !is_gone(edge);
        }
        if changed || dangling {
            let kind = if changed { Kind::ChangedAndDeleted } else { Kind::DanglingEdge };
            found.push(Conflict { key: *node, property: None, kind, edges });
        }
    }
    found
}
