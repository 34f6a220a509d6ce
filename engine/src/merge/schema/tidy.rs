//! What a merged schema needs as a whole: names that differ, and edge tables with both their node tables.

use super::base::Before;
use super::{Subject, Tables, Work};
use crate::error::SchemaClash;
use crate::ids::{PropertyId, TableId};
use crate::merge::row::Side;
use crate::schema::TableDef;
use crate::syntax::folded;

impl Work<'_> {
    /// Settles it, or tells it.
    pub(super) fn tidy(&mut self, tables: &mut Tables) {
        // Each round settles a name for one side; more rounds than there are names on both sides would go in a circle.
        for _ in 0..2 * (self.source.tables.len() + self.target.tables.len()) {
            let Some(pair) = alike(tables.values().map(|table| (table.id, table.name.as_str()))) else { break };
            self.table_names(tables, pair);
        }
        let ids: Vec<TableId> = tables.keys().copied().collect();
        for id in ids {
            let Some(mut table) = tables.remove(&id) else { continue };
            let most = 4 * (table.properties.len() + 1);
            for _ in 0..most {
                let names = table.properties.iter().map(|property| (property.id, property.name.as_str()));
                let Some(pair) = alike(names) else { break };
                self.property_names(&mut table, pair);
            }
            tables.insert(id, table);
        }
        while self.an_end(tables) {}
        self.numbers(tables);
    }

    /// Two tables that come to one name: as one side has it.
    fn table_names(&mut self, tables: &mut Tables, pair: [TableId; 2]) {
        let name_on =
            |work: &Self, side: Side, id: TableId| work.ids.table_in(work.on(side), id).map(|table| table.name.clone());
        let told = |side: Side| {
            let names: Vec<String> = pair.iter().filter_map(|id| name_on(self, side, *id)).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let told = [None, told(Side::Source), told(Side::Target)];
        let subjects = pair.map(|table| {
            let lacking = |side: &Side| self.known(*side, table).is_none();
            let was = !matches!(self.base.table(&self.ids, table), Before::Absent);
            (Subject { table, property: None }, lacked(was, lacking))
        });
        let taken = tables.get(&pair[1]).map(|table| table.name.clone()).unwrap_or_default();
        let side = self.ask_of(subjects, taken, told);
        for id in pair {
            match (name_on(self, side, id), tables.get_mut(&id)) {
                (Some(name), Some(table)) => table.name = name,
                (None, Some(_)) => {
                    tables.remove(&id);
                    self.settled.insert(Subject { table: id, property: None });
                }
                (_, None) => {}
            }
        }
    }

    fn property_names(&mut self, table: &mut TableDef, pair: [PropertyId; 2]) {
        let name_on = |work: &Self, side: Side, id: PropertyId| {
            let table = work.ids.table_in(work.on(side), table.id)?;
            work.ids.property_in(table, id).map(|property| property.name.clone())
        };
        let told = |side: Side| {
            let names: Vec<String> = pair.iter().filter_map(|id| name_on(self, side, *id)).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let told = [None, told(Side::Source), told(Side::Target)];
        let subjects = pair.map(|property| {
            let lacking = |side: &Side| name_on(self, *side, property).is_none();
            let was = self.base.had_property(&self.ids, table.id, property);
            (Subject { table: table.id, property: Some(property) }, lacked(was, lacking))
        });
        let taken = table.property_by_id(pair[1]).map(|property| property.name.clone()).unwrap_or_default();
        let side = self.ask_of(subjects, taken, told);
        let names = pair.map(|id| (id, name_on(self, side, id)));
        for (id, name) in names {
            let Some(name) = name else {
                table.properties.retain(|property| property.id != id);
                table.unique.retain(|set| !set.contains(&id));
                table.checks.retain(|check| !check.properties.contains(&id));
                self.settled.insert(Subject { table: table.id, property: Some(id) });
                continue;
            };
            if let Some(property) = table.properties.iter_mut().find(|property| property.id == id) {
                property.name = name;
            }
        }
    }

    /// The side that settles the name of two things: an answer to either counts, also that what was dropped is to be kept.
    fn ask_of(&mut self, subjects: [(Subject, Option<Side>); 2], taken: String, told: [Option<String>; 3]) -> Side {
        let answer = |(subject, by): (Subject, Option<Side>)| (self.question.answer)(subject, by);
        let [first, second] = subjects;
        // What was dropped and stays has an answer already.
        let in_order = if second.1.is_some() { [second, first] } else { [first, second] };
        if let Some(side) = in_order.into_iter().find_map(answer) {
            return side;
        }
        let side = self.ask(second.0, SchemaClash::Taken, None, told);
        if let Some(clash) = self.clashes.last_mut() {
            match &mut clash.name {
                (_, Some(property)) => *property = taken,
                (table, None) => *table = taken,
            }
        }
        side
    }

    /// An edge table without a node table of its own: the node table stays, or the edge table goes. True if there was one.
    fn an_end(&mut self, tables: &mut Tables) -> bool {
        let lacks = tables.values().find_map(|table| {
            let (from, to) = table.ends()?;
            [from, to].into_iter().find(|end| !tables.contains_key(end)).map(|end| (table.id, end))
        });
        let Some((edges, node)) = lacks else { return false };
        let subject = Subject { table: node, property: None };
        let by = if self.known(Side::Source, node).is_none() { Side::Source } else { Side::Target };
        let kept = self.known(by.other(), node);
        let asked = Subject { table: edges, property: None };
        // Who keeps edges keeps their nodes.
        let stays = self.kept.contains(&asked)
            || !self.settled.contains(&subject) && {
                let name = kept.as_ref().map(|table| table.name.clone());
                let told = if by == Side::Source { [name.clone(), None, name] } else { [name.clone(), name, None] };
                self.ask(subject, SchemaClash::dropped(by == Side::Source, true), Some((by, 0)), told) != by
            };
        if let Some(kept) = kept.filter(|_| stays) {
            tables.insert(node, kept);
        } else {
            self.settled.insert(subject);
            tables.remove(&edges);
        }
        true
    }

    /// Two columns with one number, drawn on both sides: files of one would be read as the other.
    fn numbers(&mut self, tables: &Tables) {
        for id in tables.keys() {
            let both = [Side::Source, Side::Target].map(|side| self.known(side, *id));
            let [Some(source), Some(target)] = both else { continue };
            let meet = source
                .properties
                .iter()
                .find(|theirs| target.properties.iter().any(|ours| ours.field == theirs.field && ours.id != theirs.id));
            if let Some(property) = meet {
                let subject = Subject { table: *id, property: Some(property.id) };
                self.ask(subject, SchemaClash::Column, None, [None, None, None]);
            }
        }
    }
}

/// The side that dropped something that was there, if one did.
fn lacked(was: bool, lacks: impl Fn(&Side) -> bool) -> Option<Side> {
    [Side::Source, Side::Target].into_iter().find(|side| was && lacks(side))
}

/// Two things with one name, if there are any.
fn alike<'a, T: Copy>(names: impl Iterator<Item = (T, &'a str)>) -> Option<[T; 2]> {
    let mut seen = std::collections::BTreeMap::new();
    for (id, name) in names {
        if let Some(first) = seen.insert(folded(name), id) {
            return Some([first, id]);
        }
    }
    None
}
