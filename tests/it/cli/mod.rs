//! The `pleach` binary from outside.

mod branches;
mod config;
mod help;
mod init;
mod input;
mod merge;
mod optimize;
mod probe;
mod readme;
mod schema;
mod session;
mod statements;
mod streams;
mod usage;

/// A schema with a plain key, a composite key, an edge table and one of parallel edges.
const SCHEMA: &str = "\
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING NOT NULL, born DATE);
CREATE NODE TABLE Seat (line INT32, window BOOL, PRIMARY KEY (line, window));
CREATE REL TABLE Knows (FROM Person TO Person, since DATE);
CREATE REL TABLE Sat (FROM Person TO Seat, MULTI, day DATE);
";

/// Five rows for it.
const ROWS: &str = r#"{"table":"Knows","from":"ada","to":"grace","data":{"since":"1950-01-31"}}
{"table":"Person","data":{"id":"ada","name":"Ada","born":"1815-12-10"}}
{"table":"Person","data":{"id":"grace","name":"Grace"}}
{"table":"Seat","data":{"line":-5,"window":true}}
{"table":"Sat","from":"ada","to":[-5,true],"data":{"day":"2024-01-31"},"id":"01HZX3T5XW0000000000000000"}
"#;

/// A folder with a graph and those rows.
fn people() -> kit::cli::Sandbox {
    let sandbox = kit::cli::Sandbox::with_graph(SCHEMA);
    sandbox.file("rows.jsonl", ROWS);
    sandbox.ok(&["load", "rows.jsonl", "-m", "first people"]);
    sandbox
}
