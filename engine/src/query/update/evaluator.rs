//! Evaluates the expressions of an update on the rows as they are by then.

use std::borrow::Cow;

use crate::error::Error;
use crate::query::bound::{Expr, VarId};
use crate::query::eval::{EvalContext, Row, evaluate};
use crate::query::fault::Fault;
use crate::query::{CypherValue, QueryError};
use crate::syntax::Span;

use super::fault::Wrong;
use super::overlay::Overlay;
use super::rows::key_text;
use super::uses::looks_of_expr;
use super::working::Working;

/// What expressions are evaluated with.
#[derive(Debug)]
pub(super) struct Evaluator<'a> {
    pub(super) context: &'a EvalContext,
    /// The text of the statement.
    pub(super) text: &'a str,
}

/// One row of those that are worked on.
struct At<'a> {
    working: &'a Working,
    at: usize,
}

impl Row for At<'_> {
    fn value(&self, var: VarId) -> Cow<'_, CypherValue> {
        Cow::Borrowed(self.working.value(self.at, var))
    }
}

impl Evaluator<'_> {
    /// The value of `expr` in row `at`.
    ///
    /// # Errors
    /// If it has none, or looks into what was deleted.
    pub(super) fn value(
        &self,
        expr: &Expr,
        working: &Working,
        at: usize,
        overlay: &Overlay,
    ) -> Result<CypherValue, Error> {
        if overlay.has_deleted() {
            let mut looks = Vec::new();
            looks_of_expr(expr, &mut looks);
            looks.iter().try_for_each(|(var, span)| self.refuse_deleted(working.value(at, *var), *span, overlay))?;
        }
        self.value_even_of_deleted(expr, working, at)
    }

    /// As [`Self::value`], of what may be deleted.
    pub(super) fn value_even_of_deleted(
        &self,
        expr: &Expr,
        working: &Working,
        at: usize,
    ) -> Result<CypherValue, Error> {
        evaluate(expr, &At { working, at }, self.context).map_err(|fault| self.fault(fault))
    }

    /// # Errors
    /// If a node or an edge in `value` was deleted.
    pub(super) fn refuse_deleted(&self, value: &CypherValue, span: Span, overlay: &Overlay) -> Result<(), Error> {
        let Some(deleted) = overlay.deleted_in(value) else { return Ok(()) };
        let shapes = overlay.shapes();
        let table = deleted.id.table;
        let name = shapes.tables.get(table).map_or("row", |shape| shape.name());
        Err(self.fault(Fault {
            code: Wrong::Deleted.code(),
            message: format!("{name} {} was deleted by this statement", key_text(shapes, table, &deleted.row)),
            help: Some("use it before the DELETE: `WITH n, n.name AS name DELETE n RETURN name`".into()),
            span,
        }))
    }

    /// An error that shows the place in the text.
    pub(super) fn fault(&self, fault: Fault) -> Error {
        QueryError::failed(self.text, fault).into()
    }
}
