//! Which nodes a statement looks at beyond their keys: the others need not be fetched, since an edge bears the keys of both its ends.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{PropertyId, TableId};
use crate::query::bound::{Aggregate, AggregateFunction, Body, Expr, ExprNode, Function, Plan, Statement, VarId};

/// What is asked of each variable.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Those that are used as values: returned, compared, sorted by, handed to a function.
    whole: BTreeSet<VarId>,
    /// The properties that are asked of a variable by its name.
    properties: BTreeMap<VarId, BTreeSet<(TableId, PropertyId)>>,
    /// Those of which anything at all is asked.
    seen: BTreeSet<VarId>,
}

impl Uses {
    /// Walks a whole statement.
    pub(crate) fn of(statement: &Statement) -> Self {
        let mut uses = Self::default();
        match &statement.body {
            Body::Read(output) => {
                uses.plan(&output.plan);
                uses.whole.extend(output.columns.iter().map(|(_, var)| *var));
            }
            Body::Update(update) => {
                uses.plan(&update.read);
                // Effects see rows one by one and look at what they like.
                uses.whole.extend(update.read.columns());
                if let Some(output) = &update.output {
                    uses.plan(&output.plan);
                    uses.whole.extend(output.columns.iter().map(|(_, var)| *var));
                }
            }
        }
        uses
    }

    /// Whether nothing is asked of the variable but its table and the properties that `is_key` admits.
    pub(crate) fn only_key(&self, var: VarId, is_key: impl Fn(TableId, PropertyId) -> bool) -> bool {
        !self.whole.contains(&var)
            && self.properties.get(&var).is_none_or(|asked| asked.iter().all(|(table, id)| is_key(*table, *id)))
    }

    /// Whether nothing is asked of the variable, not even whether it is null. What its own pattern needs of it is not looked at.
    pub(crate) fn is_unused(&self, var: VarId) -> bool {
        !self.seen.contains(&var) && !self.whole.contains(&var) && !self.properties.contains_key(&var)
    }

    fn plan(&mut self, plan: &Plan) {
        match plan {
            Plan::Unit | Plan::Rows(_) => {}
            Plan::Match { input, pattern, .. } => {
                self.plan(input);
                self.exprs(&pattern.conditions);
                self.seen.extend(pattern.nodes.iter().filter(|node| node.bound).map(|node| node.var));
                self.seen.extend(pattern.edges.iter().filter(|edge| edge.bound).map(|edge| edge.var));
            }
            Plan::Filter { input, condition } => {
                self.plan(input);
                self.expr(condition);
            }
            Plan::Project { input, items } => {
                self.plan(input);
                self.exprs(items.iter().map(|(_, expr)| expr));
            }
            Plan::Aggregate { input, keys, aggregates } => {
                self.plan(input);
                self.exprs(keys.iter().map(|(_, expr)| expr));
                for (_, Aggregate { function, argument, distinct, .. }) in aggregates {
                    match argument {
                        // Only whether it is null is asked.
                        Some(argument) if *function == AggregateFunction::Count && !distinct => {
                            self.unless_column(argument);
                        }
                        Some(argument) => self.expr(argument),
                        None => {}
                    }
                }
            }
            Plan::Sort { input, keys } => {
                self.plan(input);
                self.exprs(keys.iter().map(|key| &key.expr));
                // All columns settle ties.
                self.seen.extend(input.columns());
            }
            // Nodes and edges are told apart by their keys.
            Plan::Distinct { input } => {
                self.plan(input);
                self.seen.extend(input.columns());
            }
            Plan::Slice { input, .. } => self.plan(input),
            Plan::Unwind { input, list, .. } => {
                self.plan(input);
                self.expr(list);
            }
            Plan::Union { left, right, .. } => {
                for side in [left, right] {
                    self.plan(side);
                    self.whole.extend(side.columns());
                }
            }
        }
    }

    fn exprs<'a>(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.node {
            ExprNode::Column(var) => {
                self.whole.insert(*var);
            }
            ExprNode::Property { of, choices } => match &of.node {
                ExprNode::Column(var) => self.properties.entry(*var).or_default().extend(choices),
                _ => self.expr(of),
            },
            ExprNode::IsOf { operand, .. } | ExprNode::IsNull { operand, .. } => self.unless_column(operand),
            ExprNode::Call { function: Function::Labels | Function::Type, arguments } => {
                for argument in arguments {
                    self.unless_column(argument);
                }
            }
            _ => self.exprs(expr.operands()),
        }
    }

    /// The table of a row, and whether there is one, is known without the row.
    fn unless_column(&mut self, expr: &Expr) {
        match expr.node {
            ExprNode::Column(var) => {
                self.seen.insert(var);
            }
            _ => self.expr(expr),
        }
    }
}
