//! The three-way merge of schemas: pure, over catalogs alone.
//!
//! # How schemas are merged
//! 1. Tables and properties are known by identity, never by name. What both sides added under one name with one definition becomes one, with
//!    the target's identity; that it was two is remembered in the schema, so that the next merge knows.
//! 2. Each attribute of a table or property goes by itself: name, type, `NOT NULL`, default, policy, each `UNIQUE` and `CHECK`. What one side
//!    changed is taken; equal changes agree; types that both widened come to the wider; enums that both extended have the labels of both.
//! 3. What one side dropped goes if the other left it alone, its rows included, and is a conflict otherwise.
//! 4. Then names: two things that come to one name are a conflict. Then ends: an edge table needs its node tables.
//!
//! # Invariants
//! 1. A side that has what the base has changes nothing: the result is then what the other side has, to the byte.
//! 2. Swapping source and target changes the order of declaration and identities of what converged, and nothing else.
//! 3. While there are clashes the schema is a proposal that nothing may be published under.

mod base;
mod conflict;
mod finish;
mod identity;
mod property;
mod rules;
mod table;
#[cfg(test)]
mod tests;
mod tidy;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use base::Base;
pub(super) use conflict::{Clash, Dropped, Subject};
pub(super) use identity::Identities;

use super::choice::{Choice, choose};
use super::row::Side;
use crate::error::SchemaClash;
use crate::ids::TableId;
use crate::schema::{Catalog, TableDef, TableKind};
use base::Before;

/// What a merge of schemas has to ask.
pub(super) struct Question<'a> {
    /// The side that settles a clash about something, and who dropped it if that is what it is about.
    pub(super) answer: &'a dyn Fn(Subject, Option<Side>) -> Option<Side>,
    /// How many rows the other side changed of something that was dropped.
    pub(super) rows: &'a dyn Fn(Dropped) -> u64,
}

impl Question<'static> {
    /// Has no answers, and knows of no rows.
    pub(super) fn nobody() -> Self {
        Self { answer: &|_, _| None, rows: &|_| 0 }
    }
}

/// What two schemas come to.
#[derive(Debug, Clone)]
pub(super) struct United {
    /// What is one.
    pub(super) ids: Identities,
    /// The schema.
    pub(super) catalog: Catalog,
    /// What has no answer.
    pub(super) clashes: Vec<Clash>,
    /// What was dropped by one side, and whose rows the other side may have changed.
    pub(super) dropped: Vec<Dropped>,
}

/// Merges schemas over their base.
pub(super) fn unite(base: &Base, source: &Catalog, target: &Catalog, question: &Question<'_>) -> United {
    unite_known(Identities::of([&base.catalog, source, target]), base, source, target, question)
}

/// The same, with what other schemas know of identities.
pub(super) fn unite_known(
    mut ids: Identities,
    base: &Base,
    source: &Catalog,
    target: &Catalog,
    question: &Question<'_>,
) -> United {
    ids.converge(&base.catalog, source, target);
    let (clashes, dropped, settled, kept) = (Vec::new(), Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut work = Work { ids, base, source, target, question, clashes, dropped, settled, kept };
    let mut tables = work.tables();
    work.tidy(&mut tables);
    let catalog = work.finish(tables);
    let Work { ids, clashes, dropped, .. } = work;
    United { ids, catalog, clashes, dropped }
}

/// Tables by what their ids stand for, all ids in them being such.
type Tables = BTreeMap<TableId, TableDef>;

struct Work<'a> {
    ids: Identities,
    base: &'a Base,
    source: &'a Catalog,
    target: &'a Catalog,
    question: &'a Question<'a>,
    clashes: Vec<Clash>,
    dropped: Vec<Dropped>,
    /// What an answer let go.
    settled: BTreeSet<Subject>,
    /// What an answer kept.
    kept: BTreeSet<Subject>,
}

