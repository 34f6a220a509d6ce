//! The only door to the openCypher parser: tokens, expressions and statements in words of our own, and how a text is shown where it is wrong.
//!
//! No other module names the `open_cypher` crate, so that an upgrade of it is read and tested here.

mod convert;
mod expr;
mod foreign;
mod guard;
mod lex;
mod near;
mod problem;
mod statement;

pub(crate) use convert::{exact_decimal, parse_integer, plain_float};
pub(crate) use expr::{
    Arm, BinaryOp, CompareOp, Expr, ExprKind, Labels, LabelsKind, UnaryOp, names_in, parse_expression,
};
pub(crate) use lex::{Token, TokenKind, lex, quote_name, quote_string};
pub(crate) use near::{folded, nearest, normalized, suggest};
pub use problem::Problem;
pub(crate) use problem::{locate_all, render};
pub(crate) use statement::{
    Clause, ClauseKind, EdgePattern, NodePattern, Path, Projection, Query, SetItem, SetKind, Statement, Towards, Union,
    parse_statement,
};

/// A half-open range of bytes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub(crate) const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The span that reaches from the start of `self` to the end of `other`.
    pub(crate) const fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }

    /// The same span in a text that begins `by` bytes earlier.
    pub(crate) const fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }
}

/// A name and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// Something wrong at a place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub span: Span,
    pub message: String,
    /// What to write instead, where that can be said.
    pub help: Option<String>,
}

impl Finding {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The same finding in a text that begins `by` bytes earlier.
    pub(crate) fn shifted(self, by: usize) -> Self {
        Self { span: self.span.shifted(by), ..self }
    }
}

#[cfg(test)]
mod tests;
