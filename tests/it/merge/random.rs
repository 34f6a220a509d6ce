//! Random branches, writes, merges and deletions against the model: rows, conflicts, bases and counts agree after each step.

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{Choice, Graph, MergeOptions, MergeOutcome, MergeSide, Resolution, Write};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};

use super::model::state::{read, told, told_by_graph};
use super::model::three_way::Side;
use super::model::{Conflict, History, Key, PROPERTIES, Row, SCHEMA, State};

/// Sequences by default; the variable asks for another number, for a long run.
const CASES: u32 = 60;
const VARIABLE: &str = "PLEACH_MERGE_SEQUENCES";

#[derive(Debug, Clone)]
enum Op {
    Put(Key, Row),
    /// Changes one property of a row that is there.
    Set(Key, usize, i64),
    Delete(Key),
    Detach(i64),
}

#[derive(Debug, Clone)]
enum Step {
    /// On the branch of this number, of those there are.
    Write(u8, Vec<Op>),
    Branch(u8),
    Delete(u8),
    /// From, into, and how conflicts are settled.
    Merge(u8, u8, u64),
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        3 => (0..4_i64).prop_map(Key::Node),
        3 => (0..4_i64, 0..4_i64).prop_map(|(from, to)| Key::Edge(from, to)),
        2 => (0..5_u16).prop_map(Key::Multi),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let value = || proptest::option::of(0..3_i64);
    prop_oneof![
        4 => (key(), value(), value(), 0..3_i64).prop_map(|(key, a, b, n)| Op::Put(key, [a, b, Some(n)])),
        6 => (key(), 0..3_usize, 0..4_i64).prop_map(|(key, property, value)| Op::Set(key, property, value)),
        2 => key().prop_map(Op::Delete),
        1 => (0..4_i64).prop_map(Op::Detach),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<u8>(), vec(op(), 1..6)).prop_map(|(branch, ops)| Step::Write(branch, ops)),
        2 => any::<u8>().prop_map(Step::Branch),
        1 => any::<u8>().prop_map(Step::Delete),
        6 => (any::<u8>(), any::<u8>(), any::<u64>()).prop_map(|(from, into, seed)| Step::Merge(from, into, seed)),
    ]
}

/// What an operation leaves, and its part of the write; `None` if it would break a rule or do nothing.
fn apply(state: &mut State, op: &Op, write: Write) -> Result<Write, Write> {
    let node = |state: &State, id: i64| state.contains_key(&Key::Node(id));
    let put = |state: &mut State, key: Key, row: Row, write: Write| {
        state.insert(key, row);
        Ok(write.upsert_json(key.line(row)))
    };
    match op {
        Op::Put(key, row) if key.ends().is_none_or(|ends| ends.iter().all(|end| node(state, *end))) => {
            put(state, *key, *row, write)
        }
        Op::Set(key, property, value) => match state.get(key).copied() {
            Some(mut row) => {
                row[*property] = Some(*value);
                put(state, *key, row, write)
            }
            None => Err(write),
        },
        Op::Delete(key) => {
            let has_edges = |id: i64| state.keys().any(|other| other.ends().is_some_and(|ends| ends.contains(&id)));
            if !state.contains_key(key) || matches!(key, Key::Node(id) if has_edges(*id)) {
                return Err(write);
            }
            state.remove(key);
            Ok(write.delete(format!("{:?}", key.table()), key.parts()))
        }
        Op::Detach(id) if node(state, *id) => {
            state.retain(|key, _| *key != Key::Node(*id) && key.ends().is_none_or(|ends| !ends.contains(id)));
            Ok(write.delete_detach("N", [id.to_string()]))
        }
        Op::Put(..) | Op::Detach(_) => Err(write),
    }
}

/// The side for a conflict, drawn from `seed`.
fn choice(seed: u64, conflict: &Conflict) -> Side {
    let text = told(conflict);
    let drawn = text.bytes().fold(seed, |hash, byte| hash.rotate_left(5).wrapping_mul(0x9E37_79B9) ^ u64::from(byte));
    if drawn.count_ones() % 2 == 0 { Side::Source } else { Side::Target }
}

fn resolution(conflict: &Conflict, side: Side) -> Resolution {
    Resolution {
        table: format!("{:?}", conflict.key.table()),
        key: Some(conflict.key.text()),
        property: conflict.property.map(|property| PROPERTIES[property].to_owned()),
        choice: Choice::Side(if side == Side::Source { MergeSide::Source } else { MergeSide::Target }),
    }
}

struct World {
    graph: Graph,
    model: History,
    branches: u32,
}

