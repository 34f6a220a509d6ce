//! What is known of a value before any row is seen.

use std::fmt;

use crate::schema::Type;

/// The static type of an expression. Types that compare with each other and mean the same share one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only null, or a property whose type is not known since it was wrong.
    Unknown,
    Bool,
    Integer,
    Decimal,
    Float,
    /// Text, labels included.
    String,
    Date,
    Time,
    Timestamp,
    Uuid,
    Blob,
    Json,
    /// A list, or a vector.
    List(Box<Kind>),
}

impl Kind {
    pub(super) fn of(ty: &Type) -> Self {
        match ty {
            Type::String | Type::Enum(_) => Self::String,
            Type::Bool => Self::Bool,
            Type::Float | Type::Double => Self::Float,
            Type::Decimal { .. } => Self::Decimal,
            Type::Date => Self::Date,
            Type::Time => Self::Time,
            Type::Timestamp => Self::Timestamp,
            Type::Uuid => Self::Uuid,
            Type::Blob => Self::Blob,
            Type::Json => Self::Json,
            Type::List(element) => Self::List(Box::new(Self::of(element))),
            Type::Vector(_) => Self::List(Box::new(Self::Float)),
            Type::Int8
            | Type::Int16
            | Type::Int32
            | Type::Int64
            | Type::UInt8
            | Type::UInt16
            | Type::UInt32
            | Type::UInt64 => Self::Integer,
        }
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::Integer | Self::Decimal | Self::Float | Self::Unknown)
    }

    /// Whether values of this kind are smaller or larger than one another.
    pub(super) const fn is_ordered(&self) -> bool {
        !matches!(self, Self::Uuid | Self::Blob | Self::Json | Self::List(_))
    }

    /// The kind that holds values of both, if they compare.
    pub(super) fn unite(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Unknown, kind) | (kind, Self::Unknown) => Some(kind.clone()),
            (Self::List(a), Self::List(b)) => a.unite(b).map(|element| Self::List(Box::new(element))),
            (a, b) if a == b => Some(a.clone()),
            (a, b) if a.is_number() && b.is_number() => {
                let float = *a == Self::Float || *b == Self::Float;
                Some(if float { Self::Float } else { Self::Decimal })
            }
            _ => None,
        }
    }
}

/// The kind with its article, for messages.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "null",
            Self::Bool => "a truth value",
            Self::Integer => "an integer",
            Self::Decimal => "a decimal",
            Self::Float => "a float",
            Self::String => "a string",
            Self::Date => "a date",
            Self::Time => "a time",
            Self::Timestamp => "a timestamp",
            Self::Uuid => "a UUID",
            Self::Blob => "a BLOB",
            Self::Json => "a JSON document",
            Self::List(_) => "a list",
        })
    }
}
