//! Patterns: the steps that find their nodes and edges, put together as a plan.

mod estimates;
mod order;
mod scope;
mod ways;

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr as Logical, LogicalPlan, LogicalPlanBuilder, lit, try_cast};

use self::order::{Estimates, Place, Step, order};
use self::ways::{Way, end_parts, key_parts, ways_of};
use super::Planner;
use super::expand::{Arm, Expand, ExpandSpec, Guard, Target};
use super::identity::{JOINED, joins, same_edge};
use crate::query::bound::{Direction, EdgePattern, Expr, ExprNode, NodePattern, Pattern, VarId};
use crate::query::compile::{Compiler, column, column_name};
use crate::query::exec::keys::Part;
use crate::query::exec::scan::{EntityScan, TableScan};
use crate::query::kind::Kind;
use crate::query::layout::EntityLayout;
use crate::query::plan::{named, scan_of};

/// Plans the matches of a pattern for each row of `input`; none stands for one row without columns. All columns of the input stay, and
/// the pattern's variables are added.
pub(super) fn plan_pattern(
    planner: &Planner,
    input: Option<LogicalPlan>,
    bound: BTreeSet<VarId>,
    pattern: &Pattern,
) -> Result<LogicalPlan, DataFusionError> {
    let matcher = Matcher::new(planner, pattern)?;
    if matcher.is_impossible() {
        return matcher.nothing(input);
    }
    let mut state = State {
        plan: input,
        known: bound,
        pending: pattern.conditions.iter().filter(|condition| Compiler::is_plain(condition)).collect(),
        edges: Vec::new(),
    };
    matcher.admit_bound(&mut state)?;
    for step in order(pattern, &matcher.estimates) {
        matcher.apply(step, &mut state)?;
        matcher.filter(&mut state)?;
    }
    // A pattern of bound variables alone has no steps.
    matcher.filter(&mut state)?;
    matcher.filter_guarded(&mut state)?;
    match state.plan {
        Some(plan) => Ok(plan),
        None => LogicalPlanBuilder::empty(true).build(),
    }
}

/// What is planned so far.
struct State<'a> {
    plan: Option<LogicalPlan>,
    /// The variables that the plan has columns for.
    known: BTreeSet<VarId>,
    /// The conditions that wait for variables, of those that may be evaluated for any row.
    pending: Vec<&'a Expr>,
    /// The edges of the pattern that are known.
    edges: Vec<usize>,
}

impl State<'_> {
    fn take(&mut self) -> Result<LogicalPlan, DataFusionError> {
        match self.plan.take() {
            Some(plan) => Ok(plan),
            None => LogicalPlanBuilder::empty(true).build(),
        }
    }

    /// Leaves out rows for which the condition is not true.
    fn keep(&mut self, condition: Logical) -> Result<(), DataFusionError> {
        let plan = LogicalPlanBuilder::from(self.take()?).filter(condition);
        self.plan = Some(plan.and_then(LogicalPlanBuilder::build)?);
        Ok(())
    }
}

struct Matcher<'a> {
    planner: &'a Planner<'a>,
    pattern: &'a Pattern,
    /// How each edge may lie, by edge.
    ways: Vec<Vec<Way>>,
    estimates: Estimates,
}

impl<'a> Matcher<'a> {
    fn new(planner: &'a Planner<'a>, pattern: &'a Pattern) -> Result<Self, DataFusionError> {
        let catalog = &planner.reader.at().catalog;
        let ways = pattern.edges.iter().map(|edge| {
            let (left, right) = (&pattern.nodes[edge.left], &pattern.nodes[edge.right]);
            ways_of(catalog, edge, &left.tables, &right.tables)
        });
        let mut matcher = Self { planner, pattern, ways: ways.collect(), estimates: Estimates::default() };
        matcher.estimates = Estimates {
            nodes: pattern.nodes.iter().map(|node| matcher.node_estimate(node)).collect::<Result<_, _>>()?,
            edges: pattern
                .edges
                .iter()
                .enumerate()
                .map(|(edge, _)| matcher.edge_estimate(edge))
                .collect::<Result<_, _>>()?,
        };
        Ok(matcher)
    }

    /// Whether no table fits some place.
    fn is_impossible(&self) -> bool {
        self.pattern.nodes.iter().any(|node| node.tables.is_empty()) || self.ways.iter().any(Vec::is_empty)
    }

