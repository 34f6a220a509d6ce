//! What is acknowledged is there, whatever failed; what is not acknowledged is there whole or not at all.

mod kill;
mod kill_merges;
mod nth_request;
mod outcomes;
mod processes;
mod readers;

/// A small schema with a node table and an edge table.
const SCHEMA: &str = "
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING, age INT64);
CREATE REL TABLE Knows (FROM Person TO Person, since DATE);
";

fn person(id: &str, age: i64) -> String {
    format!(r#"{{"table":"Person","data":{{"id":"{id}","name":"Name of {id}","age":{age}}}}}"#)
}

fn knows(from: &str, to: &str) -> String {
    format!(r#"{{"table":"Knows","from":"{from}","to":"{to}","data":{{"since":"2024-01-31"}}}}"#)
}
