//! From the tree of a statement to what the planner reads: names resolved against a catalog, kinds known.
//!
//! Invariants
//! 1. All that is wrong is found in one go: an expression that cannot be bound is noted and stands for null from then on, which fits
//!    everywhere and so brings no findings of its own.
//! 2. A bound statement is complete: every column that a plan reads is one that its input gives, every table and property is one of
//!    the catalog, and no stage after this one refuses a statement for what it asks.
//! 3. Values flow forward only: which tables a variable's nodes may come from is known when it is bound, and its uses rely on it, even if
//!    its entity is later joined with that of other variables.

mod access;
mod aggregates;
mod assign;
mod clash;
mod coerce;
mod constants;
mod create;
mod entities;
mod expr;
mod functions;
mod infer;
mod kinds;
mod labels;
mod operators;
mod pattern;
mod places;
mod projection;
mod properties;
mod query;
mod resolve;
mod rewrite;
mod scope;
mod tail;
mod update;
mod warnings;

use std::collections::{BTreeMap, BTreeSet};

use entities::Entities;
use scope::Scope;

use super::bound::{Aggregate, Expr, ExprNode, Statement, Var, VarId};
use super::kind::Kind;
use super::{CypherValue, Params, QueryError};
use crate::ids::TableId;
use crate::schema::Catalog;
use crate::syntax::{self, Finding, Span, parse_statement};

/// Reads the statement `text` and binds it against `catalog`.
pub(crate) fn prepare(text: &str, catalog: &Catalog, params: &Params) -> Result<Statement, QueryError> {
    let statement = parse_statement(text).map_err(|findings| QueryError::refused(text, findings))?;
    bind(text, &statement, catalog, params)
}

/// Binds a statement that was read from `text` against `catalog`.
pub(crate) fn bind(
    text: &str,
    statement: &syntax::Statement,
    catalog: &Catalog,
    params: &Params,
) -> Result<Statement, QueryError> {
    let bound = Binder::new(text, catalog, params).bind(statement);
    bound.map_err(|findings| QueryError::refused(text, findings))
}

/// What is known while a statement is being bound.
struct Binder<'a> {
    text: &'a str,
    catalog: &'a Catalog,
    params: &'a Params,
    vars: Vec<Var>,
    entities: Entities,
    /// The tables that a variable's nodes or edges may come from; fewer than its entity has if others were joined to it.
    tables: BTreeMap<VarId, BTreeSet<TableId>>,
    /// Numbers with a point, as they are written: digits, and how many of them stand after the point.
    exact: BTreeMap<Span, (i128, u8)>,
    /// The aggregates of the projection that is being bound.
    aggregates: Vec<(VarId, Aggregate)>,
    /// Names that were reported as unknown already.
    unknown: BTreeSet<String>,
    /// Clauses, and nodes and edges of patterns, so far.
    parts: usize,
    findings: Vec<Finding>,
    warnings: Vec<Finding>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    scope: &'a Scope,
    aggregates: Aggregates,
}

/// Whether aggregates may be used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aggregates {
    Allowed,
    /// Not here; this is what the place is called.
    Refused(&'static str),
}

impl<'a> Place<'a> {
    /// A place in `clause`, which has no aggregates.
    const fn of_rows(scope: &'a Scope, clause: &'static str) -> Self {
        Self { scope, aggregates: Aggregates::Refused(clause) }
    }
}

impl<'a> Binder<'a> {
    const fn new(text: &'a str, catalog: &'a Catalog, params: &'a Params) -> Self {
        Self {
            text,
            catalog,
            params,
            vars: Vec::new(),
            entities: Entities::new(),
            tables: BTreeMap::new(),
            exact: BTreeMap::new(),
            aggregates: Vec::new(),
            unknown: BTreeSet::new(),
            parts: 0,
            findings: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Makes a variable.
    fn var(&mut self, name: impl Into<String>, kind: Kind) -> VarId {
        let id = VarId(u32::try_from(self.vars.len()).unwrap_or(u32::MAX));
        self.vars.push(Var { id, name: name.into(), kind });
        id
    }

    fn kind_of(&self, var: VarId) -> Kind {
        self.vars.get(var.0 as usize).map_or(Kind::Null, |var| var.kind.clone())
    }

    fn set_kind(&mut self, var: VarId, kind: Kind) {
        if let Some(var) = self.vars.get_mut(var.0 as usize) {
            var.kind = kind;
        }
    }

    /// The value of a variable.
    fn column(&self, var: VarId, span: Span) -> Expr {
        Expr { node: ExprNode::Column(var), kind: self.kind_of(var), span }
    }

    fn report(&mut self, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::new(span, message));
    }

    /// What was bound; a refusal is noted, and null stands in its place.
    fn or_null(&mut self, bound: Result<Expr, Finding>, span: Span) -> Expr {
        bound.unwrap_or_else(|finding| {
            self.findings.push(finding);
            null(span)
        })
    }
}

/// Null, as an expression.
const fn null(span: Span) -> Expr {
    Expr { node: ExprNode::Constant(CypherValue::NULL), kind: Kind::Null, span }
}

#[cfg(test)]
mod tests;