    /// A plan without rows, with the columns that matches would have.
    fn nothing(&self, input: Option<LogicalPlan>) -> Result<LogicalPlan, DataFusionError> {
        let input = match input {
            Some(input) => input,
            None => LogicalPlanBuilder::empty(true).build()?,
        };
        let mut columns: Vec<Logical> = input.schema().fields().iter().map(|field| named(field.name())).collect();
        let nodes = self.pattern.nodes.iter().filter(|node| !node.bound).map(|node| node.var);
        let edges = self.pattern.edges.iter().filter(|edge| !edge.bound).map(|edge| edge.var);
        for var in nodes.chain(edges) {
            let ty = self.planner.layouts.data_type(self.planner.kind_of(var)?);
            let null = ScalarValue::try_from(&ty)?;
            columns.push(lit(null).alias(column_name(var)));
        }
        let plan = LogicalPlanBuilder::from(input).filter(lit(false)).and_then(|plan| plan.project(columns));
        plan.and_then(LogicalPlanBuilder::build)
    }

    /// Leaves out rows in which a bound variable is null or of a table that the pattern does not admit.
    fn admit_bound(&self, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let nodes = self.pattern.nodes.iter().filter(|node| node.bound).map(|node| (node.var, &node.tables));
        let edges = self.pattern.edges.iter().filter(|edge| edge.bound).map(|edge| (edge.var, &edge.tables));
        for (var, tables) in nodes.chain(edges) {
            let span = crate::syntax::Span::new(0, 0);
            let operand = Expr { node: ExprNode::Column(var), kind: self.planner.kind_of(var)?.clone(), span };
            let is_of = ExprNode::IsOf { operand: Box::new(operand), tables: tables.clone() };
            let condition = self.planner.compiler.expr(&Expr { node: is_of, kind: Kind::Bool, span })?;
            state.keep(condition)?;
        }
        for edge in (0..self.pattern.edges.len()).filter(|edge| self.pattern.edges[*edge].bound) {
            self.tell_apart(state, edge)?;
        }
        Ok(())
    }

    /// Applies the conditions that may raise a fault, behind those that guard them.
    fn filter_guarded(&self, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let conditions = &self.pattern.conditions;
        if conditions.iter().all(Compiler::is_plain) {
            return Ok(());
        }
        match self.planner.compiler.conditions(conditions)?.pop() {
            Some(guarded) => state.keep(guarded),
            None => Ok(()),
        }
    }

    /// Applies the conditions whose variables are all known.
    fn filter(&self, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let known = &state.known;
        let (now, later) = std::mem::take(&mut state.pending)
            .into_iter()
            .partition::<Vec<&Expr>, _>(|condition| condition.columns().is_subset(known));
        state.pending = later;
        for condition in now {
            let condition = self.planner.compiler.expr(condition)?;
            state.keep(condition)?;
        }
        Ok(())
    }

    fn apply(&self, step: Step, state: &mut State<'a>) -> Result<(), DataFusionError> {
        match step {
            Step::ScanNode { node } => self.scan_node(node, state),
            Step::LookupNode { node } => self.look_up_node(node, state),
            Step::ScanEdge { edge } => self.scan_edge(edge, state),
            Step::ExpandEdge { edge, from } => self.find_edge(edge, &[from], state),
            Step::CloseEdge { edge } => self.find_edge(edge, &[Place::Left, Place::Right], state),
            Step::FetchNode { node, edge, place } => self.fetch_node(node, edge, place, state),
            Step::CheckEdge { edge } => self.check_edge(edge, state),
        }
    }

    fn scan_node(&self, node: usize, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let pattern = &self.pattern.nodes[node];
        let tables = pattern
            .tables
            .iter()
            .map(|table| Ok(TableScan { table: *table, filter: self.node_filter(pattern, *table)? }));
        let tables = tables.collect::<Result<_, DataFusionError>>()?;
        self.scan(pattern.var, tables, state)
    }

    fn scan_edge(&self, edge: usize, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let tables =
            self.ways[edge].iter().map(|way| Ok(TableScan { table: way.table, filter: self.edge_filter(edge, way)? }));
        let tables = tables.collect::<Result<_, DataFusionError>>()?;
        self.scan(self.pattern.edges[edge].var, tables, state)?;
        self.tell_apart(state, edge)
    }

