//! The functions of conditions.

use super::bind::{Bound, unite};
use super::eval::{Fault, Node};
use super::kind::Kind;
use crate::schema::Type;
use crate::syntax::{CompareOp, Finding, Span};
use crate::value::{Value, compare, negate, parse_text};

/// A function that is called for each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Abs,
    Size,
    ToLower,
    ToUpper,
    Coalesce,
}

/// The names of all functions, as they are written.
const NAMES: [&str; 8] = ["abs", "size", "toLower", "toUpper", "coalesce", "date", "time", "datetime"];

/// Compiles a call of the function `name`, whose case does not matter.
pub(super) fn bind_call(name: &str, name_span: Span, mut arguments: Vec<Bound>) -> Result<(Node, Kind), Finding> {
    let Some(known) = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
        let help = format!("known are {}", NAMES.join(", "));
        return Err(Finding::new(name_span, format!("a condition cannot use the function `{name}`")).with_help(help));
    };
    if *known == "coalesce" {
        let [first, others @ ..] = arguments.as_mut_slice() else {
            return Err(Finding::new(name_span, "`coalesce` needs an argument"));
        };
        let kind = unite(first, &mut others.iter_mut().collect::<Vec<_>>(), "`coalesce` gives")?;
        return Ok((Node::Call(Function::Coalesce, nodes(arguments)), kind));
    }
    let [argument] = arguments.as_slice() else {
        return Err(Finding::new(name_span, format!("`{known}` takes one argument")));
    };
    let (function, kind) = match *known {
        "abs" if argument.kind.is_number() => (Function::Abs, argument.kind.clone()),
        "abs" => return Err(unfit(known, argument, "a number")),
        "size" if matches!(argument.kind, Kind::String | Kind::List(_) | Kind::Unknown) => {
            (Function::Size, Kind::Integer)
        }
        "size" => return Err(unfit(known, argument, "a string or a list")),
        "toLower" | "toUpper" if !matches!(argument.kind, Kind::String | Kind::Unknown) => {
            return Err(unfit(known, argument, "a string"));
        }
        "toLower" => (Function::ToLower, Kind::String),
        "toUpper" => (Function::ToUpper, Kind::String),
        _ => return constant(known, argument),
    };
    Ok((Node::Call(function, nodes(arguments)), kind))
}

fn nodes(arguments: Vec<Bound>) -> Vec<Node> {
    arguments.into_iter().map(|argument| argument.node).collect()
}

fn unfit(function: &str, argument: &Bound, needs: &str) -> Finding {
    Finding::new(argument.span, format!("`{function}` needs {needs}, and this is {}", argument.kind))
}

/// `date('…')` and its like: constants, read once.
fn constant(function: &str, argument: &Bound) -> Result<(Node, Kind), Finding> {
    let Node::Constant(Value::String(text)) = &argument.node else {
        return Err(Finding::new(argument.span, format!("`{function}` takes a text between quotes")));
    };
    let (ty, example) = match function {
        "date" => (Type::Date, "2024-01-31"),
        "time" => (Type::Time, "12:34:56"),
        _ => (Type::Timestamp, "2024-01-31T12:00:00Z"),
    };
    let kind = Kind::of(&ty);
    match parse_text(text, &ty) {
        Ok(value) => Ok((Node::Constant(value), kind)),
        Err(_) => Err(Finding::new(argument.span, format!("'{text}' is not {kind}"))
            .with_help(format!("write {function}('{example}')"))),
    }
}

/// The value of a function of one argument; null for null.
pub(super) fn call(function: Function, argument: Value) -> Result<Value, Fault> {
    Ok(match (function, argument) {
        (Function::Abs, Value::Float(value)) => Value::Float(value.abs()),
        (Function::Abs, value) => match compare(CompareOp::Less, &value, &Value::Int(0)) {
            Some(true) => negate(&value)?,
            _ => value,
        },
        (Function::Size, Value::String(text)) => Value::Int(i128::try_from(text.chars().count()).map_err(|_| Fault)?),
        (Function::Size, Value::List(items)) => Value::Int(i128::try_from(items.len()).map_err(|_| Fault)?),
        (Function::ToLower, Value::String(text)) => Value::String(text.to_lowercase()),
        (Function::ToUpper, Value::String(text)) => Value::String(text.to_uppercase()),
        _ => Value::Null,
    })
}
