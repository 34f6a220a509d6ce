//! What a write needs to know of every table, compiled once per catalog.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::TableId;
use crate::schema::{Catalog, Check, JsonText, Multiplicity, PropertyDef, TableDef, TableKind, Type};
use crate::table::{Column, Layout, Role};
use crate::value::{Value, parse_json};
use crate::write::WriteError;

/// The type by which the hidden edge id is digested and read: 16 bytes, like a UUID.
static EDGE_ID: Type = Type::Uuid;

/// Every table of a catalog, and the spaces in which rows of one write may meet.
#[derive(Debug)]
pub(crate) struct Shapes {
    /// In the order of the catalog; other structures name a table by its index here.
    pub tables: Vec<TableShape>,
    /// Facts of different spaces never meet.
    pub spaces: Vec<Space>,
    by_name: BTreeMap<String, usize>,
}

/// Tuples of some columns of one table that are compared with one another.
#[derive(Debug)]
pub(crate) struct Space {
    /// The table's index.
    pub table: usize,
    /// Indices into its layout.
    pub columns: Vec<usize>,
}

/// One table.
pub(crate) struct TableShape {
    /// Its physical columns and definition.
    pub layout: Arc<Layout>,
    /// One per property, in table order.
    pub properties: Vec<PropertyShape>,
    /// The space of its keys. Edge ends meet the keys of their node table there.
    pub key: usize,
    /// One space for each `UNIQUE`.
    pub unique: Vec<usize>,
    /// What edge tables have besides.
    pub ends: Option<Ends>,
    /// The compiled conditions.
    pub checks: Vec<Check>,
    /// Its index.
    index: usize,
}

impl std::fmt::Debug for TableShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableShape")
            .field("name", &self.layout.table.name)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

/// The two ends of an edge table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// The node table, and the space of the start columns.
    pub from: End,
    /// The node table, and the space of the end columns.
    pub to: End,
    /// Whether edges are told apart by a hidden id.
    pub multi: bool,
}

/// One end of an edge table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// The node table's index.
    pub node: usize,
    /// The space of this side's columns in the edge table.
    pub space: usize,
    /// Whether a node has at most one edge on this side.
    pub at_most_one: bool,
}

/// A property with its JSON defaults read.
#[derive(Debug)]
pub(crate) struct PropertyShape {
    /// As the catalog has it.
    pub def: PropertyDef,
    /// The value of a row that names none.
    pub default: Option<Value>,
    /// What a physical null means.
    pub fill: Option<Value>,
}

impl Shapes {
    /// Compiles `catalog`; `layout` gives the physical columns of a table.
    pub(crate) fn new(catalog: &Catalog, layout: impl Fn(&TableDef) -> Arc<Layout>) -> Result<Self, WriteError> {
        let by_id: BTreeMap<_, _> = catalog.tables.iter().enumerate().map(|(i, table)| (table.id, i)).collect();
        let by_name = catalog.tables.iter().enumerate().map(|(i, table)| (table.name.clone(), i)).collect();
        let mut spaces = Vec::new();
        let mut tables = Vec::with_capacity(catalog.tables.len());
        for (index, table) in catalog.tables.iter().enumerate() {
            tables.push(TableShape::new(index, table, layout(table), &by_id, &mut spaces)?);
        }
        Ok(Self { tables, spaces, by_name })
    }

    /// The index of the table called `name`.
    pub(crate) fn by_name(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The spaces of those ends of edges that may be nodes of a table.
    pub(crate) fn ends_at(&self, node: usize) -> impl Iterator<Item = usize> {
        let ends = self.tables.iter().filter_map(|shape| shape.ends).flat_map(|ends| [ends.from, ends.to]);
        ends.filter(move |end| end.node == node).map(|end| end.space)
    }

    /// The names of all tables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(TableShape::name)
    }

    /// The layout columns of a space.
    pub(crate) fn columns_of(&self, space: usize) -> &[usize] {
        self.spaces.get(space).map_or(&[], |space| space.columns.as_slice())
    }
}

