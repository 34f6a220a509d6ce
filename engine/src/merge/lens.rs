//! How rows of one table, as a commit has them, are read under the merged definition.
//!
//! Where the columns of both mean the same, rows are read as they lie and may be taken over as they lie: what was added since reads as null,
//! or as its fill value. Else they are read under their own definition, and each value finds its place by the identity of its property.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::row::Side;
use super::schema::{Base, Identities};
use crate::ids::{ChangeId, TableId};
use crate::schema::{Fit, JsonText, Multiplicity, PropertyDef, TableDef, TableKind, Type, fit, widened};
use crate::table::{Layout, Role};
use crate::value::{Value, parse_json};
use crate::write::lookup::{addresses, digest_at};
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// What a table's own definition is to the merged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// Whether it is the same dataset.
    pub(super) same_table: bool,
    /// Whether rows mean under the merged definition what they mean under their own, as they lie.
    pub(super) alike: bool,
    /// Whether its rows keep all rules of the merged definition.
    pub(super) vouches: bool,
    /// Whether it dropped properties that stay: its rows have of them what the other side has.
    pub(super) inherits: bool,
}

impl Reading {
    /// How `own` is read as `merged`. `base` tells what was dropped; none for a base itself.
    pub(super) fn of(ids: &Identities, base: Option<&Base>, merged: &TableDef, own: &TableDef) -> Self {
        if merged == own {
            return Self { same_table: true, alike: true, vouches: true, inherits: false };
        }
        let inherited = |property: &PropertyDef| {
            base.is_some_and(|base| base.had_property(ids, own.id, property.id))
                && ids.property_in(own, property.id).is_none()
        };
        let column = |property: &PropertyDef| match ids.property_in(own, property.id) {
            Some(known) => {
                // The id is in the hashes of rows.
                (known.id, known.field, known.item_field) == (property.id, property.field, property.item_field)
                    && known.fill == property.fill
                    && fit(&known.ty, &property.ty) == Fit::Alike
            }
            None => !inherited(property) && (property.fill.is_some() || property.default.is_none()),
        };
        let inherits = merged.properties.iter().any(inherited);
        let same_table = merged.id == own.id;
        let alike = same_table && same_ends(merged, own) && merged.properties.iter().all(column);
        Self { same_table, alike, vouches: vouches(ids, merged, own), inherits }
    }
}

/// What rows have of a property that their definition lacks.
fn missing(property: &PropertyDef) -> Option<&JsonText> {
    property.fill.as_ref().or(property.default.as_ref())
}

fn same_ends(one: &TableDef, other: &TableDef) -> bool {
    let fields = |table: &TableDef| match &table.kind {
        TableKind::Node {} => None,
        TableKind::Edge { from_fields, to_fields, .. } => Some((from_fields.clone(), to_fields.clone())),
    };
    fields(one) == fields(other)
}

/// Whether rows that keep the rules of `own` keep those of `merged`.
fn vouches(ids: &Identities, merged: &TableDef, own: &TableDef) -> bool {
    let same = |set: &[crate::ids::PropertyId]| set.iter().map(|id| ids.property(*id)).collect::<BTreeSet<_>>();
    let not_null = |property: &PropertyDef| match ids.property_in(own, property.id) {
        Some(known) => known.not_null,
        None => missing(property).is_some(),
    };
    let not_null = merged.properties.iter().filter(|property| property.not_null).all(not_null);
    let unique = merged.unique.iter().all(|set| own.unique.iter().any(|known| same(known) == same(set)));
    let known: Vec<_> = own.checks.iter().map(|check| ids.meaning(own, check)).collect();
    let checks = merged.checks.iter().all(|check| known.contains(&ids.meaning(merged, check)));
    let most = |table: &TableDef| match &table.kind {
        TableKind::Node {} => Multiplicity::ManyMany,
        TableKind::Edge { multiplicity, .. } => *multiplicity,
    };
    let (most, known) = (most(merged), most(own));
    let ends = (!most.one_per_start() || known.one_per_start()) && (!most.one_per_end() || known.one_per_end());
    not_null && unique && checks && ends
}

/// How the rows of one version are read.
#[derive(Debug)]
pub(super) struct Lens {
    /// What its definition is to the merged one.
    pub(super) reading: Reading,
    /// The table's id there.
    pub(super) table: TableId,
    /// Its own definition, where rows have to be read under that.
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    shapes: Arc<Shapes>,
    index: usize,
    /// For each property of the merged definition.
    properties: Vec<Origin>,
}

/// Where the value of a property comes from.
#[derive(Debug)]
enum Origin {
    /// From that property of its own, widened to this type.
    Own(usize, Type),
    /// It is this.
    Is(Value),
    /// From the other side: this one dropped it. Where there is no other, it is this.
    Inherited(Value),
}

/// Columns as they are asked of a version: under the merged layout, and under its own.
pub(super) struct Asked {
    merged: Vec<usize>,
    /// What to read.
    pub(super) own: Vec<usize>,
}

/// A row with its address, and the change that wrote it where that was asked for.
pub(super) type RowAt = (u64, Row, Option<ChangeId>);

