//! What the steps of a schema change ask of the rows of a table.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::ids::PropertyId;
use crate::schema::{Check, SchemaChange, SchemaStep};
use crate::table::Role;
use crate::value::Value;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// What is asked of each row.
#[derive(Debug)]
pub(super) enum Rule {
    /// The property at this place of the later table has a value.
    HasValue(usize),
    /// The condition holds.
    Holds(Box<Check>),
    /// No other row has the same tuple in this space of the later schema.
    Alone(usize),
    /// The property at this place of the earlier table has a value: such values go.
    LosesValue(usize),
}

impl Rule {
    /// The rules of a step.
    pub(super) fn of(step: &SchemaStep, old: &TableShape, new: &TableShape) -> Result<Vec<Self>, Error> {
        let place = |shape: &TableShape, id: PropertyId| {
            shape.layout.table.properties.iter().position(|property| property.id == id)
        };
        let table = &new.layout.table;
        Ok(match &step.change {
            SchemaChange::RequireValue { property }
            | SchemaChange::AddProperty { property, not_null: true, fill: None, .. } => {
                place(new, property.id).map(Self::HasValue).into_iter().collect()
            }
            SchemaChange::AddCheck { condition, .. } => vec![Self::Holds(Box::new(Check::compile(table, condition)?))],
            SchemaChange::AddUnique { properties } => {
                let wanted: BTreeSet<PropertyId> = properties.iter().map(|property| property.id).collect();
                let rules = table.unique.iter().zip(&new.unique);
                let found = rules.filter(|(set, _)| set.iter().copied().collect::<BTreeSet<_>>() == wanted);
                found.map(|(_, space)| Self::Alone(*space)).collect()
            }
            SchemaChange::ChangeMultiplicity { from, to } => {
                let Some(ends) = &new.ends else { return Ok(Vec::new()) };
                let start = (to.one_per_start() && !from.one_per_start()).then_some(Self::Alone(ends.from.space));
                let end = (to.one_per_end() && !from.one_per_end()).then_some(Self::Alone(ends.to.space));
                start.into_iter().chain(end).collect()
            }
            SchemaChange::DropProperty { property } => {
                place(old, property.id).map(Self::LosesValue).into_iter().collect()
            }
            _ => Vec::new(),
        })
    }

    /// Whether a row breaks the rule by itself, or has the value that goes.
    pub(super) fn applies_to(&self, later: &[Value], earlier: &[Value]) -> bool {
        match self {
            Self::HasValue(place) => later.get(*place).is_none_or(Value::is_null),
            Self::Holds(check) => check.is_broken_by(later),
            Self::LosesValue(place) => earlier.get(*place).is_some_and(|value| !value.is_null()),
            Self::Alone(_) => false,
        }
    }

    /// The columns of the earlier layout that it looks at.
    pub(super) fn columns(&self, step: &SchemaStep, shapes: &Shapes, old: &TableShape, new: &TableShape) -> Vec<usize> {
        let later = |place: usize| new.layout.table.properties.get(place).map(|property| property.id);
        let property = |id: PropertyId| old.layout.property(id);
        match self {
            Self::HasValue(place) => later(*place).and_then(property).into_iter().collect(),
            Self::LosesValue(place) => old.layout.column(Role::Property(*place)).into_iter().collect(),
            Self::Holds(_) => match &step.change {
                SchemaChange::AddCheck { condition, .. } => {
                    condition.properties.iter().filter_map(|id| property(*id)).collect()
                }
                _ => Vec::new(),
            },
            Self::Alone(space) => {
                let roles = shapes.columns_of(*space).iter().filter_map(|column| new.layout.columns.get(*column));
                roles
                    .filter_map(|column| match column.role {
                        Role::Property(place) => later(place).and_then(property),
                        role => old.layout.column(role),
                    })
                    .collect()
            }
        }
    }
}

/// Rows of an earlier schema as the later one has them.
pub(super) struct Translation<'a> {
    new: &'a TableShape,
    /// For each property of the later table, its place in the earlier one.
    places: Vec<Option<usize>>,
}

impl<'a> Translation<'a> {
    pub(super) fn new(old: &TableShape, new: &'a TableShape) -> Self {
        let earlier = &old.layout.table.properties;
        let places = new.layout.table.properties.iter();
        let places = places.map(|property| earlier.iter().position(|before| before.id == property.id)).collect();
        Self { new, places }
    }

    pub(super) fn of(&self, row: &Row) -> Row {
        let value = |place: &Option<usize>, i: usize| {
            let value = place.and_then(|place| row.properties.get(place)).cloned().unwrap_or(Value::Null);
            match self.new.properties.get(i) {
                Some(property) => crate::schema::widened(value, &property.def.ty),
                None => value,
            }
        };
        Row {
            from: row.from.clone(),
            to: row.to.clone(),
            edge_id: row.edge_id.clone(),
            properties: self.places.iter().enumerate().map(|(i, place)| value(place, i)).collect(),
        }
    }
}
