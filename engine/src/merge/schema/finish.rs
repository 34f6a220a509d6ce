//! From what ids stand for to the ids that the merged schema has.

use std::collections::{BTreeMap, BTreeSet};

use super::base::Before;
use super::{Tables, Work};
use crate::ids::{PropertyId, TableId};
use crate::merge::choice::{Choice, choose};
use crate::merge::row::Side;
use crate::schema::{Catalog, PropertyDef, TableDef, TableKind};

impl Work<'_> {
    /// The schema: each table and property has the target's id, or the source's where only that changed it.
    pub(super) fn finish(&self, tables: Tables) -> Catalog {
        let ids: BTreeMap<TableId, TableId> = tables.keys().map(|id| (*id, self.table_id(*id))).collect();
        let mut tables: Vec<TableDef> = tables.into_values().map(|table| self.named(table, &ids)).collect();
        tables.sort_unstable_by_key(|table| table.id);
        Catalog { tables }
    }

    fn table_id(&self, id: TableId) -> TableId {
        let own = |catalog: &Catalog| self.ids.table_in(catalog, id).map(|table| table.id);
        let before = self.base.table(&self.ids, id).known().map(|table| table.id);
        chosen(own(self.source), own(self.target), before).unwrap_or(id)
    }

    fn named(&self, mut table: TableDef, ids: &BTreeMap<TableId, TableId>) -> TableDef {
        let sides: Vec<&TableDef> =
            [self.target, self.source].into_iter().filter_map(|side| self.ids.table_in(side, table.id)).collect();
        let before = match self.base.table(&self.ids, table.id) {
            Before::Is(before) => Some(before),
            Before::Absent | Before::Unknown => None,
        };
        let own = |side: Side, property: PropertyId| {
            let table = self.ids.table_in(self.on(side), table.id)?;
            self.ids.property_in(table, property).map(|property| property.id)
        };
        let id_of = |property: PropertyId| {
            let before = before.and_then(|table| self.ids.property_in(table, property)).map(|it| it.id);
            chosen(own(Side::Source, property), own(Side::Target, property), before).unwrap_or(property)
        };
        let properties: BTreeMap<PropertyId, PropertyId> =
            table.properties.iter().map(|property| (property.id, id_of(property.id))).collect();
        // Rows of a side that still has what goes have it in their hashes.
        let gone = sides.iter().flat_map(|side| &side.properties).map(|property| property.id);
        let gone = gone.filter(|id| !properties.contains_key(&self.ids.property(*id)));
        let dropped: BTreeSet<PropertyId> = sides.iter().flat_map(|side| &side.dropped).copied().chain(gone).collect();
        let there: BTreeSet<PropertyId> = properties.values().copied().collect();
        table.dropped = dropped.into_iter().filter(|id| !there.contains(id)).collect();

        let id = ids.get(&table.id).copied().unwrap_or(table.id);
        table.also = others(id, sides.iter().flat_map(|side| side.also.iter().chain([&side.id])));
        for property in &mut table.properties {
            let own = properties.get(&property.id).copied().unwrap_or(property.id);
            let known: Vec<&PropertyDef> =
                sides.iter().filter_map(|side| self.ids.property_in(side, property.id)).collect();
            property.also = others(own, known.iter().flat_map(|side| side.also.iter().chain([&side.id])));
            property.id = own;
        }
        let same = |id: &mut PropertyId| *id = properties.get(id).copied().unwrap_or(*id);
        table.key.iter_mut().for_each(same);
        table.unique.iter_mut().flatten().for_each(same);
        table.checks.iter_mut().flat_map(|check| &mut check.properties).for_each(same);
        if let TableKind::Edge { from, to, .. } = &mut table.kind {
            for end in [from, to] {
                *end = ids.get(end).copied().unwrap_or(*end);
            }
        }
        table.id = id;
        table
    }
}

/// Of the ids on both sides the target's, unless the source alone has another one than before.
fn chosen<T: PartialEq + Copy>(source: Option<T>, target: Option<T>, before: Option<T>) -> Option<T> {
    let (Some(theirs), Some(ours)) = (source, target) else { return target.or(source) };
    let before: Vec<T> = before.into_iter().collect();
    Some(if choose(&theirs, &ours, &before) == Choice::TakeSource { theirs } else { ours })
}

/// The other ids, in order.
fn others<'a, T: Ord + Copy + 'a>(own: T, all: impl Iterator<Item = &'a T>) -> Vec<T> {
    let all: BTreeSet<T> = all.copied().filter(|id| *id != own).collect();
    all.into_iter().collect()
}