impl Lens {
    /// How `table` of a commit is read as the table of `shape`. `own` gives all tables of that commit, and is only asked where it is needed.
    pub(super) fn new<E>(
        ids: &Identities,
        base: Option<&Base>,
        shape: &TableShape,
        table: &TableDef,
        own: impl FnOnce() -> Result<Arc<Shapes>, E>,
    ) -> Result<Self, E> {
        let merged = &shape.layout.table;
        let reading = Reading::of(ids, base, merged, table);
        if reading.alike {
            return Ok(Self { reading, table: table.id, own: None });
        }
        let origin = |property: &PropertyDef| {
            let known = ids.property_in(table, property.id);
            let known = known.and_then(|known| table.properties.iter().position(|it| it.id == known.id));
            if let Some(at) = known {
                return Origin::Own(at, property.ty.clone());
            }
            let value = missing(property).and_then(|json| parse_json(json.raw(), &property.ty).ok());
            let value = value.unwrap_or(Value::Null);
            if base.is_some_and(|base| base.had_property(ids, table.id, property.id)) {
                Origin::Inherited(value)
            } else {
                Origin::Is(value)
            }
        };
        let properties = merged.properties.iter().map(origin).collect();
        let shapes = own()?;
        let index = shapes.by_name(&table.name).unwrap_or(usize::MAX);
        Ok(Self { reading, table: table.id, own: Some(Own { shapes, index, properties }) })
    }

    fn own(&self) -> Option<(&Own, &TableShape)> {
        let own = self.own.as_ref()?;
        Some((own, own.shapes.tables.get(own.index)?))
    }

    /// The layout to open the version under.
    pub(super) fn layout<'a>(&'a self, merged: &'a Arc<Layout>) -> &'a Arc<Layout> {
        self.own().map_or(merged, |(_, shape)| &shape.layout)
    }

    /// What to read for the merged layout's columns `columns`.
    pub(super) fn asked(&self, shape: &TableShape, columns: &[usize]) -> Asked {
        let merged = columns.to_vec();
        let Some((own, own_shape)) = self.own() else { return Asked { own: merged.clone(), merged } };
        let layout = &own_shape.layout;
        let column = |column: &usize| match shape.layout.columns.get(*column)?.role {
            Role::Property(at) => match own.properties.get(at)? {
                Origin::Own(own, _) => layout.column(Role::Property(*own)),
                Origin::Is(_) | Origin::Inherited(_) => None,
            },
            role => layout.column(role),
        };
        Asked { own: columns.iter().filter_map(column).collect(), merged }
    }

    /// The rows of a batch that was read so, with their addresses behind the columns. What was inherited is null.
    pub(super) fn rows(&self, shape: &TableShape, asked: &Asked, batch: &RecordBatch) -> Vec<RowAt> {
        let Some(addresses) = addresses(batch) else { return Vec::new() };
        let own = self.own();
        let layout = self.layout(&shape.layout);
        let change = asked
            .own
            .iter()
            .position(|column| layout.columns.get(*column).is_some_and(|column| column.role == Role::Change));
        let changes =
            change.and_then(|at| batch.column(at).as_any().downcast_ref::<arrow_array::FixedSizeBinaryArray>());
        let row = |(at, address): (usize, &u64)| {
            let row = match own {
                None => Row::read(shape, &asked.merged, batch, at),
                Some((own, own_shape)) => own.translate(own_shape, Row::read(own_shape, &asked.own, batch, at)),
            };
            (*address, row, changes.map(|changes| ChangeId::from_bytes(digest_at(changes, at).0)))
        };
        addresses.values().iter().enumerate().map(row).collect()
    }

    /// Gives a row what it inherits: of the first of `others` there is.
    pub(super) fn complete(&self, row: &mut Row, others: &[Option<&Row>]) {
        let Some((own, _)) = self.own() else { return };
        let other = others.iter().flatten().next();
        for (at, (origin, value)) in own.properties.iter().zip(&mut row.properties).enumerate() {
            if let Origin::Inherited(missing) = origin {
                *value = other.and_then(|other| other.properties.get(at)).unwrap_or(missing).clone();
            }
        }
    }
}

impl Own {
    fn translate(&self, shape: &TableShape, row: Row) -> Row {
        let meant = row.meant(shape);
        let value = |origin: &Origin| match origin {
            Origin::Own(at, ty) => widened(meant.get(*at).cloned().unwrap_or(Value::Null), ty),
            Origin::Is(value) => value.clone(),
            Origin::Inherited(_) => Value::Null,
        };
        let properties = self.properties.iter().map(value).collect();
        Row { properties, ..row }
    }
}

/// How one table is read in all commits that matter.
#[derive(Debug, Default)]
pub(super) struct Lenses {
    /// None where a side has no such table.
    pub(super) source: Option<Arc<Lens>>,
    /// The same of the target.
    pub(super) target: Option<Arc<Lens>>,
    /// The same of each of the origins.
    pub(super) commits: Vec<Option<Arc<Lens>>>,
}

impl Lenses {
    /// That of a side.
    pub(super) fn of(&self, side: Side) -> Option<&Arc<Lens>> {
        match side {
            Side::Source => self.source.as_ref(),
            Side::Target => self.target.as_ref(),
        }
    }
}