impl TableShape {
    fn new(
        index: usize,
        table: &TableDef,
        layout: Arc<Layout>,
        by_id: &BTreeMap<TableId, usize>,
        spaces: &mut Vec<Space>,
    ) -> Result<Self, WriteError> {
        let fault = |reason: String| WriteError::Catalog { table: table.name.clone(), reason };
        let column = |wanted: Role| layout.columns.iter().position(|column| column.role == wanted);
        let columns = (0..table.properties.len())
            .map(|i| column(Role::Property(i)).ok_or_else(|| fault(format!("property {i} has no column"))))
            .collect::<Result<Vec<_>, _>>()?;
        let mut space = |columns: Vec<usize>| {
            spaces.push(Space { table: index, columns });
            spaces.len() - 1
        };
        let key = space(layout.key_columns());
        let mut unique = Vec::with_capacity(table.unique.len());
        for rule in &table.unique {
            let places = rule.iter().map(|id| table.properties.iter().position(|property| property.id == *id));
            let rule = places
                .map(|place| place.and_then(|place| columns.get(place).copied()))
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| fault("a UNIQUE names a property that does not exist".into()))?;
            unique.push(space(rule));
        }
        let ends = match &table.kind {
            TableKind::Node {} => None,
            TableKind::Edge { from, to, multi, multiplicity, .. } => {
                let node = |id: &TableId| {
                    by_id.get(id).copied().ok_or_else(|| fault("an end names a table that does not exist".into()))
                };
                let side = |wanted: fn(Role) -> bool| {
                    let all = layout.columns.iter().enumerate();
                    all.filter(|(_, column)| wanted(column.role)).map(|(i, _)| i).collect::<Vec<_>>()
                };
                let start = space(side(|role| matches!(role, Role::From(_))));
                let end = space(side(|role| matches!(role, Role::To(_))));
                let m: Multiplicity = *multiplicity;
                Some(Ends {
                    from: End { node: node(from)?, space: start, at_most_one: m.one_per_start() },
                    to: End { node: node(to)?, space: end, at_most_one: m.one_per_end() },
                    multi: *multi,
                })
            }
        };
        let properties =
            table.properties.iter().map(|def| PropertyShape::new(def, &fault)).collect::<Result<Vec<_>, _>>()?;
        let checks = table.checks.iter().map(|check| Check::compile(table, check)).collect::<Result<Vec<_>, _>>();
        let checks = checks.map_err(|e| fault(e.to_string()))?;
        Ok(Self { layout, properties, key, unique, ends, checks, index })
    }

    /// The table's name.
    pub(crate) fn name(&self) -> &str {
        &self.layout.table.name
    }

    /// The table's identity.
    pub(crate) fn table_id(&self) -> TableId {
        self.layout.table.id
    }

    /// Whether a stored `_hash` may hold more than a row now says: properties that were dropped since it was written. Such a row is compared
    /// by its values.
    pub(crate) fn has_stale_hashes(&self) -> bool {
        !self.layout.table.dropped.is_empty()
    }

    /// The type of a layout column that bears a value.
    pub(crate) fn type_of(&self, column: usize) -> &Type {
        self.layout.columns.get(column).map_or(&EDGE_ID, column_type)
    }

    /// The name of the property in a layout column.
    pub(crate) fn property_at(&self, column: usize) -> Option<&str> {
        match self.layout.columns.get(column)?.role {
            Role::Property(i) => self.properties.get(i).map(|property| property.def.name.as_str()),
            _ => None,
        }
    }

    /// The names of all properties.
    pub(crate) fn property_names(&self) -> impl Iterator<Item = &str> {
        self.properties.iter().map(|property| property.def.name.as_str())
    }

    /// The columns of key, ends and unique rules, each once: what a check has to read of a row.
    pub(crate) fn checked_columns(&self, spaces: &[Space]) -> Vec<usize> {
        let ends = self.ends.iter().flat_map(|ends| [ends.from.space, ends.to.space]);
        let all = std::iter::once(self.key).chain(self.unique.iter().copied()).chain(ends);
        let mut columns: Vec<usize> =
            all.filter_map(|space| spaces.get(space)).flat_map(|space| space.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl PropertyShape {
    fn new(def: &PropertyDef, fault: &impl Fn(String) -> WriteError) -> Result<Self, WriteError> {
        let read = |json: Option<&JsonText>| -> Result<Option<Value>, WriteError> {
            let value = json.map(|json| parse_json(json.raw(), &def.ty)).transpose();
            value.map_err(|p| fault(format!("the default of {}: {} is not {}", def.name, p.found, p.expected)))
        };
        Ok(Self { default: read(def.default.as_ref())?, fill: read(def.fill.as_ref())?, def: def.clone() })
    }
}

/// The type of a column that bears a value; hidden columns are read as 16 bytes.
pub(crate) fn column_type(column: &Column) -> &Type {
    column.ty.as_ref().unwrap_or(&EDGE_ID)
}
