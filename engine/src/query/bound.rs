//! A statement with all names resolved against a catalog: what the planner reads.
//!
//! Every variable of the text has a [`VarId`] of its own in every scope it lives in, and is exactly one column of the plan. A node or
//! an edge is one column too: an Arrow struct, laid out by its [`Entity`]. What a [`Plan`] gives are the variables of [`Plan::columns`].

use std::collections::{BTreeMap, BTreeSet};

use super::kind::Kind;
use super::value::CypherValue;
use crate::ids::{PropertyId, TableId};
use crate::syntax::{BinaryOp, CompareOp, Finding, Span, UnaryOp};

/// One column of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct VarId(pub(crate) u32);

/// A variable: a name of the text, or one that the binder made up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Var {
    pub id: VarId,
    /// As it is written; empty for one that has no name.
    pub name: String,
    pub kind: Kind,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    /// The nodes and edges of the statement, by [`EntityId`](super::kind::EntityId).
    pub entities: Vec<Entity>,
    /// All variables, by [`VarId`].
    pub vars: Vec<Var>,
    /// `EXPLAIN`: show the plan, do nothing.
    pub explain: bool,
    pub body: Body,
    /// What is no mistake, and yet hardly what was meant.
    pub warnings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for a statement")]
pub(crate) enum Body {
    /// Reads only.
    Read(Output),
    /// Reads, then changes row by row, then perhaps returns.
    Update(Update),
}

/// A plan and the names of its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Output {
    pub plan: Plan,
    /// The columns of the result, in order: as the user named them, or as the expression is written.
    pub columns: Vec<(String, VarId)>,
}

/// An updating statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Update {
    /// Gives the rows to work on; [`Plan::Unit`] if the statement begins with an update.
    pub read: Plan,
    /// What happens for each row; all of the first effect for all rows, then the second.
    pub effects: Vec<Effect>,
    /// What is returned, over [`Plan::Rows`]; none without `RETURN`.
    pub output: Option<Output>,
}

/// A set of nodes or of edges that share one layout: those that one variable of a pattern may stand for, and all that they are mixed with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entity {
    pub form: Form,
    /// The tables its rows may come from, in the order of their ids; empty only if the catalog has no table of this form.
    pub tables: Vec<TableId>,
    /// The properties that the statement asks of it, by table; key properties and an edge's ends are always there.
    pub needs: BTreeMap<TableId, BTreeSet<PropertyId>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Node,
    Edge,
}

/// How rows come about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plan {
    /// One row without columns.
    Unit,
    /// The rows that an update has worked on, with these columns.
    Rows(Vec<VarId>),
    /// `MATCH` and `OPTIONAL MATCH`: each row with each match; if optional, a row without a match once, with nulls.
    Match { input: Box<Plan>, pattern: Pattern, optional: bool },
    /// The rows for which the condition is true.
    Filter { input: Box<Plan>, condition: Expr },
    /// New columns in place of all former ones; one that is passed on as it is may keep its id.
    Project { input: Box<Plan>, items: Vec<(VarId, Expr)> },
    /// One row a group, one group if there are no keys; columns are keys, then aggregates. Keys are equal as `DISTINCT` has it: null
    /// is equal to null, and nodes and edges are equal if they are the same.
    Aggregate { input: Box<Plan>, keys: Vec<(VarId, Expr)>, aggregates: Vec<(VarId, Aggregate)> },
    /// Each row once.
    Distinct { input: Box<Plan> },
    /// Ordered. The order is total: rows that the keys do not tell apart are equal in all columns, or ordered by them.
    Sort { input: Box<Plan>, keys: Vec<SortKey> },
    /// Without the first rows and with no more than some; the expressions have no variables.
    Slice { input: Box<Plan>, skip: Option<Expr>, limit: Option<Expr> },
    /// Each row once for each element; none for null and for an empty list.
    Unwind { input: Box<Plan>, list: Expr, var: VarId },
    /// The rows of both; both have columns of the same kinds, which `columns` renames.
    Union { left: Box<Plan>, right: Box<Plan>, columns: Vec<VarId>, distinct: bool },
}

impl Plan {
    /// The columns of its rows, in order.
    pub(crate) fn columns(&self) -> Vec<VarId> {
        match self {
            Self::Unit => Vec::new(),
            Self::Rows(columns) | Self::Union { columns, .. } => columns.clone(),
            Self::Match { input, pattern, .. } => {
                let mut columns = input.columns();
                columns.extend(pattern.nodes.iter().filter(|node| !node.bound).map(|node| node.var));
                columns.extend(pattern.edges.iter().filter(|edge| !edge.bound).map(|edge| edge.var));
                columns
            }
            Self::Filter { input, .. }
            | Self::Distinct { input }
            | Self::Sort { input, .. }
            | Self::Slice { input, .. } => input.columns(),
            Self::Project { items, .. } => items.iter().map(|(var, _)| *var).collect(),
            Self::Aggregate { keys, aggregates, .. } => {
                keys.iter().map(|(var, _)| *var).chain(aggregates.iter().map(|(var, _)| *var)).collect()
            }
            Self::Unwind { input, var, .. } => {
                let mut columns = input.columns();
                columns.push(*var);
                columns
            }
        }
    }
}

