//! Between the values of a query and the arrays that bear them: one array type for each [`Kind`](super::kind::Kind).

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use crate::query::kind::Kind;
use crate::schema::Type;

pub(crate) use decode::Reader;
pub(crate) use encode::{encode, scalar};

/// The type of a property whose column is stored as this kind is; `None` for kinds that no property has.
pub(crate) fn type_of(kind: &Kind) -> Option<Type> {
    Some(match kind {
        Kind::Null | Kind::Bool => Type::Bool,
        Kind::Integer => Type::Int64,
        Kind::Unsigned => Type::UInt64,
        Kind::Float => Type::Double,
        Kind::Decimal { precision, scale } => Type::Decimal { precision: *precision, scale: *scale },
        Kind::String => Type::String,
        Kind::Date => Type::Date,
        Kind::Time => Type::Time,
        Kind::Timestamp => Type::Timestamp,
        Kind::Uuid => Type::Uuid,
        Kind::Blob => Type::Blob,
        Kind::Json => Type::Json,
        Kind::Vector(length) => Type::Vector(*length),
        Kind::List(_) | Kind::Map(_) | Kind::Entity(_) => return None,
    })
}
