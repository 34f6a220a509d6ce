//! Every pair of things that the two sides may do to a row, for nodes and edges of both kinds, through every shape of history, in both
//! directions: what the model says, the graph does.

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{Choice, Graph, MergeOptions, MergeSide, Resolution, Write};

use super::model::state::{read, told, told_by_graph};
use super::model::three_way::Side;
use super::model::{Conflict, History, Key, PROPERTIES, Row, SCHEMA, State};

/// What a side does to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Untouched,
    Inserted,
    InsertedOtherwise,
    UpdatedSame,
    UpdatedOtherwise,
    UpdatedElsewhere,
    NoOpUpdated,
    Deleted,
    DeletedAndReinserted,
}

const ACTS: [Act; 9] = [
    Act::Untouched,
    Act::Inserted,
    Act::InsertedOtherwise,
    Act::UpdatedSame,
    Act::UpdatedOtherwise,
    Act::UpdatedElsewhere,
    Act::NoOpUpdated,
    Act::Deleted,
    Act::DeletedAndReinserted,
];

/// How the sides came to where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    FastForward,
    ThreeWay,
    Repeated,
    CrissCross,
    CrissCrossThenSetBack,
}

const SHAPES: [Shape; 5] =
    [Shape::FastForward, Shape::ThreeWay, Shape::Repeated, Shape::CrissCross, Shape::CrissCrossThenSetBack];

impl Act {
    /// What it leaves of a row, on the side of this number. A row that is not there cannot be updated or deleted, and one that is cannot be
    /// inserted.
    fn on(self, row: Option<Row>, side: i64) -> Option<Row> {
        let with = |at: usize, value: i64| {
            row.map(|mut row| {
                row[at] = Some(value);
                row
            })
        };
        match self {
            Self::Untouched | Self::NoOpUpdated | Self::DeletedAndReinserted => row,
            Self::Inserted => row.or(Some([Some(7), None, Some(0)])),
            Self::InsertedOtherwise => row.or(Some([Some(70 + side), None, Some(0)])),
            Self::UpdatedSame => with(0, 1),
            Self::UpdatedOtherwise => with(0, 10 + side),
            Self::UpdatedElsewhere => with(1, 20 + side),
            Self::Deleted => None,
        }
    }

    /// The same as writes, one after another.
    fn writes(self, key: Key, before: Option<Row>, side: i64, writes: &mut [Write; 2]) {
        let table = format!("{:?}", key.table());
        let [first, second] = writes;
        let after = self.on(before, side);
        match (self, before, after) {
            (Self::DeletedAndReinserted, Some(row), _) => {
                *first = std::mem::take(first).delete(table, key.parts());
                *second = std::mem::take(second).insert_json(key.line(row));
            }
            (Self::Deleted, Some(_), _) => *first = std::mem::take(first).delete(table, key.parts()),
            (Self::Untouched, _, _) | (_, None, None) | (Self::Inserted | Self::InsertedOtherwise, Some(_), _) => {}
            (_, _, Some(row)) => *first = std::mem::take(first).upsert_json(key.line(row)),
            (_, Some(_), None) => unreachable!("only deletions take rows away"),
        }
    }
}

/// A row for each kind, each pair of acts, and whether it is there at the beginning. Nodes of edges are apart, so that nothing ties them.
fn cases() -> Vec<(Key, bool, Act, Act)> {
    let mut cases = Vec::new();
    for (i, source) in ACTS.into_iter().enumerate() {
        for (j, target) in ACTS.into_iter().enumerate() {
            for (there, number) in [(true, 0), (false, 1)] {
                let number = i64::try_from((i * ACTS.len() + j) * 2 + number).unwrap();
                cases.push((Key::Node(1_000 + number), there, source, target));
                cases.push((Key::Edge(0, 2_000 + number), there, source, target));
                cases.push((Key::Multi(u16::try_from(1_000 + number).unwrap()), there, source, target));
            }
        }
    }
    cases
}

/// A graph and its model, and the sides `source` and `target`.
struct World {
    graph: Graph,
    model: History,
    source: &'static str,
    target: &'static str,
}

impl World {
    async fn put(&mut self, branch: &str, writes: [Write; 2], state: State) {
        for write in writes.into_iter().filter(|write| !write.is_empty()) {
            if let Some(commit) = self.graph.write(branch, write, by_kit()).await.unwrap().commit {
                self.model.commit(branch, state.clone(), None, commit.reference());
            }
        }
    }

    /// Does what a side of each case does.
    async fn act(&mut self, branch: &str, acts: &[(Key, Act)], side: i64) {
        let mut state = self.model.state(branch).clone();
        let mut writes = [Write::new(), Write::new()];
        for (key, act) in acts {
            let before = state.get(key).copied();
            act.writes(*key, before, side, &mut writes);
            match act.on(before, side) {
                Some(row) => drop(state.insert(*key, row)),
                None => drop(state.remove(key)),
            }
        }
        self.put(branch, writes, state).await;
    }

