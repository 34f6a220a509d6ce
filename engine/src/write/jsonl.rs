//! One line of JSON to one typed row, strictly: whatever the schema does not know is refused, with its line.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::ids::EdgeId;
use crate::syntax::nearest;
use crate::table::Role;
use crate::value::{Value, ValueProblem, parse_json};
use crate::write::row::Row;
use crate::write::shape::{End, Shapes, TableShape};
use crate::write::violation::{Violation, Violations, shorten};

/// Reads the lines of one input.
#[derive(Debug)]
pub(crate) struct LineParser<'a> {
    /// The tables the rows are for.
    pub shapes: &'a Shapes,
    /// The input, as its caller named it.
    pub source: &'a Arc<str>,
    /// Where edge ids come from.
    pub ids: EdgeIds,
}

/// A row with what the line says besides.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The table's index.
    pub table: usize,
    /// The row.
    pub row: Row,
    /// The row's edge id was drawn here: no stored row can have it.
    pub fresh: bool,
}

/// The edge ids of one input: the same line gets the same id however often and wherever it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeIds {
    /// When the input began, in milliseconds, above 80 random bits.
    seed: u128,
}

impl EdgeIds {
    /// Ids of the moment of `ulid`, with its randomness as their seed.
    pub(crate) fn new(ulid: ulid::Ulid) -> Self {
        Self { seed: ulid.0 }
    }

    /// The id of the edge that line `line` makes.
    pub(crate) fn draw(self, line: u64) -> EdgeId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_be_bytes());
        hasher.update(&line.to_be_bytes());
        let random = hasher.finalize();
        let mut bytes = self.seed.to_be_bytes();
        for (byte, random) in bytes.iter_mut().skip(6).zip(random.as_bytes()) {
            *byte = *random;
        }
        EdgeId::from_bytes(bytes)
    }
}

/// The fields of a JSON object, in order, their values unread.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    fields.push((name.0, map.next_value()?));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The fields of a line.
#[derive(Default)]
struct Line<'a> {
    table: Option<&'a RawValue>,
    from: Option<&'a RawValue>,
    to: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    data: Option<&'a RawValue>,
}

/// What is wrong with a line; the line and the table are put in where it is caught.
struct Wrong {
    code: &'static str,
    property: Option<String>,
    found: Option<String>,
    expected: String,
}

impl Wrong {
    fn new(code: &'static str, expected: impl Into<String>) -> Self {
        Self { code, property: None, found: None, expected: expected.into() }
    }

    fn at(mut self, property: &str) -> Self {
        self.property = Some(shorten(property));
        self
    }

    fn found(mut self, found: &str) -> Self {
        self.found = Some(shorten(found));
        self
    }

    fn into_violation(self, source: &Arc<str>, line: u64, shape: Option<&TableShape>) -> Violation {
        Violation {
            code: self.code,
            source: source.clone(),
            line: Some(line),
            table: shape.map(|shape| shape.name().to_owned()),
            property: self.property,
            found: self.found,
            expected: self.expected,
        }
    }

    fn value(property: &str, problem: ValueProblem) -> Self {
        Self {
            code: "wrong-type",
            property: Some(property.to_owned()),
            found: Some(problem.found),
            expected: problem.expected,
        }
    }

    fn unknown(code: &'static str, kind: &str, name: &str, known: Option<&str>) -> Self {
        let hint = known.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
        Self::new(code, format!("there is no {kind} {}{hint}", shorten(name)))
    }
}

