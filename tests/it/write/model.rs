//! Random writes and loads against a model that does the same the simple way; every run ends with a check of the whole graph.

use std::collections::{BTreeMap, BTreeSet};

use kit::graphs::{assert_whole, export, graph, load, write};
use pleach::{LoadMode, Write};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, TestRunner};

const DDL: &str = "
    CREATE NODE TABLE N (id INT64 PRIMARY KEY, u INT64, UNIQUE (u));
    CREATE REL TABLE E (FROM N TO N, w INT64);
    CREATE REL TABLE F (FROM N TO N, w INT64, MANY_ONE);
";

/// A row: a node, or an edge of table `E` or `F`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    Node { id: i64, u: Option<i64> },
    Edge { limited: bool, from: i64, to: i64, w: i64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Node(i64),
    Edge(bool, i64, i64),
}

#[derive(Debug, Clone)]
enum Op {
    Insert(Row),
    Upsert(Row),
    Delete(Key),
    Detach(i64),
}

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<Op>),
    Load(LoadMode, Vec<Row>),
}

type Rows = BTreeMap<Key, Row>;

impl Row {
    fn key(self) -> Key {
        match self {
            Self::Node { id, .. } => Key::Node(id),
            Self::Edge { limited, from, to, .. } => Key::Edge(limited, from, to),
        }
    }

    fn line(self) -> String {
        match self {
            Self::Node { id, u: Some(u) } => format!(r#"{{"table":"N","data":{{"id":{id},"u":{u}}}}}"#),
            Self::Node { id, u: None } => format!(r#"{{"table":"N","data":{{"id":{id}}}}}"#),
            Self::Edge { limited, from, to, w } => {
                let table = if limited { "F" } else { "E" };
                format!(r#"{{"table":"{table}","from":{from},"to":{to},"data":{{"w":{w}}}}}"#)
            }
        }
    }
}

/// What the operations leave of `before`, one after another; `None` if they are refused.
fn apply(before: &Rows, ops: &[Op]) -> Option<Rows> {
    let mut rows = before.clone();
    for op in ops {
        match op {
            Op::Insert(row) => {
                if rows.insert(row.key(), *row).is_some() {
                    return None;
                }
            }
            Op::Upsert(row) => drop(rows.insert(row.key(), *row)),
            Op::Delete(key) => drop(rows.remove(key)),
            Op::Detach(id) => rows.retain(|key, _| match key {
                Key::Node(node) => node != id,
                Key::Edge(_, from, to) => from != id && to != id,
            }),
        }
    }
    keeps_rules(&rows).then_some(rows)
}

fn keeps_rules(rows: &Rows) -> bool {
    let is_there = |node: &i64| rows.contains_key(&Key::Node(*node));
    let mut unique = BTreeSet::new();
    let mut starts = BTreeSet::new();
    rows.values().all(|row| match row {
        Row::Node { u, .. } => u.is_none_or(|u| unique.insert(u)),
        Row::Edge { limited, from, to, .. } => is_there(from) && is_there(to) && (!limited || starts.insert(*from)),
    })
}

fn apply_step(before: &Rows, step: &Step) -> Option<Rows> {
    match step {
        Step::Write(ops) => apply(before, ops),
        Step::Load(LoadMode::Upsert, rows) => {
            apply(before, &rows.iter().map(|row| Op::Upsert(*row)).collect::<Vec<_>>())
        }
        Step::Load(mode, rows) => {
            let mut kept = before.clone();
            if *mode == LoadMode::Overwrite {
                let tables: BTreeSet<u8> = rows.iter().map(|row| table(row.key())).collect();
                kept.retain(|key, _| !tables.contains(&table(*key)));
            }
            apply(&kept, &rows.iter().map(|row| Op::Insert(*row)).collect::<Vec<_>>())
        }
    }
}

fn table(key: Key) -> u8 {
    match key {
        Key::Node(_) => 0,
        Key::Edge(limited, ..) => 1 + u8::from(limited),
    }
}

fn row() -> impl Strategy<Value = Row> {
    prop_oneof![
        3 => (0..6_i64, proptest::option::of(0..8_i64)).prop_map(|(id, u)| Row::Node { id, u }),
        2 => (proptest::bool::ANY, 0..6_i64, 0..6_i64, 0..2_i64)
            .prop_map(|(limited, from, to, w)| Row::Edge { limited, from, to, w }),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => row().prop_map(Op::Insert),
        4 => row().prop_map(Op::Upsert),
        1 => row().prop_map(|row| Op::Delete(row.key())),
        2 => (0..6_i64).prop_map(Op::Detach),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let mode = prop_oneof![Just(LoadMode::Append), Just(LoadMode::Upsert), Just(LoadMode::Overwrite)];
    prop_oneof![vec(op(), 1..6).prop_map(Step::Write), (mode, vec(row(), 1..10)).prop_map(|(m, r)| Step::Load(m, r))]
}

#[test]
fn random_writes_and_loads_do_what_the_model_does() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    runner
        .run(&vec(step(), 1..10), |steps| {
            runtime.block_on(run(&steps));
            Ok(())
        })
        .unwrap();
}

async fn run(steps: &[Step]) {
    let graph = graph(DDL).await;
    let mut rows = Rows::new();
    for step in steps {
        let outcome = match step {
            Step::Write(ops) => {
                let op = ops.iter().fold(Write::new(), |write, op| match op {
                    Op::Insert(row) => write.insert_json(row.line()),
                    Op::Upsert(row) => write.upsert_json(row.line()),
                    Op::Delete(Key::Node(id)) => write.delete("N", [id.to_string()]),
                    Op::Delete(Key::Edge(limited, from, to)) => {
                        write.delete(if *limited { "F" } else { "E" }, [from.to_string(), to.to_string()])
                    }
                    Op::Detach(id) => write.delete_detach("N", [id.to_string()]),
                });
                write(&graph, op).await.map(|report| report.tables)
            }
            Step::Load(mode, lines) => {
                let lines: Vec<_> = lines.iter().map(|row| row.line()).collect();
                load(&graph, *mode, &lines.join("\n")).await.map(|report| report.tables)
            }
        };
        let expected = apply_step(&rows, step);
        match (&expected, &outcome) {
            (Some(_), Ok(tables)) => {
                for (name, c) in tables {
                    assert_eq!(c.read, c.inserted + c.updated + c.unchanged + c.duplicates, "{name} {c:?} {step:?}");
                }
            }
            (None, Err(_)) => {}
            _ => panic!("{step:?} on {rows:?}: expected {expected:?}, got {outcome:?}"),
        }
        if let Some(expected) = expected {
            rows = expected;
        }
        let lines: String = rows.values().map(|row| row.line() + "\n").collect();
        assert_eq!(export(&graph, "main").await, lines, "after {step:?}");
    }
    assert_whole(&graph).await;
}
