//! From the parser's tree to ours; whatever a condition may not use is refused here by name.

use open_cypher::ast;
use unicode_normalization::UnicodeNormalization;

use super::expr::too_deep;
use super::{Arm, BinaryOp, CompareOp, Expr, ExprKind, Finding, Span, UnaryOp};

/// How deep a tree may be: every later pass over it recurses.
const MAX_DEPTH: usize = 200;

/// Converts `expr`, whose spans begin `offset` bytes too late.
pub(super) fn convert(expr: &ast::Expr, offset: usize, depth: usize) -> Result<Expr, Finding> {
    let span = moved(expr.span, offset);
    if depth > MAX_DEPTH {
        return Err(too_deep(span));
    }
    let inner = |expr: &ast::Expr| convert(expr, offset, depth + 1);
    let boxed = |expr: &ast::Expr| inner(expr).map(Box::new);
    let all = |exprs: &[ast::Expr]| exprs.iter().map(inner).collect::<Result<Vec<_>, _>>();
    let kind = match &expr.kind {
        ast::ExprKind::Parenthesized(inside) => return Ok(Expr { span, ..inner(inside)? }),
        ast::ExprKind::Literal(literal) => convert_literal(literal, span)?,
        ast::ExprKind::Variable(name) => ExprKind::Name(name.kind.text.nfc().collect()),
        ast::ExprKind::List(items) => ExprKind::List(all(items)?),
        ast::ExprKind::Unary { operator, operand } => {
            let operator = match operator.kind {
                ast::UnaryOperator::Plus => UnaryOp::Plus,
                ast::UnaryOperator::Minus => UnaryOp::Minus,
                ast::UnaryOperator::Not => UnaryOp::Not,
                _ => return Err(refused(span, "this operator")),
            };
            ExprKind::Unary(operator, boxed(operand)?)
        }
        ast::ExprKind::Binary { left, operator, right } => match comparison(operator.kind) {
            Some(_) => convert_comparison(expr, offset, depth)?,
            None => ExprKind::Binary(binary(operator.kind, moved(operator.span, offset))?, boxed(left)?, boxed(right)?),
        },
        ast::ExprKind::Is { expression, negated, predicate: ast::IsPredicate::Null } => {
            ExprKind::IsNull { operand: boxed(expression)?, negated: *negated }
        }
        ast::ExprKind::Function(call) => {
            let name_span = moved(call.name.span, offset);
            let parts: Vec<_> = call.name.parts.iter().map(|part| part.kind.text.as_str()).collect();
            if call.quantifier.is_some() {
                return Err(refused(span, "DISTINCT"));
            }
            ExprKind::Call { name: parts.join("."), name_span, arguments: all(&call.arguments)? }
        }
        ast::ExprKind::Case(case) => ExprKind::Case {
            operand: case.operand.as_deref().map(boxed).transpose()?,
            arms: case
                .alternatives
                .iter()
                .map(|arm| Ok(Arm { when: all(&arm.when)?, then: inner(&arm.then)? }))
                .collect::<Result<_, Finding>>()?,
            otherwise: case.else_expression.as_deref().map(boxed).transpose()?,
        },
        other => return Err(refused(span, name_of(other))),
    };
    Ok(Expr { kind, span })
}

fn moved(span: open_cypher::Span, offset: usize) -> Span {
    Span::new(span.start.saturating_sub(offset), span.end.saturating_sub(offset))
}

fn refused(span: Span, what: &str) -> Finding {
    Finding::new(span, format!("a condition cannot use {what}"))
}

/// `a < b < c` comes as `(a < b) < c`; only brackets that were written keep it so.
fn convert_comparison(expr: &ast::Expr, offset: usize, depth: usize) -> Result<ExprKind, Finding> {
    let mut rest = Vec::new();
    let mut first = expr;
    while let ast::ExprKind::Binary { left, operator, right } = &first.kind {
        let Some(operator) = comparison(operator.kind) else { break };
        rest.push((operator, convert(right, offset, depth + 1)?));
        first = left;
    }
    rest.reverse();
    Ok(ExprKind::Compare(Box::new(convert(first, offset, depth + 1)?), rest))
}

