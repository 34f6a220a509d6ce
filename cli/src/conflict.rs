//! Conflicts of a merge, as programs and people read them.

use pleach::ConflictKind;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::output::printable;

/// How many characters of a value people are shown.
const SHOWN: usize = 200;

/// A conflict in JSON. Keys and values are spelled as an export does; a value that does not apply is left out, a row that is not there is null.
#[derive(Debug, Serialize)]
pub(crate) struct Conflict<'a> {
    kind: &'static str,
    table: &'a str,
    key: Option<Json<'a>>,
    property: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<Json<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Json<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Json<'a>>,
    with: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Schema>,
}

/// What is in conflict of a schema, the rows that are concerned, and what may be chosen.
#[derive(Debug, Serialize)]
struct Schema {
    reason: &'static str,
    rows: Option<u64>,
    choices: &'static [&'static str],
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    table: &'a str,
    key: Json<'a>,
}

/// JSON that the engine spelled: not read as numbers, so that none is rounded.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Json<'a> {
    As(&'a RawValue),
    Text(&'a str),
}

impl<'a> Json<'a> {
    fn new(text: &'a str) -> Self {
        serde_json::from_str(text).map_or(Self::Text(text), Self::As)
    }
}

impl<'a> From<&'a pleach::Conflict> for Conflict<'a> {
    fn from(conflict: &'a pleach::Conflict) -> Self {
        let json = |text: &'a Option<String>| text.as_deref().map(Json::new);
        Self {
            kind: conflict.kind.as_str(),
            table: &conflict.table,
            key: json(&conflict.key),
            property: conflict.property.as_deref(),
            base: json(&conflict.base),
            source: json(&conflict.source),
            target: json(&conflict.target),
            with: conflict.with.iter().map(|row| Row { table: &row.table, key: Json::new(&row.key) }).collect(),
            schema: conflict.schema.map(|schema| Schema {
                reason: schema.reason.as_str(),
                rows: schema.rows,
                choices: schema.reason.choices(),
            }),
        }
    }
}

/// Whether all of them can be settled by resolutions.
pub(crate) fn can_be_settled(conflicts: &[pleach::Conflict]) -> bool {
    let can = |conflict: &pleach::Conflict| match &conflict.schema {
        Some(schema) => !schema.reason.choices().is_empty(),
        None => conflict.key.is_some(),
    };
    conflicts.iter().all(can)
}

/// What a conflict is about, then what the base and both sides have, a line each.
pub(crate) fn text(number: usize, conflict: &pleach::Conflict) -> String {
    let mut about = conflict.clone();
    (about.base, about.source, about.target) = (None, None, None);
    let mut lines = vec![format!("{number}. {}", printable(&about.to_string()))];
    let of_row =
        conflict.property.is_none() || !matches!(conflict.kind, ConflictKind::BothChanged | ConflictKind::BothAdded);
    let sides = [("base", &conflict.base), ("source", &conflict.source), ("target", &conflict.target)];
    for (side, value) in sides {
        if let Some(value) = value {
            let value = match (value.as_str(), conflict.schema.is_some()) {
                ("null", true) => "nothing".to_owned(),
                ("null", false) if of_row => "no row".to_owned(),
                _ => shown(value),
            };
            lines.push(format!("     {side:<8}{value}"));
        }
    }
    if let Some(schema) = conflict.schema.filter(|schema| !schema.reason.choices().is_empty()) {
        lines.push(format!("     choices {}", schema.reason.choices().join(", ")));
    }
    lines.join("\n")
}

fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", printable(value.get(..cut).unwrap_or_default())),
        None => printable(value),
    }
}
