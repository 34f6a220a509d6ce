//! The expressions that are computed by columns: DataFusion's operators where they mean the same, and our kernels.

use datafusion::common::{Column, ScalarValue};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Case, Expr as Df, Operator, binary_expr, cast};

use super::join::join;
use super::kernel::Kernel;
use super::nature::{is_float_arithmetic, is_plain, is_total};
use super::{Compiler, call, column_name};
use crate::ids::{PropertyId, TableId};
use crate::query::bound::{Expr, ExprNode, Function};
use crate::query::kind::Kind;
use crate::query::value::CypherValue;
use crate::syntax::{BinaryOp, CompareOp, Span, UnaryOp};

impl Compiler {
    /// `expr` by columns; `None` if its outermost operation has no form by columns. That is decided before any operand is compiled.
    pub(super) fn native(&self, expr: &Expr) -> Result<Option<Df>> {
        Ok(Some(match &expr.node {
            ExprNode::Constant(value) => self.constant(value, &expr.kind, expr.span)?,
            ExprNode::Column(var) => Df::Column(Column::new_unqualified(column_name(*var))),
            ExprNode::Property { of, choices } => return self.property(of, choices, &expr.kind),
            ExprNode::Field { of, name } => return self.field(of, name, &expr.kind),
            ExprNode::Unary(UnaryOp::Plus, operand) | ExprNode::Convert(operand) => {
                self.converted(self.expr(operand)?, &operand.kind, &expr.kind, expr.span)?
            }
            ExprNode::Unary(UnaryOp::Minus, operand) if operand.kind == Kind::Float => {
                Df::Negative(Box::new(self.expr(operand)?))
            }
            ExprNode::Unary(UnaryOp::Not, operand) => Df::Not(Box::new(self.expr(operand)?)),
            ExprNode::Binary(operator, left, right) => return self.binary(*operator, left, right, expr.span),
            ExprNode::Compare(first, rest) => return self.comparison(first, rest),
            ExprNode::IsNull { operand, negated } => {
                let operand = Box::new(self.expr(operand)?);
                if *negated { Df::IsNotNull(operand) } else { Df::IsNull(operand) }
            }
            ExprNode::IsOf { operand, tables } => return self.is_of(operand, tables),
            ExprNode::Case { operand, arms, otherwise } => {
                return self.case(operand.as_deref(), arms, otherwise.as_deref(), &expr.kind);
            }
            ExprNode::Call { function: Function::Coalesce, arguments } => return self.coalesce(arguments, &expr.kind),
            ExprNode::Call { function: Function::Labels | Function::Type, arguments } => {
                let list = matches!(expr.kind, Kind::List(_));
                return arguments.first().map_or(Ok(None), |argument| self.label(argument, list));
            }
            ExprNode::Unary(UnaryOp::Minus, _)
            | ExprNode::List(_)
            | ExprNode::Map(_)
            | ExprNode::Index { .. }
            | ExprNode::SubList { .. }
            | ExprNode::Call { .. } => return Ok(None),
        }))
    }

    fn property(&self, of: &Expr, choices: &[(TableId, PropertyId)], kind: &Kind) -> Result<Option<Df>> {
        let Kind::Entity(id) = of.kind else { return Ok(None) };
        let Some(layout) = self.layouts.entity(id) else { return Ok(None) };
        let mut picks = Vec::new();
        for (table, property) in choices {
            let Some((_, fields)) = layout.of_table(*table) else { continue };
            let Some(field) = fields.property(*property) else { continue };
            let widened = matches!((&field.kind, kind), (Kind::Integer | Kind::Unsigned, Kind::Float));
            if field.kind != *kind && !widened {
                return Ok(None);
            }
            picks.push(field.field);
        }
        let ty = self.layouts.data_type(kind);
        Ok(Some(call(Kernel::Property { picks, ty }, vec![self.expr(of)?])))
    }

    fn field(&self, of: &Expr, name: &str, kind: &Kind) -> Result<Option<Df>> {
        let Kind::Map(entries) = &of.kind else { return Ok(None) };
        match entries.iter().position(|(known, _)| known == name) {
            Some(field) if entries.get(field).is_some_and(|(_, known)| known == kind) => {
                let picks = vec![field];
                let ty = self.layouts.data_type(kind);
                Ok(Some(call(Kernel::Property { picks, ty }, vec![self.expr(of)?])))
            }
            _ => Ok(None),
        }
    }

