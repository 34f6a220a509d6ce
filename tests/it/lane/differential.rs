//! Requests that share commits come to the same as they would in commits of their own, in the order of arrival.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

use kit::graphs::{assert_whole, by_kit, export, write};
use kit::world::World;
use pleach::{Error, Graph, LoadMode, Params, TableCounts, Write};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};

use super::{DDL, Task, m, n, open, together};

/// A request, as it can be sent to any graph.
#[derive(Debug, Clone)]
enum Request {
    Write(Vec<Operation>),
    Run(String),
    Load(LoadMode, Vec<String>),
}

#[derive(Debug, Clone)]
enum Operation {
    Insert(String),
    Upsert(String),
    Delete(&'static str, Vec<String>),
    Detach(&'static str, Vec<String>),
}

/// What a request came to, as far as two graphs can agree on it.
type Told = Result<Done, String>;

/// Whether there is a commit, what it did to each table, and the values that it returned.
type Done = (bool, BTreeMap<String, TableCounts>, Vec<String>);

fn told(outcome: Result<Done, Error>) -> Told {
    outcome.map_err(|error| format!("{}: {error}", error.code()))
}

impl Request {
    fn send(self, graph: Graph) -> Task<Told> {
        Box::pin(async move {
            told(match self {
                Self::Write(operations) => {
                    let write = operations.into_iter().fold(Write::new(), |write, operation| match operation {
                        Operation::Insert(line) => write.insert_json(line),
                        Operation::Upsert(line) => write.upsert_json(line),
                        Operation::Delete(table, key) => write.delete(table, key),
                        Operation::Detach(table, key) => write.delete_detach(table, key),
                    });
                    let done = graph.write("main", write, by_kit()).await;
                    done.map(|report| (report.commit.is_some(), report.tables, Vec::new()))
                }
                Self::Run(statement) => {
                    let done = graph.run("main", &statement, Params::new(), by_kit()).await;
                    done.map(|report| {
                        let rows = report.rows.iter().flatten().map(pleach::CypherValue::to_json).collect();
                        (report.commit.is_some(), report.tables, rows)
                    })
                }
                Self::Load(mode, lines) => {
                    let input = Cursor::new(lines.join("\n").into_bytes());
                    let done = graph.load("main", "in.jsonl", input, mode, by_kit(), &|_, _| {}).await;
                    done.map(|report| (report.commit.is_some(), report.tables, Vec::new()))
                }
            })
        })
    }
}

/// Few keys, so that requests meet.
fn key() -> impl Strategy<Value = i64> {
    0..6_i64
}

fn row() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (key(), 0..3_i64, prop_oneof![2 => Just("null"), 1 => Just("\"a\""), 1 => Just("\"b\"")])
            .prop_map(|(id, v, u)| format!(r#"{{"table":"N","data":{{"id":{id},"v":{v},"u":{u}}}}}"#)),
        1 => key().prop_map(m),
        3 => (key(), key(), 0..3_i64)
            .prop_map(|(a, b, w)| format!(r#"{{"table":"E","from":{a},"to":{b},"data":{{"w":{w}}}}}"#)),
        2 => (key(), 0..3_i64).prop_map(|(a, b)| format!(r#"{{"table":"F","from":{a},"to":{b}}}"#)),
        1 => (key(), key(), 0..4_i64).prop_map(|(a, b, id)| {
            format!(r#"{{"table":"P","from":{a},"to":{b},"id":"01ARZ3NDEKTSV4RRFFQ69G5FA{id}","data":{{"w":{a}}}}}"#)
        }),
    ]
}

fn deletion() -> impl Strategy<Value = (&'static str, Vec<String>)> {
    prop_oneof![
        3 => key().prop_map(|id| ("N", vec![id.to_string()])),
        1 => (0..3_i64).prop_map(|id| ("M", vec![id.to_string()])),
        2 => (key(), key()).prop_map(|(a, b)| ("E", vec![a.to_string(), b.to_string()])),
        1 => (0..4_i64).prop_map(|id| ("P", vec![format!("\"01ARZ3NDEKTSV4RRFFQ69G5FA{id}\"")])),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => row().prop_map(Operation::Insert),
        3 => row().prop_map(Operation::Upsert),
        2 => deletion().prop_map(|(table, key)| Operation::Delete(table, key)),
        1 => deletion().prop_map(|(table, key)| Operation::Detach(table, key)),
    ]
}

fn statement() -> impl Strategy<Value = String> {
    (key(), key(), 0..14_u8).prop_map(|(a, b, which)| match which {
        0 => format!("MATCH (n:N {{id: {a}}}) SET n.v = coalesce(n.v, 0) + 1 RETURN n.v"),
        1 => format!("MERGE (n:N {{id: {a}}}) ON CREATE SET n.v = 10 ON MATCH SET n.v = n.v + 1 RETURN n.v"),
        2 => format!("MATCH (n:N {{id: {a}}}) DETACH DELETE n"),
        3 => format!("MATCH (n:N {{id: {a}}}) DELETE n"),
        4 => format!("MATCH (a:N {{id: {a}}}), (b:N {{id: {b}}}) CREATE (a)-[:E {{w: {b}}}]->(b)"),
        5 => format!("MATCH (a:N {{id: {a}}})-[e:E]->(b:N) SET e.w = e.w + 1 RETURN count(e)"),
        6 => "MATCH (n:N) WITH count(n) AS n MERGE (m:M {id: n}) RETURN m.id".to_owned(),
        7 => format!("MATCH (n:N) WHERE n.v > {b} SET n.u = null RETURN count(n)"),
        8 => format!("CREATE (n:N {{id: {a}, v: {b}}})"),
        9 => format!("MATCH (n:N {{id: {a}}}) SET n.v = n.v / 0"),
        10 => format!("MATCH (n:N {{id: {a}}}) SET n.u = 'a'"),
        11 => format!("OPTIONAL MATCH (n:N {{id: {a}}}) MERGE (m:M {{id: coalesce(n.v, {b})}})"),
        12 => format!("MATCH (n:N {{id: {a}}}), (m:M) WHERE m.id = {b} MERGE (n)-[:F]->(m)"),
        _ => format!("MATCH (a:N {{id: {a}}}) MERGE (b:N {{id: {b}}}) MERGE (a)-[e:E]->(b) SET e.w = 1"),
    })
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        4 => proptest::collection::vec(operation(), 1..4).prop_map(Request::Write),
        4 => statement().prop_map(Request::Run),
        1 => (any::<bool>(), proptest::collection::vec(row(), 1..3)).prop_map(|(append, lines)| {
            Request::Load(if append { LoadMode::Append } else { LoadMode::Upsert }, lines)
        }),
        // Most of these concern nothing that others concern.
        3 => (10..1_000_i64).prop_map(|id| Request::Write(vec![Operation::Upsert(n(id, id))])),
        2 => (10..1_000_i64, key()).prop_map(|(id, a)| Request::Run(
            format!("MATCH (a:N {{id: {a}}}) CREATE (b:N {{id: {id}, v: 1}}) CREATE (a)-[:E]->(b)"))),
    ]
}

async fn prepared() -> World {
    let world = World::new();
    let graph = world.init(DDL).await;
    let stored = (0..4).fold(Write::new(), |write, id| write.insert_json(n(id, id)).upsert_json(m(id % 2)));
    let edge = |a: i64, b: i64| format!(r#"{{"table":"E","from":{a},"to":{b},"data":{{"w":0}}}}"#);
    let stored = stored.insert_json(edge(0, 1)).insert_json(edge(1, 2));
    write(&graph, stored.insert_json(r#"{"table":"F","from":0,"to":1}"#)).await.unwrap();
    world
}

fn content(exported: &str) -> Vec<&str> {
    exported.lines().filter(|line| !line.contains("\"Before\"")).collect()
}

/// Sends the requests to one graph together, and to another one by one. Returns the size of the largest batch.
async fn compare(requests: Vec<Request>) -> u64 {
    let world = prepared().await;
    let apart = world.fork();
    let graph = world.open().await;
    let tasks = requests.iter().cloned().map(|request| request.send(graph.clone())).collect();
    let shared = together(&world, &graph, tasks).await;

    let single = open(&apart, Graph::builder().coalesce_requests(1)).await;
    for (number, (request, shared)) in requests.iter().zip(shared).enumerate() {
        let alone = request.clone().send(single.clone()).await;
        assert_eq!(shared, alone, "request {number} of {requests:#?}");
    }
    let (one, other) = (export(&graph, "main").await, export(&single, "main").await);
    assert_eq!(content(&one), content(&other), "after {requests:#?}");
    assert_whole(&world.open().await).await;
    graph.stats().lanes.largest_batch
}

#[test]
fn shared_commits_come_to_what_separate_ones_would() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let cases = std::env::var("PLEACH_LANE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48);
    let mut runner = TestRunner::new(Config { cases, max_shrink_iters: 200, ..Config::default() });
    let (shared, largest) = (AtomicU64::new(0), AtomicU64::new(0));
    let requests = proptest::collection::vec(request(), 2..14);
    runner
        .run(&requests, |requests| {
            let batch = runtime.block_on(compare(requests));
            shared.fetch_add(u64::from(batch > 1), Ordering::Relaxed);
            largest.fetch_max(batch, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    let (shared, largest) = (shared.into_inner(), largest.into_inner());
    assert!(
        shared * 2 > u64::from(cases) && largest > 3,
        "{shared} of {cases} cases shared a commit, at most {largest}"
    );
}
