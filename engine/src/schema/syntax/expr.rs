//! Expressions over the properties of one row: the part of openCypher's that a condition may use.

use open_cypher::ast;

use super::convert::convert;
use super::{Finding, Span, lex};

/// Brackets may nest this deep. The parser recurses, and a deeper text would overflow a thread's stack.
const MAX_NESTING: usize = 64;
/// An expression has at most this many tokens, which bounds the depth of the parser's tree as well.
const MAX_TOKENS: usize = 4_000;

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
    List(Vec<Expr>),
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
        arguments: Vec<Expr>,
    },
    Case {
        operand: Option<Box<Expr>>,
        arms: Vec<Arm>,
        otherwise: Option<Box<Expr>>,
    },
}

/// `WHEN … THEN …`, several values after one `WHEN` included.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arm {
    pub when: Vec<Expr>,
    pub then: Expr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
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

/// Reads one expression. Spans are those of `text`.
pub(crate) fn parse_expression(text: &str) -> Result<Expr, Finding> {
    guard(text)?;
    let wrapped = format!("{PREFIX}{text}{SUFFIX}");
    let parsed = open_cypher::parse(&wrapped).map_err(|errors| syntax_error(text, &errors))?;
    let inner = single_expression(&parsed.program)
        .ok_or_else(|| Finding::new(Span::new(0, text.len()), "expected one expression"))?;
    convert(inner, PREFIX.len(), 0)
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
        | ExprKind::Name(_) => Vec::new(),
        ExprKind::List(items) => items.iter().collect(),
        ExprKind::Unary(_, operand) | ExprKind::IsNull { operand, .. } => vec![operand],
        ExprKind::Binary(_, left, right) => vec![left, right],
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

/// Refuses what the parser must not see: text that breaks out of its wrapping or overflows the stack.
fn guard(text: &str) -> Result<(), Finding> {
    let (tokens, findings) = lex(text);
    if let Some(finding) = findings.into_iter().next() {
        return Err(finding);
    }
    if tokens.is_empty() {
        return Err(Finding::new(Span::new(0, text.len()), "expected a condition"));
    }
    let mut open = 0_usize;
    for token in &tokens {
        match token.text {
            "(" | "[" | "{" => {
                open += 1;
                if open > MAX_NESTING {
                    return Err(too_deep(token.span));
                }
            }
            ")" | "]" | "}" => {
                let Some(left) = open.checked_sub(1) else {
                    return Err(Finding::new(token.span, format!("`{}` closes nothing", token.text)));
                };
                open = left;
            }
            _ => {}
        }
    }
    match tokens.get(MAX_TOKENS) {
        Some(token) => {
            Err(Finding::new(token.span, format!("the condition is longer than {MAX_TOKENS} words and marks")))
        }
        None => Ok(()),
    }
}

/// The complaint about an expression that no stack should be asked to hold.
pub(super) fn too_deep(span: Span) -> Finding {
    Finding::new(span, "the condition is nested too deeply").with_help("split it into several CHECKs, or use `IN`")
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
