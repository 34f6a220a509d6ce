//! A schema as it was written: names not yet looked up, every part with its place.

use crate::schema::{MergePolicy, Multiplicity, OnMerge, Type};
use crate::syntax::Span;

/// Something and where it stands.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub value: T,
    pub span: Span,
}

pub(super) type Name = At<String>;

/// `CREATE NODE TABLE …` or `CREATE REL TABLE …`.
#[derive(Debug)]
pub(super) struct Table {
    pub name: Name,
    /// `RENAMED FROM name`.
    pub renamed: Option<Name>,
    pub is_node: bool,
    pub columns: Vec<Column>,
    /// Every `PRIMARY KEY` or `KEY`; more than one is an error.
    pub keys: Vec<At<Vec<Name>>>,
    pub unique: Vec<At<Vec<Name>>>,
    pub checks: Vec<At<String>>,
    /// `FROM a TO b`; more than one is an error.
    pub ends: Vec<At<(Name, Name)>>,
    pub multi: Vec<Span>,
    pub multiplicity: Vec<At<Multiplicity>>,
    pub on_merge: Vec<At<OnMerge>>,
    /// Whether a part could not be read, so that what is missing may be in there.
    pub incomplete: bool,
}

/// One property.
#[derive(Debug)]
pub(super) struct Column {
    pub name: Name,
    /// `None` if it was wrong, which has been reported.
    pub ty: Option<At<Type>>,
    pub not_null: Option<Span>,
    pub default: Option<Literal>,
    pub merge: Option<At<MergePolicy>>,
    /// `RENAMED FROM name`.
    pub renamed: Option<Name>,
}

pub(super) type Literal = At<LiteralKind>;

/// A value after `DEFAULT`.
#[derive(Debug, Clone)]
pub(super) enum LiteralKind {
    Null,
    Bool(bool),
    /// Digits with an optional minus, without underscores.
    Integer(i128),
    /// With a point or an exponent, or `Infinity` or `NaN`, with an optional minus.
    Float(String),
    String(String),
    /// `date('…')`.
    Call(Name, String),
    List(Vec<Literal>),
}