    fn binary(&self, operator: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Result<Option<Df>> {
        let connected =
            |operator| Ok::<_, DataFusionError>(Some(binary_expr(self.expr(left)?, operator, self.expr(right)?)));
        let texts = left.kind == Kind::String && right.kind == Kind::String;
        match operator {
            BinaryOp::And if is_total(left) && is_total(right) => connected(Operator::And),
            BinaryOp::Or if is_total(left) && is_total(right) => connected(Operator::Or),
            BinaryOp::Xor => connected(Operator::NotEq),
            BinaryOp::In => self.is_in(left, right),
            BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains if texts => {
                Ok(Some(call(Kernel::Text(operator), vec![self.expr(left)?, self.expr(right)?])))
            }
            BinaryOp::Add if texts => Ok(Some(join(self.expr(left)?, self.expr(right)?, span))),
            _ if is_float_arithmetic(operator, &left.kind, &right.kind) => {
                let float = |operand: &Expr| {
                    let column = self.expr(operand)?;
                    let ty = self.layouts.data_type(&Kind::Float);
                    Ok::<_, DataFusionError>(if operand.kind == Kind::Float { column } else { cast(column, ty) })
                };
                Ok(Some(call(Kernel::FloatArithmetic(operator), vec![float(left)?, float(right)?])))
            }
            _ => Ok(None),
        }
    }

    /// `IN` a list of constants of the same kind, which DataFusion looks up in a set.
    fn is_in(&self, left: &Expr, right: &Expr) -> Result<Option<Df>> {
        let ExprNode::Constant(CypherValue::List(items)) = &right.node else { return self.is_in_list(left, right) };
        let Kind::List(element) = &right.kind else { return Ok(None) };
        if !is_set_kind(&left.kind) || !matches!(&**element, kind if *kind == left.kind || *kind == Kind::Null) {
            return Ok(None);
        }
        let items = items.iter().map(|item| self.constant(item, &left.kind, right.span)).collect::<Result<Vec<_>>>()?;
        self.in_list(left, items)
    }

    /// `IN [a, b, …]` of constants that stand in the text.
    fn is_in_list(&self, left: &Expr, right: &Expr) -> Result<Option<Df>> {
        let ExprNode::List(items) = &right.node else { return Ok(None) };
        let constant = |item: &Expr| {
            matches!(item.node, ExprNode::Constant(_)) && (item.kind == left.kind || item.kind == Kind::Null)
        };
        if !is_set_kind(&left.kind) || !items.iter().all(constant) {
            return Ok(None);
        }
        let mut constants = Vec::with_capacity(items.len());
        for item in items {
            constants.push(if item.kind == Kind::Null { self.null(&left.kind)? } else { self.expr(item)? });
        }
        self.in_list(left, constants)
    }

    fn in_list(&self, left: &Expr, items: Vec<Df>) -> Result<Option<Df>> {
        if items.is_empty() && is_total(left) {
            return Ok(Some(Df::Literal(ScalarValue::Boolean(Some(false)), None)));
        }
        Ok(if items.is_empty() { None } else { Some(self.expr(left)?.in_list(items, false)) })
    }

    fn comparison(&self, first: &Expr, rest: &[(CompareOp, Expr)]) -> Result<Option<Df>> {
        // Of a chain, inner operands stand in two comparisons, and the later ones are not evaluated behind a false one.
        if rest.len() > 1 && !rest.iter().all(|(_, operand)| is_plain(operand)) {
            return Ok(None);
        }
        let lefts = std::iter::once(first).chain(rest.iter().map(|(_, operand)| operand));
        let pairs: Vec<(&Expr, CompareOp, &Expr)> =
            lefts.zip(rest).map(|(left, (operator, right))| (left, *operator, right)).collect();
        if !pairs.iter().all(|(left, operator, right)| is_comparable(left, *operator, right)) {
            return Ok(None);
        }
        let mut all: Option<Df> = None;
        for (left, operator, right) in pairs {
            let compared = self.compared(left, operator, right)?;
            all = Some(match all {
                Some(all) => binary_expr(all, Operator::And, compared),
                None => compared,
            });
        }
        Ok(all)
    }

    /// One comparison of a pair that [`is_comparable`].
    fn compared(&self, left: &Expr, operator: CompareOp, right: &Expr) -> Result<Df> {
        match (&left.kind, &right.kind) {
            (Kind::Null, _) | (_, Kind::Null) => self.null(&Kind::Bool),
            (Kind::Entity(a), Kind::Entity(b)) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let same = self.same_entity((left, *a), (right, *b));
                Ok(if operator == CompareOp::NotEqual { Df::Not(Box::new(same)) } else { same })
            }
            (a, b) if a == b && is_set_kind(a) => {
                Ok(binary_expr(self.expr(left)?, df_operator(operator), self.expr(right)?))
            }
            _ => Ok(call(Kernel::CompareNumbers(operator), vec![self.expr(left)?, self.expr(right)?])),
        }
    }

