//! What the caller of a merge says of its conflicts: sides that win, and what single rows and properties are to come to.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

use super::error::MergeError;
use super::report::{Choice, MergeSide, Resolution as Given, Strategy};
use super::row::{Resolution, ResolutionProblem, Resolutions, RowConflict, Side, Strategies};
use super::schema_answers::SchemaAnswers;
use crate::error::Error;
use crate::graph::Core;
use crate::ids::{Digest, PropertyId, TableId};
use crate::publish::Snapshot;
use crate::schema::Catalog;
use crate::syntax::nearest;
use crate::value::{Value, digest_values, parse_json};
use crate::write::read_key;
use crate::write::shape::{Shapes, TableShape};

/// A row, or one of its properties.
type Target = (TableId, Digest, Option<PropertyId>);

/// Strategies and resolutions, understood under the merged schema.
#[derive(Debug, Default)]
pub(super) struct Answers {
    strategies: Strategies,
    /// All tables are merged side by side, and each notes what it used. Never held while anything is awaited.
    resolutions: Mutex<Resolutions<Digest>>,
    /// Where each resolution came from, for messages.
    numbers: Vec<(Target, usize)>,
}

impl Answers {
    /// Reads what the caller gave. `elsewhere`: the schemas of both sides, whose names strategies may mean too.
    ///
    /// # Errors
    /// [`MergeError::Resolution`] if something does not fit the schema.
    pub(super) fn read(
        shapes: &Shapes,
        elsewhere: &[&Catalog],
        strategies: &[Strategy],
        given: &[Given],
    ) -> Result<Self, Error> {
        let mut answers = Self::default();
        for strategy in strategies {
            match answers.add_strategy(shapes, strategy) {
                // Of the schema: what it names is there on a side, and not in the result.
                Err(_) if !is_there(shapes, strategy) && elsewhere.iter().any(|catalog| names(catalog, strategy)) => {}
                read => read?,
            }
        }
        for (number, resolution) in given.iter().enumerate() {
            if let Some(key) = &resolution.key {
                answers.add_resolution(shapes, number, resolution, key)?;
            }
        }
        Ok(answers)
    }

    fn add_strategy(&mut self, shapes: &Shapes, strategy: &Strategy) -> Result<(), Error> {
        let side = strategy.side.into();
        let Some(table) = &strategy.table else {
            self.strategies.all = Some(side);
            return Ok(());
        };
        let wrong = |reason: String| MergeError::Strategy { strategy: strategy.to_string(), reason };
        let shape = shape_named(shapes, table).map_err(wrong)?;
        match &strategy.property {
            None => {
                self.strategies.tables.insert(shape.table_id(), side);
            }
            Some(property) => {
                let property = property_named(shape, property).map_err(wrong)?;
                self.strategies.properties.insert((shape.table_id(), property), side);
            }
        }
        Ok(())
    }

    fn add_resolution(&mut self, shapes: &Shapes, number: usize, given: &Given, key_text: &str) -> Result<(), Error> {
        let wrong = |reason: String| MergeError::Resolution { number: number + 1, reason };
        let shape = shape_named(shapes, &given.table).map_err(wrong)?;
        let key = key_parts(key_text).map_err(wrong)?;
        let key = read_key(shapes, &given.table, &key).map_err(|problem| {
            let found = problem.found.map(|found| format!("found {found}, ")).unwrap_or_default();
            wrong(format!("key {key_text}: {found}expected {}", problem.expected))
        })?;
        let types = shapes.columns_of(shape.key).iter().map(|column| shape.type_of(*column));
        let digest = digest_values(key.values.iter().zip(types));
        let property = given.property.as_deref().map(|name| property_named(shape, name)).transpose().map_err(wrong)?;
        let resolution = match &given.choice {
            Choice::Side(side) => Resolution::Choose((*side).into()),
            Choice::Keep | Choice::Drop => {
                return Err(wrong(
                    "`keep` and `drop` are for tables and properties that one side dropped; a row has a side"
                        .to_owned(),
                )
                .into());
            }
            Choice::Value(text) => {
                let value = property.map(|property| value_of(shape, property, text)).transpose().map_err(wrong)?;
                Resolution::Value(value.unwrap_or(Value::Null))
            }
        };
        let added = self.resolutions().add(shape.table_id(), digest, property, resolution);
        added.map_err(|problem: ResolutionProblem| wrong(problem.to_string()))?;
        self.numbers.push(((shape.table_id(), digest, property), number));
        Ok(())
    }

    fn resolutions(&self) -> MutexGuard<'_, Resolutions<Digest>> {
        self.resolutions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What settles a conflict of a row.
    pub(super) fn to(&self, table: TableId, key: Digest, conflict: &RowConflict) -> Option<Resolution> {
        self.resolutions().settlement(&self.strategies, table, &key, conflict)
    }

    /// The side that wins in a table, where nothing narrower is said.
    pub(super) fn side(&self, table: TableId) -> Option<Side> {
        self.strategies.tables.get(&table).copied().or(self.strategies.all)
    }

    /// Whether there is a resolution for a row as a whole.
    pub(super) fn settles_row(&self, table: TableId, key: Digest) -> bool {
        self.resolutions().is_given(table, &key, None)
    }

