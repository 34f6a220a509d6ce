//! What can be said of an expression before any row is seen.

use crate::query::bound::{Expr, ExprNode, Function};
use crate::query::eval::may_not_fit;
use crate::query::kind::Kind;
use crate::syntax::{BinaryOp, UnaryOp};

/// Whether it has a value for every row: no fault can come of it.
pub(super) fn is_total(expr: &Expr) -> bool {
    expr.operands().into_iter().all(is_total) && is_total_itself(expr)
}

/// Whether it gives the same for the same row however often it is asked.
pub(super) fn is_steady(expr: &Expr) -> bool {
    let random = matches!(expr.node, ExprNode::Call { function: Function::RandomUuid, .. });
    !random && expr.operands().into_iter().all(is_steady)
}

/// Whether it may be evaluated for any row, and as often as is convenient.
pub(super) fn is_plain(expr: &Expr) -> bool {
    is_total(expr) && is_steady(expr)
}

fn is_total_itself(expr: &Expr) -> bool {
    let fits = |inner: &Expr| !may_not_fit(&inner.kind, &expr.kind);
    match &expr.node {
        ExprNode::Constant(_)
        | ExprNode::Column(_)
        | ExprNode::Field { .. }
        | ExprNode::Compare(..)
        | ExprNode::IsNull { .. }
        | ExprNode::IsOf { .. }
        | ExprNode::Unary(UnaryOp::Not, _) => true,
        ExprNode::Unary(UnaryOp::Plus, operand) | ExprNode::Convert(operand) => fits(operand),
        ExprNode::Property { of, .. } => matches!(of.kind, Kind::Entity(_)) && holds_every_number(&expr.kind),
        ExprNode::List(items) => match &expr.kind {
            Kind::List(element) => items.iter().all(|item| !may_not_fit(&item.kind, element)),
            _ => false,
        },
        ExprNode::Map(entries) => match &expr.kind {
            Kind::Map(kinds) => {
                entries.len() == kinds.len()
                    && entries
                        .iter()
                        .zip(kinds)
                        .all(|((name, value), (known, kind))| name == known && !may_not_fit(&value.kind, kind))
            }
            _ => false,
        },
        ExprNode::Unary(UnaryOp::Minus, operand) => matches!(operand.kind, Kind::Float | Kind::Null),
        ExprNode::Binary(operator, left, right) => match operator {
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::In
            | BinaryOp::StartsWith
            | BinaryOp::EndsWith
            | BinaryOp::Contains => true,
            _ => is_total_arithmetic(*operator, &left.kind, &right.kind),
        },
        ExprNode::Index { list, .. } => match &list.kind {
            Kind::List(element) => !may_not_fit(element, &expr.kind),
            Kind::Vector(_) => expr.kind == Kind::Float,
            _ => false,
        },
        ExprNode::SubList { list, .. } => fits(list),
        ExprNode::Case { arms, otherwise, .. } => {
            arms.iter().all(|(_, then)| fits(then)) && otherwise.as_deref().is_none_or(fits)
        }
        ExprNode::Call { function, arguments } => is_total_call(*function, arguments, &expr.kind),
    }
}

/// Whether a property of any type that unites to `kind` surely is one of it. Only numbers are ever brought to another kind.
const fn holds_every_number(kind: &Kind) -> bool {
    !matches!(kind, Kind::Decimal { .. })
}

/// Texts and lists that are joined may become too long.
fn is_total_arithmetic(operator: BinaryOp, left: &Kind, right: &Kind) -> bool {
    matches!(left, Kind::Null) || matches!(right, Kind::Null) || is_float_arithmetic(operator, left, right)
}

/// Whether numbers of these kinds are computed as floats, which never fails.
pub(super) const fn is_float_arithmetic(operator: BinaryOp, left: &Kind, right: &Kind) -> bool {
    let float = matches!(left, Kind::Float) || matches!(right, Kind::Float) || matches!(operator, BinaryOp::Power);
    let binary = matches!(left, Kind::Float | Kind::Integer | Kind::Unsigned)
        && matches!(right, Kind::Float | Kind::Integer | Kind::Unsigned);
    float && binary
}

fn is_total_call(function: Function, arguments: &[Expr], kind: &Kind) -> bool {
    let first = arguments.first().map(|argument| &argument.kind);
    match function {
        Function::Coalesce => arguments.iter().all(|argument| !may_not_fit(&argument.kind, kind)),
        Function::Abs
        | Function::Ceil
        | Function::Floor
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Log10 => {
            matches!(kind, Kind::Float)
        }
        Function::Round => matches!(kind, Kind::Float) && arguments.len() == 1,
        Function::Head | Function::Last => match first {
            Some(Kind::List(element)) => !may_not_fit(element, kind),
            Some(Kind::Vector(_)) => *kind == Kind::Float,
            _ => false,
        },
        Function::Tail | Function::Reverse => first.is_some_and(|first| !may_not_fit(first, kind)),
        Function::Sign
        | Function::Size
        | Function::ToLower
        | Function::ToUpper
        | Function::Trim
        | Function::LTrim
        | Function::RTrim
        | Function::Split
        | Function::ToString
        | Function::ToFloat
        | Function::ToBoolean
        | Function::Labels
        | Function::Type
        | Function::Keys
        | Function::RandomUuid => true,
        // Of a text or a number that may not be one; lengths that may be negative; texts that may become too long; kinds that may differ
        // by table.
        Function::Replace
        | Function::Substring
        | Function::Left
        | Function::Right
        | Function::ToInteger
        | Function::Range
        | Function::Properties => false,
        Function::Date | Function::Time | Function::DateTime => arguments.is_empty(),
    }
}