const fn comparison(operator: ast::BinaryOperator) -> Option<CompareOp> {
    Some(match operator {
        ast::BinaryOperator::Equal => CompareOp::Equal,
        ast::BinaryOperator::NotEqual => CompareOp::NotEqual,
        ast::BinaryOperator::Less => CompareOp::Less,
        ast::BinaryOperator::LessEqual => CompareOp::LessEqual,
        ast::BinaryOperator::Greater => CompareOp::Greater,
        ast::BinaryOperator::GreaterEqual => CompareOp::GreaterEqual,
        _ => return None,
    })
}

fn binary(operator: ast::BinaryOperator, span: Span) -> Result<BinaryOp, Finding> {
    Ok(match operator {
        ast::BinaryOperator::Or => BinaryOp::Or,
        ast::BinaryOperator::Xor => BinaryOp::Xor,
        ast::BinaryOperator::And => BinaryOp::And,
        ast::BinaryOperator::In => BinaryOp::In,
        ast::BinaryOperator::StartsWith => BinaryOp::StartsWith,
        ast::BinaryOperator::EndsWith => BinaryOp::EndsWith,
        ast::BinaryOperator::Contains => BinaryOp::Contains,
        ast::BinaryOperator::Add => BinaryOp::Add,
        ast::BinaryOperator::Subtract => BinaryOp::Subtract,
        ast::BinaryOperator::Multiply => BinaryOp::Multiply,
        ast::BinaryOperator::Divide => BinaryOp::Divide,
        ast::BinaryOperator::Remainder => BinaryOp::Remainder,
        ast::BinaryOperator::Power => BinaryOp::Power,
        ast::BinaryOperator::RegexMatch => return Err(refused(span, "`=~`")),
        ast::BinaryOperator::Concat => return Err(refused(span, "`||`").with_help("join strings and lists with `+`")),
        _ => return Err(refused(span, "this operator")),
    })
}

fn convert_literal(literal: &ast::Literal, span: Span) -> Result<ExprKind, Finding> {
    Ok(match &literal.kind {
        ast::LiteralKind::Null => ExprKind::Null,
        ast::LiteralKind::Boolean(value) => ExprKind::Bool(*value),
        ast::LiteralKind::String(string) => ExprKind::String(string.value.clone()),
        ast::LiteralKind::Integer(integer) => ExprKind::Integer(
            parse_integer(&integer.text).ok_or_else(|| Finding::new(span, "the number is too large"))?,
        ),
        ast::LiteralKind::Float(float) => {
            let text = plain_float(&float.text);
            let value = text.parse().map_err(|_| Finding::new(span, format!("`{}` is not a number", float.text)))?;
            ExprKind::Float { value, text }
        }
        _ => return Err(refused(span, "this literal")),
    })
}

/// Decimal, hexadecimal or octal digits, with underscores between them.
pub(crate) fn parse_integer(text: &str) -> Option<i128> {
    let digits = text.replace('_', "");
    let (digits, radix) = match digits.get(..2) {
        Some("0x" | "0X") => (&digits[2..], 16),
        Some("0o" | "0O") => (&digits[2..], 8),
        _ => (digits.as_str(), 10),
    };
    i128::from_str_radix(digits, radix).ok()
}

/// The spelling without underscores and without the suffix that says float or double.
pub(crate) fn plain_float(text: &str) -> String {
    let text = text.replace('_', "");
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return text;
    }
    text.trim_end_matches(['f', 'F', 'd', 'D']).to_owned()
}

/// What the user would call an expression that a condition may not use.
const fn name_of(kind: &ast::ExprKind) -> &'static str {
    match kind {
        ast::ExprKind::Parameter(_) => "a parameter",
        ast::ExprKind::Wildcard => "`*`",
        ast::ExprKind::Map(_) => "a map",
        ast::ExprKind::MapProjection(_) => "a map projection",
        ast::ExprKind::Is { .. } => "`IS` with anything but NULL",
        ast::ExprKind::Property { .. } | ast::ExprKind::DynamicProperty { .. } => {
            "`.`: write the property's name alone, with no variable before it"
        }
        ast::ExprKind::Index { .. } => "an index into a list",
        ast::ExprKind::Slice { .. } => "a slice of a list",
        ast::ExprKind::ListComprehension(_) => "a list comprehension",
        ast::ExprKind::PatternComprehension(_) => "a pattern comprehension",
        ast::ExprKind::Reduce(_) => "`reduce`",
        ast::ExprKind::QuantifiedPredicate(_) => "`all`, `any`, `none` or `single`",
        ast::ExprKind::Subquery(_) => "a subquery",
        ast::ExprKind::Pattern(_) => "a pattern",
        _ => "this expression",
    }
}