    /// Sets every case back to what it was at the beginning.
    async fn set_back(&mut self, branch: &str, beginning: &State) {
        let state = self.model.state(branch).clone();
        let mut writes = [Write::new(), Write::new()];
        for key in state.keys().filter(|key| !beginning.contains_key(key)) {
            writes[0] = std::mem::take(&mut writes[0]).delete(format!("{:?}", key.table()), key.parts());
        }
        for (key, row) in beginning {
            if state.get(key) != Some(row) {
                writes[1] = std::mem::take(&mut writes[1]).upsert_json(key.line(*row));
            }
        }
        self.put(branch, writes, beginning.clone()).await;
    }

    /// Merges, and compares everything; conflicts are settled for either side in turn.
    async fn merge(&mut self, source: &str, target: &str) {
        let left = self.model.merge(source, target, &|_| None);
        let plan = self.graph.plan_merge(source, target, MergeOptions::default()).await.unwrap();
        let mut found: Vec<String> = plan.conflicts.iter().map(told_by_graph).collect();
        let mut expected: Vec<String> = left.conflicts.iter().map(told).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{source} into {target}");
        let resolve = |conflict: &Conflict| Resolution {
            table: format!("{:?}", conflict.key.table()),
            key: Some(conflict.key.text()),
            property: conflict.property.map(|property| PROPERTIES[property].to_owned()),
            choice: Choice::Side(if in_turn(conflict) == Side::Source { MergeSide::Source } else { MergeSide::Target }),
        };
        let resolutions = left.conflicts.iter().map(resolve).collect();
        let options = MergeOptions { change: by_kit(), resolutions, ..MergeOptions::default() };
        let report = self.graph.merge(source, target, options).await.unwrap();
        let Some(commit) = report.commit else {
            assert!(left.brings_nothing, "{source} into {target}");
            return;
        };
        let settled = self.model.merge(source, target, &|conflict| Some(in_turn(conflict)));
        self.model.commit(target, settled.result, Some(source), commit.reference());
        assert_eq!(&read(&export(&self.graph, target).await), self.model.state(target), "{source} into {target}");
    }
}

fn in_turn(conflict: &Conflict) -> Side {
    if told(conflict).bytes().map(u32::from).sum::<u32>() % 2 == 0 { Side::Source } else { Side::Target }
}

async fn run(shape: Shape, source: &'static str, target: &'static str) {
    let graph = graph(SCHEMA).await;
    let mut model = History::default();
    model.commit("main", State::new(), None, "main@0".to_owned());
    let mut world = World { graph, model, source, target };
    let cases = cases();
    // Nodes that edges need, and what is there at the beginning.
    let nodes = cases.iter().filter_map(|(key, ..)| key.ends()).flatten().map(Key::Node);
    let there = cases.iter().filter(|(_, there, ..)| *there).map(|(key, ..)| *key);
    let beginning: State = nodes.chain(there).map(|key| (key, [Some(0), None, Some(0)])).collect();
    let mut first = [Write::new(), Write::new()];
    for (key, row) in &beginning {
        let at = usize::from(key.ends().is_some());
        first[at] = std::mem::take(&mut first[at]).insert_json(key.line(*row));
    }
    world.put("main", first, beginning.clone()).await;
    let commit = world.graph.create_branch("f", "main", by_kit()).await.unwrap();
    world.model.branch("f", "main", commit.head.reference());

    let of_source: Vec<(Key, Act)> = cases.iter().map(|(key, _, act, _)| (*key, *act)).collect();
    let of_target: Vec<(Key, Act)> = cases.iter().map(|(key, _, _, act)| (*key, *act)).collect();
    world.act(source, &of_source, 1).await;
    if shape != Shape::FastForward {
        world.act(target, &of_target, 2).await;
    }
    match shape {
        Shape::FastForward | Shape::ThreeWay => {}
        Shape::Repeated => {
            world.merge(source, target).await;
            // The other way round, so that a row meets another pair of acts.
            world.act(source, &of_target, 3).await;
            world.act(target, &of_source, 4).await;
        }
        Shape::CrissCross | Shape::CrissCrossThenSetBack => {
            // What each was before it took in the other.
            for (name, from) in [("was-source", source), ("was-target", target)] {
                let commit = world.graph.create_branch(name, from, by_kit()).await.unwrap();
                world.model.branch(name, from, commit.head.reference());
            }
            world.merge("was-source", target).await;
            world.merge("was-target", source).await;
            if shape == Shape::CrissCross {
                world.act(source, &of_target, 3).await;
                world.act(target, &of_source, 4).await;
            } else {
                world.set_back(target, &beginning).await;
            }
        }
    }
    let (source, target) = (world.source, world.target);
    world.merge(source, target).await;
    world.merge(target, source).await;
    assert_eq!(world.model.state(source), world.model.state(target), "both have everything");
    assert_whole(&world.graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pair_of_acts_comes_to_what_the_model_says() {
    for shape in SHAPES {
        for (source, target) in [("f", "main"), ("main", "f")] {
            run(shape, source, target).await;
        }
    }
}