impl World {
    async fn new() -> Self {
        let graph = graph(SCHEMA).await;
        let mut model = History::default();
        model.commit("main", State::new(), None, "main@0".to_owned());
        Self { graph, model, branches: 0 }
    }

    fn branch(&self, number: u8) -> String {
        let branches = self.model.branches();
        branches[usize::from(number) % branches.len()].clone()
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Write(branch, ops) => {
                let branch = self.branch(*branch);
                let mut state = self.model.state(&branch).clone();
                let mut write = Write::new();
                for op in ops {
                    write = apply(&mut state, op, write).unwrap_or_else(|write| write);
                }
                if let Some(commit) = self.graph.write(&branch, write, by_kit()).await.unwrap().commit {
                    self.model.commit(&branch, state, None, commit.reference());
                }
            }
            Step::Branch(from) if self.model.branches().len() < 4 => {
                let from = self.branch(*from);
                let name = format!("b{}", self.branches);
                self.branches += 1;
                let commit = self.graph.create_branch(&name, &from, by_kit()).await.unwrap();
                self.model.branch(&name, &from, commit.head.reference());
            }
            Step::Delete(branch) => {
                let branch = self.branch(*branch);
                if branch != "main" {
                    self.graph.delete_branch(&branch, by_kit()).await.unwrap();
                    self.model.delete(&branch);
                }
            }
            Step::Merge(from, into, seed) => {
                let (from, into) = (self.branch(*from), self.branch(*into));
                self.merge(&from, &into, *seed).await;
            }
            Step::Branch(_) => {}
        }
    }

    async fn merge(&mut self, from: &str, into: &str, seed: u64) {
        let left = self.model.merge(from, into, &|_| None);
        let plan = self.graph.plan_merge(from, into, MergeOptions::default()).await.unwrap();
        let bases = plan.bases.iter().map(pleach::ParentInfo::reference).collect();
        assert_eq!(left.bases, bases, "the bases of {from} and {into}");
        let mut conflicts: Vec<String> = plan.conflicts.iter().map(told_by_graph).collect();
        if plan.outcome != MergeOutcome::UpToDate {
            let mut expected: Vec<String> = left.conflicts.iter().map(told).collect();
            expected.sort();
            conflicts.sort();
            assert_eq!(conflicts, expected, "the conflicts of {from} into {into}");
        }
        let resolutions = left.conflicts.iter().map(|conflict| resolution(conflict, choice(seed, conflict)));
        let change = by_kit();
        let options = MergeOptions { change, resolutions: resolutions.collect(), ..MergeOptions::default() };
        if !left.conflicts.is_empty() {
            let refused =
                self.graph.merge(from, into, MergeOptions { resolutions: Vec::new(), ..options.clone() }).await;
            assert_eq!(refused.unwrap_err().conflicts().len(), left.conflicts.len());
        }
        let report = self.graph.merge(from, into, options).await.unwrap();
        let Some(commit) = &report.commit else {
            assert!(left.brings_nothing, "{from} into {into} published nothing");
            return;
        };
        let settled = self.model.merge(from, into, &|conflict| Some(choice(seed, conflict)));
        assert_eq!(report.outcome == MergeOutcome::FastForward, settled.is_fast_forward);
        let before = self.model.state(into).clone();
        for (name, table) in &report.tables {
            let count = |state: &State| state.keys().filter(|key| format!("{:?}", key.table()) == *name).count() as u64;
            assert_eq!((table.rows_before, table.rows), (Some(count(&before)), Some(count(&settled.result))), "{name}");
            if let Some(counts) = table.counts {
                assert_eq!(counts.before + counts.added - counts.removed, counts.result);
            }
        }
        self.model.commit(into, settled.result, Some(from), commit.reference());
        let found = read(&export(&self.graph, into).await);
        assert_eq!(&found, self.model.state(into), "{from} into {into}");
    }
}

#[test]
fn merges_agree_with_the_model() {
    let cases = std::env::var(VARIABLE).ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let sequence = (vec(op(), 4..12), vec(step(), 4..24));
    let ran = TestRunner::new(config).run(&sequence, |(start, steps)| {
        runtime.block_on(async {
            let mut world = World::new().await;
            // Nodes first, so that most edges have theirs.
            let nodes = (0..4).map(|id| Op::Put(Key::Node(id), [Some(0), None, Some(0)]));
            world.step(&Step::Write(0, nodes.chain(start).collect())).await;
            world.step(&Step::Branch(0)).await;
            for step in &steps {
                world.step(step).await;
            }
            for branch in world.model.branches() {
                assert_eq!(&read(&export(&world.graph, &branch).await), world.model.state(&branch), "{branch}");
            }
            assert_whole(&world.graph).await;
        });
        Ok(())
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
}
