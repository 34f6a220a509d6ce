//! Operators and comparisons.

use super::kinds::{element_of, numbers, product, widened};
use super::{Binder, Place};
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::Kind;
use crate::syntax::{self, BinaryOp, CompareOp, Finding, Span, UnaryOp};

impl Binder<'_> {
    pub(super) fn unary(
        &mut self,
        operator: UnaryOp,
        operand: &syntax::Expr,
        span: Span,
        place: Place<'_>,
    ) -> Result<Expr, Finding> {
        // The smallest integer has no positive counterpart.
        if let (UnaryOp::Minus, syntax::ExprKind::Integer(value)) = (operator, &operand.kind) {
            return Self::integer(-*value, span);
        }
        let operand = self.expr(operand, place);
        let kind = match operator {
            UnaryOp::Not => {
                self.expect_bool(&operand, "`NOT`")?;
                Kind::Bool
            }
            UnaryOp::Plus | UnaryOp::Minus => {
                let sign = if operator == UnaryOp::Plus { "`+`" } else { "`-`" };
                self.expect_number(&operand, sign)?;
                widened(&operand.kind)
            }
        };
        Ok(Expr { node: ExprNode::Unary(operator, Box::new(operand)), kind, span })
    }

    pub(super) fn binary(&mut self, operator: BinaryOp, left: Expr, right: Expr, span: Span) -> Result<Expr, Finding> {
        let what = format!("`{}`", operator.as_str());
        let (left, right, kind) = match operator {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                self.expect_bool(&left, &what)?;
                self.expect_bool(&right, &what)?;
                (left, right, Kind::Bool)
            }
            BinaryOp::In => {
                let (left, right) = self.contained(left, right)?;
                (left, right, Kind::Bool)
            }
            BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains => {
                self.expect_string(&left, &what)?;
                self.expect_string(&right, &what)?;
                (left, right, Kind::Bool)
            }
            BinaryOp::Add if joins(&left.kind) || joins(&right.kind) => self.joined(left, right)?,
            _ => self.arithmetic(operator, left, right, &what)?,
        };
        Ok(Expr { node: ExprNode::Binary(operator, Box::new(left), Box::new(right)), kind, span })
    }

    fn contained(&self, left: Expr, right: Expr) -> Result<(Expr, Expr), Finding> {
        let Some(element) = element_of(&right.kind) else { return Err(self.unfit("`IN`", "a list", &right)) };
        let (left, right) = match (&left.kind, &element) {
            (Kind::Uuid, Kind::String) => (left, self.coerced(right, &Kind::List(Box::new(Kind::Uuid)))?),
            (Kind::String, Kind::Uuid) => (self.coerced(left, &Kind::Uuid)?, right),
            _ => (left, right),
        };
        let mut both = [left, right];
        self.settle_exact(both.iter_mut());
        let [left, right] = both;
        let element = element_of(&right.kind).unwrap_or(Kind::Null);
        if left.kind == Kind::Json || element == Kind::Json {
            return Err(uncomparable_json(left.span));
        }
        if self.comparable(&left.kind, &element) {
            Ok((left, right))
        } else {
            Err(self.incomparable(&element, &left, "`IN` compares"))
        }
    }

    /// `+` of strings, of lists, and of a list and an element.
    fn joined(&mut self, left: Expr, right: Expr) -> Result<(Expr, Expr, Kind), Finding> {
        let is_list = |expr: &Expr| matches!(expr.kind, Kind::List(_) | Kind::Vector(_));
        let (left, right) = match (is_list(&left), is_list(&right)) {
            (true, false) if right.kind != Kind::Null => {
                let span = right.span;
                (left, self.list(vec![right], span)?)
            }
            (false, true) if left.kind != Kind::Null => {
                let span = left.span;
                (self.list(vec![left], span)?, right)
            }
            _ => (left, right),
        };
        let mut both = [left, right];
        let kind = widened(&self.united(&mut both, "`+` joins")?);
        let [left, right] = both;
        Ok((self.coerced(left, &kind)?, self.coerced(right, &kind)?, kind))
    }

    fn arithmetic(
        &self,
        operator: BinaryOp,
        left: Expr,
        right: Expr,
        what: &str,
    ) -> Result<(Expr, Expr, Kind), Finding> {
        self.expect_number(&left, what)?;
        self.expect_number(&right, what)?;
        let mut both = [left, right];
        self.settle_exact(both.iter_mut());
        let [left, right] = both;
        let kind = match (operator, &left.kind, &right.kind) {
            (_, Kind::Null, _) | (_, _, Kind::Null) => Kind::Null,
            (BinaryOp::Power, ..)
            | (BinaryOp::Divide, Kind::Decimal { .. }, _)
            | (BinaryOp::Divide, _, Kind::Decimal { .. }) => Kind::Float,
            (BinaryOp::Multiply, Kind::Decimal { .. }, other) | (BinaryOp::Multiply, other, Kind::Decimal { .. })
                if *other != Kind::Float =>
            {
                product(&left.kind, &right.kind).unwrap_or(Kind::Float)
            }
            (_, one, other) => numbers(one, other).unwrap_or(Kind::Float),
        };
        Ok((left, right, kind))
    }

    /// `a < b <= c`.
    pub(super) fn comparison(&self, first: Expr, rest: Vec<(CompareOp, Expr)>, span: Span) -> Result<Expr, Finding> {
        let (operators, operands): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
        let mut all = vec![first];
        all.extend(operands);
        self.settle(&mut all)?;
        for (operator, pair) in operators.iter().zip(all.windows(2)) {
            let [left, right] = pair else { continue };
            let what = format!("`{}` compares", operator.as_str());
            self.expect_comparable(left, right, &what)?;
            let ordered = matches!(operator, CompareOp::Equal | CompareOp::NotEqual);
            if let (false, Some(other)) = (ordered, pair.iter().find(|operand| !operand.kind.is_ordered())) {
                let message =
                    format!("`{}` needs an order, and {} has none", operator.as_str(), self.says(&other.kind));
                return Err(Finding::new(other.span, message));
            }
        }
        let mut all = all.into_iter();
        let first = Box::new(all.next().unwrap_or_else(|| super::null(span)));
        let rest = operators.into_iter().zip(all).collect();
        Ok(Expr { node: ExprNode::Compare(first, rest), kind: Kind::Bool, span })
    }

    /// Takes literals of operands that are compared with each other for what they are meant to be.
    pub(super) fn settle(&self, operands: &mut [Expr]) -> Result<(), Finding> {
        self.settle_exact(operands.iter_mut());
        self.settle_uuids(operands)
    }

    pub(super) fn expect_comparable(&self, left: &Expr, right: &Expr, what: &str) -> Result<(), Finding> {
        match (&left.kind, &right.kind) {
            (Kind::Json, _) => Err(uncomparable_json(left.span)),
            (_, Kind::Json) => Err(uncomparable_json(right.span)),
            (one, other) if self.comparable(one, other) => Ok(()),
            (one, _) => Err(self.incomparable(one, right, what)),
        }
    }
}

/// Whether `+` appends to values of this kind.
const fn joins(kind: &Kind) -> bool {
    matches!(kind, Kind::String | Kind::List(_) | Kind::Vector(_))
}

fn uncomparable_json(span: Span) -> Finding {
    Finding::new(span, "JSON documents are not compared").with_help("IS NULL and IS NOT NULL can be asked of them")
}
