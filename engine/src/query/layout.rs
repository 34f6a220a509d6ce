//! How Arrow holds the columns of a plan: one array for each variable, a struct for a node or an edge.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, TimeUnit};

use super::bound::{Entity, Form};
use super::kind::{EntityId, Kind};
use crate::ids::{PropertyId, TableId};
use crate::publish::Snapshot;
use crate::table::{Layout, Role};

/// The field of an entity's struct that tells the table: `UInt16`, an index into [`EntityLayout::tables`].
pub(crate) const TABLE: &str = "table";
/// The field that tells a stored row: `UInt64`, its address within the table; null for rows that a statement has made. Nodes and edges are
/// told apart by their keys, not by this.
pub(crate) const ADDRESS: &str = "address";

/// The Arrow layout of all entities of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Layouts {
    pub entities: Vec<EntityLayout>,
}

/// The struct of one entity: table, address, then the fields of each table, null in rows of the others.
#[derive(Debug, Clone)]
pub(crate) struct EntityLayout {
    pub form: Form,
    /// In the order of [`Entity::tables`].
    pub tables: Vec<TableFields>,
    /// The struct's fields, [`TABLE`] and [`ADDRESS`] first.
    pub fields: Fields,
}

/// The part of an entity's struct that bears the rows of one table.
#[derive(Debug, Clone)]
pub(crate) struct TableFields {
    pub table: TableId,
    pub layout: Arc<Layout>,
    pub fields: Vec<TableField>,
}

/// One column of one table in an entity's struct.
#[derive(Debug, Clone)]
pub(crate) struct TableField {
    /// Index into the layout's columns.
    pub column: usize,
    /// Index into [`EntityLayout::fields`].
    pub field: usize,
    /// The property it bears; none for an end or a hidden id.
    pub property: Option<PropertyId>,
    /// What its values are; [`Kind::Uuid`] for the 16 bytes of a hidden id.
    pub kind: Kind,
}

impl Layouts {
    /// Lays out the entities of a statement that was bound against the catalog of `at`. `layout_of` gives the physical columns of a table.
    pub(crate) fn new(entities: &[Entity], at: &Snapshot, layout_of: impl Fn(TableId) -> Option<Arc<Layout>>) -> Self {
        debug_assert!(entities.iter().flat_map(|e| &e.tables).all(|id| at.catalog.table_by_id(*id).is_some()));
        Self { entities: entities.iter().map(|entity| EntityLayout::new(entity, &layout_of)).collect() }
    }

    pub(crate) fn entity(&self, id: EntityId) -> Option<&EntityLayout> {
        self.entities.get(id.0 as usize)
    }

    /// The Arrow type of values of this kind.
    pub(crate) fn data_type(&self, kind: &Kind) -> DataType {
        match kind {
            Kind::Null | Kind::Bool => DataType::Boolean,
            Kind::Integer => DataType::Int64,
            Kind::Unsigned => DataType::UInt64,
            Kind::Float => DataType::Float64,
            Kind::Decimal { precision, scale } => DataType::Decimal128(*precision, scale.cast_signed()),
            Kind::String | Kind::Json => DataType::Utf8,
            Kind::Date => DataType::Date32,
            Kind::Time => DataType::Time64(TimeUnit::Microsecond),
            Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Uuid => DataType::FixedSizeBinary(16),
            Kind::Blob => DataType::Binary,
            Kind::Vector(length) => DataType::FixedSizeList(
                Arc::new(Field::new("item", DataType::Float32, true)),
                i32::try_from(*length).unwrap_or(i32::MAX),
            ),
            Kind::List(element) => DataType::List(Arc::new(Field::new("item", self.data_type(element), true))),
            Kind::Map(entries) => DataType::Struct(
                entries.iter().map(|(name, kind)| Field::new(name, self.data_type(kind), true)).collect(),
            ),
            Kind::Entity(id) => {
                DataType::Struct(self.entity(*id).map_or_else(Fields::empty, |entity| entity.fields.clone()))
            }
        }
    }
}

impl EntityLayout {
    /// Lays out one entity.
    pub(crate) fn new(entity: &Entity, layout_of: impl Fn(TableId) -> Option<Arc<Layout>>) -> Self {
        let no_entities = Layouts { entities: Vec::new() };
        let mut fields = vec![Field::new(TABLE, DataType::UInt16, true), Field::new(ADDRESS, DataType::UInt64, true)];
        let mut tables = Vec::with_capacity(entity.tables.len());
        for (index, table) in entity.tables.iter().enumerate() {
            let Some(layout) = layout_of(*table) else { continue };
            let needs = entity.needs.get(table);
            let mut of_table = Vec::new();
            for (column, described) in layout.columns.iter().enumerate() {
                let property = match described.role {
                    Role::Property(at) => layout.table.properties.get(at).map(|property| property.id),
                    _ => None,
                };
                let wanted = match (described.role, property) {
                    (Role::Hash | Role::Change, _) => false,
                    (_, Some(id)) => layout.table.key.contains(&id) || needs.is_some_and(|needs| needs.contains(&id)),
                    (_, None) => true,
                };
                if wanted {
                    let kind = described.ty.as_ref().map_or(Kind::Uuid, Kind::of);
                    of_table.push(TableField { column, field: fields.len(), property, kind: kind.clone() });
                    fields.push(Field::new(format!("{index}:{}", described.name), no_entities.data_type(&kind), true));
                }
            }
            tables.push(TableFields { table: *table, layout, fields: of_table });
        }
        Self { form: entity.form, tables, fields: fields.into() }
    }

    /// The part of a table, and its index as [`TABLE`] tells it.
    pub(crate) fn of_table(&self, table: TableId) -> Option<(u16, &TableFields)> {
        let at = self.tables.iter().position(|fields| fields.table == table)?;
        Some((u16::try_from(at).ok()?, self.tables.get(at)?))
    }
}

impl TableFields {
    /// The field of a property.
    pub(crate) fn property(&self, id: PropertyId) -> Option<&TableField> {
        self.fields.iter().find(|field| field.property == Some(id))
    }

    /// The fields that bear the row's key, in key order: of a node its key properties, of an edge its ends and declared key, or its id.
    pub(crate) fn key(&self) -> Vec<&TableField> {
        let columns = self.layout.key_columns();
        columns.iter().filter_map(|column| self.fields.iter().find(|field| field.column == *column)).collect()
    }

    /// The fields that bear the key of an edge's start (`true`) or end node, in key order.
    pub(crate) fn end(&self, start: bool) -> Vec<&TableField> {
        let is_end = |role: Role| if start { matches!(role, Role::From(_)) } else { matches!(role, Role::To(_)) };
        let of_end = |field: &&TableField| self.layout.columns.get(field.column).is_some_and(|c| is_end(c.role));
        self.fields.iter().filter(of_end).collect()
    }
}
