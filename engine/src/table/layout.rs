//! The physical columns of a table, hidden ones included: the bridge from the catalog to Arrow and Lance.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::ids::{FieldId, PropertyId};
use crate::schema::{Catalog, PropertyDef, TableDef, TableKind, Type};
use crate::value::arrow_field;

/// The field id of `_hash` in every table.
pub(crate) const HASH_FIELD: FieldId = FieldId(1);
/// The field id of `_change` in every table.
pub(crate) const CHANGE_FIELD: FieldId = FieldId(2);
/// The field id of `_id` in every `MULTI` edge table.
pub(crate) const EDGE_ID_FIELD: FieldId = FieldId(3);

/// What a column bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// `_hash`: FixedSizeBinary(16).
    Hash,
    /// `_change`: FixedSizeBinary(16), the ULID of the change that wrote the row.
    Change,
    /// `_id`: FixedSizeBinary(16), `MULTI` edge tables only.
    EdgeId,
    /// `_from_0`, `_from_1`, …: part `n` of the start node's key.
    From(usize),
    /// `_to_0`, …
    To(usize),
    /// The property at this index of `TableDef::properties`; the column has the property's name, escaped where Lance needs
    /// it: ask [`Column::name`].
    Property(usize),
}

/// One physical column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// What it bears.
    pub role: Role,
    /// Its name in batches and filters.
    pub name: String,
    /// Its identity in Lance's files: a renamed column keeps it.
    pub field: FieldId,
    /// The identity of a list's elements; lists only.
    pub item_field: Option<FieldId>,
    /// The type of its values; none for the hidden 16 bytes.
    pub ty: Option<Type>,
}

/// The columns of one table in physical order: hidden first, then ends, then properties.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The table as the catalog has it.
    pub table: TableDef,
    /// The columns; `arrow` has one field for each, in the same order.
    pub columns: Vec<Column>,
    /// The schema of batches of whole rows.
    pub arrow: SchemaRef,
}

impl Layout {
    /// The layout of `table`; the catalog gives the types of an edge's ends.
    pub(crate) fn new(catalog: &Catalog, table: &TableDef) -> Arc<Self> {
        let mut columns = vec![hidden(Role::Hash, "_hash", HASH_FIELD), hidden(Role::Change, "_change", CHANGE_FIELD)];
        if let TableKind::Edge { from, to, from_fields, to_fields, multi, .. } = &table.kind {
            if *multi {
                columns.push(hidden(Role::EdgeId, "_id", EDGE_ID_FIELD));
            }
            let ends =
                [(*from, from_fields, Role::From as fn(usize) -> Role, "_from"), (*to, to_fields, Role::To, "_to")];
            for (node, fields, role, prefix) in ends {
                let key: Vec<&PropertyDef> =
                    catalog.table_by_id(node).into_iter().flat_map(TableDef::key_properties).collect();
                for (part, (field, property)) in fields.iter().zip(key).enumerate() {
                    columns.push(Column {
                        role: role(part),
                        name: format!("{prefix}_{part}"),
                        field: *field,
                        item_field: None,
                        ty: Some(property.ty.clone()),
                    });
                }
            }
        }
        for (index, property) in table.properties.iter().enumerate() {
            columns.push(Column {
                role: Role::Property(index),
                name: physical_name(&property.name),
                field: property.field,
                item_field: property.item_field,
                ty: Some(property.ty.clone()),
            });
        }
        let fields: Vec<Field> = columns
            .iter()
            .map(|column| match &column.ty {
                Some(ty) => arrow_field(&column.name, ty).with_nullable(true),
                None => Field::new(&column.name, DataType::FixedSizeBinary(16), false),
            })
            .collect();
        Arc::new(Self { table: table.clone(), columns, arrow: Arc::new(Schema::new(fields)) })
    }

    /// The columns that make up a row's key, in key order: node key properties; or ends and declared key; or `_id`.
    pub(crate) fn key_columns(&self) -> Vec<usize> {
        if let Some(id) = self.column(Role::EdgeId) {
            return vec![id];
        }
        let ends = (0..self.columns.len()).filter(|i| matches!(self.columns[*i].role, Role::From(_) | Role::To(_)));
        ends.chain(self.table.key.iter().filter_map(|id| self.property(*id))).collect()
    }

    /// The column that bears `role`.
    pub(crate) fn column(&self, role: Role) -> Option<usize> {
        self.columns.iter().position(|column| column.role == role)
    }

    /// The column of a property.
    pub(crate) fn property(&self, id: PropertyId) -> Option<usize> {
        let index = self.table.properties.iter().position(|property| property.id == id)?;
        self.column(Role::Property(index))
    }

    /// All columns, in order: what a scan of whole rows asks for.
    pub(crate) fn all_columns(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }
}

fn hidden(role: Role, name: &str, field: FieldId) -> Column {
    Column { role, name: name.to_owned(), field, item_field: None, ty: None }
}

/// The column name of a property. Lance takes `.` for the path of a nested field and parses some other characters too, so
/// everything but letters, digits and `_` is written `=XX`, byte by byte; that cannot collide, as `=` itself is escaped.
fn physical_name(property: &str) -> String {
    let mut name = String::with_capacity(property.len());
    for c in property.chars() {
        if c.is_alphanumeric() || c == '_' {
            name.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing into a String cannot fail.
                let _ = write!(name, "={byte:02X}");
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;

    #[test]
    fn a_node_tables_columns_are_hidden_ones_then_properties() {
        let (catalog, person, _) = sample::catalog();
        let layout = Layout::new(&catalog, &person);
        let names: Vec<&str> = layout.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["_hash", "_change", "id", "age", "tags", "embedding"]);
        assert_eq!(layout.key_columns(), [2]);
        assert_eq!(layout.arrow.fields().len(), layout.columns.len());
        assert!(!layout.arrow.field(0).is_nullable() && layout.arrow.field(2).is_nullable());
    }

    #[test]
    fn an_edge_tables_key_is_its_ends_and_declared_key_or_its_hidden_id() {
        let (catalog, _, mut knows) = sample::catalog();
        let layout = Layout::new(&catalog, &knows);
        let names: Vec<&str> = layout.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["_hash", "_change", "_from_0", "_to_0", "since"]);
        assert_eq!(layout.key_columns(), [2, 3]);
        assert_eq!(layout.columns[2].ty, Some(Type::String), "ends have the type of the node's key");

        knows.key = vec![knows.properties[0].id];
        assert_eq!(Layout::new(&catalog, &knows).key_columns(), [2, 3, 4]);

        knows.key.clear();
        if let TableKind::Edge { multi, .. } = &mut knows.kind {
            *multi = true;
        }
        let layout = Layout::new(&catalog, &knows);
        assert_eq!(layout.columns[2].name, "_id");
        assert_eq!(layout.key_columns(), [2]);
    }

    #[test]
    fn names_that_lance_would_take_apart_are_escaped_without_collisions() {
        for (property, column) in
            [("name", "name"), ("größe_2", "größe_2"), ("a.b", "a=2Eb"), ("a=2Eb", "a=3D2Eb"), ("a b`", "a=20b=60")]
        {
            assert_eq!(physical_name(property), column);
        }
    }
}
