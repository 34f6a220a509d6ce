//! Grouping and aggregate functions, as plans: what a group is and what DataFusion's functions compute both differ from openCypher.

use arrow_schema::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::error::Result;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::AggregateFunction as Called;
use datafusion::logical_expr::{AggregateUDF, Expr as Df, LogicalPlan, LogicalPlanBuilder, cast, lit};

use super::collect::Collect;
use super::finish::{Finish, finish};
use super::kernel::Kernel;
use super::{Compiler, call, column, column_name};
use crate::query::bound::{Aggregate, AggregateFunction, Expr, VarId};
use crate::query::kind::Kind;
use crate::query::value::CypherValue;
use crate::value::Value;

/// Sums of whole numbers and decimals are made with this many digits, which no number of rows can exceed.
const SUM_DIGITS: u8 = 76;

/// A plan under construction: the columns of three steps.
#[derive(Default)]
struct Steps {
    /// Keys and arguments, each evaluated once.
    before: Vec<Df>,
    group: Vec<Df>,
    aggregates: Vec<Df>,
    /// The result, of the columns of groups and aggregates.
    after: Vec<Df>,
}

impl Steps {
    /// A column of the first step.
    fn before(&mut self, value: Df) -> Df {
        let name = format!("b{}", self.before.len());
        self.before.push(value.alias(name.clone()));
        named(name)
    }

    /// A column to group by.
    fn group(&mut self, key: Df) -> Df {
        let name = format!("g{}", self.group.len());
        self.group.push(key.alias(name.clone()));
        named(name)
    }

    /// A call of an aggregate function.
    fn aggregate(&mut self, function: std::sync::Arc<AggregateUDF>, arguments: Vec<Df>, distinct: bool) -> Df {
        let name = format!("a{}", self.aggregates.len());
        let called = Called::new_udf(function, arguments, distinct, None, Vec::new(), None);
        self.aggregates.push(Df::AggregateFunction(called).alias(name.clone()));
        named(name)
    }
}

fn named(name: String) -> Df {
    Df::Column(Column::new_unqualified(name))
}

impl Compiler {
    /// One row a group, one group if there are no keys; the columns are those of keys and aggregates, in order.
    pub(crate) fn aggregate(
        &self,
        input: LogicalPlan,
        keys: &[(VarId, Expr)],
        aggregates: &[(VarId, Aggregate)],
    ) -> Result<LogicalPlan> {
        let mut steps = Steps::default();
        for (var, key) in keys {
            let column = steps.before(self.expr(key)?);
            let result = self.grouped(&mut steps, column, &key.kind);
            steps.after.push(result.alias(column_name(*var)));
        }
        for (var, aggregate) in aggregates {
            let result = self.aggregated(&mut steps, aggregate)?;
            steps.after.push(result.alias(column_name(*var)));
        }
        build(input, steps)
    }

    /// Each row once. `columns` are all columns of the input, with their kinds.
    pub(crate) fn distinct(&self, input: LogicalPlan, columns: &[(VarId, Kind)]) -> Result<LogicalPlan> {
        if columns.is_empty() {
            // Rows without columns are all the same.
            return LogicalPlanBuilder::from(input).limit(0, Some(1))?.build();
        }
        let mut steps = Steps::default();
        for (var, kind) in columns {
            let result = self.grouped(&mut steps, column(*var), kind);
            steps.after.push(result.alias(column_name(*var)));
        }
        build(input, steps)
    }

    /// Groups by a column; what is returned is its value in the result.
    fn grouped(&self, steps: &mut Steps, column: Df, kind: &Kind) -> Df {
        match kind {
            // −0.0 and 0.0 are one group, given as 0.0.
            Kind::Float => {
                let rank = steps.group(call(Kernel::FloatRank, vec![column]));
                call(Kernel::FloatOfRank, vec![rank])
            }
            Kind::List(_) | Kind::Map(_) | Kind::Vector(_) | Kind::Entity(_) => {
                for key in self.order_columns(column.clone(), kind) {
                    steps.group(key);
                }
                steps.aggregate(first_value_udaf(), vec![column], false)
            }
            _ => steps.group(column),
        }
    }