impl LineParser<'_> {
    /// Reads line `number`. What is wrong goes to `violations`; a row that breaks only rules of its own (`NOT NULL`, `CHECK`) is
    /// returned all the same, so that it takes part in the checks between rows.
    pub(crate) fn parse(&self, number: u64, bytes: &[u8], violations: &mut Violations) -> Option<Parsed> {
        let mut wrongs = Vec::new();
        let mut table = None;
        let parsed = self.read(number, bytes, &mut table, &mut wrongs);
        let shape = table.and_then(|table| self.shapes.tables.get(table));
        for wrong in wrongs {
            violations.push(&wrong.into_violation(self.source, number, shape));
        }
        if parsed.is_none() {
            violations.untyped += 1;
        }
        parsed
    }

    fn read(&self, number: u64, bytes: &[u8], table: &mut Option<usize>, wrongs: &mut Vec<Wrong>) -> Option<Parsed> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => {
                wrongs.push(Wrong::new("invalid-utf8", format!("column {} is not UTF-8", e.valid_up_to() + 1)));
                return None;
            }
        };
        let fields = match object(text) {
            Ok(fields) => fields,
            Err(e) => {
                let reason = e.to_string();
                let reason = reason.split(" at line ").next().unwrap_or_default();
                // A reason may quote what it found in full.
                wrongs.push(Wrong::new("invalid-json", format!("column {}: {}", e.column(), shorten(reason))));
                return None;
            }
        };
        let before = wrongs.len();
        let line = fields_of_line(fields, wrongs);
        let index = self.table(&line, wrongs)?;
        *table = Some(index);
        let shape = self.shapes.tables.get(index)?;
        let mut row = Row::empty(shape);
        let fresh = self.ends(number, shape, &line, &mut row, wrongs);
        read_properties(shape, line.data, &mut row, wrongs);
        if wrongs.len() > before {
            return None;
        }
        check_row(shape, &row, wrongs);
        Some(Parsed { table: index, row, fresh })
    }

    fn table(&self, line: &Line<'_>, wrongs: &mut Vec<Wrong>) -> Option<usize> {
        let Some(raw) = line.table else {
            wrongs.push(Wrong::new("missing-field", "the field \"table\" is missing"));
            return None;
        };
        let Ok(name) = serde_json::from_str::<String>(raw.get()) else {
            wrongs.push(Wrong::new("wrong-type", "the name of a table").at("table").found(raw.get()));
            return None;
        };
        let found = self.shapes.by_name(&name);
        if found.is_none() {
            let like = nearest(&name, self.shapes.names());
            wrongs.push(Wrong::unknown("unknown-table", "table", &name, like));
        }
        found
    }

    /// Reads what only edges have; tells whether an edge id was drawn.
    fn ends(&self, number: u64, shape: &TableShape, line: &Line<'_>, row: &mut Row, wrongs: &mut Vec<Wrong>) -> bool {
        let Some(ends) = shape.ends else {
            for (name, raw) in [("from", line.from), ("to", line.to), ("id", line.id)] {
                if raw.is_some() {
                    let wrong = Wrong::new("unexpected-field", format!("a node has no field \"{name}\""));
                    wrongs.push(wrong);
                }
            }
            return false;
        };
        row.from = self.end(shape, ends.from, "from", line.from, wrongs);
        row.to = self.end(shape, ends.to, "to", line.to, wrongs);
        match (ends.multi, line.id) {
            (false, None) => false,
            (false, Some(_)) => {
                let reason = "only edges of MULTI tables have a field \"id\"";
                wrongs.push(Wrong::new("unexpected-field", reason));
                false
            }
            (true, None) => {
                row.edge_id = Some(Value::Uuid(self.ids.draw(number).to_bytes()));
                true
            }
            (true, Some(raw)) => {
                match serde_json::from_str::<String>(raw.get()).ok().and_then(|text| text.parse::<EdgeId>().ok()) {
                    Some(id) => row.edge_id = Some(Value::Uuid(id.to_bytes())),
                    None => wrongs.push(Wrong::new("wrong-type", "an edge id (a ULID)").at("id").found(raw.get())),
                }
                false
            }
        }
    }

    fn end(
        &self,
        shape: &TableShape,
        end: End,
        field: &str,
        raw: Option<&RawValue>,
        wrongs: &mut Vec<Wrong>,
    ) -> Vec<Value> {
        let Some(raw) = raw else {
            wrongs.push(Wrong::new("missing-field", format!("the field \"{field}\" is missing")).at(field));
            return Vec::new();
        };
        let columns = self.shapes.columns_of(end.space);
        let Some(parts) = key_parts(raw, columns.len()) else {
            let expected = format!("an array of {} key parts", columns.len());
            wrongs.push(Wrong::new("wrong-type", expected).at(field).found(raw.get()));
            return Vec::new();
        };
        let values = parts.into_iter().zip(columns).filter_map(|(part, column)| {
            let value = key_part(part, shape, *column);
            value.map_err(|problem| wrongs.push(Wrong::value(field, problem))).ok()
        });
        values.collect()
    }
}

/// The raw parts of a key: the value itself, or an array of the parts of a composite one.
fn key_parts(raw: &RawValue, parts: usize) -> Option<Vec<&RawValue>> {
    if parts == 1 {
        return Some(vec![raw]);
    }
    serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok().filter(|found| found.len() == parts)
}

/// Reads one part of a key in a layout column: never null.
pub(crate) fn key_part(raw: &RawValue, shape: &TableShape, column: usize) -> Result<Value, ValueProblem> {
    let role = shape.layout.columns.get(column).map(|column| column.role);
    if role == Some(Role::EdgeId) {
        let id = serde_json::from_str::<String>(raw.get()).ok().and_then(|text| text.parse::<EdgeId>().ok());
        return id
            .map(|id| Value::Uuid(id.to_bytes()))
            .ok_or_else(|| ValueProblem { found: shorten(raw.get()), expected: "an edge id (a ULID)".into() });
    }
    let ty = shape.type_of(column);
    match parse_json(raw, ty)? {
        Value::Null => Err(ValueProblem { found: "null".into(), expected: format!("a key part of type {ty}") }),
        value => Ok(value),
    }
}

fn object(text: &str) -> serde_json::Result<Fields<'_>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = Fields::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(fields)
}