    /// Whether there is a resolution for a row or any of its properties.
    pub(super) fn concern(&self, table: TableId, key: Digest) -> bool {
        self.resolutions().concern(table, &key)
    }

    /// The tables that resolutions name.
    pub(super) fn tables(&self) -> BTreeSet<TableId> {
        self.numbers.iter().map(|((table, _, _), _)| *table).collect()
    }

    /// Resolutions that settled nothing so far, each as a whole row or a property.
    pub(super) fn unused(&self) -> Vec<(TableId, Digest, Option<PropertyId>, Resolution)> {
        self.resolutions()
            .unused()
            .map(|((table, key, property), resolution)| (*table, *key, *property, resolution.clone()))
            .collect()
    }

    /// Notes that a resolution was of use.
    pub(super) fn used(&self, table: TableId, key: Digest, property: Option<PropertyId>) {
        self.resolutions().mark_used(table, key, property);
    }

    /// Refuses resolutions that were of no use.
    pub(super) fn all_used(&self) -> Result<(), MergeError> {
        let mut unused: Vec<usize> = self
            .resolutions()
            .unused()
            .filter_map(|(target, _)| self.numbers.iter().find(|(known, _)| known == target).map(|(_, number)| *number))
            .collect();
        unused.sort_unstable();
        match unused.first() {
            None => Ok(()),
            Some(number) => Err(MergeError::Resolution {
                number: number + 1,
                reason: "there is nothing to resolve: it is no conflict, or there is no such row".to_owned(),
            }),
        }
    }
}

/// Whether the result has what a strategy names.
fn is_there(shapes: &Shapes, strategy: &Strategy) -> bool {
    let shape = strategy.table.as_deref().and_then(|table| shape_named(shapes, table).ok());
    let has = |property: &str| shape.is_some_and(|shape| shape.property_names().any(|name| name == property));
    shape.is_some() && strategy.property.as_deref().is_none_or(has)
}

/// Whether a schema has what a strategy names.
fn names(catalog: &Catalog, strategy: &Strategy) -> bool {
    let table = strategy.table.as_deref().and_then(|table| catalog.table(table));
    let property = strategy.property.as_deref();
    table.is_some_and(|table| property.is_none_or(|property| table.property(property).is_some()))
}

/// Refuses what does not fit the schema, where there is nothing to merge and so nothing that would use it.
///
/// # Errors
/// As [`Answers::read`].
pub(super) fn check_answers(
    core: &Core,
    at: &Snapshot,
    strategies: &[Strategy],
    resolutions: &[Given],
) -> Result<(), Error> {
    if strategies.is_empty() && resolutions.is_empty() {
        return Ok(());
    }
    SchemaAnswers::new(strategies, resolutions).all_used()?;
    let shapes = Shapes::new(&at.catalog, |table| core.layout(at, table))?;
    Answers::read(&shapes, &[], strategies, resolutions).map(drop)
}

impl From<MergeSide> for Side {
    fn from(side: MergeSide) -> Self {
        match side {
            MergeSide::Source => Self::Source,
            MergeSide::Target => Self::Target,
        }
    }
}

/// The parts of a key that is given as one JSON text: a list of parts, or the only one.
fn key_parts(key: &str) -> Result<Vec<String>, String> {
    let not_json = |error: serde_json::Error| format!("key {key} is no JSON: {error}");
    if key.trim_start().starts_with('[') {
        let parts: Vec<&RawValue> = serde_json::from_str(key).map_err(not_json)?;
        return Ok(parts.into_iter().map(|part| part.get().to_owned()).collect());
    }
    let part: &RawValue = serde_json::from_str(key).map_err(not_json)?;
    Ok(vec![part.get().to_owned()])
}

fn shape_named<'a>(shapes: &'a Shapes, name: &str) -> Result<&'a TableShape, String> {
    let found = shapes.by_name(name).and_then(|index| shapes.tables.get(index));
    found.ok_or_else(|| no_such("table", name, shapes.names()))
}

fn property_named(shape: &TableShape, name: &str) -> Result<PropertyId, String> {
    let Some(property) = shape.properties.iter().find(|property| property.def.name == name) else {
        return Err(no_such(&format!("property of {}", shape.name()), name, shape.property_names()));
    };
    if shape.layout.table.key.contains(&property.def.id) {
        return Err(format!("{name} is part of the key of {}, which no merge changes", shape.name()));
    }
    Ok(property.def.id)
}

fn no_such<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let like = nearest(name, known).map(|like| format!("; did you mean {like}?")).unwrap_or_default();
    format!("there is no {what} called {name}{like}")
}

fn value_of(shape: &TableShape, property: PropertyId, text: &str) -> Result<Value, String> {
    let Some(property) = shape.properties.iter().find(|known| known.def.id == property) else {
        return Err("there is no such property".to_owned());
    };
    let name = &property.def.name;
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("{name}: {text} is no JSON: {error}"))?;
    let value = parse_json(raw, &property.def.ty)
        .map_err(|problem| format!("{name}: found {}, expected {}", problem.found, problem.expected))?;
    if value.is_null() && property.def.not_null {
        return Err(format!("{name} must not be null"));
    }
    Ok(value)
}
