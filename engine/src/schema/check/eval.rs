//! Evaluates a compiled condition on one row, with openCypher's three truth values.

use super::functions::{Function, call};
use crate::syntax::{BinaryOp, CompareOp};
use crate::value::{NoResult, Value, arithmetic, compare, equal, negate};

/// The expression has no value for this row: a division by zero, or a number beyond all bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault;

impl From<NoResult> for Fault {
    fn from(_: NoResult) -> Self {
        Self
    }
}

/// A compiled expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Constant(Value),
    /// A number with a point: as the nearest float, and as it is written.
    Float {
        value: f64,
        exact: Option<Value>,
    },
    /// The value at this position of the row.
    Property(usize),
    List(Vec<Node>),
    Not(Box<Node>),
    Negate(Box<Node>),
    Bool(BoolOp, Box<Node>, Box<Node>),
    Compare(Box<Node>, Vec<(CompareOp, Node)>),
    In(Box<Node>, Box<Node>),
    /// `STARTS WITH`, `ENDS WITH`, `CONTAINS`.
    Text(BinaryOp, Box<Node>, Box<Node>),
    Arithmetic(BinaryOp, Box<Node>, Box<Node>),
    IsNull {
        operand: Box<Node>,
        negated: bool,
    },
    Case {
        operand: Option<Box<Node>>,
        arms: Vec<(Vec<Node>, Node)>,
        otherwise: Option<Box<Node>>,
    },
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoolOp {
    And,
    Or,
    Xor,
}

impl Node {
    /// Takes numbers with a point as they are written; whether that made the whole a decimal.
    pub(super) fn prefer_exact(&mut self) -> bool {
        match self {
            Self::Float { exact: Some(exact), .. } => {
                *self = Self::Constant(exact.clone());
                true
            }
            Self::Negate(operand) => operand.prefer_exact(),
            Self::List(items) => {
                // Each for itself: floats and decimals compare with each other, so a list may hold both.
                let exact = items.iter_mut().filter_map(|item| item.prefer_exact().then_some(())).count();
                exact > 0 && exact == items.len()
            }
            _ => false,
        }
    }

    /// The value for `row`; a position that the row lacks is null.
    pub(super) fn evaluate(&self, row: &[Value]) -> Result<Value, Fault> {
        Ok(match self {
            Self::Constant(value) => value.clone(),
            Self::Float { value, .. } => Value::Float(*value),
            Self::Property(index) => property(row.get(*index)),
            Self::List(items) => Value::List(items.iter().map(|item| item.evaluate(row)).collect::<Result<_, _>>()?),
            Self::Not(operand) => truth(truth_of(&operand.evaluate(row)?).map(|value| !value)),
            Self::Negate(operand) => negate(&operand.evaluate(row)?)?,
            Self::Bool(operator, left, right) => truth(evaluate_bool(*operator, left, right, row)?),
            Self::Compare(first, rest) => truth(evaluate_chain(first, rest, row)?),
            Self::In(element, list) => truth(contains(&element.evaluate(row)?, &list.evaluate(row)?)),
            Self::Text(operator, left, right) => truth(text(*operator, &left.evaluate(row)?, &right.evaluate(row)?)),
            Self::Arithmetic(operator, left, right) => {
                arithmetic(*operator, left.evaluate(row)?, right.evaluate(row)?)?
            }
            Self::IsNull { operand, negated } => Value::Bool((operand.evaluate(row)? == Value::Null) != *negated),
            Self::Case { operand, arms, otherwise } => {
                match chosen(operand.as_deref(), arms, row)?.or(otherwise.as_deref()) {
                    Some(node) => node.evaluate(row)?,
                    None => Value::Null,
                }
            }
            Self::Call(Function::Coalesce, arguments) => {
                for argument in arguments {
                    let value = argument.evaluate(row)?;
                    if value != Value::Null {
                        return Ok(value);
                    }
                }
                Value::Null
            }
            Self::Call(function, arguments) => match arguments.first() {
                Some(argument) => call(*function, argument.evaluate(row)?)?,
                None => Value::Null,
            },
        })
    }
}

/// A vector takes part as the list of its elements.
fn property(value: Option<&Value>) -> Value {
    match value {
        Some(Value::Vector(elements)) => {
            Value::List(elements.iter().map(|element| Value::Float((*element).into())).collect())
        }
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

fn truth(value: Option<bool>) -> Value {
    value.map_or(Value::Null, Value::Bool)
}

const fn truth_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        _ => None,
    }
}

/// The right side is left alone when the left side decides, so that `b <> 0 AND a / b > 1` can be relied on.
fn evaluate_bool(operator: BoolOp, left: &Node, right: &Node, row: &[Value]) -> Result<Option<bool>, Fault> {
    let left = truth_of(&left.evaluate(row)?);
    let decided = match operator {
        BoolOp::And => Some(false),
        BoolOp::Or => Some(true),
        BoolOp::Xor => None,
    };
    if decided.is_some() && left == decided {
        return Ok(decided);
    }
    let right = truth_of(&right.evaluate(row)?);
    Ok(match (left, right) {
        _ if decided.is_some() && right == decided => decided,
        (Some(left), Some(right)) => Some(match operator {
            BoolOp::And => left && right,
            BoolOp::Or => left || right,
            BoolOp::Xor => left != right,
        }),
        _ => None,
    })
}

/// `a < b <= c` is `a < b AND b <= c`, each operand evaluated once.
fn evaluate_chain(first: &Node, rest: &[(CompareOp, Node)], row: &[Value]) -> Result<Option<bool>, Fault> {
    let mut left = first.evaluate(row)?;
    let mut unknown = false;
    for (operator, right) in rest {
        let right = right.evaluate(row)?;
        match compare(*operator, &left, &right) {
            Some(false) => return Ok(Some(false)),
            Some(true) => {}
            None => unknown = true,
        }
        left = right;
    }
    Ok((!unknown).then_some(true))
}

/// `IN`: true if one element is equal, else null if one may be, else false.
fn contains(element: &Value, list: &Value) -> Option<bool> {
    let Value::List(items) = list else { return None };
    let mut unknown = false;
    for item in items {
        match equal(element, item) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    (!unknown).then_some(false)
}

fn text(operator: BinaryOp, left: &Value, right: &Value) -> Option<bool> {
    let (Value::String(left), Value::String(right)) = (left, right) else { return None };
    Some(match operator {
        BinaryOp::StartsWith => left.starts_with(right),
        BinaryOp::EndsWith => left.ends_with(right),
        _ => left.contains(right),
    })
}

/// The result of the first arm that applies.
fn chosen<'a>(operand: Option<&Node>, arms: &'a [(Vec<Node>, Node)], row: &[Value]) -> Result<Option<&'a Node>, Fault> {
    let operand = operand.map(|operand| operand.evaluate(row)).transpose()?;
    for (whens, then) in arms {
        for when in whens {
            let when = when.evaluate(row)?;
            let applies = match &operand {
                Some(operand) => equal(operand, &when),
                None => truth_of(&when),
            };
            if applies == Some(true) {
                return Ok(Some(then));
            }
        }
    }
    Ok(None)
}
