//! Values of parameters from JSON, with no digit lost on the way.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::query::CypherValue;
use crate::value::{Value, shorten};

/// Lists and maps may nest this deep.
const MAX_DEPTH: usize = 64;

/// The members of one object.
pub(super) fn parameters(text: &str) -> Result<BTreeMap<String, CypherValue>, String> {
    if !text.trim_start().starts_with('{') {
        return Err(format!("{} is no JSON object", shorten(text.trim())));
    }
    object(text, 0)
}

/// One value.
pub(super) fn value(text: &str) -> Result<CypherValue, String> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|e| format!("{} is not JSON: {e}", shorten(text)))?;
    of_raw(raw, 0)
}

fn of_raw(raw: &RawValue, depth: usize) -> Result<CypherValue, String> {
    let text = raw.get();
    if depth > MAX_DEPTH {
        return Err(format!("lists and maps nest deeper than {MAX_DEPTH} levels"));
    }
    Ok(match text.as_bytes().first() {
        Some(b'{') => CypherValue::Map(object(text, depth)?),
        Some(b'[') => {
            let items: Vec<&RawValue> = read(text)?;
            CypherValue::List(items.into_iter().map(|item| of_raw(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        Some(b'"') => CypherValue::Scalar(Value::String(read(text)?)),
        Some(b't' | b'f') => CypherValue::Scalar(Value::Bool(read(text)?)),
        Some(b'n') => CypherValue::NULL,
        _ => CypherValue::Scalar(number(text)?),
    })
}

fn number(text: &str) -> Result<Value, String> {
    if text.contains(['.', 'e', 'E']) {
        let value: f64 = read(text)?;
        return Ok(Value::Float(value));
    }
    let in_range = |value: &i128| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(value);
    text.parse().ok().filter(in_range).map(Value::Int).ok_or_else(|| {
        format!("{} does not fit into 64 bits; give it as a string, or with a decimal point as a float", shorten(text))
    })
}

fn object(text: &str, depth: usize) -> Result<BTreeMap<String, CypherValue>, String> {
    let Members(members) = read(text)?;
    let mut values = BTreeMap::new();
    for (name, raw) in members {
        let value = of_raw(raw, depth + 1).map_err(|reason| match depth {
            0 => format!("`{name}`: {reason}"),
            _ => reason,
        })?;
        if values.insert(name.clone(), value).is_some() {
            return Err(format!("`{name}` is there twice"));
        }
    }
    Ok(values)
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|e| format!("{} cannot be read: {e}", shorten(text)))
}

/// The members of an object in their order, each time that they occur.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}
