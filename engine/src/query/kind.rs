//! What is known of a value before any row is seen: its kind, which also fixes how Arrow holds it.

use std::fmt;

use crate::schema::Type;

/// Names one [`Entity`](super::bound::Entity) of a statement. All values of one entity have the same Arrow struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EntityId(pub(crate) u32);

/// The static kind of an expression. Every column of a plan has exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Null and nothing else; Arrow `Boolean`, all null.
    Null,
    /// Arrow `Boolean`.
    Bool,
    /// 64 bits, signed; Arrow `Int64`. Properties of the narrower integer types are widened to it.
    Integer,
    /// A property of type `UINT64`; Arrow `UInt64`. Arithmetic and lists turn it into [`Kind::Integer`].
    Unsigned,
    /// Arrow `Float64`.
    Float,
    /// Arrow `Decimal128`.
    Decimal {
        /// All digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Text, labels of enums included; Arrow `Utf8`.
    String,
    /// Arrow `Date32`.
    Date,
    /// Arrow `Time64(Microsecond)`.
    Time,
    /// Arrow `Timestamp(Microsecond, UTC)`.
    Timestamp,
    /// Arrow `FixedSizeBinary(16)`.
    Uuid,
    /// Arrow `Binary`.
    Blob,
    /// The text of a document; Arrow `Utf8`.
    Json,
    /// A property of type `FLOAT[n]`; Arrow `FixedSizeList(Float32)`. To everything but output it is a list of floats.
    Vector(u32),
    /// Arrow `List`.
    List(Box<Kind>),
    /// A map whose keys are known, in the order of their names; Arrow `Struct`.
    Map(Vec<(String, Kind)>),
    /// A node or an edge; an Arrow struct laid out by its entity.
    Entity(EntityId),
}

impl Kind {
    /// The kind of a property of type `ty`.
    pub(crate) fn of(ty: &Type) -> Self {
        match ty {
            Type::String | Type::Enum(_) => Self::String,
            Type::Bool => Self::Bool,
            Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 | Type::UInt8 | Type::UInt16 | Type::UInt32 => {
                Self::Integer
            }
            Type::UInt64 => Self::Unsigned,
            Type::Float | Type::Double => Self::Float,
            Type::Decimal { precision, scale } => Self::Decimal { precision: *precision, scale: *scale },
            Type::Date => Self::Date,
            Type::Time => Self::Time,
            Type::Timestamp => Self::Timestamp,
            Type::Uuid => Self::Uuid,
            Type::Blob => Self::Blob,
            Type::Json => Self::Json,
            Type::Vector(length) => Self::Vector(*length),
            Type::List(element) => Self::List(Box::new(Self::of(element))),
        }
    }

    /// Whether arithmetic may be done with it; null is taken for a number.
    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Null | Self::Integer | Self::Unsigned | Self::Float | Self::Decimal { .. })
    }

    /// Whether `<` means something between two values of it.
    pub(crate) const fn is_ordered(&self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Bool
                | Self::Integer
                | Self::Unsigned
                | Self::Float
                | Self::Decimal { .. }
                | Self::String
                | Self::Date
                | Self::Time
                | Self::Timestamp
        )
    }
}

/// The kind with its article, for messages.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a truth value",
            Self::Integer | Self::Unsigned => "an integer",
            Self::Decimal { .. } => "a decimal",
            Self::Float => "a float",
            Self::String => "a string",
            Self::Date => "a date",
            Self::Time => "a time",
            Self::Timestamp => "a timestamp",
            Self::Uuid => "a UUID",
            Self::Blob => "a BLOB",
            Self::Json => "a JSON document",
            Self::Vector(_) => "a vector",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Entity(_) => "a node or an edge",
        })
    }
}
