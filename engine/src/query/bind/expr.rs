//! Expressions: what each form of them gives.

use super::constants::constant;
use super::kinds::{element_of, widened};
use super::{Aggregates, Binder, Place, null};
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::Kind;
use crate::syntax::{self, Arm, Finding, Name, Span, suggest};
use crate::value::Value;

impl Binder<'_> {
    /// Binds an expression. What is wrong with it is noted, and null stands in its place.
    pub(super) fn expr(&mut self, expr: &syntax::Expr, place: Place<'_>) -> Expr {
        let bound = self.try_expr(expr, place);
        self.or_null(bound, expr.span)
    }

    pub(super) fn exprs(&mut self, exprs: &[syntax::Expr], place: Place<'_>) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr, place)).collect()
    }

    fn try_expr(&mut self, expr: &syntax::Expr, place: Place<'_>) -> Result<Expr, Finding> {
        use syntax::ExprKind as K;
        let span = expr.span;
        match &expr.kind {
            K::Null => Ok(null(span)),
            K::Bool(value) => Ok(constant(Value::Bool(*value), Kind::Bool, span)),
            K::Integer(value) => Self::integer(*value, span),
            K::Float { value, text } => Ok(self.float(*value, text, span)),
            K::String(text) => Ok(constant(Value::String(text.clone()), Kind::String, span)),
            K::Name(name) => Ok(self.variable(name, span, place)),
            K::Parameter(name) => self.parameter(name, span),
            K::List(items) => {
                let items = self.exprs(items, place);
                self.list(items, span)
            }
            K::Map(entries) => Ok(self.map(entries, span, place)),
            K::Property { of, name } => {
                let of = self.expr(of, place);
                self.property(of, name, span)
            }
            K::Index { of, index } => {
                let (of, index) = (self.expr(of, place), self.expr(index, place));
                self.index(of, index, span)
            }
            K::Slice { of, from, to } => {
                let of = self.expr(of, place);
                let from = from.as_deref().map(|from| self.expr(from, place));
                let to = to.as_deref().map(|to| self.expr(to, place));
                self.slice(of, from, to, span)
            }
            K::HasLabels { of, labels } => {
                let of = self.expr(of, place);
                self.has_labels(of, labels, span)
            }
            K::Unary(operator, operand) => self.unary(*operator, operand, span, place),
            K::Binary(operator, left, right) => {
                let (left, right) = (self.expr(left, place), self.expr(right, place));
                self.binary(*operator, left, right, span)
            }
            K::Compare(first, rest) => {
                let first = self.expr(first, place);
                let rest = rest.iter().map(|(operator, operand)| (*operator, self.expr(operand, place))).collect();
                self.comparison(first, rest, span)
            }
            K::IsNull { operand, negated } => {
                let operand = Box::new(self.expr(operand, place));
                Ok(Expr { node: ExprNode::IsNull { operand, negated: *negated }, kind: Kind::Bool, span })
            }
            K::Call { name, name_span, distinct, arguments } => {
                let name = Name { text: name.clone(), span: *name_span };
                self.call(&name, *distinct, arguments, span, place)
            }
            K::CountAll => self.count_all(span, place),
            K::Case { operand, arms, otherwise } => {
                self.case(operand.as_deref(), arms, otherwise.as_deref(), span, place)
            }
        }
    }

    fn variable(&mut self, name: &str, span: Span, place: Place<'_>) -> Expr {
        if let Some(var) = place.scope.get(name) {
            return self.column(var, span);
        }
        // Said once: all other uses follow from the first.
        if self.unknown.insert(name.to_owned()) {
            let finding = Finding::new(span, format!("there is no variable `{name}`"));
            self.findings.push(suggest(finding, name, place.scope.names()));
        }
        null(span)
    }

    /// A list of values of one kind.
    pub(super) fn list(&mut self, mut items: Vec<Expr>, span: Span) -> Result<Expr, Finding> {
        let kind = widened(&self.united(&mut items, "a list cannot hold")?);
        let items = items.into_iter().map(|item| self.coerced(item, &kind)).collect::<Result<_, _>>()?;
        Ok(Expr { node: ExprNode::List(items), kind: Kind::List(Box::new(kind)), span })
    }

    fn map(&mut self, entries: &[(Name, syntax::Expr)], span: Span, place: Place<'_>) -> Expr {
        let mut bound: Vec<(String, Expr)> = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            let value = self.expr(value, place);
            if bound.iter().any(|(known, _)| *known == name.text) {
                self.report(name.span, format!("the map has two values for `{}`", name.text));
            } else {
                bound.push((name.text.clone(), value));
            }
        }
        bound.sort_by(|(one, _), (other, _)| one.cmp(other));
        let kind = Kind::Map(bound.iter().map(|(name, value)| (name.clone(), value.kind.clone())).collect());
        Expr { node: ExprNode::Map(bound), kind, span }
    }

    fn case(
        &mut self,
        operand: Option<&syntax::Expr>,
        arms: &[Arm],
        otherwise: Option<&syntax::Expr>,
        span: Span,
        place: Place<'_>,
    ) -> Result<Expr, Finding> {
        let operand = operand.map(|operand| self.expr(operand, place));
        let mut whens = Vec::with_capacity(arms.len());
        let mut results = Vec::with_capacity(arms.len() + 1);
        for arm in arms {
            whens.push(self.exprs(&arm.when, place));
            results.push(self.expr(&arm.then, place));
        }
        results.extend(otherwise.map(|otherwise| self.expr(otherwise, place)));
        let operand = self.case_conditions(operand, &mut whens)?;
        let kind = self.united(&mut results, "`CASE` gives")?;
        let mut results = results.into_iter();
        let arms = whens.into_iter().zip(results.by_ref()).collect();
        let otherwise = results.next().map(Box::new);
        Ok(Expr { node: ExprNode::Case { operand: operand.map(Box::new), arms, otherwise }, kind, span })
    }

    /// Checks what an operand is compared with, or that there are truth values where there is none.
    fn case_conditions(&self, operand: Option<Expr>, whens: &mut [Vec<Expr>]) -> Result<Option<Expr>, Finding> {
        let Some(operand) = operand else {
            whens.iter().flatten().try_for_each(|when| self.expect_bool(when, "`WHEN`"))?;
            return Ok(None);
        };
        let mut all = vec![operand];
        let lengths: Vec<usize> = whens.iter().map(Vec::len).collect();
        all.extend(whens.iter_mut().flat_map(std::mem::take));
        self.settle(&mut all)?;
        let mut all = all.into_iter();
        let operand = all.next();
        for (whens, length) in whens.iter_mut().zip(lengths) {
            *whens = all.by_ref().take(length).collect();
        }
        if let Some(operand) = &operand {
            for when in whens.iter().flatten() {
                self.expect_comparable(operand, when, "`CASE` compares")?;
            }
        }
        Ok(operand)
    }

    fn index(&mut self, of: Expr, index: Expr, span: Span) -> Result<Expr, Finding> {
        if let Kind::Map(_) | Kind::Entity(_) = of.kind {
            return self.computed_property(of, &index, span);
        }
        let Some(element) = element_of(&of.kind) else { return Err(self.unfit("an index", "a list", &of)) };
        self.expect_integer(&index, "an index")?;
        Ok(Expr { node: ExprNode::Index { list: Box::new(of), index: Box::new(index) }, kind: element, span })
    }

    fn slice(&self, of: Expr, from: Option<Expr>, to: Option<Expr>, span: Span) -> Result<Expr, Finding> {
        if element_of(&of.kind).is_none() {
            return Err(self.unfit("a slice", "a list", &of));
        }
        from.iter().chain(&to).try_for_each(|bound| self.expect_integer(bound, "a slice"))?;
        let kind = widened(&of.kind);
        let node = ExprNode::SubList { list: Box::new(of), from: from.map(Box::new), to: to.map(Box::new) };
        Ok(Expr { node, kind, span })
    }

    /// The finding that an aggregate stands where there are no groups.
    pub(super) fn expect_aggregates(name: &str, span: Span, place: Place<'_>) -> Result<(), Finding> {
        match place.aggregates {
            Aggregates::Allowed => Ok(()),
            Aggregates::Refused(clause) => {
                let finding = Finding::new(span, format!("`{name}` cannot stand in {clause}: it speaks of many rows"));
                Err(finding.with_help(format!("compute it in a WITH before, such as WITH …, {name}(…) AS x")))
            }
        }
    }
}
