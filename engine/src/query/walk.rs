//! Going through the expressions of a bound statement.

use std::collections::BTreeSet;

use super::bound::{Assignment, Body, Creation, Effect, Expr, ExprNode, Plan, Statement, VarId};

impl Expr {
    /// The expressions directly inside it, in the order of their evaluation.
    pub(crate) fn operands(&self) -> Vec<&Self> {
        match &self.node {
            ExprNode::Constant(_) | ExprNode::Column(_) => Vec::new(),
            ExprNode::Property { of: operand, .. }
            | ExprNode::Field { of: operand, .. }
            | ExprNode::Unary(_, operand)
            | ExprNode::IsNull { operand, .. }
            | ExprNode::IsOf { operand, .. }
            | ExprNode::Convert(operand) => vec![operand],
            ExprNode::List(items) | ExprNode::Call { arguments: items, .. } => items.iter().collect(),
            ExprNode::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
            ExprNode::Binary(_, left, right) | ExprNode::Index { list: left, index: right } => vec![left, right],
            ExprNode::Compare(first, rest) => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, operand)| operand)).collect()
            }
            ExprNode::SubList { list, from, to } => {
                std::iter::once(&**list).chain(from.as_deref()).chain(to.as_deref()).collect()
            }
            ExprNode::Case { operand, arms, otherwise } => operand
                .as_deref()
                .into_iter()
                .chain(arms.iter().flat_map(|(whens, then)| whens.iter().chain(std::iter::once(then))))
                .chain(otherwise.as_deref())
                .collect(),
        }
    }

    /// As [`Expr::operands`], to be changed.
    pub(crate) fn operands_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.node {
            ExprNode::Constant(_) | ExprNode::Column(_) => Vec::new(),
            ExprNode::Property { of: operand, .. }
            | ExprNode::Field { of: operand, .. }
            | ExprNode::Unary(_, operand)
            | ExprNode::IsNull { operand, .. }
            | ExprNode::IsOf { operand, .. }
            | ExprNode::Convert(operand) => vec![operand],
            ExprNode::List(items) | ExprNode::Call { arguments: items, .. } => items.iter_mut().collect(),
            ExprNode::Map(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
            ExprNode::Binary(_, left, right) | ExprNode::Index { list: left, index: right } => vec![left, right],
            ExprNode::Compare(first, rest) => {
                std::iter::once(&mut **first).chain(rest.iter_mut().map(|(_, operand)| operand)).collect()
            }
            ExprNode::SubList { list, from, to } => {
                std::iter::once(&mut **list).chain(from.as_deref_mut()).chain(to.as_deref_mut()).collect()
            }
            ExprNode::Case { operand, arms, otherwise } => operand
                .as_deref_mut()
                .into_iter()
                .chain(arms.iter_mut().flat_map(|(whens, then)| whens.iter_mut().chain(std::iter::once(then))))
                .chain(otherwise.as_deref_mut())
                .collect(),
        }
    }

    /// Calls `visit` for this expression and all inside it, outer ones first.
    pub(crate) fn visit_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        visit(self);
        for operand in self.operands_mut() {
            operand.visit_mut(visit);
        }
    }

    /// The variables that it reads.
    pub(crate) fn columns(&self) -> BTreeSet<VarId> {
        let mut columns = BTreeSet::new();
        self.collect_columns(&mut columns);
        columns
    }

    fn collect_columns(&self, columns: &mut BTreeSet<VarId>) {
        if let ExprNode::Column(var) = &self.node {
            columns.insert(*var);
        }
        for operand in self.operands() {
            operand.collect_columns(columns);
        }
    }
}

impl Statement {
    /// Calls `visit` for every expression, those inside others included.
    pub(crate) fn visit_exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.body {
            Body::Read(output) => output.plan.visit_exprs_mut(visit),
            Body::Update(update) => {
                update.read.visit_exprs_mut(visit);
                for effect in &mut update.effects {
                    effect.visit_exprs_mut(visit);
                }
                if let Some(output) = &mut update.output {
                    output.plan.visit_exprs_mut(visit);
                }
            }
        }
    }
}

impl Plan {
    /// Calls `visit` for every expression, those inside others included.
    pub(crate) fn visit_exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Unit | Self::Rows(_) => {}
            Self::Match { input, pattern, .. } => {
                input.visit_exprs_mut(visit);
                pattern.conditions.iter_mut().for_each(|condition| condition.visit_mut(visit));
            }
            Self::Filter { input, condition: expr } | Self::Unwind { input, list: expr, .. } => {
                input.visit_exprs_mut(visit);
                expr.visit_mut(visit);
            }
            Self::Project { input, items } => {
                input.visit_exprs_mut(visit);
                for (_, expr) in items {
                    expr.visit_mut(visit);
                }
            }
            Self::Aggregate { input, keys, aggregates } => {
                input.visit_exprs_mut(visit);
                for (_, expr) in keys {
                    expr.visit_mut(visit);
                }
                let arguments = aggregates.iter_mut().filter_map(|(_, aggregate)| aggregate.argument.as_mut());
                arguments.for_each(|argument| argument.visit_mut(visit));
            }
            Self::Distinct { input } => input.visit_exprs_mut(visit),
            Self::Sort { input, keys } => {
                input.visit_exprs_mut(visit);
                for key in keys {
                    key.expr.visit_mut(visit);
                }
            }
            Self::Slice { input, skip, limit } => {
                input.visit_exprs_mut(visit);
                skip.iter_mut().chain(limit).for_each(|expr| expr.visit_mut(visit));
            }
            Self::Union { left, right, .. } => {
                left.visit_exprs_mut(visit);
                right.visit_exprs_mut(visit);
            }
        }
    }
}

impl Effect {
    fn visit_exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Create(creations) => creations.iter_mut().for_each(|creation| creation.visit_exprs_mut(visit)),
            Self::Merge { creation, on_create, on_match } => {
                creation.visit_exprs_mut(visit);
                on_create.iter_mut().chain(on_match).for_each(|item| item.visit_exprs_mut(visit));
            }
            Self::Set(items) => items.iter_mut().for_each(|item| item.visit_exprs_mut(visit)),
            Self::Delete { operands, .. } => operands.iter_mut().for_each(|operand| operand.visit_mut(visit)),
        }
    }
}

impl Creation {
    fn visit_exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.properties.iter_mut().for_each(|(_, value)| value.visit_mut(visit));
    }
}

impl Assignment {
    fn visit_exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Property { value, .. } | Self::Properties { value, .. } => value.visit_mut(visit),
        }
    }
}
