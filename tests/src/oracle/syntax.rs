//! Queries as trees, and how they are written.

use std::fmt;

/// A query: clauses, the last of which returns.
#[derive(Debug, Clone)]
pub struct Query {
    pub(super) clauses: Vec<Clause>,
}

#[derive(Debug, Clone)]
pub(super) enum Clause {
    Match { optional: bool, paths: Vec<Path>, condition: Option<Expr> },
    Unwind { list: Expr, name: String },
    With { projection: Projection, condition: Option<Expr> },
    Return(Projection),
}

#[derive(Debug, Clone)]
pub(super) struct Path {
    pub first: NodePattern,
    pub steps: Vec<(EdgePattern, NodePattern)>,
}

#[derive(Debug, Clone)]
pub(super) struct NodePattern {
    pub name: String,
    /// None: any.
    pub labels: Vec<&'static str>,
    /// `{n: …}`
    pub inline: Option<(&'static str, Expr)>,
}

#[derive(Debug, Clone)]
pub(super) struct EdgePattern {
    pub name: String,
    /// None: any.
    pub types: Vec<&'static str>,
    pub direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Out,
    In,
    Either,
}

#[derive(Debug, Clone)]
pub(super) struct Projection {
    pub distinct: bool,
    pub items: Vec<(Item, String)>,
    /// Names of items, and whether they are descending.
    pub order: Vec<(String, bool)>,
    pub skip: Option<usize>,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Item {
    Plain(Expr),
    /// `None`: `count(*)`.
    Aggregate(Aggregate, Option<Expr>, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    Collect,
}

#[derive(Debug, Clone)]
pub(super) enum Expr {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Expr>),
    Name(String),
    Property(String, &'static str),
    Not(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `a < b <= c`.
    Chain(Box<Expr>, Vec<(Op, Expr)>),
    IsNull(Box<Expr>, bool),
    Case(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    Coalesce(Vec<Expr>),
    Size(Box<Expr>),
    Abs(Box<Expr>),
    ToUpper(Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    And,
    Or,
    Xor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    StartsWith,
    EndsWith,
    Contains,
    Add,
    Subtract,
    Multiply,
}

impl Op {
    const fn as_str(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
            Self::Xor => "XOR",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "IN",
            Self::StartsWith => "STARTS WITH",
            Self::EndsWith => "ENDS WITH",
            Self::Contains => "CONTAINS",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
        }
    }
}

impl Query {
    /// Whether the order of its rows is laid down.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        matches!(self.clauses.last(), Some(Clause::Return(projection)) if !projection.order.is_empty())
    }

    /// Whether lists in its result may be in any order.
    #[must_use]
    pub fn collects(&self) -> bool {
        self.clauses.iter().any(|clause| match clause {
            Clause::With { projection, .. } | Clause::Return(projection) => {
                projection.items.iter().any(|(item, _)| matches!(item, Item::Aggregate(Aggregate::Collect, ..)))
            }
            _ => false,
        })
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, clause) in self.clauses.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            clause.fmt(f)?;
        }
        Ok(())
    }
}

fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let condition = match self {
            Self::Match { optional, paths, condition } => {
                f.write_str(if *optional { "OPTIONAL MATCH " } else { "MATCH " })?;
                joined(f, paths)?;
                condition
            }
            Self::Unwind { list, name } => return write!(f, "UNWIND {list} AS {name}"),
            Self::With { projection, condition } => {
                write!(f, "WITH {projection}")?;
                condition
            }
            Self::Return(projection) => return write!(f, "RETURN {projection}"),
        };
        condition.as_ref().map_or(Ok(()), |condition| write!(f, " WHERE {condition}"))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        self.steps.iter().try_for_each(|(edge, node)| write!(f, "{edge}{node}"))
    }
}

fn label(f: &mut fmt::Formatter<'_>, labels: &[&str]) -> fmt::Result {
    if labels.is_empty() { Ok(()) } else { write!(f, ":{}", labels.join("|")) }
}

impl fmt::Display for NodePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.name)?;
        label(f, &self.labels)?;
        if let Some((name, value)) = &self.inline {
            write!(f, " {{{name}: {value}}}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for EdgePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.direction == Direction::In { "<-[" } else { "-[" })?;
        f.write_str(&self.name)?;
        label(f, &self.types)?;
        f.write_str(if self.direction == Direction::Out { "]->" } else { "]-" })
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.distinct {
            f.write_str("DISTINCT ")?;
        }
        for (i, (item, name)) in self.items.iter().enumerate() {
            write!(f, "{}{item} AS {name}", if i > 0 { ", " } else { "" })?;
        }
        for (i, (name, descending)) in self.order.iter().enumerate() {
            write!(f, "{}{name}{}", if i > 0 { ", " } else { " ORDER BY " }, if *descending { " DESC" } else { "" })?;
        }
        if let Some(skip) = self.skip {
            write!(f, " SKIP {skip}")?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, " LIMIT {limit}"))
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(expr) => expr.fmt(f),
            Self::Aggregate(function, argument, distinct) => {
                let name = match function {
                    Aggregate::Count => "count",
                    Aggregate::Sum => "sum",
                    Aggregate::Avg => "avg",
                    Aggregate::Min => "min",
                    Aggregate::Max => "max",
                    Aggregate::Collect => "collect",
                };
                let distinct = if *distinct { "DISTINCT " } else { "" };
                match argument {
                    Some(argument) => write!(f, "{name}({distinct}{argument})"),
                    None => write!(f, "{name}(*)"),
                }
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => b.fmt(f),
            Self::Int(n) if *n < 0 => write!(f, "({n})"),
            Self::Int(n) => n.fmt(f),
            Self::Float(x) => write!(f, "({x:?})"),
            Self::Str(s) => write!(f, "'{s}'"),
            Self::List(items) => {
                f.write_str("[")?;
                joined(f, items)?;
                f.write_str("]")
            }
            Self::Name(name) => f.write_str(name),
            Self::Property(name, property) => write!(f, "{name}.{property}"),
            Self::Not(operand) => write!(f, "(NOT {operand})"),
            Self::Binary(op, left, right) => write!(f, "({left} {} {right})", op.as_str()),
            Self::Chain(first, rest) => {
                write!(f, "({first}")?;
                rest.iter().try_for_each(|(op, operand)| write!(f, " {} {operand}", op.as_str()))?;
                f.write_str(")")
            }
            Self::IsNull(operand, negated) => write!(f, "({operand} IS {}NULL)", if *negated { "NOT " } else { "" }),
            Self::Case(arms, otherwise) => {
                f.write_str("CASE")?;
                arms.iter().try_for_each(|(when, then)| write!(f, " WHEN {when} THEN {then}"))?;
                if let Some(otherwise) = otherwise {
                    write!(f, " ELSE {otherwise}")?;
                }
                f.write_str(" END")
            }
            Self::Coalesce(items) => {
                f.write_str("coalesce(")?;
                joined(f, items)?;
                f.write_str(")")
            }
            Self::Size(operand) => write!(f, "size({operand})"),
            Self::Abs(operand) => write!(f, "abs({operand})"),
            Self::ToUpper(operand) => write!(f, "toUpper({operand})"),
            Self::Index(list, index) => write!(f, "{list}[{index}]"),
        }
    }
}
