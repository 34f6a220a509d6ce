//! Expressions: the tree, and the one of a condition that stands alone.

use open_cypher::ast;

use super::convert::{Converter, Subject};
use super::guard::guard;
use super::{Finding, Name, Span};

/// What the text of an expression is wrapped in, since the parser reads whole statements only.
const PREFIX: &str = "RETURN (";
/// The line end closes a trailing `//` comment.
const SUFFIX: &str = "\n)";

/// An expression and where it stands in its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// The forms of an expression; brackets have done their work and are gone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExprKind {
    Null,
    Bool(bool),
    Integer(i128),
    /// A number with a point or an exponent, `Infinity` or `NaN`: as the nearest float, and as it was written.
    Float {
        value: f64,
        text: String,
    },
    String(String),
    /// A bare name.
    Name(String),
    /// `$name` or `$1`, without the mark.
    Parameter(String),
    List(Vec<Expr>),
    /// `{name: value}`, in the order of the text.
    Map(Vec<(Name, Expr)>),
    /// `of.name`.
    Property {
        of: Box<Expr>,
        name: Name,
    },
    /// `list[index]`.
    Index {
        of: Box<Expr>,
        index: Box<Expr>,
    },
    /// `list[from..to]`.
    Slice {
        of: Box<Expr>,
        from: Option<Box<Expr>>,
        to: Option<Box<Expr>>,
    },
    /// `n:A|B`.
    HasLabels {
        of: Box<Expr>,
        labels: Labels,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`: each of several operands with the one before it.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    IsNull {
        operand: Box<Expr>,
        negated: bool,
    },
    Call {
        name: String,
        name_span: Span,
        /// Whether `DISTINCT` stands before the arguments.
        distinct: bool,
        arguments: Vec<Expr>,
    },
    /// `count(*)`.
    CountAll,
    Case {
        operand: Option<Box<Expr>>,
        arms: Vec<Arm>,
        otherwise: Option<Box<Expr>>,
    },
}

/// What labels or types are asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Labels {
    pub kind: LabelsKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LabelsKind {
    Name(Name),
    /// `%`: any.
    Any,
    Not(Box<Labels>),
    And(Vec<Labels>),
    Or(Vec<Labels>),
}

/// `WHEN … THEN …`, several values after one `WHEN` included.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arm {
    pub when: Vec<Expr>,
    pub then: Expr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BinaryOp {
    Or,
    Xor,
    And,
    In,
    StartsWith,
    EndsWith,
    Contains,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl ExprKind {
    /// What the user would call it, where a place does not admit it.
    pub(crate) const fn describe(&self) -> &'static str {
        match self {
            Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Float { .. } | Self::String(_) => "a literal",
            Self::Name(_) => "a name",
            Self::Parameter(_) => "a parameter",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Property { .. } => "`.`",
            Self::Index { .. } => "an index into a list",
            Self::Slice { .. } => "a slice of a list",
            Self::HasLabels { .. } => "a label",
            Self::Call { .. } => "a function",
            Self::CountAll => "`count(*)`",
            Self::Case { .. } => "`CASE`",
            _ => "an operator",
        }
    }
}

impl BinaryOp {
    /// The operator as it is written.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Or => "OR",
            Self::Xor => "XOR",
            Self::And => "AND",
            Self::In => "IN",
            Self::StartsWith => "STARTS WITH",
            Self::EndsWith => "ENDS WITH",
            Self::Contains => "CONTAINS",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Power => "^",
        }
    }
}

impl CompareOp {
    /// The operator as it is written.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }
}

/// Reads one condition. Spans are those of `text`.
pub(crate) fn parse_expression(text: &str) -> Result<Expr, Finding> {
    guard(text, Subject::Condition)?;
    let wrapped = format!("{PREFIX}{text}{SUFFIX}");
    let parsed = open_cypher::parse(&wrapped).map_err(|errors| syntax_error(text, &errors))?;
    let inner = single_expression(&parsed.program)
        .ok_or_else(|| Finding::new(Span::new(0, text.len()), "expected one expression"))?;
    Converter { subject: Subject::Condition, text, offset: PREFIX.len() }.expr(inner, 0)
}

/// The names that `expr` mentions, each once, in the order of their first use in the text, and all places of each.
pub(crate) fn names_in(expr: &Expr) -> Vec<(String, Vec<Span>)> {
    let mut uses = Vec::new();
    collect_names(expr, &mut uses);
    uses.sort_by_key(|(_, span)| *span);
    let mut names: Vec<(String, Vec<Span>)> = Vec::new();
    for (name, span) in uses {
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, spans)) => spans.push(span),
            None => names.push((name, vec![span])),
        }
    }
    names
}

fn collect_names(expr: &Expr, uses: &mut Vec<(String, Span)>) {
    if let ExprKind::Name(name) = &expr.kind {
        uses.push((name.clone(), expr.span));
    }
    for operand in operands(expr) {
        collect_names(operand, uses);
    }
}

/// The expressions directly inside `expr`.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Integer(_)
        | ExprKind::Float { .. }
        | ExprKind::String(_)
        | ExprKind::Name(_)
        | ExprKind::Parameter(_)
        | ExprKind::CountAll => Vec::new(),
        ExprKind::List(items) => items.iter().collect(),
        ExprKind::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
        ExprKind::Unary(_, operand)
        | ExprKind::IsNull { operand, .. }
        | ExprKind::Property { of: operand, .. }
        | ExprKind::HasLabels { of: operand, .. } => vec![operand],
        ExprKind::Binary(_, left, right) | ExprKind::Index { of: left, index: right } => vec![left, right],
        ExprKind::Slice { of, from, to } => {
            std::iter::once(&**of).chain(from.as_deref()).chain(to.as_deref()).collect()
        }
        ExprKind::Compare(first, rest) => {
            std::iter::once(&**first).chain(rest.iter().map(|(_, operand)| operand)).collect()
        }
        ExprKind::Call { arguments, .. } => arguments.iter().collect(),
        ExprKind::Case { operand, arms, otherwise } => operand
            .as_deref()
            .into_iter()
            .chain(arms.iter().flat_map(|arm| arm.when.iter().chain(std::iter::once(&arm.then))))
            .chain(otherwise.as_deref())
            .collect(),
    }
}

/// The parser's first complaint, moved to where the user sees it and cut before a list of all that it had expected.
fn syntax_error(text: &str, errors: &open_cypher::ParseErrors) -> Finding {
    let Some(first) = errors.diagnostics().first() else {
        return Finding::new(Span::new(0, text.len()), "expected a condition");
    };
    let move_back = |at: usize| at.saturating_sub(PREFIX.len()).min(text.len());
    let span = Span::new(move_back(first.primary_span.start), move_back(first.primary_span.end));
    if span.start >= text.trim_end().len() {
        return Finding::new(Span::new(text.len(), text.len() + 1), "the condition ends too early");
    }
    let message = first.message.split("; expected").next().unwrap_or_default();
    Finding::new(span, format!("the condition cannot be read: {message}"))
}

/// The expression inside the wrapping, if that is all there is.
fn single_expression(program: &ast::Program) -> Option<&ast::Expr> {
    let [statement] = program.statements.as_slice() else { return None };
    let ast::StatementKind::Query(query) = &statement.kind else { return None };
    let ast::QueryKind::Regular(regular) = &query.query.kind else { return None };
    let [clause] = regular.head.kind.clauses.as_slice() else { return None };
    let ast::ClauseKind::Return(clause) = &clause.kind else { return None };
    let projection = &clause.projection;
    let bare = query.mode.is_none()
        && query.terminator.is_none()
        && regular.unions.is_empty()
        && projection.quantifier.is_none()
        && projection.order_by.is_none()
        && projection.offset.is_none()
        && projection.skip.is_none()
        && projection.limit.is_none();
    let [item] = projection.items.as_slice() else { return None };
    let ast::ProjectionItemKind::Expression { expression, alias: None } = &item.kind else { return None };
    match &expression.kind {
        ast::ExprKind::Parenthesized(inner) if bare => Some(inner),
        _ => None,
    }
}
