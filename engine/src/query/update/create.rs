//! `CREATE` and `MERGE`.

use crate::error::Error;
use crate::query::bound::{Assignment, Creation, VarId};
use crate::syntax::Span;
use crate::value::Value;
use crate::write::row::Row;
use crate::write::shape::{End, TableShape};

use super::apply::Apply;
use super::error::UpdateError;
use super::fault::Wrong;
use super::overlay::{Found, Wanted};
use super::rows::{RowId, is_key, key_of, to_value};

/// A row to be made or found.
struct Made {
    id: RowId,
    row: Row,
    /// Whether its edge id was drawn for it.
    fresh: bool,
}

impl Apply<'_> {
    pub(super) fn create(&mut self, row: usize, creation: &Creation) -> Result<(), Error> {
        let Made { id, row: made, fresh, .. } = self.make(row, creation)?;
        let value = to_value(self.shape(id.table)?, &made);
        self.overlay.create(id, made, fresh, creation.span);
        self.working.set(row, creation.var, value);
        Ok(())
    }

    /// Looks up what the rows may find, as far as it can be told before any of them is worked on.
    pub(super) async fn look_up_merged(&mut self, creation: &Creation) -> Result<(), Error> {
        let mut wanted = Wanted::default();
        for row in 0..self.working.len() {
            self.working.refresh(row, &self.overlay);
            // What fails here fails again when it is the row's turn, or works by then.
            if let Ok(made) = self.make(row, creation) {
                let shapes = self.overlay.shapes();
                wanted.add(&self.overlay, made.id, || key_of(shapes, made.id.table, &made.row));
            }
        }
        self.look_up(&wanted).await
    }

    pub(super) async fn merge(
        &mut self,
        row: usize,
        creation: &Creation,
        on_create: &[Assignment],
        on_match: &[Assignment],
    ) -> Result<(), Error> {
        let made = self.make(row, creation)?;
        if self.overlay.find(made.id) == Found::Unknown {
            // Its key depends on what was done for the rows before.
            let mut wanted = Wanted::default();
            wanted.add(&self.overlay, made.id, || key_of(self.overlay.shapes(), made.id.table, &made.row));
            self.look_up(&wanted).await?;
        }
        let found = match self.overlay.find(made.id) {
            Found::Row(found) => Some(found.clone()),
            Found::Nothing | Found::Unknown => None,
        };
        let shape = self.shape(made.id.table)?;
        if let Some(found) = found {
            let value = to_value(shape, &found);
            self.working.set(row, creation.var, value);
            self.assign_all(row, on_match)
        } else {
            let value = to_value(shape, &made.row);
            self.overlay.create(made.id, made.row, made.fresh, creation.span);
            self.working.set(row, creation.var, value);
            self.assign_all(row, on_create)
        }
    }

    /// The row that a pattern describes: given values, then defaults.
    fn make(&self, row: usize, creation: &Creation) -> Result<Made, Error> {
        let shapes = self.overlay.shapes();
        let table = shapes.tables.iter().position(|shape| shape.table_id() == creation.table);
        let table = table.ok_or(UpdateError::NoSuchTable)?;
        let shape = self.shape(table)?;
        let mut made = Row::empty(shape);
        for (slot, property) in made.properties.iter_mut().zip(&shape.properties) {
            let given = creation.properties.iter().find(|(id, _)| *id == property.def.id);
            *slot = match given {
                Some((_, expr)) => {
                    let value = self.evaluator.value(expr, &self.working, row, &self.overlay)?;
                    self.typed(shape, property, &value, expr.span)?
                }
                None => property.default.clone().unwrap_or(Value::Null),
            };
        }
        let mut fresh = false;
        if let (Some(ends), Some((from, to))) = (shape.ends, creation.ends) {
            made.from = self.end(row, shape, ends.from, from, creation.span)?;
            made.to = self.end(row, shape, ends.to, to, creation.span)?;
            if ends.multi {
                fresh = true;
                let id = self.edge_ids.draw(self.overlay.next_number());
                made.edge_id = Some(Value::Uuid(id.to_bytes()));
            }
        }
        match RowId::of_row(shapes, table, &made) {
            Some(id) => Ok(Made { id, row: made, fresh }),
            None => Err(self.missing_key(shape, &made, creation.span)),
        }
    }

    fn missing_key(&self, shape: &TableShape, made: &Row, span: Span) -> Error {
        let missing = |place: &usize| made.properties.get(*place).is_none_or(Value::is_null);
        let place = (0..shape.properties.len()).filter(|place| is_key(shape, *place)).find(missing);
        let name = place.and_then(|place| shape.properties.get(place)).map_or("", |property| &property.def.name);
        let message = format!("a {} cannot be without {name}, which is part of its key", shape.name());
        self.fault(&Wrong::MissingKey, message, None, span)
    }

    /// The key of the node that a variable stands for, as the end of an edge.
    fn end(&self, row: usize, shape: &TableShape, end: End, var: VarId, span: Span) -> Result<Vec<Value>, Error> {
        let value = self.working.value(row, var);
        if value.is_null() {
            let message = format!("an edge {} needs two nodes, and one of them is null", shape.name());
            let help = Some("leave such rows out with WHERE … IS NOT NULL".to_owned());
            return Err(self.fault(&Wrong::NullEnd, message, help, span));
        }
        self.evaluator.refuse_deleted(value, span, &self.overlay)?;
        let known = self.known(value, span)?;
        if known.id.table != end.node {
            let wanted = self.shape(end.node)?.name();
            let found = self.shape(known.id.table)?.name();
            let message = format!("an edge {} joins a {wanted} here, and this is a {found}", shape.name());
            return Err(self.fault(&Wrong::End, message, None, span));
        }
        Ok(key_of(self.overlay.shapes(), known.id.table, &known.row))
    }
}
