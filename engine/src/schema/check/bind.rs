//! From an expression to what is evaluated: names become positions, and what could never be right is refused.

use super::eval::{BoolOp, Node};
use super::functions;
use super::kind::Kind;
use crate::schema::Type;
use crate::syntax::{Arm, BinaryOp, CompareOp, Expr, ExprKind, Finding, Span, UnaryOp};
use crate::syntax::{exact_decimal, suggest};
use crate::value::Value;

/// The properties that a condition may name.
pub(crate) struct Scope<'a> {
    /// Name, position in the row, and type if that is known.
    pub properties: Vec<(&'a str, usize, Option<&'a Type>)>,
    /// Whether there may be others, of which nothing is known.
    pub open: bool,
}

/// A node and what it will give, and where it came from.
pub(super) struct Bound {
    pub node: Node,
    pub kind: Kind,
    pub span: Span,
}

/// Compiles a condition.
pub(crate) fn bind(expr: &Expr, scope: &Scope<'_>) -> Result<Node, Finding> {
    let bound = bind_expr(expr, scope)?;
    expect_bool(&bound, "a CHECK")?;
    Ok(bound.node)
}

fn bind_expr(expr: &Expr, scope: &Scope<'_>) -> Result<Bound, Finding> {
    let span = expr.span;
    let (node, kind) = match &expr.kind {
        ExprKind::Null => (Node::Constant(Value::Null), Kind::Unknown),
        ExprKind::Bool(value) => (Node::Constant(Value::Bool(*value)), Kind::Bool),
        ExprKind::Integer(value) => (Node::Constant(Value::Int(*value)), Kind::Integer),
        ExprKind::Float { value, text } => (Node::Float { value: *value, exact: exact(text) }, Kind::Float),
        ExprKind::String(text) => (Node::Constant(Value::String(text.clone())), Kind::String),
        ExprKind::Name(name) => bind_name(name, span, scope)?,
        ExprKind::List(items) => bind_list(items, scope)?,
        ExprKind::Unary(operator, operand) => bind_unary(*operator, operand, scope)?,
        ExprKind::Binary(operator, left, right) => bind_binary(*operator, left, right, scope)?,
        ExprKind::Compare(first, rest) => bind_comparison(first, rest, scope)?,
        ExprKind::IsNull { operand, negated } => {
            (Node::IsNull { operand: Box::new(bind_expr(operand, scope)?.node), negated: *negated }, Kind::Bool)
        }
        ExprKind::Call { distinct: true, .. } => return Err(Finding::new(span, "a condition cannot use DISTINCT")),
        ExprKind::Call { name, name_span, arguments, .. } => {
            let arguments = arguments.iter().map(|argument| bind_expr(argument, scope)).collect::<Result<_, _>>()?;
            functions::bind_call(name, *name_span, arguments)?
        }
        ExprKind::Case { operand, arms, otherwise } => {
            bind_case(operand.as_deref(), arms, otherwise.as_deref(), scope)?
        }
        ExprKind::Parameter(_)
        | ExprKind::Map(_)
        | ExprKind::Property { .. }
        | ExprKind::Index { .. }
        | ExprKind::Slice { .. }
        | ExprKind::HasLabels { .. }
        | ExprKind::CountAll => return Err(beyond_conditions(expr)),
    };
    Ok(Bound { node, kind, span })
}

fn bind_name(name: &str, span: Span, scope: &Scope<'_>) -> Result<(Node, Kind), Finding> {
    if let Some((_, index, ty)) = scope.properties.iter().find(|(known, _, _)| *known == name) {
        return Ok((Node::Property(*index), ty.map_or(Kind::Unknown, Kind::of)));
    }
    if scope.open {
        return Ok((Node::Constant(Value::Null), Kind::Unknown));
    }
    let finding = Finding::new(span, format!("there is no property `{name}`"));
    Err(suggest(finding, name, scope.properties.iter().map(|(known, _, _)| *known)))
}

/// What only a statement may use.
fn beyond_conditions(expr: &Expr) -> Finding {
    let finding = Finding::new(expr.span, format!("a condition cannot use {}", expr.kind.describe()));
    match &expr.kind {
        ExprKind::Property { .. } => finding.with_help("write the property's name alone, with no variable before it"),
        _ => finding,
    }
}

/// A number as it is written, if it is one of at most 38 digits.
fn exact(text: &str) -> Option<Value> {
    exact_decimal(text).map(|(unscaled, scale)| Value::Decimal { unscaled, scale })
}

pub(super) fn expect_bool(bound: &Bound, what: &str) -> Result<(), Finding> {
    if matches!(bound.kind, Kind::Bool | Kind::Unknown) {
        return Ok(());
    }
    Err(Finding::new(bound.span, format!("{what} needs a truth value, and this is {}", bound.kind)))
}

