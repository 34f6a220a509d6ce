//! Aggregate functions: found in expressions, computed beside the groups.

use super::kinds::widened;
use super::rewrite::{erased, is_repeatable};
use super::{Aggregates, Binder, Place};
use crate::query::bound::{Aggregate, AggregateFunction, Expr, ExprNode};
use crate::query::kind::Kind;
use crate::syntax::{self, Finding, Name, Span};

/// The aggregate functions, as they are written.
pub(super) const NAMES: [(&str, AggregateFunction); 6] = [
    ("count", AggregateFunction::Count),
    ("sum", AggregateFunction::Sum),
    ("avg", AggregateFunction::Avg),
    ("min", AggregateFunction::Min),
    ("max", AggregateFunction::Max),
    ("collect", AggregateFunction::Collect),
];

impl Binder<'_> {
    /// `count(*)`.
    pub(super) fn count_all(&mut self, span: Span, place: Place<'_>) -> Result<Expr, Finding> {
        Self::expect_aggregates("count", span, place)?;
        let function = AggregateFunction::Count;
        Ok(self.collected(Aggregate { function, argument: None, distinct: false, kind: Kind::Integer, span }))
    }

    pub(super) fn aggregate(
        &mut self,
        function: AggregateFunction,
        name: &Name,
        distinct: bool,
        arguments: &[syntax::Expr],
        span: Span,
        place: Place<'_>,
    ) -> Result<Expr, Finding> {
        Self::expect_aggregates(&name.text, name.span, place)?;
        let [argument] = arguments else {
            return Err(Finding::new(name.span, format!("`{}` takes one argument", name.text)));
        };
        let inside = Place { aggregates: Aggregates::Refused("an aggregate"), ..place };
        let argument = self.expr(argument, inside);
        let what = format!("`{}`", name.text);
        let kind = match function {
            AggregateFunction::Count => Kind::Integer,
            AggregateFunction::Sum => {
                self.expect_number(&argument, &what)?;
                match &argument.kind {
                    Kind::Null => Kind::Integer,
                    Kind::Decimal { scale, .. } => Kind::Decimal { precision: 38, scale: *scale },
                    kind => widened(kind),
                }
            }
            AggregateFunction::Avg => {
                self.expect_number(&argument, &what)?;
                Kind::Float
            }
            AggregateFunction::Min | AggregateFunction::Max => {
                self.expect(&argument, &what, "values that have an order", Kind::is_ordered)?;
                argument.kind.clone()
            }
            AggregateFunction::Collect => Kind::List(Box::new(widened(&argument.kind))),
        };
        Ok(self.collected(Aggregate { function, argument: Some(argument), distinct, kind, span }))
    }

    /// The column of an aggregate; the same one is computed once.
    fn collected(&mut self, aggregate: Aggregate) -> Expr {
        let span = aggregate.span;
        let key =
            |aggregate: &Aggregate| (aggregate.function, aggregate.distinct, aggregate.argument.as_ref().map(erased));
        let wanted = key(&aggregate);
        let again = aggregate.argument.as_ref().is_none_or(is_repeatable);
        let known = self.aggregates.iter().find(|(_, known)| again && key(known) == wanted).map(|(var, _)| *var);
        let var = known.unwrap_or_else(|| {
            let var = self.var("", aggregate.kind.clone());
            self.aggregates.push((var, aggregate));
            var
        });
        Expr { node: ExprNode::Column(var), kind: self.kind_of(var), span }
    }
}

/// The aggregate function of this name, whose case does not matter.
pub(super) fn named(name: &str) -> Option<AggregateFunction> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, function)| *function)
}
