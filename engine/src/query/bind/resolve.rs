//! The last step: each set of joined entities becomes one.

use std::collections::BTreeMap;

use super::Binder;
use crate::query::bound::{Body, Plan, Statement};
use crate::query::kind::{EntityId, Kind};

type Places = BTreeMap<EntityId, EntityId>;

impl Binder<'_> {
    pub(super) fn resolved(self, body: Body, explain: bool) -> Statement {
        let (entities, places) = self.entities.finish(self.catalog);
        let mut statement = Statement { entities, vars: self.vars, explain, body, warnings: self.warnings };
        for var in &mut statement.vars {
            resolve(&mut var.kind, &places);
        }
        statement.visit_exprs_mut(&mut |expr| resolve(&mut expr.kind, &places));
        match &mut statement.body {
            Body::Read(output) => resolve_aggregates(&mut output.plan, &places),
            Body::Update(update) => {
                resolve_aggregates(&mut update.read, &places);
                if let Some(output) = &mut update.output {
                    resolve_aggregates(&mut output.plan, &places);
                }
            }
        }
        statement
    }
}

fn resolve(kind: &mut Kind, places: &Places) {
    match kind {
        Kind::Entity(id) => *id = places.get(id).copied().unwrap_or(*id),
        Kind::List(element) => resolve(element, places),
        Kind::Map(entries) => entries.iter_mut().for_each(|(_, kind)| resolve(kind, places)),
        _ => {}
    }
}

fn resolve_aggregates(plan: &mut Plan, places: &Places) {
    match plan {
        Plan::Unit | Plan::Rows(_) => {}
        Plan::Aggregate { input, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                resolve(&mut aggregate.kind, places);
            }
            resolve_aggregates(input, places);
        }
        Plan::Match { input, .. }
        | Plan::Filter { input, .. }
        | Plan::Project { input, .. }
        | Plan::Distinct { input }
        | Plan::Sort { input, .. }
        | Plan::Slice { input, .. }
        | Plan::Unwind { input, .. } => resolve_aggregates(input, places),
        Plan::Union { left, right, .. } => {
            resolve_aggregates(left, places);
            resolve_aggregates(right, places);
        }
    }
}
