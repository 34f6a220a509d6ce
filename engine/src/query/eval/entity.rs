//! What nodes, edges and maps say of themselves.

use std::borrow::Cow;

use super::EvalContext;
use super::compare::present;
use crate::ids::{PropertyId, TableId};
use crate::query::value::CypherValue;
use crate::schema::TableDef;
use crate::value::Value;

/// The table of a node or an edge.
pub(super) fn table<'a>(value: &CypherValue, cx: &'a EvalContext) -> Option<&'a TableDef> {
    match value {
        CypherValue::Node(node) => cx.table(&node.label),
        CypherValue::Edge(edge) => cx.table(&edge.label),
        _ => None,
    }
}

/// The property that `choices` names for the row's table; null for rows of other tables.
pub(super) fn property<'a>(
    of: Cow<'a, CypherValue>,
    choices: &[(TableId, PropertyId)],
    cx: &EvalContext,
) -> Cow<'a, CypherValue> {
    let name = table(&of, cx).and_then(|table| {
        let (_, id) = choices.iter().find(|(of, _)| *of == table.id)?;
        table.property_by_id(*id).map(|property| property.name.as_str())
    });
    match name {
        Some(name) => field(of, name),
        None => Cow::Owned(CypherValue::NULL),
    }
}

/// The value of a key of a map, or of a property of this name.
pub(super) fn field<'a>(of: Cow<'a, CypherValue>, name: &str) -> Cow<'a, CypherValue> {
    let found = match of {
        Cow::Borrowed(CypherValue::Map(entries)) => entries.get(name).map(Cow::Borrowed),
        Cow::Borrowed(CypherValue::Node(node)) => node.properties.get(name).map(Cow::Borrowed),
        Cow::Borrowed(CypherValue::Edge(edge)) => edge.properties.get(name).map(Cow::Borrowed),
        Cow::Owned(CypherValue::Map(mut entries)) => entries.remove(name).map(Cow::Owned),
        Cow::Owned(CypherValue::Node(mut node)) => node.properties.take(name).map(Cow::Owned),
        Cow::Owned(CypherValue::Edge(mut edge)) => edge.properties.take(name).map(Cow::Owned),
        _ => None,
    };
    found.unwrap_or(Cow::Owned(CypherValue::NULL))
}

/// `labels(node)`: a list of one.
pub(super) fn labels(value: &CypherValue) -> CypherValue {
    match value {
        CypherValue::Node(node) => CypherValue::List(vec![text(&node.label)]),
        _ => CypherValue::NULL,
    }
}

/// `type(edge)`.
pub(super) fn type_of(value: &CypherValue) -> CypherValue {
    match value {
        CypherValue::Edge(edge) => text(&edge.label),
        _ => CypherValue::NULL,
    }
}

/// `keys(x)`: the names of what is not null, of nodes and edges in the order of the schema.
pub(super) fn keys(value: &CypherValue) -> CypherValue {
    let properties = match value {
        CypherValue::Map(entries) => {
            return CypherValue::List(present(entries).map(|(name, _)| text(name)).collect());
        }
        CypherValue::Node(node) => &node.properties,
        CypherValue::Edge(edge) => &edge.properties,
        CypherValue::Scalar(_) | CypherValue::List(_) => return CypherValue::NULL,
    };
    CypherValue::List(properties.names().map(text).collect())
}

/// `properties(x)`.
pub(super) fn as_map(value: CypherValue) -> CypherValue {
    match value {
        CypherValue::Node(node) => CypherValue::Map(node.properties.into_iter().collect()),
        CypherValue::Edge(edge) => CypherValue::Map(edge.properties.into_iter().collect()),
        CypherValue::Map(entries) => CypherValue::Map(entries),
        CypherValue::Scalar(_) | CypherValue::List(_) => CypherValue::NULL,
    }
}

fn text(text: &str) -> CypherValue {
    CypherValue::Scalar(Value::String(text.to_owned()))
}
