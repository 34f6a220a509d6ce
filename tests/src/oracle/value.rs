//! Values of the small language, with openCypher's three-valued equality.

use std::cmp::Ordering;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Val {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; never of a size where sums would round.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    List(Vec<Val>),
    /// The node at this index of the graph.
    Node(usize),
    /// The edge at this index of the graph.
    Edge(usize),
}

impl Val {
    /// Whether there is none.
    #[must_use]
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// `=`: `None` is null.
    #[must_use]
    pub fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Null, _) | (_, Self::Null) => None,
            (Self::List(a), Self::List(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                let mut unknown = false;
                for (a, b) in a.iter().zip(b) {
                    match a.equals(b) {
                        Some(false) => return Some(false),
                        None => unknown = true,
                        Some(true) => {}
                    }
                }
                if unknown { None } else { Some(true) }
            }
            #[expect(clippy::float_cmp, reason = "`=` compares exactly")]
            (Self::Int(a), Self::Float(b)) | (Self::Float(b), Self::Int(a)) => Some(as_float(*a) == *b),
            (a, b) => Some(a == b),
        }
    }

    /// `<` and its like: `None` is null.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Str(a), Self::Str(b)) => Some(a.cmp(b)),
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Int(a), Self::Float(b)) => as_float(*a).partial_cmp(b),
            (Self::Float(a), Self::Int(b)) => a.partial_cmp(&as_float(*b)),
            _ => None,
        }
    }

    /// The order of `ORDER BY` between values of one kind: null last, NaN behind all numbers.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Greater,
            (_, Self::Null) => Ordering::Less,
            (Self::Float(a), Self::Float(b)) => a.is_nan().cmp(&b.is_nan()).then_with(|| a.total_cmp(b)),
            (Self::List(a), Self::List(b)) => {
                let first = a.iter().zip(b).map(|(a, b)| a.order(b)).find(|order| order.is_ne());
                first.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Self::Node(a), Self::Node(b)) | (Self::Edge(a), Self::Edge(b)) => a.cmp(b),
            (a, b) => a.compare(b).unwrap_or(Ordering::Equal),
        }
    }

    /// A text that is equal for values that `DISTINCT` takes for one, and for no others of the same kind.
    #[must_use]
    pub fn identity(&self) -> String {
        format!("{self:?}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "the integers of small graphs are small")]
fn as_float(n: i64) -> f64 {
    n as f64
}
