//! One order of all values of a kind, as bytes: what `ORDER BY`, `DISTINCT`, grouping, `min` and `max` go by where columns have no such order.

use super::EvalContext;
use crate::ids::TableId;
use crate::query::bound::Form;
use crate::query::properties::Properties;
use crate::query::value::CypherValue;
use crate::schema::TableDef;
use crate::value::Value;

/// What stands before each kind of value, in the order of kinds. Zero ends a list, so a shorter list comes before a longer one.
const END: u8 = 0;
const MAP: u8 = 1;
const NODE: u8 = 2;
const EDGE: u8 = 3;
const LIST: u8 = 4;
const TIMESTAMP: u8 = 5;
const DATE: u8 = 6;
const TIME: u8 = 7;
const UUID: u8 = 8;
const BLOB: u8 = 9;
const JSON: u8 = 10;
const STRING: u8 = 11;
const BOOL: u8 = 12;
const NUMBER: u8 = 13;
/// Null comes after all values.
const NULL: u8 = 255;

/// Bytes whose order is the order of values and which are equal for values that `DISTINCT` takes for one: all NaNs are one and come last,
/// −0.0 is 0.0, null is equal to null and comes after all values, nodes and edges are ordered by table and key.
///
/// Numbers of different types are only told apart, not ordered: the values of a column are of one kind.
pub(crate) fn order_key(value: &CypherValue, cx: &EvalContext) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, cx, &mut out);
    out
}

fn write(value: &CypherValue, cx: &EvalContext, out: &mut Vec<u8>) {
    match value {
        CypherValue::Scalar(value) => write_scalar(value, out),
        CypherValue::List(items) => {
            out.push(LIST);
            for item in items {
                write(item, cx, out);
            }
            out.push(END);
        }
        CypherValue::Map(entries) => {
            out.push(MAP);
            for (name, value) in entries {
                out.push(STRING);
                write_bytes(name.as_bytes(), out);
                write(value, cx, out);
            }
            out.push(END);
        }
        CypherValue::Node(node) => {
            let table = cx.table(&node.label);
            let key = key_of(table, &node.properties);
            write_identity(Form::Node, table.map(|table| table.id), &key, out);
        }
        CypherValue::Edge(edge) => {
            let table = cx.table(&edge.label);
            let key = match &edge.id {
                Some(id) => vec![Value::String(id.clone())],
                None => edge.from.iter().chain(&edge.to).cloned().chain(key_of(table, &edge.properties)).collect(),
            };
            write_identity(Form::Edge, table.map(|table| table.id), &key, out);
        }
    }
}

/// The same bytes as [`order_key`] of a node or an edge: by the parts of its key, which of an edge are its ends and declared key, or the text of
/// its hidden id.
pub(crate) fn identity_key(form: Form, table: TableId, key: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    write_identity(form, Some(table), key, &mut out);
    out
}

fn write_identity(form: Form, table: Option<TableId>, key: &[Value], out: &mut Vec<u8>) {
    out.push(match form {
        Form::Node => NODE,
        Form::Edge => EDGE,
    });
    out.extend_from_slice(&table.map_or([0; 16], TableId::to_bytes));
    for part in key {
        write_scalar(part, out);
    }
}

fn key_of(table: Option<&TableDef>, properties: &Properties) -> Vec<Value> {
    let key = table.into_iter().flat_map(TableDef::key_properties);
    key.map(|property| match properties.get(&property.name) {
        Some(CypherValue::Scalar(value)) => value.clone(),
        _ => Value::Null,
    })
    .collect()
}

fn write_scalar(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(value) => out.extend([BOOL, u8::from(*value)]),
        Value::Int(value) | Value::Decimal { unscaled: value, .. } => {
            out.push(NUMBER);
            // Turning the sign's bit puts negative numbers first.
            out.extend_from_slice(&(value ^ i128::MIN).to_be_bytes());
        }
        Value::Float(value) => {
            out.push(NUMBER);
            out.extend_from_slice(&(float_rank(*value) ^ i64::MIN).to_be_bytes());
        }
        Value::String(text) => {
            out.push(STRING);
            write_bytes(text.as_bytes(), out);
        }
        Value::Json(text) => {
            out.push(JSON);
            write_bytes(text.as_bytes(), out);
        }
        Value::Date(days) => {
            out.push(DATE);
            out.extend_from_slice(&(days ^ i32::MIN).to_be_bytes());
        }
        Value::Time(micros) => {
            out.push(TIME);
            out.extend_from_slice(&(micros ^ i64::MIN).to_be_bytes());
        }
        Value::Timestamp(micros) => {
            out.push(TIMESTAMP);
            out.extend_from_slice(&(micros ^ i64::MIN).to_be_bytes());
        }
        Value::Uuid(bytes) => {
            out.push(UUID);
            out.extend_from_slice(bytes);
        }
        Value::Blob(bytes) => {
            out.push(BLOB);
            write_bytes(bytes, out);
        }
        Value::List(items) => {
            out.push(LIST);
            for item in items {
                write_scalar(item, out);
            }
            out.push(END);
        }
        Value::Vector(items) => {
            out.push(LIST);
            for item in items {
                write_scalar(&Value::Float((*item).into()), out);
            }
            out.push(END);
        }
    }
}

/// Bytes of any length, so that a shorter one that begins a longer one comes first.
fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(255);
        }
    }
    out.extend([0, 0]);
}

/// An integer whose order is that of floats, −0.0 taken for 0.0 and every NaN for one that is larger than all numbers.
pub(crate) const fn float_rank(value: f64) -> i64 {
    let canonical = if value.is_nan() {
        f64::from_bits(0x7ff8_0000_0000_0000)
    } else if value == 0.0 {
        0.0
    } else {
        value
    };
    let bits = canonical.to_bits().cast_signed();
    // Negative floats count downwards in all bits but the sign.
    bits ^ ((bits >> 63) & i64::MAX)
}

/// The float of which [`float_rank`] is the rank.
pub(crate) const fn float_of_rank(rank: i64) -> f64 {
    f64::from_bits((rank ^ ((rank >> 63) & i64::MAX)).cast_unsigned())
}