    /// All rows of some tables with all rows so far.
    fn scan(&self, var: VarId, tables: Vec<TableScan>, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let name = column_name(var);
        let scan = EntityScan::new(self.planner.reader.clone(), self.entity(var)?, &name, tables);
        let scan = scan_of(&name, Arc::new(scan))?;
        state.plan = Some(match state.plan.take() {
            None => scan,
            Some(plan) => {
                let joined = LogicalPlanBuilder::from(plan).cross_join(scan);
                joined.and_then(LogicalPlanBuilder::build)?
            }
        });
        state.known.insert(var);
        Ok(())
    }

    /// The node whose key is computed from the row.
    fn look_up_node(&self, node: usize, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let pattern = &self.pattern.nodes[node];
        let (Some(table), Some(keys)) = (pattern.tables.first(), self.lookup_keys(node)?) else {
            return self.scan_node(node, state);
        };
        let entity = self.entity(pattern.var)?;
        let plan = state.take()?;
        let mut columns: Vec<Logical> = plan.schema().fields().iter().map(|field| named(field.name())).collect();
        let (mut source, mut probe) = (Vec::new(), Vec::new());
        let fields = entity.of_table(*table).map(|(_, fields)| fields.key()).unwrap_or_default();
        for (field, key) in fields.into_iter().zip(keys) {
            let name = format!("key{}", self.planner.number());
            let mut value = self.planner.compiler.expr(key)?;
            let ty = self.planner.layouts.data_type(&field.kind);
            if self.planner.layouts.data_type(&key.kind) != ty {
                // What the key's type cannot hold, no node has.
                value = try_cast(value, ty);
            }
            columns.push(value.alias(&name));
            source.push(Part { column: name, within: None });
            probe.push(field.field);
        }
        let plan = LogicalPlanBuilder::from(plan).project(columns).and_then(LogicalPlanBuilder::build)?;
        let target = Target::Rows { probe, unless_equal: None, filter: self.node_filter(pattern, *table)? };
        let arm = Arm { source, guards: Vec::new(), table: *table, target };
        state.plan = Some(plan);
        self.expand(pattern.var, entity, vec![arm], state)
    }

    /// The edges at known nodes: at one end, or between both.
    fn find_edge(&self, edge: usize, known: &[Place], state: &mut State<'a>) -> Result<(), DataFusionError> {
        let pattern = &self.pattern.edges[edge];
        let entity = self.entity(pattern.var)?;
        let mut arms = Vec::new();
        for way in &self.ways[edge] {
            let Some((_, fields)) = entity.of_table(way.table) else { continue };
            let (mut source, mut probe) = (Vec::new(), Vec::new());
            for place in known {
                let node = self.node_at(edge, *place);
                source.extend(key_parts(&column_name(node.var), &*self.entity(node.var)?, way.node(*place)));
                probe.extend(fields.end(way.is_start(*place)).iter().map(|field| field.field));
            }
            // Of a bound node the entity may lack the table.
            if source.len() != probe.len() {
                continue;
            }
            let loops = |start| fields.end(start).iter().map(|field| field.field).collect::<Vec<_>>();
            let unless_equal = way.again.then(|| (loops(true), loops(false)));
            let target = Target::Rows { probe, unless_equal, filter: self.edge_filter(edge, way)? };
            arms.push(Arm { source, guards: Vec::new(), table: way.table, target });
        }
        self.expand(pattern.var, entity, arms, state)?;
        self.tell_apart(state, edge)
    }

    /// The node at an end of a known edge; made of the edge's end, if no more than its key is asked for.
    fn fetch_node(&self, node: usize, edge: usize, place: Place, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let (pattern, along) = (&self.pattern.nodes[node], &self.pattern.edges[edge]);
        if self.is_idle(node, edge) {
            return self.leave_out(pattern.var, state);
        }
        let (entity, edges) = (self.entity(pattern.var)?, self.entity(along.var)?);
        let edge_column = column_name(along.var);
        let other = self.node_at(edge, place.other());
        let mut arms: Vec<Arm> = Vec::new();
        for way in &self.ways[edge] {
            let table = way.node(place);
            let Some((_, fields)) = entity.of_table(table) else { continue };
            let end = |place: Place| end_parts(&edge_column, &edges, way.table, way.is_start(place));
            let mut guards = Vec::new();
            if along.direction == Direction::Either && state.known.contains(&other.var) {
                let left = key_parts(&column_name(other.var), &*self.entity(other.var)?, way.node(place.other()));
                guards.push(Guard { left, right: end(place.other()), equal: true });
            }
            if way.again {
                guards.push(Guard { left: end(Place::Left), right: end(Place::Right), equal: false });
            }
            let key = fields.key().iter().map(|field| field.field).collect();
            let target = if self.estimates.nodes[node].only_key {
                Target::Key { fields: key }
            } else {
                Target::Rows { probe: key, unless_equal: None, filter: self.node_filter(pattern, table)? }
            };
            arms.push(Arm { source: end(place), guards, table, target });
        }
        self.expand(pattern.var, entity, arms, state)
    }

