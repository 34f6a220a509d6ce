//! What a statement reads before anything is judged: rows by key where it names them, else whole tables.
//!
//! Told a little too wide at worst: by this it is decided which statements may share a commit.

use crate::ids::{Digest, PropertyId, TableId};
use crate::query::CypherValue;
use crate::query::bound::{Effect, Expr, ExprNode, NodePattern, Pattern, Plan, Statement, Update, VarId};
use crate::syntax::CompareOp;
use crate::table::Role;
use crate::value::digest_values;
use crate::write::footprint::{Footprint, Mode};
use crate::write::shape::{Shapes, TableShape};

use super::overlay::Overlay;
use super::property::to_property;

/// What the rows to work on come from, and what was looked up for them.
pub(super) fn reads_of(update: &Update, overlay: &Overlay) -> Footprint {
    let shapes = overlay.shapes();
    let mut touched = Footprint::default();
    of_plan(&update.read, shapes, &mut touched);
    for row in overlay.known_rows() {
        if let Some(shape) = shapes.tables.get(row.table) {
            touched.tuple(shapes, shape.key, row.key, Mode::READS);
        }
    }
    touched
}

/// All tables that the statement names: what one depends on that failed half-way.
pub(super) fn all_of(statement: &Statement, update: &Update, shapes: &Shapes) -> Footprint {
    let mut touched = Footprint::default();
    let made = update.effects.iter().flat_map(|effect| match effect {
        Effect::Create(creations) => creations.as_slice(),
        Effect::Merge { creation, .. } => std::slice::from_ref(creation),
        Effect::Set(_) | Effect::Delete { .. } => &[],
    });
    let tables = statement.entities.iter().flat_map(|entity| entity.tables.iter().copied());
    whole(tables.chain(made.map(|creation| creation.table)), shapes, &mut touched);
    touched
}

fn whole(tables: impl IntoIterator<Item = TableId>, shapes: &Shapes, touched: &mut Footprint) {
    for table in tables {
        if let Some(index) = shapes.tables.iter().position(|shape| shape.table_id() == table) {
            touched.whole(index);
        }
    }
}

fn of_plan(plan: &Plan, shapes: &Shapes, touched: &mut Footprint) {
    match plan {
        Plan::Unit | Plan::Rows(_) => {}
        Plan::Match { input, pattern, .. } => {
            of_plan(input, shapes, touched);
            of_pattern(pattern, shapes, touched);
        }
        Plan::Filter { input, .. }
        | Plan::Project { input, .. }
        | Plan::Aggregate { input, .. }
        | Plan::Distinct { input }
        | Plan::Sort { input, .. }
        | Plan::Slice { input, .. }
        | Plan::Unwind { input, .. } => of_plan(input, shapes, touched),
        Plan::Union { left, right, .. } => {
            of_plan(left, shapes, touched);
            of_plan(right, shapes, touched);
        }
    }
}

fn of_pattern(pattern: &Pattern, shapes: &Shapes, touched: &mut Footprint) {
    whole(pattern.edges.iter().flat_map(|edge| edge.tables.iter().copied()), shapes, touched);
    // One that is bound was read where it was bound.
    for node in pattern.nodes.iter().filter(|node| !node.bound) {
        match named(node, &pattern.conditions, shapes) {
            Some((space, key)) => touched.tuple(shapes, space, key, Mode::READS),
            None => whole(node.tables.iter().copied(), shapes, touched),
        }
    }
}

/// The key that the conditions name for a node, if they name all of it.
fn named(node: &NodePattern, conditions: &[Expr], shapes: &Shapes) -> Option<(usize, Digest)> {
    let [table] = node.tables.as_slice() else { return None };
    let shape = shapes.tables.iter().find(|shape| shape.table_id() == *table)?;
    let columns = shapes.columns_of(shape.key);
    let value = |column: &usize| {
        let property = match shape.layout.columns.get(*column)?.role {
            Role::Property(place) => shape.properties.get(place)?,
            _ => return None,
        };
        let constant = conditions.iter().find_map(|condition| equals(condition, node.var, shape, property.def.id))?;
        to_property(constant, &property.def.ty).ok().filter(|value| !value.is_null())
    };
    let values: Vec<_> = columns.iter().map(value).collect::<Option<_>>()?;
    let types = columns.iter().map(|column| shape.type_of(*column));
    Some((shape.key, digest_values(values.iter().zip(types))))
}

/// The constant that a condition says a property equals.
fn equals<'a>(condition: &'a Expr, var: VarId, shape: &TableShape, property: PropertyId) -> Option<&'a CypherValue> {
    let ExprNode::Compare(first, rest) = &condition.node else { return None };
    let [(CompareOp::Equal, second)] = rest.as_slice() else { return None };
    let constant = |property_side: &'a Expr, other: &'a Expr| match (&property_side.node, &other.node) {
        (ExprNode::Property { of, choices }, ExprNode::Constant(value)) => {
            let is_it = matches!(of.node, ExprNode::Column(column) if column == var);
            (is_it && choices.contains(&(shape.table_id(), property))).then_some(value)
        }
        _ => None,
    };
    constant(first, second).or_else(|| constant(second, first))
}
