//! Good and bad schema texts, and the round trip through a catalog.

mod bad;
mod good;
mod round_trip;

use crate::clock::{Clock, Timestamp};
use crate::schema::{Catalog, SchemaError, TableDef, parse_ddl};

fn clock() -> Clock {
    Clock::manual(Timestamp(1_700_000_000_000_000), 7)
}

fn parse(text: &str) -> Catalog {
    parse_ddl(text, &clock()).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// The only table of `text`.
fn table(text: &str) -> TableDef {
    let mut catalog = parse(text);
    assert_eq!(catalog.tables.len(), 1);
    catalog.tables.remove(0)
}

/// Line, column and message of everything that is wrong.
fn problems(text: &str) -> Vec<(usize, usize, String)> {
    match parse_ddl(text, &clock()) {
        Err(SchemaError::Ddl { problems }) => {
            problems.into_iter().map(|problem| (problem.line, problem.column, problem.message)).collect()
        }
        other => panic!("{text} gave {other:?}"),
    }
}

/// The helps of everything that is wrong.
fn helps(text: &str) -> Vec<String> {
    match parse_ddl(text, &clock()) {
        Err(SchemaError::Ddl { problems }) => problems.into_iter().filter_map(|problem| problem.help).collect(),
        other => panic!("{text} gave {other:?}"),
    }
}
