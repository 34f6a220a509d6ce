//! The logical node of a step along edges: each row with each node or edge that one of several arms finds for it.
//!
//! An arm reads a key from the row and looks for rows of one table that have it: the edges at a node, the edges between two nodes,
//! the node at an edge's end, a node by a computed key. Where the key is all that is asked of a node, the arm makes the node of it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::ids::TableId;
use crate::query::exec::keys::Part;
use crate::query::exec::reader::Reader;
use crate::query::layout::EntityLayout;

/// Rows that have one key in two places, or have not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Guard {
    pub left: Vec<Part>,
    pub right: Vec<Part>,
    /// Whether they must be equal, or must differ.
    pub equal: bool,
}

/// One way to come from a row to nodes or edges.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    /// The key, as the row has it. A row without one has no match.
    pub source: Vec<Part>,
    /// What else must hold of the row.
    pub guards: Vec<Guard>,
    /// Where matches are.
    pub table: TableId,
    pub target: Target,
}

/// What an arm makes of a key.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A node that exists, of which no more is asked: the fields of the struct that bear its key.
    Key { fields: Vec<usize> },
    /// The stored rows that have it.
    Rows {
        /// The fields of the struct that are held against the key.
        probe: Vec<usize>,
        /// Rows that have one key in both of these sets of fields are left to another arm.
        unless_equal: Option<(Vec<usize>, Vec<usize>)>,
        /// Leaves out rows that conditions above leave out as well.
        filter: Option<Expr>,
    },
}

/// What a step does.
#[derive(Debug)]
pub(crate) struct ExpandSpec {
    pub reader: Arc<Reader>,
    /// What its rows are laid out by.
    pub entity: Arc<EntityLayout>,
    /// The name of its column.
    pub column: String,
    pub arms: Vec<Arm>,
}

impl ExpandSpec {
    /// The column that it adds.
    pub(crate) fn field(&self) -> Field {
        Field::new(&self.column, DataType::Struct(self.entity.fields.clone()), true)
    }

    /// The columns that it reads.
    fn reads(&self) -> impl Iterator<Item = &str> {
        self.arms.iter().flat_map(|arm| {
            let guarded = arm.guards.iter().flat_map(|guard| guard.left.iter().chain(&guard.right));
            arm.source.iter().chain(guarded).map(|part| part.column.as_str())
        })
    }
}

/// What a step does, for people.
impl fmt::Display for ExpandSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = ", self.column)?;
        for (i, arm) in self.arms.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}", self.reader.name(arm.table))?;
            let names = |fields: &[usize]| {
                let name = |field: &usize| self.entity.fields.get(*field).map_or("", |field| field.name());
                let names = fields.iter().map(|field| name(field).rsplit(':').next().unwrap_or_default());
                names.collect::<Vec<_>>().join(", ")
            };
            let mut from: Vec<&str> = arm.source.iter().map(|part| part.column.as_str()).collect();
            from.dedup();
            let from = from.join(", ");
            match &arm.target {
                Target::Key { .. } => write!(f, " of {from}, unread")?,
                Target::Rows { probe, filter, .. } => {
                    write!(f, " by {} of {from}", names(probe))?;
                    if let Some(filter) = filter {
                        write!(f, " where {filter}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The logical node: its input's columns, then one more.
#[derive(Debug, Clone)]
pub(crate) struct Expand {
    input: LogicalPlan,
    pub(crate) spec: Arc<ExpandSpec>,
    schema: DFSchemaRef,
}

impl Expand {
    /// The plan of a step upon another.
    pub(crate) fn plan(input: LogicalPlan, spec: Arc<ExpandSpec>) -> Result<LogicalPlan, DataFusionError> {
        Ok(LogicalPlan::Extension(Extension { node: Arc::new(Self::new(input, spec)?) }))
    }

    fn new(input: LogicalPlan, spec: Arc<ExpandSpec>) -> Result<Self, DataFusionError> {
        let added = DFSchema::try_from(Schema::new(vec![spec.field()]))?;
        let schema = Arc::new(input.schema().join(&added)?);
        Ok(Self { input, spec, schema })
    }
}

impl PartialEq for Expand {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.spec, &other.spec) && self.input == other.input
    }
}

impl Eq for Expand {}

impl Hash for Expand {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spec.column.hash(state);
        self.input.hash(state);
    }
}

impl PartialOrd for Expand {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for Expand {
    fn name(&self) -> &'static str {
        "Expand"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Expand: {}", self.spec)
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self, DataFusionError> {
        match <[LogicalPlan; 1]>::try_from(inputs) {
            Ok([input]) => Self::new(input, self.spec.clone()),
            Err(inputs) => datafusion::common::plan_err!("an Expand has one input, not {}", inputs.len()),
        }
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let fields = self.input.schema().fields();
        let mut needed: Vec<usize> = output_columns.iter().copied().filter(|column| *column < fields.len()).collect();
        let reads = self.spec.reads();
        needed.extend(reads.filter_map(|name| fields.iter().position(|field| field.name() == name)));
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
