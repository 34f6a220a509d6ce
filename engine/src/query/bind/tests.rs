//! What statements are bound to, and what is refused where.

mod kinds;
mod projections;
mod reads;
mod refusals;
mod show;
mod updates;
mod warnings;
mod whole;

use super::*;
use crate::clock::{Clock, Timestamp};
use crate::query::bound::Body;
use crate::schema::parse_ddl;

const SCHEMA: &str = "
    CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING NOT NULL, age INT64, small INT8, big UINT64, born DATE,
                              seen TIMESTAMP, score DOUBLE, price DECIMAL(10, 2), tags STRING[], place FLOAT[3], uid UUID,
                              doc JSON, raw BLOB, sort ENUM('a', 'b'), active BOOL);
    CREATE NODE TABLE City (country STRING, name STRING, mayor STRING, age STRING, PRIMARY KEY (country, name));
    CREATE REL TABLE Knows (FROM Person TO Person, since INT64);
    CREATE REL TABLE LivesIn (FROM Person TO City, since INT64, MANY_ONE);
    CREATE REL TABLE Visited (FROM Person TO City, day DATE, times INT64, KEY (day));
    CREATE REL TABLE Pays (FROM Person TO Person, amount INT64, MULTI);";

fn catalog() -> Catalog {
    parse_ddl(SCHEMA, &Clock::manual(Timestamp(0), 1)).unwrap()
}

fn params() -> Params {
    Params::from_json(
        r#"{"id": "p1", "n": 3, "none": null, "xs": [1, 2], "mixed": [1, 2.5], "rows": [{"id": "a", "age": 1}, {"id": "b", "extra": 2.5}],
            "day": "2024-01-31", "props": {"id": "a", "name": "A"}, "odd": [1, "a"], "unlike": [{"a": 1, "b": 2}, {"a": "x"}], "uid": "0190163d-8694-739b-aea5-966c26f8ad91"}"#,
    )
    .unwrap()
}

/// A statement that is right, bound; and whole.
fn bound(text: &str) -> Statement {
    let catalog = catalog();
    let statement = prepare(text, &catalog, &params()).unwrap_or_else(|error| panic!("{text}\n{error}"));
    whole::assert_whole(text, &statement, &catalog);
    statement
}

/// A statement that is right, as text.
fn shown(text: &str) -> String {
    show::statement(&bound(text), &catalog())
}

/// All that is wrong with a statement: column and message.
fn refusals(text: &str) -> Vec<(usize, String)> {
    match prepare(text, &catalog(), &params()) {
        Err(QueryError::Refused { problems }) => {
            problems.into_iter().map(|problem| (problem.column, problem.message)).collect()
        }
        Err(other) => panic!("{text}\n{other}"),
        Ok(statement) => vec![(0, format!("nothing: {}", show::statement(&statement, &catalog())))],
    }
}

/// Compares what a table of cases came to with what was expected, and shows all that differ.
#[track_caller]
fn all_equal<T: PartialEq + std::fmt::Debug>(cases: impl IntoIterator<Item = (String, T, T)>) {
    let wrong: Vec<_> = cases
        .into_iter()
        .filter(|(_, found, expected)| found != expected)
        .map(|(text, found, expected)| format!("{text}\n  found    {found:?}\n  expected {expected:?}"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The one thing that is wrong with a statement.
fn refusal(text: &str) -> (usize, String) {
    let all = refusals(text);
    match all.as_slice() {
        [one] => one.clone(),
        _ => (0, format!("{all:?}")),
    }
}

/// What is suggested in place of the one thing that is wrong.
fn help(text: &str) -> String {
    match prepare(text, &catalog(), &params()) {
        Err(QueryError::Refused { problems }) => {
            problems.into_iter().find_map(|problem| problem.help).unwrap_or_default()
        }
        other => panic!("{text} gave {other:?}"),
    }
}

/// The kind of the one column that a statement returns.
fn kind(expression: &str) -> Kind {
    let text = format!("MATCH (p:Person)-[k:Knows]->(q:Person), (c:City) RETURN {expression} AS x");
    let statement = bound(&text);
    let Body::Read(output) = &statement.body else { panic!("{text} is no read") };
    statement.vars[output.columns[0].1.0 as usize].kind.clone()
}