impl Work<'_> {
    fn on(&self, side: Side) -> &Catalog {
        match side {
            Side::Source => self.source,
            Side::Target => self.target,
        }
    }

    /// A side's table, by what ids stand for.
    fn known(&self, side: Side, table: TableId) -> Option<TableDef> {
        self.ids.table_in(self.on(side), table).map(|table| self.normal(table))
    }

    /// A table with what its ids stand for in their places, and nothing in it that is no part of what it declares.
    fn normal(&self, table: &TableDef) -> TableDef {
        let mut table = table.clone();
        (table.also, table.dropped) = (Vec::new(), Vec::new());
        table.id = self.ids.table(table.id);
        if let TableKind::Edge { from, to, .. } = &mut table.kind {
            (*from, *to) = (self.ids.table(*from), self.ids.table(*to));
        }
        let same = |id: &mut crate::ids::PropertyId| *id = self.ids.property(*id);
        for property in &mut table.properties {
            property.also.clear();
            same(&mut property.id);
        }
        table.key.iter_mut().for_each(same);
        table.unique.iter_mut().flatten().for_each(same);
        table.checks.iter_mut().flat_map(|check| &mut check.properties).for_each(same);
        table
    }

    fn tables(&mut self) -> Tables {
        let all = self.source.tables.iter().chain(&self.target.tables);
        let all: BTreeSet<TableId> = all.map(|table| self.ids.table(table.id)).collect();
        let mut tables = Tables::new();
        for id in all {
            let before = match self.base.table(&self.ids, id) {
                Before::Is(table) => Before::Is(self.normal(table)),
                Before::Absent => Before::Absent,
                Before::Unknown => Before::Unknown,
            };
            let (source, target) = (self.known(Side::Source, id), self.known(Side::Target, id));
            let table = match (source, target, before) {
                (Some(source), Some(target), before) => Some(self.table(&source, &target, before.known().as_ref())),
                (Some(added), None, Before::Absent) | (None, Some(added), Before::Absent) => Some(added),
                (Some(kept), None, before) => self.table_stays(Side::Target, &kept, &before).then_some(kept),
                (None, Some(kept), before) => self.table_stays(Side::Source, &kept, &before).then_some(kept),
                (None, None, _) => None,
            };
            tables.extend(table.map(|table| (id, table)));
        }
        tables
    }

    /// Whether a table that a side dropped stays.
    fn table_stays(&mut self, by: Side, kept: &TableDef, before: &Before<TableDef>) -> bool {
        let changed = !matches!(before, Before::Is(before) if before == kept);
        let subject = Subject { table: kept.id, property: None };
        let told = |table: &TableDef| table.name.clone();
        let before = if let Before::Is(before) = before { Some(told(before)) } else { None };
        self.stays(subject, by, changed, [before, Some(told(kept))])
    }

    /// Whether something that a side dropped stays. `told`: what it was before, and what it is on the other side.
    fn stays(&mut self, subject: Subject, by: Side, changed: bool, told: [Option<String>; 2]) -> bool {
        let dropped = Dropped { subject, by };
        self.dropped.push(dropped);
        let rows = (self.question.rows)(dropped);
        if !changed && rows == 0 {
            return false;
        }
        let [before, kept] = told;
        let told = match by {
            Side::Source => [before, None, kept],
            Side::Target => [before, kept, None],
        };
        let reason = SchemaClash::dropped(by == Side::Source, changed);
        let stays = self.ask(subject, reason, Some((by, rows)), told) != by;
        if stays { &mut self.kept } else { &mut self.settled }.insert(subject);
        stays
    }

    /// The side that settles a clash. While none does, it is told, and the target counts, or who dropped what it is about: so that nothing is told
    /// that follows from it.
    fn ask(
        &mut self,
        subject: Subject,
        reason: SchemaClash,
        dropped: Option<(Side, u64)>,
        told: [Option<String>; 3],
    ) -> Side {
        if let Some(side) = (self.question.answer)(subject, dropped.map(|(by, _)| by)).filter(|_| reason.has_answer()) {
            return side;
        }
        let (rows, name) = (dropped.map(|(_, rows)| rows), self.name_of(subject));
        self.clashes.push(Clash { subject, name, reason, rows, told });
        dropped.map_or(Side::Target, |(by, _)| by)
    }

    /// What something is called: on the target, else on the source, else before.
    fn name_of(&self, subject: Subject) -> (String, Option<String>) {
        let catalogs = [self.target, self.source, &self.base.catalog];
        let tables: Vec<&TableDef> =
            catalogs.iter().filter_map(|catalog| self.ids.table_in(catalog, subject.table)).collect();
        let table = tables.first().map(|table| table.name.clone()).unwrap_or_default();
        let property = subject.property.and_then(|property| {
            tables.iter().find_map(|table| self.ids.property_in(table, property)).map(|property| property.name.clone())
        });
        (table, property)
    }

    /// The value of an attribute that is taken whole.
    fn pick<T: PartialEq + Clone>(
        &mut self,
        (subject, reason): (Subject, SchemaClash),
        [source, target]: [&T; 2],
        base: Option<&T>,
        show: impl Fn(&T) -> Option<String>,
    ) -> T {
        let bases: Vec<T> = base.cloned().into_iter().collect();
        let side = match choose(source, target, &bases) {
            Choice::Keep => Side::Target,
            Choice::TakeSource => Side::Source,
            Choice::BothMoved => self.ask(subject, reason, None, [base.and_then(&show), show(source), show(target)]),
        };
        if side == Side::Source { source.clone() } else { target.clone() }
    }
}
