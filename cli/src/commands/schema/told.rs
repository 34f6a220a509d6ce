//! Steps of a schema change, for people and programs.

use pleach::schema::{SchemaStep, StepClass};
use pleach::{PlannedStep, SchemaDifference};
use serde_json::{Map, Value, json};

use crate::output::table;

/// One line for each step: what it does, what that means for rows, and how many there are.
pub(super) fn steps(steps: &[PlannedStep]) -> String {
    let rows = steps.iter().map(|planned| {
        [
            planned.to_string(),
            meaning(planned.step.change.class()).to_owned(),
            planned.rows.to_string(),
            planned.breaks.to_string(),
        ]
    });
    table(["step", "rows are", "#rows", "#broken"], rows)
}

const fn meaning(class: StepClass) -> &'static str {
    match class {
        StepClass::Untouched => "left alone",
        StepClass::Checked => "checked",
        StepClass::Rewritten => "rewritten",
        StepClass::Destructive => "lost",
    }
}

/// One line for each difference.
pub(super) fn differences(steps: &[SchemaDifference]) -> String {
    let rows = steps.iter().map(|difference| {
        [difference.step.to_string(), difference.rows.map(|rows| rows.to_string()).unwrap_or_default()]
    });
    table(["difference", "#rows"], rows)
}

pub(super) fn step_json(planned: &PlannedStep) -> Value {
    let PlannedStep { step, rows, breaks, examples } = planned;
    let mut fields = fields(step);
    fields.insert("class".to_owned(), json!(step.change.class().as_str()));
    fields.insert("rows".to_owned(), json!(rows));
    fields.insert("breaks".to_owned(), json!(breaks));
    let examples = examples.iter().map(|key| serde_json::from_str(key).unwrap_or_else(|_| json!(key)));
    fields.insert("examples".to_owned(), examples.collect());
    Value::Object(fields)
}

pub(super) fn difference_json(difference: &SchemaDifference) -> Value {
    let mut fields = fields(&difference.step);
    fields.insert("rows".to_owned(), json!(difference.rows));
    Value::Object(fields)
}

fn fields(step: &SchemaStep) -> Map<String, Value> {
    let property = step.change.property().map(|property| property.name.as_str());
    let fields = [
        ("table", json!(step.name)),
        ("property", json!(property)),
        ("kind", json!(step.change.kind())),
        ("text", json!(step.change.to_string())),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
