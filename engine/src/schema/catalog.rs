//! The catalog: the types of nodes and edges of one commit, immutable once stored.

use serde::{Deserialize, Serialize};

use crate::ids::{FieldId, PropertyId, TableId};
use crate::schema::{JsonText, Type};

/// All node and edge tables of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// The tables in the order of their ids.
    pub tables: Vec<TableDef>,
}

/// One node or edge table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDef {
    /// Identity; survives renaming.
    pub id: TableId,
    /// Ids of tables that were created alike on other branches and became this one when they were merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<TableId>,
    /// The name in queries.
    pub name: String,
    /// Node or edge, and what only one of them has.
    pub kind: TableKind,
    /// The properties in the order of declaration.
    pub properties: Vec<PropertyDef>,
    /// A node table's primary key: one or several properties. An edge table's declared key: part of an edge's identity
    /// besides its two ends; empty for most edge tables and for all `MULTI` ones.
    pub key: Vec<PropertyId>,
    /// Sets of properties whose values, taken together, may occur once; a set with a null in it never collides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique: Vec<Vec<PropertyId>>,
    /// Conditions that every row must not make false.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckDef>,
    /// Properties that were dropped while the table had rows, in the order of their ids: rows that were written before have them in
    /// their `_hash`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<PropertyId>,
}

/// What a table holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TableKind {
    /// Nodes.
    Node {},
    /// Edges between two node tables.
    Edge {
        /// Where edges start.
        from: TableId,
        /// Where edges end.
        to: TableId,
        /// The columns that bear the key of the start node, one per key property, in key order.
        from_fields: Vec<FieldId>,
        /// The columns that bear the key of the end node, one per key property, in key order.
        to_fields: Vec<FieldId>,
        /// Whether several edges may join the same two nodes, told apart by a hidden id.
        multi: bool,
        /// How many edges a node may have on either side.
        multiplicity: Multiplicity,
        /// What a merge does where one side put an edge of the table at a node that the other deleted; `None`: it is a conflict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_merge: Option<OnMerge>,
    },
}

/// What a merge makes of a node that one side deleted and at which the other put an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnMerge {
    /// The node is gone, and the edges go with it.
    Cascade,
    /// The node stays, with its edges.
    Keep,
}

/// Maximums for the edges of one table at one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiplicity {
    /// Any number on both sides.
    #[default]
    ManyMany,
    /// A start node has at most one edge.
    ManyOne,
    /// An end node has at most one edge.
    OneMany,
    /// Both.
    OneOne,
}

impl Multiplicity {
    /// Whether a start node has at most one edge of the table.
    #[must_use]
    pub const fn one_per_start(self) -> bool {
        matches!(self, Self::ManyOne | Self::OneOne)
    }

    /// Whether an end node has at most one edge of the table.
    #[must_use]
    pub const fn one_per_end(self) -> bool {
        matches!(self, Self::OneMany | Self::OneOne)
    }
}

/// One property of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropertyDef {
    /// Identity; survives renaming and widening.
    pub id: PropertyId,
    /// Ids of properties that were added alike on other branches and became this one when they were merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<PropertyId>,
    /// The physical column.
    pub field: FieldId,
    /// The physical column of a list's elements; lists only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_field: Option<FieldId>,
    /// The name in queries.
    pub name: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Whether null is refused. Key properties are always `NOT NULL`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_null: bool,
    /// The value of a new row that names none: JSON as a load would spell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<JsonText>,
    /// What a physical null means: the default of a property that was added to a table with rows. JSON, as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<JsonText>,
    /// How a merge settles changes of both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<MergePolicy>,
}

/// How a merge settles a property that both sides changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MergePolicy {
    /// Adds the differences of both sides.
    Sum,
    /// Takes the larger value.
    Max,
    /// Takes the smaller value.
    Min,
    /// Base, less what either side removed, with what either side added.
    Union,
    /// Takes the value of the later head.
    LastWriter,
}

/// A `CHECK` of a table: an openCypher expression over the properties of one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckDef {
    /// The expression as it was written.
    pub expression: String,
    /// The properties it names, in the order of their first use, so that a renamed property is still found.
    pub properties: Vec<PropertyId>,
}

impl Catalog {
    /// The table called `name`.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TableDef> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// The table with this id.
    #[must_use]
    pub fn table_by_id(&self, id: TableId) -> Option<&TableDef> {
        self.tables.iter().find(|table| table.id == id)
    }

    /// The edge tables that start or end at `node_table`.
    pub fn edges_of(&self, node_table: TableId) -> impl Iterator<Item = &TableDef> {
        self.tables.iter().filter(move |table| match &table.kind {
            TableKind::Edge { from, to, .. } => *from == node_table || *to == node_table,
            TableKind::Node {} => false,
        })
    }
}

impl TableDef {
    /// Whether the table holds nodes.
    #[must_use]
    pub const fn is_node(&self) -> bool {
        matches!(self.kind, TableKind::Node {})
    }

    /// The node tables that its edges start and end at; none for a node table.
    #[must_use]
    pub const fn ends(&self) -> Option<(TableId, TableId)> {
        match &self.kind {
            TableKind::Node {} => None,
            TableKind::Edge { from, to, .. } => Some((*from, *to)),
        }
    }

    /// What a merge does where an edge of the table was put at a node that the other side deleted, if that is declared.
    #[must_use]
    pub const fn on_merge(&self) -> Option<OnMerge> {
        match &self.kind {
            TableKind::Node {} => None,
            TableKind::Edge { on_merge, .. } => *on_merge,
        }
    }

    /// The property called `name`.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&PropertyDef> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// The property with this id.
    #[must_use]
    pub fn property_by_id(&self, id: PropertyId) -> Option<&PropertyDef> {
        self.properties.iter().find(|property| property.id == id)
    }

    /// The properties of the key, in key order.
    pub fn key_properties(&self) -> impl Iterator<Item = &PropertyDef> {
        self.key.iter().filter_map(|id| self.property_by_id(*id))
    }
}
