//! Which variables a statement still uses once its rows are read, and where it looks into a node or an edge, which it may not once that
//! is deleted.

use std::collections::BTreeSet;

use crate::query::bound::{
    AggregateFunction, Assignment, Creation, Effect, Expr, ExprNode, Function, Plan, Update, VarId,
};
use crate::syntax::Span;

/// The variables that effects and `RETURN` use; the rows need no others.
pub(super) fn used_after_reading(update: &Update) -> BTreeSet<VarId> {
    let mut used = BTreeSet::new();
    let of_creation = |creation: &Creation, used: &mut BTreeSet<VarId>| {
        used.extend(creation.ends.iter().flat_map(|(from, to)| [*from, *to]));
        creation.properties.iter().for_each(|(_, value)| used.extend(value.columns()));
    };
    let of_assignment = |assignment: &Assignment, used: &mut BTreeSet<VarId>| {
        let (Assignment::Property { var, value, .. } | Assignment::Properties { var, value, .. }) = assignment;
        used.insert(*var);
        used.extend(value.columns());
    };
    for effect in &update.effects {
        match effect {
            Effect::Create(creations) => creations.iter().for_each(|creation| of_creation(creation, &mut used)),
            Effect::Merge { creation, on_create, on_match } => {
                of_creation(creation, &mut used);
                on_create.iter().chain(on_match).for_each(|assignment| of_assignment(assignment, &mut used));
            }
            Effect::Set(assignments) => assignments.iter().for_each(|assignment| of_assignment(assignment, &mut used)),
            Effect::Delete { operands, .. } => operands.iter().for_each(|operand| used.extend(operand.columns())),
        }
    }
    if let Some(output) = &update.output {
        exprs_of_plan(&output.plan, &mut |expr, _| used.extend(expr.columns()));
        // A plan may return its rows as they are.
        used.extend(output.columns.iter().map(|(_, var)| *var));
    }
    used
}

/// The variables that `expr` looks into, and where. To ask whether there is a value, or for the type of an edge, is no look.
pub(super) fn looks_of_expr(expr: &Expr, found: &mut Vec<(VarId, Span)>) {
    match &expr.node {
        ExprNode::Column(var) => found.push((*var, expr.span)),
        ExprNode::IsNull { operand, .. } if is_column(operand) => {}
        ExprNode::Call { function: Function::Type, arguments } if arguments.iter().all(is_column) => {}
        _ => expr.operands().into_iter().for_each(|operand| looks_of_expr(operand, found)),
    }
}

/// The variables that `plan` looks into, and where. Counting them is no look.
pub(super) fn looks_of_plan(plan: &Plan) -> Vec<(VarId, Span)> {
    let mut found = Vec::new();
    exprs_of_plan(plan, &mut |expr, counted| {
        if !(counted && is_column(expr)) {
            looks_of_expr(expr, &mut found);
        }
    });
    found
}

const fn is_column(expr: &Expr) -> bool {
    matches!(expr.node, ExprNode::Column(_))
}

/// Calls `visit` for all expressions of a plan, and whether what they give is only counted.
fn exprs_of_plan<'a>(plan: &'a Plan, visit: &mut dyn FnMut(&'a Expr, bool)) {
    match plan {
        Plan::Unit | Plan::Rows(_) => {}
        Plan::Match { input, pattern, .. } => {
            exprs_of_plan(input, visit);
            pattern.conditions.iter().for_each(|condition| visit(condition, false));
        }
        Plan::Filter { input, condition: expr } | Plan::Unwind { input, list: expr, .. } => {
            exprs_of_plan(input, visit);
            visit(expr, false);
        }
        Plan::Project { input, items } => {
            exprs_of_plan(input, visit);
            for (_, item) in items {
                visit(item, false);
            }
        }
        Plan::Aggregate { input, keys, aggregates } => {
            exprs_of_plan(input, visit);
            for (_, key) in keys {
                visit(key, false);
            }
            for (_, aggregate) in aggregates {
                let counted = aggregate.function == AggregateFunction::Count;
                aggregate.argument.iter().for_each(|argument| visit(argument, counted));
            }
        }
        Plan::Distinct { input } => exprs_of_plan(input, visit),
        Plan::Sort { input, keys } => {
            exprs_of_plan(input, visit);
            for key in keys {
                visit(&key.expr, false);
            }
        }
        Plan::Slice { input, skip, limit } => {
            exprs_of_plan(input, visit);
            skip.iter().chain(limit).for_each(|expr| visit(expr, false));
        }
        Plan::Union { left, right, .. } => {
            exprs_of_plan(left, visit);
            exprs_of_plan(right, visit);
        }
    }
}