fn expect_number(bound: &Bound, what: &str) -> Result<(), Finding> {
    if bound.kind.is_number() {
        return Ok(());
    }
    Err(Finding::new(bound.span, format!("`{what}` needs a number, and this is {}", bound.kind)))
}

fn expect_string(bound: &Bound, what: &str) -> Result<(), Finding> {
    if matches!(bound.kind, Kind::String | Kind::Unknown) {
        return Ok(());
    }
    Err(Finding::new(bound.span, format!("`{what}` needs a string, and this is {}", bound.kind)))
}

/// The kind that `others` have in common with `first`. A number with a point is meant as it is written when a decimal
/// stands beside it, and as the nearest float else.
pub(super) fn unite(first: &mut Bound, others: &mut [&mut Bound], what: &str) -> Result<Kind, Finding> {
    let mut kind = first.kind.clone();
    for other in others.iter() {
        kind = kind.unite(&other.kind).ok_or_else(|| incomparable(&kind, other, what))?;
    }
    let decimal = std::iter::once(&first.kind).chain(others.iter().map(|other| &other.kind)).any(holds_decimals);
    if decimal {
        first.prefer_exact();
        for other in others.iter_mut() {
            other.prefer_exact();
        }
        kind = others.iter().fold(first.kind.clone(), |kind, other| kind.unite(&other.kind).unwrap_or(kind));
    }
    Ok(kind)
}

fn holds_decimals(kind: &Kind) -> bool {
    match kind {
        Kind::Decimal => true,
        Kind::List(element) => holds_decimals(element),
        _ => false,
    }
}

fn incomparable(kind: &Kind, other: &Bound, what: &str) -> Finding {
    let finding = Finding::new(other.span, format!("{what} {kind} with {}: they are never comparable", other.kind));
    let literal = match (kind, &other.kind) {
        (Kind::Date, Kind::String) | (Kind::String, Kind::Date) => "a date is written date('2024-01-31')",
        (Kind::Time, Kind::String) | (Kind::String, Kind::Time) => "a time is written time('12:34:56')",
        (Kind::Timestamp, Kind::String) | (Kind::String, Kind::Timestamp) => {
            "a timestamp is written datetime('2024-01-31T12:00:00Z')"
        }
        _ => return finding,
    };
    finding.with_help(literal)
}

impl Bound {
    /// Takes numbers with a point as they are written, and not as the nearest float.
    fn prefer_exact(&mut self) {
        if self.node.prefer_exact() {
            self.kind = exact_kind(&self.kind);
        }
    }
}

fn exact_kind(kind: &Kind) -> Kind {
    match kind {
        Kind::Float => Kind::Decimal,
        Kind::List(element) => Kind::List(Box::new(exact_kind(element))),
        other => other.clone(),
    }
}

fn bind_list(items: &[Expr], scope: &Scope<'_>) -> Result<(Node, Kind), Finding> {
    let mut bound = items.iter().map(|item| bind_expr(item, scope)).collect::<Result<Vec<_>, _>>()?;
    let mut element = Kind::Unknown;
    if let [first, others @ ..] = bound.as_mut_slice() {
        element = unite(first, &mut others.iter_mut().collect::<Vec<_>>(), "a list cannot hold")?;
    }
    Ok((Node::List(bound.into_iter().map(|item| item.node).collect()), Kind::List(Box::new(element))))
}

fn bind_unary(operator: UnaryOp, operand: &Expr, scope: &Scope<'_>) -> Result<(Node, Kind), Finding> {
    let bound = bind_expr(operand, scope)?;
    Ok(match operator {
        UnaryOp::Not => {
            expect_bool(&bound, "`NOT`")?;
            (Node::Not(Box::new(bound.node)), Kind::Bool)
        }
        UnaryOp::Minus => {
            expect_number(&bound, "-")?;
            (Node::Negate(Box::new(bound.node)), bound.kind)
        }
        UnaryOp::Plus => {
            expect_number(&bound, "+")?;
            (bound.node, bound.kind)
        }
    })
}

fn bind_binary(operator: BinaryOp, left: &Expr, right: &Expr, scope: &Scope<'_>) -> Result<(Node, Kind), Finding> {
    let (left, right) = (bind_expr(left, scope)?, bind_expr(right, scope)?);
    let name = operator.as_str();
    match operator {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            let quoted = format!("`{name}`");
            expect_bool(&left, &quoted)?;
            expect_bool(&right, &quoted)?;
            let operator = match operator {
                BinaryOp::And => BoolOp::And,
                BinaryOp::Or => BoolOp::Or,
                _ => BoolOp::Xor,
            };
            Ok((Node::Bool(operator, Box::new(left.node), Box::new(right.node)), Kind::Bool))
        }
        BinaryOp::In => bind_in(left, right),
        BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains => {
            expect_string(&left, name)?;
            expect_string(&right, name)?;
            Ok((Node::Text(operator, Box::new(left.node), Box::new(right.node)), Kind::Bool))
        }
        _ => bind_arithmetic(operator, left, right),
    }
}

