//! Random queries on random graphs, answered by the engine and by trying everything: rows and multiplicities agree, and the order where
//! there is one.

use kit::graphs::{graph, load};
use kit::oracle::{DDL, Dice, Query, SmallGraph, evaluate, statement};
use pleach::{Graph, LoadMode, Params};
use serde_json::Value;

/// Graphs drawn, and queries on each.
const GRAPHS: u64 = 24;
const QUERIES: u64 = 60;

fn shown(rows: impl Iterator<Item = Vec<Value>>, query: &Query) -> Vec<String> {
    let mut rows: Vec<String> = rows
        .map(|row| {
            let row: Vec<Value> = row.into_iter().map(|value| plain(value, query.collects())).collect();
            Value::Array(row).to_string()
        })
        .collect();
    if !query.is_ordered() {
        rows.sort();
    }
    rows
}

/// Without hidden ids, which the oracle does not know, without empty `data`, and collected lists in one order.
fn plain(value: Value, sorted: bool) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(|item| plain(item, sorted)).collect();
            if sorted {
                items.sort_by_key(ToString::to_string);
            }
            Value::Array(items)
        }
        Value::Object(mut entries) => {
            if entries.contains_key("from") {
                entries.remove("id");
                if entries.get("data").is_none_or(|data| *data == Value::Object(serde_json::Map::new())) {
                    entries.remove("data");
                }
            }
            Value::Object(entries)
        }
        scalar => scalar,
    }
}

async fn answered(graph: &Graph, query: &Query) -> Result<Vec<String>, pleach::Error> {
    let rows = graph.query("main", &query.to_string(), Params::new()).await?.collect_rows().await?;
    let rows = rows.into_iter().map(|row| {
        let value = |value: &pleach::CypherValue| serde_json::from_str(&value.to_json()).expect("values are JSON");
        row.iter().map(value).collect()
    });
    Ok(shown(rows, query))
}

async fn compare(seed: u64) {
    let mut dice = Dice::new(seed);
    let small = SmallGraph::random(&mut dice);
    let stored = graph(DDL).await;
    load(&stored, LoadMode::Append, &small.lines()).await.expect("a small graph loads");
    for number in 0..QUERIES {
        let query = statement(&mut dice);
        let expected = evaluate(&small, &query);
        if expected.rows.len() > 20_000 {
            continue;
        }
        let expected = shown(expected.rows.iter().map(|row| row.iter().map(|v| small.json(v)).collect()), &query);
        match answered(&stored, &query).await {
            Ok(rows) => assert_eq!(rows, expected, "seed {seed}, query {number}:\n{query}\non\n{}", small.lines()),
            Err(error) => panic!("seed {seed}, query {number}: {error}\n{query}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn random_queries_are_answered_as_by_trying_everything() {
    for seed in 0..GRAPHS {
        compare(seed).await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn and_on_one_thread() {
    for seed in GRAPHS..GRAPHS + 4 {
        compare(seed).await;
    }
}
