//! From a bound statement to a DataFusion plan. Each variable is one column, called as [`column_name`] says.

pub(crate) mod expand;
pub(crate) mod groups;
mod identity;
pub(crate) mod optional;
mod pattern;
mod pushdown;
mod uses;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Column as ColumnName, UnnestOptions};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr as Logical, LogicalPlan, LogicalPlanBuilder, cast, lit};

use self::groups::Groups;
use self::optional::Optional;
use self::pattern::plan_pattern;
use self::uses::Uses;
use super::bound::{Expr, ExprNode, Pattern, Plan, SortKey, Statement, VarId};
use super::compile::{Compiler, column, column_name};
use super::eval::{NoRow, Sort as FaultSort, evaluate, fault};
use super::exec::reader::Reader;
use super::exec::shared::Shared;
use super::fault::Fault;
use super::kind::Kind;
use super::layout::{EntityLayout, Layouts};
use super::value::CypherValue;
use crate::ids::TableId;
use crate::table::Layout;
use crate::value::Value;

/// Plans the parts of one statement.
pub(crate) struct Planner<'a> {
    statement: &'a Statement,
    uses: Uses,
    reader: Arc<Reader>,
    layouts: Arc<Layouts>,
    entities: Vec<Arc<EntityLayout>>,
    tables: BTreeMap<TableId, Arc<Layout>>,
    compiler: &'a Compiler,
    /// What [`Plan::Rows`] stands for.
    rows: Option<(SchemaRef, Vec<RecordBatch>)>,
    /// For names that no variable has.
    numbers: Cell<usize>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        statement: &'a Statement,
        reader: Arc<Reader>,
        layouts: Arc<Layouts>,
        compiler: &'a Compiler,
        rows: Option<(SchemaRef, Vec<RecordBatch>)>,
    ) -> Self {
        let entities: Vec<Arc<EntityLayout>> = layouts.entities.iter().cloned().map(Arc::new).collect();
        let described = entities.iter().flat_map(|entity| &entity.tables);
        let tables = described.map(|fields| (fields.table, fields.layout.clone())).collect();
        let uses = Uses::of(statement);
        Self { statement, uses, reader, layouts, entities, tables, compiler, rows, numbers: Cell::new(0) }
    }

    /// The plan whose columns are those of [`Plan::columns`].
    pub(crate) fn plan(&self, plan: &Plan) -> Result<LogicalPlan, DataFusionError> {
        match plan {
            Plan::Unit => LogicalPlanBuilder::empty(true).build(),
            Plan::Rows(columns) => self.rows(columns),
            Plan::Match { input, pattern, optional: false } => {
                let bound = input.columns().into_iter().collect();
                let rows = if **input == Plan::Unit { None } else { Some(self.plan(input)?) };
                keep(plan_pattern(self, rows, bound, pattern)?, &plan.columns())
            }
            Plan::Match { input, pattern, optional: true } => self.optional(input, pattern, &plan.columns()),
            Plan::Filter { input, condition } => {
                let condition = self.compiler.expr(condition)?;
                build(LogicalPlanBuilder::from(self.plan(input)?).filter(condition))
            }
            Plan::Project { input, items } => {
                let items = items.iter().map(|(var, expr)| Ok(self.compiler.expr(expr)?.alias(column_name(*var))));
                let items = items.collect::<Result<Vec<_>, DataFusionError>>()?;
                build(LogicalPlanBuilder::from(self.plan(input)?).project(items))
            }
            Plan::Aggregate { input, keys, aggregates } => {
                let grouped = self.compiler.aggregate(self.plan(input)?, keys, aggregates)?;
                if keys.is_empty() { self.one_row(grouped, &plan.columns()) } else { Groups::plan(grouped) }
            }
            Plan::Distinct { input } => self.distinct(self.plan(input)?, &input.columns()),
            Plan::Sort { input, keys } => self.sort(input, keys),
            Plan::Slice { input, skip, limit } => {
                let count = |expr: &Option<Expr>| expr.as_ref().map(|expr| self.count(expr)).transpose();
                let (skip, limit) = (count(skip)?.unwrap_or(0), count(limit)?);
                build(LogicalPlanBuilder::from(self.plan(input)?).limit(skip, limit))
            }
            Plan::Unwind { input, list, var } => self.unwind(input, list, *var),
            Plan::Union { left, right, columns, distinct } => {
                let side = |plan: &Plan| {
                    let pairs = plan.columns().into_iter().zip(columns);
                    let renamed = pairs.map(|(old, new)| column(old).alias(column_name(*new)));
                    build(LogicalPlanBuilder::from(self.plan(plan)?).project(renamed.collect::<Vec<_>>()))
                };
                let both = build(LogicalPlanBuilder::from(side(left)?).union(side(right)?))?;
                if *distinct { self.distinct(both, columns) } else { Ok(both) }
            }
        }
    }

    fn rows(&self, columns: &[VarId]) -> Result<LogicalPlan, DataFusionError> {
        let Some((schema, batches)) = self.rows.clone() else {
            return Err(DataFusionError::Internal("the plan asks for rows that were not given".to_owned()));
        };
        let table = MemTable::try_new(schema, vec![batches])?;
        keep(scan_of("rows", Arc::new(table))?, columns)
    }

    fn optional(&self, input: &Plan, pattern: &Pattern, columns: &[VarId]) -> Result<LogicalPlan, DataFusionError> {
        let number = format!("row{}", self.number());
        let shared: Arc<dyn TableProvider> = Arc::new(Shared::new(self.plan(input)?, &number));
        let rows = || scan_of(&number, shared.clone());
        let matched = plan_pattern(self, Some(rows()?), input.columns().into_iter().collect(), pattern)?;
        let kept = columns.iter().map(|var| column(*var)).chain([named(&number)]);
        let matched = build(LogicalPlanBuilder::from(matched).project(kept.collect::<Vec<_>>()))?;
        Optional::plan(matched, rows()?, number)
    }

    /// The one row that aggregates without keys give, made apart: DataFusion (54.1) asks a condition without columns of the rows before, as
    /// if there were a group for each of them, and then there is one row although the condition is false.
    fn one_row(&self, aggregated: LogicalPlan, columns: &[VarId]) -> Result<LogicalPlan, DataFusionError> {
        let number = format!("row{}", self.number());
        let made: Arc<dyn TableProvider> = Arc::new(Shared::new(aggregated, &number));
        keep(scan_of(&number, made)?, columns)
    }

    fn distinct(&self, input: LogicalPlan, columns: &[VarId]) -> Result<LogicalPlan, DataFusionError> {
        let columns = columns.iter().map(|var| Ok((*var, self.kind_of(*var)?.clone())));
        Groups::plan(self.compiler.distinct(input, &columns.collect::<Result<Vec<_>, DataFusionError>>()?)?)
    }

    /// A number of rows.
    fn count(&self, expr: &Expr) -> Result<usize, DataFusionError> {
        let wrong = |message: String| {
            let fault = fault(&FaultSort::InvalidArgument, expr.span, message);
            DataFusionError::External(Box::new(Fault {
                help: Some("write an integer of 0 or more".to_owned()),
                ..fault
            }))
        };
        match evaluate(expr, &NoRow, self.compiler.context()) {
            Ok(CypherValue::Scalar(Value::Int(count))) if count >= 0 => {
                Ok(usize::try_from(count).unwrap_or(usize::MAX))
            }
            Ok(value) => Err(wrong(format!("{} is no number of rows", value.to_json()))),
            Err(fault) => Err(DataFusionError::External(Box::new(fault))),
        }
    }

    fn sort(&self, input: &Plan, keys: &[SortKey]) -> Result<LogicalPlan, DataFusionError> {
        let mut keys = keys.to_vec();
        // What the keys do not tell apart comes in one order as well, whoever runs it.
        for var in input.columns() {
            let expr = self.column_expr(var)?;
            if !keys.iter().any(|key| key.expr.node == expr.node) {
                keys.push(SortKey { expr, descending: false });
            }
        }
        let rows = self.plan(input)?;
        if keys.is_empty() {
            return Ok(rows);
        }
        build(LogicalPlanBuilder::from(rows).sort(self.compiler.sort_keys(&keys)?))
    }

    fn unwind(&self, input: &Plan, list: &Expr, var: VarId) -> Result<LogicalPlan, DataFusionError> {
        let name = column_name(var);
        let mut columns: Vec<Logical> = input.columns().iter().map(|var| column(*var)).collect();
        let kept = columns.clone();
        let ty = self.layouts.data_type(self.kind_of(var)?);
        let rows = LogicalPlanBuilder::from(self.plan(input)?);
        if list.kind == Kind::Null {
            let null = datafusion::common::ScalarValue::try_from(&ty)?;
            columns.push(lit(null).alias(name));
            return build(rows.filter(lit(false)).and_then(|rows| rows.project(columns)));
        }
        columns.push(self.compiler.expr(list)?.alias(&name));
        let options = UnnestOptions { preserve_nulls: false, ..UnnestOptions::default() };
        let unnested = rows
            .project(columns)
            .and_then(|rows| rows.unnest_column_with_options(ColumnName::new_unqualified(&name), options));
        // A vector's elements are narrow, those of a list of floats are not.
        let element = cast(column(var), ty).alias(&name);
        build(unnested.and_then(|rows| rows.project(kept.into_iter().chain([element]).collect::<Vec<_>>())))
    }

    /// A variable as an expression.
    fn column_expr(&self, var: VarId) -> Result<Expr, DataFusionError> {
        let span = crate::syntax::Span::new(0, 0);
        Ok(Expr { node: ExprNode::Column(var), kind: self.kind_of(var)?.clone(), span })
    }

    fn kind_of(&self, var: VarId) -> Result<&'a Kind, DataFusionError> {
        match self.statement.vars.get(var.0 as usize) {
            Some(var) => Ok(&var.kind),
            None => Err(DataFusionError::Internal(format!("the statement has no variable {}", var.0))),
        }
    }

    /// The layout of a node or an edge.
    fn entity(&self, var: VarId) -> Result<Arc<EntityLayout>, DataFusionError> {
        let Kind::Entity(id) = self.kind_of(var)? else {
            return Err(DataFusionError::Internal(format!("variable {} is no node and no edge", var.0)));
        };
        let entity = self.entities.get(id.0 as usize).cloned();
        entity.ok_or_else(|| DataFusionError::Internal(format!("the statement has no entity {}", id.0)))
    }

    fn layout(&self, table: TableId) -> Result<&Arc<Layout>, DataFusionError> {
        let missing = || DataFusionError::Internal(format!("the statement does not know the table {table}"));
        self.tables.get(&table).ok_or_else(missing)
    }

    /// A number that was not given out before.
    fn number(&self) -> usize {
        self.numbers.replace(self.numbers.get() + 1)
    }
}

/// A column by its name.
fn named(name: &str) -> Logical {
    Logical::Column(ColumnName::new_unqualified(name))
}

/// All rows of a table; its columns without a qualifier.
fn scan_of(name: &str, table: Arc<dyn TableProvider>) -> Result<LogicalPlan, DataFusionError> {
    let columns: Vec<String> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
    let scan = LogicalPlanBuilder::scan(name, provider_as_source(table), None)?;
    let bare = columns.iter().map(|column| {
        let qualified = ColumnName::new(Some(datafusion::common::TableReference::bare(name)), column);
        Logical::Column(qualified).alias(column)
    });
    build(scan.project(bare.collect::<Vec<_>>()))
}

/// The plan with these columns only.
fn keep(plan: LogicalPlan, columns: &[VarId]) -> Result<LogicalPlan, DataFusionError> {
    let columns: Vec<Logical> = columns.iter().map(|var| column(*var)).collect();
    build(LogicalPlanBuilder::from(plan).project(columns))
}

fn build(builder: Result<LogicalPlanBuilder, DataFusionError>) -> Result<LogicalPlan, DataFusionError> {
    builder.and_then(LogicalPlanBuilder::build)
}
