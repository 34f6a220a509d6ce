//! Values as JSON: properties as in the JSON Lines of a load, nodes and edges as its lines.

use crate::query::properties::Properties;
use crate::query::value::CypherValue;
use crate::schema::Type;
use crate::value::{Value, write_json};

impl CypherValue {
    /// The value as JSON. Scalars are spelled as a load reads them (integers beyond 2^53, decimals and moments are strings), and nodes and
    /// edges are the lines of an export: `{"table":"Person","data":{…}}`, with `from`, `to` and perhaps `id` for an edge; their properties
    /// are in the order of the schema, the keys of maps in the order of their names.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out);
        // JSON is written from texts and digits alone.
        String::from_utf8(out).unwrap_or_default()
    }

    /// Appends what [`Self::to_json`] gives.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            // What the type is matters to floats of half the width alone, which are wide by now.
            Self::Scalar(value) => write_json(value, &Type::Double, out),
            Self::List(items) => bracketed(out, *b"[]", items, Self::write_json),
            Self::Map(entries) => write_entries(entries.iter().map(|(name, value)| (name.as_str(), value)), out),
            Self::Node(node) => {
                out.extend_from_slice(b"{\"table\":");
                write_text(&node.label, out);
                write_data(&node.properties, out);
            }
            Self::Edge(edge) => {
                out.extend_from_slice(b"{\"table\":");
                write_text(&edge.label, out);
                for (name, key) in [(&b",\"from\":"[..], &edge.from), (b",\"to\":", &edge.to)] {
                    out.extend_from_slice(name);
                    write_key(key, out);
                }
                if let Some(id) = &edge.id {
                    out.extend_from_slice(b",\"id\":");
                    write_text(id, out);
                }
                write_data(&edge.properties, out);
            }
        }
    }
}

/// A key of one property is its value, one of several is an array.
fn write_key(key: &[Value], out: &mut Vec<u8>) {
    match key {
        [only] => write_json(only, &Type::Double, out),
        parts => bracketed(out, *b"[]", parts, |part, out| write_json(part, &Type::Double, out)),
    }
}

fn write_data(properties: &Properties, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"data\":");
    write_entries(properties.iter(), out);
    out.push(b'}');
}

fn write_entries<'a>(entries: impl Iterator<Item = (&'a str, &'a CypherValue)>, out: &mut Vec<u8>) {
    bracketed(out, *b"{}", entries, |(name, value), out| {
        write_text(name, out);
        out.push(b':');
        value.write_json(out);
    });
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_json(&Value::String(text.to_owned()), &Type::String, out);
}

fn bracketed<T>(
    out: &mut Vec<u8>,
    brackets: [u8; 2],
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(brackets[0]);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(brackets[1]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::query::value::{EdgeValue, NodeValue};

    fn int(n: i128) -> CypherValue {
        CypherValue::Scalar(Value::Int(n))
    }

    #[test]
    fn scalars_lists_and_maps_are_spelled_as_a_load_reads_them() {
        let map = BTreeMap::from([("b".to_owned(), int(1 << 60)), ("a \"".to_owned(), CypherValue::NULL)]);
        let list = CypherValue::List(vec![
            int(1),
            CypherValue::Scalar(Value::Decimal { unscaled: 150, scale: 2 }),
            CypherValue::Scalar(Value::Float(f64::NAN)),
            CypherValue::Scalar(Value::Date(0)),
            CypherValue::Map(map),
        ]);
        assert_eq!(list.to_json(), r#"[1,"1.50","NaN","1970-01-01",{"a \"":null,"b":"1152921504606846976"}]"#);
    }

    #[test]
    fn nodes_and_edges_are_lines_of_an_export() {
        let properties: Properties = [("id".to_owned(), int(7)), ("age".to_owned(), int(36))].into_iter().collect();
        let node = CypherValue::Node(Box::new(NodeValue { label: "Person".into(), properties: properties.clone() }));
        assert_eq!(node.to_json(), r#"{"table":"Person","data":{"id":7,"age":36}}"#);
        let edge = CypherValue::Edge(Box::new(EdgeValue {
            label: "Knows".into(),
            from: vec![Value::Int(7)],
            to: vec![Value::Int(1), Value::String("x".into())],
            id: Some("01".into()),
            properties,
        }));
        assert_eq!(edge.to_json(), r#"{"table":"Knows","from":7,"to":[1,"x"],"id":"01","data":{"id":7,"age":36}}"#);
    }
}