    fn aggregated(&self, steps: &mut Steps, aggregate: &Aggregate) -> Result<Df> {
        let Some(argument) = &aggregate.argument else {
            return Ok(steps.aggregate(count_udaf(), vec![lit(1_i64)], false));
        };
        if argument.kind == Kind::Null {
            // Evaluated all the same: it may raise a fault.
            let column = steps.before(self.expr(argument)?);
            steps.aggregate(count_udaf(), vec![column], false);
            return self.of_nothing(aggregate);
        }
        let distinct = aggregate.distinct;
        match aggregate.function {
            AggregateFunction::Count => {
                let column = steps.before(self.expr(argument)?);
                let column = if distinct { self.order_column(column, &argument.kind) } else { column };
                Ok(steps.aggregate(count_udaf(), vec![column], distinct))
            }
            AggregateFunction::Sum => {
                let column = steps.before(summand(self.expr(argument)?, &argument.kind));
                let sum = steps.aggregate(sum_udaf(), vec![column], distinct);
                Ok(finish(Finish::Sum { kind: aggregate.kind.clone() }, vec![sum], aggregate.span))
            }
            AggregateFunction::Avg => {
                let column = steps.before(summand(self.expr(argument)?, &argument.kind));
                let sum = steps.aggregate(sum_udaf(), vec![column.clone()], distinct);
                let count = steps.aggregate(count_udaf(), vec![column], distinct);
                Ok(finish(Finish::Average, vec![sum, count], aggregate.span))
            }
            AggregateFunction::Min | AggregateFunction::Max => self.extreme(steps, argument, aggregate),
            AggregateFunction::Collect => {
                let Kind::List(element) = &aggregate.kind else { return self.of_nothing(aggregate) };
                let column = self.converted(self.expr(argument)?, &argument.kind, element, argument.span)?;
                let column = steps.before(column);
                let key = self.order_column(column.clone(), element);
                let arguments = if distinct { vec![column, key] } else { vec![column] };
                let function = AggregateUDF::new_from_impl(Collect::new(arguments.len()));
                Ok(steps.aggregate(function.into(), arguments, false))
            }
        }
    }

    fn extreme(&self, steps: &mut Steps, argument: &Expr, aggregate: &Aggregate) -> Result<Df> {
        let least = aggregate.function == AggregateFunction::Min;
        let native = || if least { min_udaf() } else { max_udaf() };
        let column = steps.before(self.expr(argument)?);
        let result = match &argument.kind {
            Kind::Float => {
                let rank = steps.aggregate(native(), vec![call(Kernel::FloatRank, vec![column])], false);
                call(Kernel::FloatOfRank, vec![rank])
            }
            _ => steps.aggregate(native(), vec![column], false),
        };
        self.converted(result, &argument.kind, &aggregate.kind, aggregate.span)
    }

    /// The result over no values.
    fn of_nothing(&self, aggregate: &Aggregate) -> Result<Df> {
        let value = match aggregate.function {
            AggregateFunction::Count | AggregateFunction::Sum => CypherValue::Scalar(Value::Int(0)),
            AggregateFunction::Avg | AggregateFunction::Min | AggregateFunction::Max => CypherValue::NULL,
            AggregateFunction::Collect => CypherValue::List(Vec::new()),
        };
        match (&value, &aggregate.kind) {
            (value, Kind::Null) if !value.is_null() => Ok(Df::Literal(ScalarValue::Boolean(None), None)),
            (value, kind) => self.constant(value, kind, aggregate.span),
        }
    }
}

/// A number in the form in which it is summed; equal numbers are the same for `DISTINCT`.
fn summand(column: Df, kind: &Kind) -> Df {
    match kind {
        Kind::Decimal { scale, .. } => cast(column, DataType::Decimal256(SUM_DIGITS, scale.cast_signed())),
        Kind::Integer | Kind::Unsigned => cast(column, DataType::Decimal256(SUM_DIGITS, 0)),
        _ => call(Kernel::FloatOfRank, vec![call(Kernel::FloatRank, vec![column])]),
    }
}

fn build(input: LogicalPlan, steps: Steps) -> Result<LogicalPlan> {
    let mut plan = LogicalPlanBuilder::from(input);
    if !steps.before.is_empty() {
        plan = plan.project(steps.before)?;
    }
    plan.aggregate(steps.group, steps.aggregates)?.project(steps.after)?.build()
}