fn fields_of_line<'a>(fields: Fields<'a>, wrongs: &mut Vec<Wrong>) -> Line<'a> {
    let mut line = Line::default();
    for (name, raw) in fields.0 {
        let slot = match name.as_ref() {
            "table" => &mut line.table,
            "from" => &mut line.from,
            "to" => &mut line.to,
            "id" => &mut line.id,
            "data" => &mut line.data,
            other => {
                let like = nearest(other, ["table", "from", "to", "id", "data"]);
                wrongs.push(Wrong::unknown("unknown-field", "field", other, like));
                continue;
            }
        };
        if slot.replace(raw).is_some() {
            wrongs.push(Wrong::new("duplicate-field", format!("the field \"{name}\" is there twice")));
        }
    }
    line
}

fn read_properties(shape: &TableShape, data: Option<&RawValue>, row: &mut Row, wrongs: &mut Vec<Wrong>) {
    let fields = match data.map(|raw| (raw, object(raw.get()))) {
        None => Vec::new(),
        Some((_, Ok(fields))) => fields.0,
        Some((raw, Err(_))) => {
            wrongs.push(Wrong::new("wrong-type", "an object of properties").at("data").found(raw.get()));
            return;
        }
    };
    let mut given = vec![false; shape.properties.len()];
    let mut expected = 0;
    for (name, raw) in fields {
        // Most inputs name the properties in the order of the schema.
        let next = shape.properties.get(expected).filter(|property| property.def.name == name).map(|_| expected);
        let place = next.or_else(|| shape.properties.iter().position(|property| property.def.name == name));
        let Some(place) = place else {
            let like = nearest(&name, shape.property_names());
            wrongs.push(Wrong::unknown("unknown-property", "property", &name, like).at(&name));
            continue;
        };
        expected = place + 1;
        let (Some(property), Some(given), Some(slot)) =
            (shape.properties.get(place), given.get_mut(place), row.properties.get_mut(place))
        else {
            continue;
        };
        if std::mem::replace(given, true) {
            wrongs.push(Wrong::new("duplicate-field", "the property is there twice").at(&name));
        }
        match parse_json(raw, &property.def.ty) {
            Ok(value) => *slot = value,
            Err(problem) => wrongs.push(Wrong::value(&name, problem)),
        }
    }
    for (place, property) in shape.properties.iter().enumerate() {
        let is_given = given.get(place).copied().unwrap_or_default();
        let Some(slot) = row.properties.get_mut(place) else { continue };
        let is_key = shape.layout.table.key.contains(&property.def.id);
        match &property.default {
            Some(default) if !is_given => *slot = default.clone(),
            _ if is_key
                && *slot == Value::Null
                && !wrongs.iter().any(|w| w.property.as_deref() == Some(&property.def.name)) =>
            {
                wrongs.push(missing(
                    property.def.name.as_str(),
                    is_given,
                    &format!("a key part of type {}", property.def.ty),
                ));
            }
            None if !is_given && property.def.not_null && !is_key => {
                wrongs.push(missing(&property.def.name, false, &format!("{} (NOT NULL)", property.def.ty)));
            }
            _ => {}
        }
    }
}

fn missing(property: &str, is_given: bool, expected: &str) -> Wrong {
    if is_given {
        Wrong::new("null-not-allowed", expected).at(property).found("null")
    } else {
        Wrong::new("missing-property", format!("the property is missing; expected {expected}")).at(property)
    }
}

/// The rules that a row keeps or breaks by itself.
fn check_row(shape: &TableShape, row: &Row, wrongs: &mut Vec<Wrong>) {
    for (property, value) in shape.properties.iter().zip(&row.properties) {
        if property.def.not_null && *value == Value::Null {
            wrongs.push(missing(&property.def.name, true, &format!("{} (NOT NULL)", property.def.ty)));
        }
    }
    for check in broken_checks(shape, row) {
        wrongs.push(Wrong::new("check", format!("CHECK ({check}) is broken")).found(&row_text(shape, row)));
    }
}

/// Adds what a typed row breaks by itself to `violations`.
pub(crate) fn break_rules_alone(
    source: &Arc<str>,
    line: u64,
    shape: &TableShape,
    row: &Row,
    violations: &mut Violations,
) {
    let mut wrongs = Vec::new();
    check_row(shape, row, &mut wrongs);
    for wrong in wrongs {
        violations.push(&wrong.into_violation(source, line, Some(shape)));
    }
}

/// The conditions that a row breaks.
pub(crate) fn broken_checks<'a>(shape: &'a TableShape, row: &Row) -> Vec<&'a str> {
    if shape.checks.is_empty() {
        return Vec::new();
    }
    let meant = row.meant(shape);
    shape.checks.iter().filter(|check| check.is_broken_by(&meant)).map(crate::schema::Check::expression).collect()
}

fn row_text(shape: &TableShape, row: &Row) -> String {
    let mut out = Vec::new();
    crate::read::write_properties(shape, row, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
