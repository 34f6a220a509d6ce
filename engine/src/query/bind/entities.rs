//! The nodes and edges of a statement: which of them must share a layout, and what is asked of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{PropertyId, TableId};
use crate::query::bound::{Entity, Form};
use crate::query::kind::EntityId;
use crate::schema::Catalog;

/// Disjoint sets of entities: those that are mixed with each other, as in a list, are one.
#[derive(Debug)]
pub(super) struct Entities {
    all: Vec<Member>,
    needs: Vec<(EntityId, Need)>,
}

#[derive(Debug)]
struct Member {
    /// Itself, or one that it was joined to.
    parent: EntityId,
    form: Form,
    /// Of the whole set, if it is its own parent.
    tables: BTreeSet<TableId>,
}

#[derive(Debug)]
enum Need {
    Property(TableId, PropertyId),
    All,
}

impl Entities {
    pub(super) const fn new() -> Self {
        Self { all: Vec::new(), needs: Vec::new() }
    }

    pub(super) fn add(&mut self, form: Form, tables: BTreeSet<TableId>) -> EntityId {
        let id = EntityId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(Member { parent: id, form, tables });
        id
    }

    /// The one that stands for all that `id` was joined with.
    pub(super) fn root(&self, mut id: EntityId) -> EntityId {
        while let Some(member) = self.all.get(id.0 as usize) {
            if member.parent == id {
                break;
            }
            id = member.parent;
        }
        id
    }

    pub(super) fn form(&self, id: EntityId) -> Form {
        self.all.get(id.0 as usize).map_or(Form::Node, |member| member.form)
    }

    pub(super) fn tables(&self, id: EntityId) -> BTreeSet<TableId> {
        self.all.get(self.root(id).0 as usize).map(|member| member.tables.clone()).unwrap_or_default()
    }

    /// Makes one of two, if both are nodes or both edges.
    pub(super) fn join(&mut self, one: EntityId, other: EntityId) -> Option<EntityId> {
        let (one, other) = (self.root(one), self.root(other));
        if self.form(one) != self.form(other) {
            return None;
        }
        if one == other {
            return Some(one);
        }
        let (root, child) = (one.min(other), one.max(other));
        let tables = self.all.get_mut(child.0 as usize).map(|member| {
            member.parent = root;
            std::mem::take(&mut member.tables)
        });
        if let (Some(member), Some(tables)) = (self.all.get_mut(root.0 as usize), tables) {
            member.tables.extend(tables);
        }
        Some(root)
    }

    /// Notes that a property is asked for.
    pub(super) fn need(&mut self, id: EntityId, table: TableId, property: PropertyId) {
        self.needs.push((id, Need::Property(table, property)));
    }

    /// Notes that all properties are asked for.
    pub(super) fn need_all(&mut self, id: EntityId) {
        self.needs.push((id, Need::All));
    }

    /// One entity for each set, and which of them each id has become.
    pub(super) fn finish(&self, catalog: &Catalog) -> (Vec<Entity>, BTreeMap<EntityId, EntityId>) {
        let mut entities: Vec<Entity> = Vec::new();
        let mut places: BTreeMap<EntityId, EntityId> = BTreeMap::new();
        // A root comes before all that were joined to it.
        for id in (0_u32..).take(self.all.len()).map(EntityId) {
            let place = places.get(&self.root(id)).copied().unwrap_or_else(|| {
                let tables: Vec<TableId> = self.tables(id).into_iter().collect();
                entities.push(Entity { form: self.form(id), tables, needs: BTreeMap::new() });
                EntityId(u32::try_from(entities.len() - 1).unwrap_or(u32::MAX))
            });
            places.insert(id, place);
        }
        for (id, need) in &self.needs {
            let Some(entity) = places.get(id).and_then(|place| entities.get_mut(place.0 as usize)) else { continue };
            match need {
                Need::Property(table, property) => {
                    entity.needs.entry(*table).or_default().insert(*property);
                }
                Need::All => {
                    for table in entity.tables.iter().filter_map(|id| catalog.table_by_id(*id)) {
                        let all = table.properties.iter().map(|property| property.id);
                        entity.needs.entry(table.id).or_default().extend(all);
                    }
                }
            }
        }
        (entities, places)
    }
}
