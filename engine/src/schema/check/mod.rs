//! Conditions on rows: openCypher expressions, checked when a schema is read and evaluated row by row.
//!
//! This evaluator is for `CHECK` alone and small on purpose: one row, no plan, no columns.

mod bind;
mod eval;
mod functions;
mod kind;

use super::{CheckDef, SchemaError, TableDef, Type};
use crate::syntax::Problem;
use crate::syntax::{Finding, Span, names_in, parse_expression};
use crate::value::Value;

pub(super) use bind::{Scope, bind};

/// A compiled `CHECK`.
#[derive(Debug)]
pub(crate) struct Check {
    expression: String,
    node: eval::Node,
}

impl Check {
    /// Compiles the condition of `table`. The names in its text are those of the day it was written; the ids beside it say
    /// which properties are meant now.
    pub(crate) fn compile(table: &TableDef, check: &CheckDef) -> Result<Self, SchemaError> {
        let node = compile(table, check).map_err(|finding| SchemaError::Check {
            table: table.name.clone(),
            expression: check.expression.clone(),
            problem: Box::new(Problem::locate(&check.expression, finding)),
        })?;
        Ok(Self { expression: check.expression.clone(), node })
    }

    /// Whether the row breaks the condition: it evaluates to false (null passes, as in SQL). `row` holds one value per
    /// property of the table, in order, fill values put in. An expression that cannot be computed (division by zero,
    /// overflow) breaks it.
    pub(crate) fn is_broken_by(&self, row: &[Value]) -> bool {
        matches!(self.node.evaluate(row), Err(eval::Fault) | Ok(Value::Bool(false)))
    }

    /// The condition as it was written.
    pub(crate) fn expression(&self) -> &str {
        &self.expression
    }
}

fn compile(table: &TableDef, check: &CheckDef) -> Result<eval::Node, Finding> {
    let expr = parse_expression(&check.expression)?;
    let names = names_in(&expr);
    let whole = Span::new(0, check.expression.len());
    if names.len() != check.properties.len() {
        return Err(Finding::new(whole, "its properties are not those that the schema lists"));
    }
    let mut properties: Vec<(&str, usize, Option<&Type>)> = Vec::new();
    for ((name, _), id) in names.iter().zip(&check.properties) {
        let found = table.properties.iter().enumerate().find(|(_, property)| property.id == *id);
        let Some((index, property)) = found else {
            return Err(Finding::new(whole, format!("the property behind `{name}` is gone")));
        };
        properties.push((name, index, Some(&property.ty)));
    }
    bind(&expr, &Scope { properties, open: false })
}

#[cfg(test)]
mod tests;