/// The nodes and edges of one `MATCH`. No edge is used twice in one match: two edge variables never stand for the same edge.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Pattern {
    pub nodes: Vec<NodePattern>,
    pub edges: Vec<EdgePattern>,
    /// Inline properties and `WHERE`, split at `AND`: all must be true. They may name variables of the input.
    pub conditions: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodePattern {
    pub var: VarId,
    /// The tables this place of the pattern admits; of a bound variable, perhaps fewer than its entity has. Empty: no match.
    pub tables: Vec<TableId>,
    /// Whether the input has the variable already. It may be null there, and then nothing matches.
    pub bound: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EdgePattern {
    pub var: VarId,
    /// Empty: no match.
    pub tables: Vec<TableId>,
    /// Whether the input has the variable already.
    pub bound: bool,
    /// Index into [`Pattern::nodes`] of the node written on the left.
    pub left: usize,
    /// Index of the node written on the right.
    pub right: usize,
    pub direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `(left)-->(right)`.
    Out,
    /// `(left)<--(right)`.
    In,
    /// `(left)--(right)`: either; an edge from a node to itself matches once.
    Either,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SortKey {
    pub expr: Expr,
    pub descending: bool,
}

/// A call of an aggregate function over a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Aggregate {
    pub function: AggregateFunction,
    /// `None`: `count(*)`. Nulls are left out by all functions.
    pub argument: Option<Expr>,
    pub distinct: bool,
    pub kind: Kind,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AggregateFunction {
    Count,
    /// Integers: an integer, refused beyond 64 bits; 0 over nothing.
    Sum,
    /// A float (decimals: a float too); null over nothing.
    Avg,
    Min,
    Max,
    /// A list, in no promised order.
    Collect,
}

/// An expression, what it gives, and where it stands in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub node: ExprNode,
    pub kind: Kind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExprNode {
    /// A literal or a parameter.
    Constant(CypherValue),
    Column(VarId),
    /// A property of a node or an edge: by table, which one; null for rows of other tables. Kinds differ by table at most in what
    /// [`Expr::kind`] unites.
    Property {
        of: Box<Expr>,
        choices: Vec<(TableId, PropertyId)>,
    },
    /// The value of a map's key; null if the map lacks it.
    Field {
        of: Box<Expr>,
        name: String,
    },
    List(Vec<Expr>),
    /// In the order of the names.
    Map(Vec<(String, Expr)>),
    Unary(UnaryOp, Box<Expr>),
    /// Everything but comparisons.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`: each operand with the one before it; evaluated once.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    IsNull {
        operand: Box<Expr>,
        negated: bool,
    },
    /// Whether a node or an edge is of one of these tables; null for null.
    IsOf {
        operand: Box<Expr>,
        tables: Vec<TableId>,
    },
    /// `list[i]`, from the end if negative; null beyond the ends.
    Index {
        list: Box<Expr>,
        index: Box<Expr>,
    },
    /// `list[from..to]`.
    SubList {
        list: Box<Expr>,
        from: Option<Box<Expr>>,
        to: Option<Box<Expr>>,
    },
    Case {
        operand: Option<Box<Expr>>,
        arms: Vec<(Vec<Expr>, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Call {
        function: Function,
        arguments: Vec<Expr>,
    },
    /// The operand as a value of [`Expr::kind`], where that is another one: an integer as a float or a decimal, a text as a UUID, null
    /// as anything, lists and maps part by part (keys that a map lacks are null). What does not fit is a fault.
    Convert(Box<Expr>),
}

/// Functions of one row. Each is null if an argument is null unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Abs,
    /// These three give floats, whatever number they are given.
    Ceil,
    Floor,
    /// Half away from zero; a second argument is the number of digits.
    Round,
    Sign,
    Sqrt,
    Exp,
    Log,
    Log10,
    /// Characters of a string, elements of a list.
    Size,
    ToLower,
    ToUpper,
    Trim,
    LTrim,
    RTrim,
    Replace,
    /// From a start (0 is the first character), perhaps so many.
    Substring,
    Left,
    Right,
    Split,
    Reverse,
    ToString,
    /// Null for a text that is no integer.
    ToInteger,
    /// Null for a text that is no number.
    ToFloat,
    ToBoolean,
    /// The first argument that is not null.
    Coalesce,
    Head,
    Last,
    Tail,
    /// From, to (included), perhaps a step.
    Range,
    /// Of a text, a timestamp or a date; without an argument, of the moment of the request. Of a constant text, they are constants.
    Date,
    Time,
    DateTime,
    /// The labels of a node: a list of one.
    Labels,
    /// The type of an edge.
    Type,
    /// The names of the properties that are not null: of a node, an edge or a map.
    Keys,
    /// A node's or an edge's properties as a map; a map itself.
    Properties,
    /// A new random [`Kind::Uuid`] for each row; once for each row even if a statement is evaluated again.
    RandomUuid,
}

/// What an update does for each row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    Create(Vec<Creation>),
    /// Finds a row by its key, or makes it.
    Merge {
        creation: Creation,
        on_create: Vec<Assignment>,
        on_match: Vec<Assignment>,
    },
    Set(Vec<Assignment>),
    /// Each operand is a node or an edge, or null, of which nothing happens.
    Delete {
        operands: Vec<Expr>,
        detach: bool,
    },
}

/// A node or an edge to be made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Creation {
    pub var: VarId,
    pub table: TableId,
    /// The variables of both nodes; edges only.
    pub ends: Option<(VarId, VarId)>,
    /// Values given in the pattern; those that are not given take their defaults.
    pub properties: Vec<(PropertyId, Expr)>,
    pub span: Span,
}

/// A change of a node's or an edge's properties. Null takes a property away. Never of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Assignment {
    /// `SET v.p = e` and `REMOVE v.p`, by table which property; nothing happens if `var` is null.
    Property { var: VarId, choices: Vec<(TableId, PropertyId)>, value: Expr, span: Span },
    /// `SET v = {…}` (`replace`) and `SET v += {…}`: all or some properties from a map. Keys of the map are property names.
    Properties { var: VarId, value: Expr, replace: bool, span: Span },
}
