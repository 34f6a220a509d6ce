//! Values of the query language: those of properties, and what only a query makes of them.

use std::collections::BTreeMap;

use super::properties::Properties;
use crate::value::Value;

/// One value of a query's result, or of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum CypherValue {
    /// Null, and everything that is neither a list, a map, a node nor an edge. Never [`Value::List`] or [`Value::Vector`]: those are
    /// [`CypherValue::List`].
    Scalar(Value),
    /// A list; its elements may be null.
    List(Vec<CypherValue>),
    /// A map.
    Map(BTreeMap<String, CypherValue>),
    /// A node.
    Node(Box<NodeValue>),
    /// An edge.
    Edge(Box<EdgeValue>),
}

/// A node as a query returns it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeValue {
    /// Its label: the name of its table.
    pub label: String,
    /// Its properties, key included.
    pub properties: Properties,
}

/// An edge as a query returns it.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeValue {
    /// Its type: the name of its table.
    pub label: String,
    /// The key of its start node.
    pub from: Vec<Value>,
    /// The key of its end node.
    pub to: Vec<Value>,
    /// The hidden identity of an edge of a `MULTI` table: a ULID.
    pub id: Option<String>,
    /// Its properties.
    pub properties: Properties,
}

impl CypherValue {
    /// No value.
    pub const NULL: Self = Self::Scalar(Value::Null);

    /// Whether there is no value.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(Value::Null))
    }
}

/// A property's value as the query language sees it: vectors are lists of floats.
impl From<Value> for CypherValue {
    fn from(value: Value) -> Self {
        match value {
            Value::List(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Vector(items) => {
                Self::List(items.into_iter().map(|item| Self::Scalar(Value::Float(item.into()))).collect())
            }
            scalar => Self::Scalar(scalar),
        }
    }
}

/// Implements `From` for types that are scalars of one kind.
macro_rules! scalars {
    ($($ty:ty => $variant:ident),* $(,)?) => {$(
        impl From<$ty> for CypherValue {
            fn from(value: $ty) -> Self {
                Self::Scalar(Value::$variant(value.into()))
            }
        }
    )*};
}

scalars! {
    bool => Bool,
    i8 => Int,
    i16 => Int,
    i32 => Int,
    i64 => Int,
    u8 => Int,
    u16 => Int,
    u32 => Int,
    u64 => Int,
    f32 => Float,
    f64 => Float,
    &str => String,
    String => String,
}

impl<T: Into<CypherValue>> From<Vec<T>> for CypherValue {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<CypherValue>> From<Option<T>> for CypherValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::NULL, Into::into)
    }
}

impl From<BTreeMap<String, CypherValue>> for CypherValue {
    fn from(entries: BTreeMap<String, CypherValue>) -> Self {
        Self::Map(entries)
    }
}
