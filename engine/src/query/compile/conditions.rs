//! Conditions that must all be true, some of which may raise faults.

use datafusion::error::Result;
use datafusion::logical_expr::Expr as Df;

use super::Compiler;
use super::nature::is_plain;
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::Kind;
use crate::syntax::BinaryOp;

impl Compiler {
    /// Filters that together keep the rows for which all `conditions` are true. Those that may be evaluated for any row come each for itself, to be
    /// pushed down as far as they go. If there are others, a last filter evaluates all of them as the text has them, so that a condition guards
    /// those behind it (`b <> 0 AND a / b > 1`) wherever the planner puts its own filter.
    pub(crate) fn conditions(&self, conditions: &[Expr]) -> Result<Vec<Df>> {
        let mut filters = Vec::new();
        for condition in conditions.iter().filter(|condition| is_plain(condition)) {
            filters.push(self.expr(condition)?);
        }
        if filters.len() < conditions.len() {
            let last = conditions.iter().rposition(|condition| !is_plain(condition)).unwrap_or(0);
            let guarded = conditions.iter().take(last + 1).cloned().reduce(|left, right| Expr {
                span: left.span.to(right.span),
                kind: Kind::Bool,
                node: ExprNode::Binary(BinaryOp::And, Box::new(left), Box::new(right)),
            });
            if let Some(guarded) = guarded {
                filters.push(self.expr(&guarded)?);
            }
        }
        Ok(filters)
    }

    /// Whether `expr` may be evaluated for rows that the text would not have evaluated it for, and more than once for a row.
    pub(crate) fn is_plain(expr: &Expr) -> bool {
        is_plain(expr)
    }
}
