//! Changes of schemas, case by case, and random ones.

mod random;
mod refused;
mod steps;

use crate::clock::{Clock, Timestamp};
use crate::schema::{Catalog, SchemaError, SchemaPlan, parse_ddl, plan_schema};

fn clock(seed: u64) -> Clock {
    // Later seeds are later times: ids rise.
    Clock::manual(Timestamp(1_700_000_000_000_000 + i64::try_from(seed % 1_000).unwrap_or(0) * 1_000_000), seed)
}

fn parse(text: &str) -> Catalog {
    parse_ddl(text, &clock(7)).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// The plan from one text to another, of tables that have rows.
fn plan(from: &str, to: &str) -> SchemaPlan {
    plan_schema(&parse(from), to, |_| 3, &clock(8)).unwrap_or_else(|e| panic!("{to}\n{e}"))
}

/// The steps of the plan, each with its class.
fn steps(from: &str, to: &str) -> Vec<String> {
    plan(from, to).steps.iter().map(|step| format!("{step} [{}]", step.change.class().as_str())).collect()
}

/// Line, column, message and help of all that is refused.
fn refusals(from: &str, to: &str) -> Vec<(usize, usize, String, String)> {
    match plan_schema(&parse(from), to, |_| 3, &clock(8)) {
        Err(SchemaError::Change { problems }) => problems
            .into_iter()
            .map(|problem| (problem.line, problem.column, problem.message, problem.help.unwrap_or_default()))
            .collect(),
        other => panic!("{to} gave {other:?}"),
    }
}