    fn case(
        &self,
        operand: Option<&Expr>,
        arms: &[(Vec<Expr>, Expr)],
        otherwise: Option<&Expr>,
        kind: &Kind,
    ) -> Result<Option<Df>> {
        let mut results = arms.iter().map(|(_, then)| then).chain(otherwise);
        let whens = || arms.iter().flat_map(|(whens, _)| whens);
        let plain = operand.into_iter().chain(whens()).all(is_plain) && results.clone().all(is_plain);
        let same = results.all(|result| result.kind == *kind || result.kind == Kind::Null);
        let comparable =
            operand.is_none_or(|operand| whens().all(|when| is_comparable(operand, CompareOp::Equal, when)));
        if !plain || !same || !comparable {
            return Ok(None);
        }
        let mut when_then = Vec::new();
        for (whens, then) in arms {
            for when in whens {
                let condition = match operand {
                    Some(operand) => self.compared(operand, CompareOp::Equal, when)?,
                    None => self.expr(when)?,
                };
                when_then.push((Box::new(condition), Box::new(self.of_kind(then, kind)?)));
            }
        }
        let otherwise = match otherwise {
            Some(otherwise) => self.of_kind(otherwise, kind)?,
            None => self.null(kind)?,
        };
        Ok(Some(Df::Case(Case::new(None, when_then, Some(Box::new(otherwise))))))
    }

    fn coalesce(&self, arguments: &[Expr], kind: &Kind) -> Result<Option<Df>> {
        let fit = |argument: &Expr| argument.kind == *kind || argument.kind == Kind::Null;
        if !arguments.iter().all(|argument| fit(argument) && is_plain(argument)) {
            return Ok(None);
        }
        let mut first = self.null(kind)?;
        for argument in arguments.iter().rev().filter(|argument| argument.kind != Kind::Null) {
            let value = self.expr(argument)?;
            let present = Box::new(Df::IsNotNull(Box::new(value.clone())));
            first = Df::Case(Case::new(None, vec![(present, Box::new(value))], Some(Box::new(first))));
        }
        Ok(Some(first))
    }

    fn is_of(&self, operand: &Expr, tables: &[TableId]) -> Result<Option<Df>> {
        let Kind::Entity(id) = operand.kind else { return Ok(None) };
        let Some(layout) = self.layouts.entity(id) else { return Ok(None) };
        let tables = tables.iter().filter_map(|table| layout.of_table(*table).map(|(at, _)| at)).collect();
        Ok(Some(call(Kernel::IsOf(tables), vec![self.expr(operand)?])))
    }

    fn label(&self, operand: &Expr, list: bool) -> Result<Option<Df>> {
        let Kind::Entity(id) = operand.kind else { return Ok(None) };
        let Some(layout) = self.layouts.entity(id) else { return Ok(None) };
        let labels = layout.tables.iter().map(|table| table.layout.table.name.clone()).collect();
        Ok(Some(call(Kernel::Label { labels, list }, vec![self.expr(operand)?])))
    }

    /// An expression of `kind` or of null.
    fn of_kind(&self, expr: &Expr, kind: &Kind) -> Result<Df> {
        if expr.kind == *kind { self.expr(expr) } else { self.null(kind) }
    }
}

/// Whether two values of this kind are equal for DataFusion exactly if they are for openCypher, and ordered likewise. Not so floats: DataFusion
/// takes NaN for equal to itself and −0.0 for less than 0.0.
const fn is_set_kind(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::Integer
            | Kind::Unsigned
            | Kind::Decimal { .. }
            | Kind::String
            | Kind::Date
            | Kind::Time
            | Kind::Timestamp
            | Kind::Uuid
            | Kind::Blob
    )
}

/// Whether a comparison has a form by columns.
fn is_comparable(left: &Expr, operator: CompareOp, right: &Expr) -> bool {
    let equality = matches!(operator, CompareOp::Equal | CompareOp::NotEqual);
    match (&left.kind, &right.kind) {
        (Kind::Null, _) | (_, Kind::Null) => is_plain(left) && is_plain(right),
        (Kind::Entity(_), Kind::Entity(_)) => equality,
        (a, b) if a == b && is_set_kind(a) => equality || a.is_ordered(),
        (a, b) => a.is_number() && b.is_number(),
    }
}

const fn df_operator(operator: CompareOp) -> Operator {
    match operator {
        CompareOp::Equal => Operator::Eq,
        CompareOp::NotEqual => Operator::NotEq,
        CompareOp::Less => Operator::Lt,
        CompareOp::LessEqual => Operator::LtEq,
        CompareOp::Greater => Operator::Gt,
        CompareOp::GreaterEqual => Operator::GtEq,
    }
}
