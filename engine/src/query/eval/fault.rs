//! How faults of evaluation are named and told.

use crate::query::fault::Fault;
use crate::query::kind::Kind;
use crate::query::value::CypherValue;
use crate::syntax::Span;
use crate::value::Value;

/// What sort of fault it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A whole number or a decimal is divided by zero.
    DivisionByZero,
    /// A number has more digits than its kind can have.
    NumberOverflow,
    /// A function is given a value of the right type that it has no answer for.
    InvalidArgument,
    /// A value is of another type than the place it stands in calls for.
    WrongType,
    /// Texts or lists are longer than an array can hold.
    ValueTooLarge,
}

impl Sort {
    const fn code(&self) -> &'static str {
        match self {
            Self::DivisionByZero => "division-by-zero",
            Self::NumberOverflow => "number-overflow",
            Self::InvalidArgument => "invalid-argument",
            Self::WrongType => "wrong-type",
            Self::ValueTooLarge => "value-too-large",
        }
    }
}

/// A fault at a place of the text.
pub(crate) fn fault(sort: &Sort, span: Span, message: impl Into<String>) -> Fault {
    Fault { code: sort.code(), message: message.into(), help: None, span }
}

/// A value that is not of a kind, wherever that may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    sort: Sort,
    message: String,
}

impl Unfit {
    /// A number with too many digits for `kind`.
    pub(crate) fn overflow(value: &CypherValue, kind: &Kind) -> Self {
        let bounds = match kind {
            Kind::Integer => "does not fit an integer of 64 bits".to_owned(),
            Kind::Unsigned => "does not fit an unsigned integer of 64 bits".to_owned(),
            Kind::Decimal { precision, scale } => {
                format!("does not fit a decimal of {precision} digits, {scale} of them after the point")
            }
            kind => format!("does not fit {kind}"),
        };
        Self { sort: Sort::NumberOverflow, message: format!("{} {bounds}", shown(value)) }
    }

    /// A value of another kind.
    pub(crate) fn wrong_type(value: &CypherValue, kind: &Kind) -> Self {
        let found = shown(value);
        let message = match kind {
            Kind::Vector(length) => format!("{found} is not a list of {length} numbers"),
            kind => format!("{found} is not {kind}"),
        };
        Self { sort: Sort::WrongType, message }
    }

    /// A sum with more digits than can be shown.
    pub(crate) fn sum_overflow(kind: &Kind) -> Self {
        Self { sort: Sort::NumberOverflow, message: format!("the sum has more digits than {kind} can have") }
    }

    /// More of a kind than one batch of rows can hold.
    pub(crate) fn too_much(kind: &Kind) -> Self {
        Self {
            sort: Sort::ValueTooLarge,
            message: format!("the rows of a batch have more than 2 GiB of values, each {kind}"),
        }
    }

    /// The fault of an expression whose value this is.
    pub(crate) fn at(self, span: Span) -> Fault {
        fault(&self.sort, span, self.message)
    }
}

/// A value in a message: shortened, and without the contents of what is not a scalar.
pub(super) fn shown(value: &CypherValue) -> String {
    match value {
        CypherValue::Scalar(value) => shown_scalar(value),
        CypherValue::List(items) => format!("a list of {}", items.len()),
        CypherValue::Map(_) => "a map".to_owned(),
        CypherValue::Node(node) => format!("a node `{}`", node.label),
        CypherValue::Edge(edge) => format!("an edge `{}`", edge.label),
    }
}

/// As JSON spells it, but numbers without the quotes that keep JSON's readers from rounding them.
pub(super) fn shown_scalar(value: &Value) -> String {
    match value {
        Value::Int(_) | Value::Decimal { .. } => value.shortened().trim_matches('"').to_owned(),
        other => other.shortened(),
    }
}
