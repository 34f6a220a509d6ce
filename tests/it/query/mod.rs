//! Reading and changing graphs by openCypher.

mod beside;
mod clauses;
mod costs;
mod limits;
mod memory;
mod optional;
mod oracle;
mod patterns;
mod results;
mod tables;
mod updates;
mod updates_concurrent;
mod updates_delete;
mod updates_merge;
mod updates_model;
mod updates_rules;

use std::fmt::Write as _;

use kit::graphs::{graph, load};
use pleach::{Error, Graph, LoadMode, Params};

/// People who know each other and like things, some of them themselves.
const DDL: &str = "
    CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING, age INT64, score DOUBLE);
    CREATE NODE TABLE City (country STRING, code INT32, name STRING, PRIMARY KEY (country, code));
    CREATE REL TABLE Knows (FROM Person TO Person, since INT64);
    CREATE REL TABLE LivesIn (FROM Person TO City);
    CREATE REL TABLE Likes (FROM Person TO Person, what STRING, MULTI);
";

const ROWS: &str = r#"
{"table":"Person","data":{"id":"a","name":"Ada","age":36,"score":1.5}}
{"table":"Person","data":{"id":"b","name":"Bob","age":20}}
{"table":"Person","data":{"id":"c","name":"Cy","age":50,"score":0.0}}
{"table":"Person","data":{"id":"d","age":20,"score":-0.0}}
{"table":"City","data":{"country":"UK","code":1,"name":"London"}}
{"table":"City","data":{"country":"FR","code":1,"name":"Paris"}}
{"table":"Knows","from":"a","to":"b","data":{"since":2000}}
{"table":"Knows","from":"b","to":"a","data":{"since":2001}}
{"table":"Knows","from":"a","to":"c","data":{"since":2002}}
{"table":"Knows","from":"c","to":"c","data":{"since":2003}}
{"table":"LivesIn","from":"a","to":["UK",1]}
{"table":"LivesIn","from":"b","to":["UK",1]}
{"table":"LivesIn","from":"c","to":["FR",1]}
{"table":"Likes","from":"a","to":"b","id":"01HZX3ZJ5M0000000000000001","data":{"what":"talk"}}
{"table":"Likes","from":"a","to":"b","id":"01HZX3ZJ5M0000000000000002","data":{"what":"walk"}}
"#;

async fn people() -> Graph {
    let graph = graph(DDL).await;
    load(&graph, LoadMode::Append, ROWS).await.expect("rows");
    graph
}

/// The rows of a query as lines of JSON values, in the order of the result.
async fn try_ordered(graph: &Graph, text: &str, params: Params) -> Result<Vec<String>, Error> {
    let rows = graph.query("main", text, params).await?.collect_rows().await?;
    let line = |row: &Vec<pleach::CypherValue>| {
        row.iter().enumerate().fold(String::new(), |mut line, (i, value)| {
            let _ = write!(line, "{}{}", if i == 0 { "" } else { " " }, value.to_json());
            line
        })
    };
    Ok(rows.iter().map(line).collect())
}

async fn ordered(graph: &Graph, text: &str) -> Vec<String> {
    match try_ordered(graph, text, Params::new()).await {
        Ok(rows) => rows,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// The same in the order of the lines.
async fn rows(graph: &Graph, text: &str) -> Vec<String> {
    let mut rows = ordered(graph, text).await;
    rows.sort();
    rows
}

/// Asserts the rows of several queries; those of each in the order of the lines.
async fn all(graph: &Graph, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(rows(graph, text).await, *expected, "{text}");
    }
}
