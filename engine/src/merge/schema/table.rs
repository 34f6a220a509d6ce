//! One table that both sides have.

use std::collections::BTreeSet;

use super::rules::{Rule, Rules, one_of_both};
use super::{Subject, Work};
use crate::error::SchemaClash;
use crate::ids::PropertyId;
use crate::merge::choice::{Choice, choose};
use crate::merge::row::Side;
use crate::schema::{CheckDef, Multiplicity, OnMerge, PropertyDef, TableDef, TableKind};

/// A set of properties; their order says nothing.
fn unique_rule(set: &[PropertyId]) -> Rule<Vec<PropertyId>, BTreeSet<PropertyId>> {
    Rule { declared: set.to_vec(), means: set.iter().copied().collect(), about: set.to_vec() }
}

impl Work<'_> {
    /// What the definitions of both sides come to. All are by what ids stand for.
    pub(super) fn table(&mut self, source: &TableDef, target: &TableDef, base: Option<&TableDef>) -> TableDef {
        let has_all_of = |one: &TableDef, other: &TableDef| {
            other.properties.iter().all(|property| one.property_by_id(property.id).is_some())
        };
        // Where the base is not known in part, what it seems to be there says nothing.
        let all = source.properties.iter().chain(&target.properties);
        let unknown = all.map(|property| property.id).any(|id| self.base.is_unknown(&self.ids, id));
        let before = base.filter(|_| !unknown);
        // To the byte what one side has: order, too.
        if source == target || (before == Some(source) && has_all_of(target, source)) {
            return target.clone();
        }
        if before == Some(target) && has_all_of(source, target) {
            return source.clone();
        }
        let subject = Subject { table: target.id, property: None };
        let name = |table: &TableDef| table.name.clone();
        let before = base.map(name);
        let name = self.pick((subject, SchemaClash::Name), [&name(source), &name(target)], before.as_ref(), |name| {
            Some(name.clone())
        });
        let key = self.pick(
            (subject, SchemaClash::Definition),
            [&source.key, &target.key],
            base.map(|base| &base.key),
            |_| None,
        );
        let kind = self.kind(subject, source, target, base);
        let (properties, kept) = self.properties(source, target, base);
        let there: BTreeSet<PropertyId> = properties.iter().map(|property| property.id).collect();
        let rules = Rules { there: &there, kept: &kept };
        let of = |table: &TableDef| -> Vec<_> { table.unique.iter().map(|set| unique_rule(set)).collect() };
        let unique = rules.merge([&of(source), &of(target)], &base.map(of).unwrap_or_default());
        let of = |table: &TableDef| -> Vec<_> {
            let rule = |check: &CheckDef| Rule {
                declared: check.clone(),
                means: self.ids.meaning(table, check),
                about: check.properties.clone(),
            };
            table.checks.iter().map(rule).collect()
        };
        let checks = rules.merge([&of(source), &of(target)], &base.map(of).unwrap_or_default());
        TableDef { name, kind, properties, key, unique, checks, ..target.clone() }
    }

    fn kind(&mut self, subject: Subject, source: &TableDef, target: &TableDef, base: Option<&TableDef>) -> TableKind {
        let identity = |table: &TableDef| match &table.kind {
            TableKind::Node {} => None,
            TableKind::Edge { from, to, multi, .. } => Some((*from, *to, *multi)),
        };
        if identity(source) != identity(target) {
            self.ask(subject, SchemaClash::Definition, None, [None, None, None]);
        }
        let (
            TableKind::Edge { multiplicity: theirs, on_merge: their_rule, .. },
            TableKind::Edge { from, to, from_fields, to_fields, multi, multiplicity: ours, on_merge: our_rule },
        ) = (&source.kind, &target.kind)
        else {
            return target.kind.clone();
        };
        let before = base.and_then(|base| match &base.kind {
            TableKind::Edge { multiplicity, on_merge, .. } => Some((multiplicity, on_merge)),
            TableKind::Node {} => None,
        });
        let on_merge =
            self.pick((subject, SchemaClash::OnMerge), [their_rule, our_rule], before.map(|(_, rule)| rule), |rule| {
                rule.map(|rule| match rule {
                    OnMerge::Cascade => "CASCADE".to_owned(),
                    OnMerge::Keep => "KEEP".to_owned(),
                })
            });
        let at_most_one = |of: fn(Multiplicity) -> bool| {
            let (theirs, ours, before) = (of(*theirs), of(*ours), before.map(|(multiplicity, _)| of(*multiplicity)));
            one_of_both(theirs, ours, before)
        };
        let multiplicity = match (at_most_one(Multiplicity::one_per_start), at_most_one(Multiplicity::one_per_end)) {
            (false, false) => Multiplicity::ManyMany,
            (true, false) => Multiplicity::ManyOne,
            (false, true) => Multiplicity::OneMany,
            (true, true) => Multiplicity::OneOne,
        };
        TableKind::Edge {
            from: *from,
            to: *to,
            from_fields: from_fields.clone(),
            to_fields: to_fields.clone(),
            multi: *multi,
            multiplicity,
            on_merge,
        }
    }

    /// The properties, and those that stay although a side dropped them.
    fn properties(
        &mut self,
        source: &TableDef,
        target: &TableDef,
        base: Option<&TableDef>,
    ) -> (Vec<PropertyDef>, BTreeSet<PropertyId>) {
        let order = |table: &TableDef| table.properties.iter().map(|property| property.id).collect::<Vec<_>>();
        let bases: Vec<_> = base.map(order).into_iter().collect();
        let (first, second) = match choose(&order(source), &order(target), &bases) {
            Choice::TakeSource => (source, target),
            Choice::Keep | Choice::BothMoved => (target, source),
        };
        let all = first.properties.iter().chain(&second.properties);
        let (mut properties, mut kept): (Vec<PropertyDef>, BTreeSet<PropertyId>) = (Vec::new(), BTreeSet::new());
        let mut seen = BTreeSet::new();
        for id in all.map(|property| property.id).filter(|id| seen.insert(*id)) {
            let subject = Subject { table: target.id, property: Some(id) };
            let unknown = base.is_none() && self.base.is_unknown_table(&self.ids, target.id)
                || self.base.is_unknown(&self.ids, id);
            let before = base.and_then(|base| base.property_by_id(id)).filter(|_| !unknown);
            let property = match (source.property_by_id(id), target.property_by_id(id)) {
                (Some(theirs), Some(ours)) => Some(self.property(subject, theirs, ours, before)),
                (Some(added), None) | (None, Some(added)) if before.is_none() && !unknown => Some(added.clone()),
                (Some(stays), None) => {
                    self.property_stays(subject, Side::Target, (source, stays), (base, before)).then(|| stays.clone())
                }
                (None, Some(stays)) => {
                    self.property_stays(subject, Side::Source, (target, stays), (base, before)).then(|| stays.clone())
                }
                (None, None) => None,
            };
            let on_both = source.property_by_id(id).is_some() && target.property_by_id(id).is_some();
            if property.is_some() && !on_both && (before.is_some() || unknown) {
                kept.insert(id);
            }
            properties.extend(property);
        }
        (properties, kept)
    }

    /// Whether a property that a side dropped stays.
    fn property_stays(
        &mut self,
        subject: Subject,
        by: Side,
        (table, property): (&TableDef, &PropertyDef),
        (base_table, before): (Option<&TableDef>, Option<&PropertyDef>),
    ) -> bool {
        let is_new = |of: fn(&TableDef) -> Vec<Vec<PropertyId>>| {
            let before = base_table.map(of).unwrap_or_default();
            of(table).iter().any(|rule| rule.contains(&property.id) && !before.contains(rule))
        };
        let used = is_new(|table| table.unique.clone())
            || is_new(|table| table.checks.iter().map(|check| check.properties.clone()).collect());
        let told = |property: &PropertyDef| format!("{} {}", property.name, property.ty);
        self.stays(subject, by, used || before != Some(property), [before.map(told), Some(told(property))])
    }
}