    /// Whether nobody asks of a node at the end of an edge, and each row has exactly one: edges never dangle.
    fn is_idle(&self, node: usize, edge: usize) -> bool {
        let (pattern, along) = (&self.pattern.nodes[node], &self.pattern.edges[edge]);
        let elsewhere = |(other, of): (usize, &EdgePattern)| other != edge && (of.left == node || of.right == node);
        !pattern.bound
            && !along.bound
            && along.left != along.right
            && along.direction != Direction::Either
            && self.ways[edge].len() == 1
            && self.planner.uses.is_unused(pattern.var)
            && !self.pattern.edges.iter().enumerate().any(elsewhere)
    }

    /// A column that nobody reads, which DataFusion drops.
    fn leave_out(&self, var: VarId, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let plan = state.take()?;
        let mut columns: Vec<Logical> = plan.schema().fields().iter().map(|field| named(field.name())).collect();
        let null = ScalarValue::try_from(&self.planner.layouts.data_type(self.planner.kind_of(var)?))?;
        columns.push(lit(null).alias(column_name(var)));
        state.plan = Some(LogicalPlanBuilder::from(plan).project(columns).and_then(LogicalPlanBuilder::build)?);
        state.known.insert(var);
        Ok(())
    }

    fn check_edge(&self, edge: usize, state: &mut State<'a>) -> Result<(), DataFusionError> {
        let pattern = &self.pattern.edges[edge];
        let edges = self.entity(pattern.var)?;
        let mut checked = Vec::new();
        for way in &self.ways[edge] {
            let mut guards = Vec::new();
            for (place, name) in [(Place::Left, JOINED[1]), (Place::Right, JOINED[2])] {
                let left = key_parts(name, &*self.entity(self.node_at(edge, place).var)?, way.node(place));
                let right = end_parts(JOINED[0], &edges, way.table, way.is_start(place));
                guards.push(Guard { left, right, equal: true });
            }
            checked.push(guards);
        }
        let [left, right] = [Place::Left, Place::Right].map(|place| column(self.node_at(edge, place).var));
        state.keep(joins(checked, column(pattern.var), left, right))
    }

    fn expand(
        &self,
        var: VarId,
        entity: Arc<EntityLayout>,
        arms: Vec<Arm>,
        state: &mut State<'a>,
    ) -> Result<(), DataFusionError> {
        let spec = ExpandSpec { reader: self.planner.reader.clone(), entity, column: column_name(var), arms };
        let input = state.take()?;
        state.plan = Some(Expand::plan(input, Arc::new(spec))?);
        state.known.insert(var);
        Ok(())
    }

    /// An edge became known: it is none of those that the match has already.
    fn tell_apart(&self, state: &mut State<'a>, edge: usize) -> Result<(), DataFusionError> {
        let pattern = &self.pattern.edges[edge];
        for other in std::mem::take(&mut state.edges) {
            state.edges.push(other);
            let before = &self.pattern.edges[other];
            let shared = self.ways[other].iter().any(|a| self.ways[edge].iter().any(|b| a.table == b.table));
            if shared && before.var != pattern.var {
                let (a, b) = (self.entity(before.var)?, self.entity(pattern.var)?);
                let same = same_edge((&*a, column(before.var)), (&*b, column(pattern.var)));
                state.keep(datafusion::logical_expr::not(same))?;
            }
        }
        state.edges.push(edge);
        Ok(())
    }

    fn node_at(&self, edge: usize, place: Place) -> &'a NodePattern {
        let edge: &EdgePattern = &self.pattern.edges[edge];
        match place {
            Place::Left => &self.pattern.nodes[edge.left],
            Place::Right => &self.pattern.nodes[edge.right],
        }
    }

    fn entity(&self, var: VarId) -> Result<Arc<EntityLayout>, DataFusionError> {
        self.planner.entity(var)
    }
}
