//! What may go wrong with a value while a statement runs.

use crate::syntax::Span;

/// An expression has no value for some row: a division by zero, a number out of bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Fault {
    /// Stable, kebab-case: `division-by-zero`, `number-overflow`, `wrong-type`, …
    pub code: &'static str,
    /// What is wrong, with the values in question.
    pub message: String,
    /// What to write instead, where that can be said.
    pub help: Option<String>,
    /// The expression, in the text of the statement.
    pub span: Span,
}
