//! Comparing and replacing parts of bound expressions.

use std::collections::BTreeSet;

use crate::query::bound::{Expr, ExprNode, Function, VarId};
use crate::syntax::Span;

/// The expression without its places: two of them are equal if they say the same.
pub(super) fn erased(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.visit_mut(&mut |part| part.span = Span::new(0, 0));
    expr
}

/// Whether evaluating the expression again gives the same value.
pub(super) fn is_repeatable(expr: &Expr) -> bool {
    let is_random = matches!(expr.node, ExprNode::Call { function: Function::RandomUuid, .. });
    !is_random && expr.operands().into_iter().all(is_repeatable)
}

/// Puts columns in place of the parts of `expr` that are one of `known`, each of which is erased; the largest parts first.
pub(super) fn replaced(expr: &Expr, known: &[(Expr, VarId)]) -> Expr {
    let span = expr.span;
    let bare = erased(expr);
    if let Some((_, var)) = known.iter().find(|(known, _)| *known == bare) {
        return Expr { node: ExprNode::Column(*var), kind: expr.kind.clone(), span };
    }
    let mut expr = expr.clone();
    for operand in expr.operands_mut() {
        *operand = replaced(operand, known);
    }
    expr
}

/// Puts expressions in place of columns.
pub(super) fn expanded(expr: &Expr, columns: &[(VarId, Expr)]) -> Expr {
    if let ExprNode::Column(var) = &expr.node
        && let Some((_, meant)) = columns.iter().find(|(known, _)| known == var)
    {
        return Expr { span: expr.span, ..meant.clone() };
    }
    let mut expr = expr.clone();
    for operand in expr.operands_mut() {
        *operand = expanded(operand, columns);
    }
    expr
}

/// The first part of `expr` that reads a column which is not one of `known`.
pub(super) fn foreign<'e>(expr: &'e Expr, known: &BTreeSet<VarId>) -> Option<&'e Expr> {
    match &expr.node {
        ExprNode::Column(var) => (!known.contains(var)).then_some(expr),
        _ => expr.operands().into_iter().find_map(|operand| foreign(operand, known)),
    }
}
