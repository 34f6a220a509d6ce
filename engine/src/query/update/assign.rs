//! `SET` and `REMOVE`.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::ids::{PropertyId, TableId};
use crate::query::CypherValue;
use crate::query::bound::{Assignment, Expr, VarId};
use crate::syntax::{Span, nearest};
use crate::value::Value;
use crate::write::row::Row;
use crate::write::shape::{PropertyShape, TableShape};

use super::apply::Apply;
use super::error::UpdateError;
use super::fault::Wrong;
use super::overlay::Found;
use super::property::{describe_value, to_property};
use super::rows::{Known, is_key, key_text, whole_row};

impl Apply<'_> {
    /// Does assignments in order, each on what those before it have left.
    pub(super) fn assign_all(&mut self, row: usize, assignments: &[Assignment]) -> Result<(), Error> {
        for assignment in assignments {
            self.working.refresh(row, &self.overlay);
            match assignment {
                Assignment::Property { var, choices, value, span } => {
                    self.assign_property(row, *var, choices, value, *span)?;
                }
                Assignment::Properties { var, value, replace, span } => {
                    self.assign_properties(row, *var, value, *replace, *span)?;
                }
            }
        }
        Ok(())
    }

    fn assign_property(
        &mut self,
        row: usize,
        var: VarId,
        choices: &[(TableId, PropertyId)],
        value: &Expr,
        span: Span,
    ) -> Result<(), Error> {
        let Some((known, mut current)) = self.current(row, var, span)? else { return Ok(()) };
        let given = self.evaluator.value(value, &self.working, row, &self.overlay)?;
        let shape = self.shape(known.id.table)?;
        let choice = choices.iter().find(|(table, _)| *table == shape.table_id());
        let place = choice.and_then(|(_, id)| shape.properties.iter().position(|property| property.def.id == *id));
        let Some(place) = place else {
            // To take away what cannot be there is done already.
            if given.is_null() {
                return Ok(());
            }
            let message = format!("{} {} has no such property", shape.name(), self.key_of(&known));
            return Err(self.fault(&Wrong::NoSuchProperty, message, None, span));
        };
        self.put(shape, &mut current, place, &given, value.span)?;
        self.overlay.replace(known.id, current, span);
        Ok(())
    }

    fn assign_properties(
        &mut self,
        row: usize,
        var: VarId,
        value: &Expr,
        replace: bool,
        span: Span,
    ) -> Result<(), Error> {
        let Some((known, mut current)) = self.current(row, var, span)? else { return Ok(()) };
        let given = match self.evaluator.value(value, &self.working, row, &self.overlay)? {
            CypherValue::Map(entries) => entries,
            CypherValue::Node(node) => node.properties.into_iter().collect(),
            CypherValue::Edge(edge) => edge.properties.into_iter().collect(),
            null if null.is_null() => BTreeMap::new(),
            other => {
                let message = format!("expected a map of properties, found {}", describe_value(&other));
                return Err(self.fault(&Wrong::Type, message, None, value.span));
            }
        };
        let shape = self.shape(known.id.table)?;
        if replace {
            for place in (0..shape.properties.len()).filter(|place| !is_key(shape, *place)) {
                self.put(shape, &mut current, place, &CypherValue::NULL, value.span)?;
            }
        }
        for (name, given) in &given {
            match shape.properties.iter().position(|property| property.def.name == *name) {
                Some(place) => self.put(shape, &mut current, place, given, value.span)?,
                None if given.is_null() => {}
                None => {
                    let message = format!("{} has no property `{name}`", shape.name());
                    let near = nearest(name, shape.property_names());
                    let help = near.map(|near| format!("did you mean `{near}`?"));
                    return Err(self.fault(&Wrong::NoSuchProperty, message, help, value.span));
                }
            }
        }
        self.overlay.replace(known.id, current, span);
        Ok(())
    }

    /// The row that a variable stands for, as it is by now; `None` if the variable is null.
    fn current(&self, row: usize, var: VarId, span: Span) -> Result<Option<(Known, Row)>, Error> {
        let value = self.working.value(row, var);
        if value.is_null() {
            return Ok(None);
        }
        self.evaluator.refuse_deleted(value, span, &self.overlay)?;
        let known = self.known(value, span)?;
        let current = match self.overlay.find(known.id) {
            Found::Row(row) => Some(row.clone()),
            Found::Unknown if self.is_read_whole(var, &known) => whole_row(self.overlay.shapes(), value),
            Found::Unknown | Found::Nothing => None,
        };
        let Some(current) = current else {
            let table = self.shape(known.id.table)?.name().to_owned();
            return Err(UpdateError::RowLost { table, key: self.key_of(&known) }.into());
        };
        Ok(Some((known, current)))
    }

    /// Puts a value into a property of `row`.
    pub(super) fn put(
        &self,
        shape: &TableShape,
        row: &mut Row,
        place: usize,
        value: &CypherValue,
        span: Span,
    ) -> Result<(), Error> {
        let (Some(property), Some(slot)) = (shape.properties.get(place), row.properties.get_mut(place)) else {
            return Ok(());
        };
        let typed = self.typed(shape, property, value, span)?;
        if is_key(shape, place) {
            if typed.is_same(slot) {
                return Ok(());
            }
            let message = format!("{}.{} is part of the key and cannot be set", shape.name(), property.def.name);
            let help = "create a new one with the other key, and delete this one".to_owned();
            return Err(self.fault(&Wrong::KeyChange, message, Some(help), span));
        }
        *slot = typed;
        Ok(())
    }

    /// A value of a property's type.
    pub(super) fn typed(
        &self,
        shape: &TableShape,
        property: &PropertyShape,
        value: &CypherValue,
        span: Span,
    ) -> Result<Value, Error> {
        to_property(value, &property.def.ty).map_err(|problem| {
            let message = format!("{}.{}: {problem}", shape.name(), property.def.name);
            self.fault(&Wrong::Type, message, None, span)
        })
    }

    pub(super) fn key_of(&self, known: &Known) -> String {
        key_text(self.overlay.shapes(), known.id.table, &known.row)
    }
}