fn bind_in(mut left: Bound, mut right: Bound) -> Result<(Node, Kind), Finding> {
    let element = match &right.kind {
        Kind::List(element) => (**element).clone(),
        Kind::Unknown => Kind::Unknown,
        other => return Err(Finding::new(right.span, format!("`IN` needs a list, and this is {other}"))),
    };
    if matches!(element, Kind::Json) || left.kind == Kind::Json {
        return Err(Finding::new(left.span, "JSON documents are not compared"));
    }
    if left.kind.unite(&element).is_none() {
        return Err(incomparable(&element, &left, "`IN` compares"));
    }
    if holds_decimals(&left.kind) || holds_decimals(&element) {
        left.prefer_exact();
        right.prefer_exact();
    }
    Ok((Node::In(Box::new(left.node), Box::new(right.node)), Kind::Bool))
}

fn bind_arithmetic(operator: BinaryOp, mut left: Bound, mut right: Bound) -> Result<(Node, Kind), Finding> {
    let name = operator.as_str();
    let joins = |kind: &Kind| matches!(kind, Kind::String | Kind::List(_));
    let kind = if operator == BinaryOp::Add && (joins(&left.kind) || joins(&right.kind)) {
        unite(&mut left, &mut [&mut right], "`+` joins")?
    } else {
        expect_number(&left, name)?;
        expect_number(&right, name)?;
        match unite(&mut left, &mut [&mut right], "`+` adds")? {
            Kind::Decimal if operator == BinaryOp::Divide => Kind::Float,
            _ if operator == BinaryOp::Power => Kind::Float,
            kind => kind,
        }
    };
    Ok((Node::Arithmetic(operator, Box::new(left.node), Box::new(right.node)), kind))
}

fn bind_comparison(first: &Expr, rest: &[(CompareOp, Expr)], scope: &Scope<'_>) -> Result<(Node, Kind), Finding> {
    let mut first = bind_expr(first, scope)?;
    let mut operands = rest.iter().map(|(_, operand)| bind_expr(operand, scope)).collect::<Result<Vec<_>, _>>()?;
    let name = rest.first().map_or("=", |(operator, _)| operator.as_str());
    let what = format!("`{name}` compares");
    let kind = unite(&mut first, &mut operands.iter_mut().collect::<Vec<_>>(), &what)?;
    if kind == Kind::Json {
        return Err(Finding::new(first.span, "JSON documents are not compared"));
    }
    let unordered = rest.iter().find(|(operator, _)| !matches!(operator, CompareOp::Equal | CompareOp::NotEqual));
    if let Some((operator, _)) = unordered.filter(|_| !kind.is_ordered()) {
        return Err(Finding::new(first.span, format!("`{}` needs an order, and {kind} has none", operator.as_str())));
    }
    let rest = rest.iter().zip(operands).map(|((operator, _), operand)| (*operator, operand.node)).collect();
    Ok((Node::Compare(Box::new(first.node), rest), Kind::Bool))
}

fn bind_case(
    operand: Option<&Expr>,
    arms: &[Arm],
    otherwise: Option<&Expr>,
    scope: &Scope<'_>,
) -> Result<(Node, Kind), Finding> {
    let mut operand = operand.map(|operand| bind_expr(operand, scope)).transpose()?;
    let mut whens = Vec::new();
    let mut results = Vec::new();
    for arm in arms {
        let mut when = arm.when.iter().map(|when| bind_expr(when, scope)).collect::<Result<Vec<_>, _>>()?;
        match &mut operand {
            Some(operand) => {
                unite(operand, &mut when.iter_mut().collect::<Vec<_>>(), "`CASE` compares")?;
            }
            None => when.iter().try_for_each(|when| expect_bool(when, "`WHEN`"))?,
        }
        whens.push(when.into_iter().map(|when| when.node).collect::<Vec<_>>());
        results.push(bind_expr(&arm.then, scope)?);
    }
    results.extend(otherwise.map(|otherwise| bind_expr(otherwise, scope)).transpose()?);
    let mut kind = Kind::Unknown;
    if let [first, others @ ..] = results.as_mut_slice() {
        kind = unite(first, &mut others.iter_mut().collect::<Vec<_>>(), "`CASE` gives")?;
    }
    let mut results = results.into_iter().map(|result| result.node);
    let arms = whens.into_iter().zip(results.by_ref()).collect();
    let node = Node::Case {
        operand: operand.map(|operand| Box::new(operand.node)),
        arms,
        otherwise: results.next().map(Box::new),
    };
    Ok((node, kind))
}
