//! Statements: clauses, patterns, projections and updates.

mod convert;
mod pattern;

use super::convert::{Converter, Subject};
use super::foreign::recognised;
use super::guard::guard;
use super::{Expr, Finding, Labels, Name, Span, Token, TokenKind, lex, suggest};
use crate::value::shorten;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    /// Whether it begins with `EXPLAIN`.
    pub explain: bool,
    pub head: Query,
    pub unions: Vec<Union>,
}

/// A sequence of clauses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Query {
    pub clauses: Vec<Clause>,
    pub span: Span,
}

/// What follows a `UNION`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Union {
    /// Whether doubles are kept.
    pub all: bool,
    /// The word `UNION` and what belongs to it.
    pub span: Span,
    pub query: Query,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clause {
    pub kind: ClauseKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClauseKind {
    Match {
        optional: bool,
        paths: Vec<Path>,
        condition: Option<Expr>,
    },
    Unwind {
        list: Expr,
        name: Name,
    },
    With {
        projection: Projection,
        condition: Option<Expr>,
    },
    Return(Projection),
    Create(Vec<Path>),
    Merge {
        path: Path,
        on_create: Vec<SetItem>,
        on_match: Vec<SetItem>,
    },
    /// `SET` and `REMOVE`.
    Set(Vec<SetItem>),
    Delete {
        operands: Vec<Expr>,
        detach: bool,
    },
}

/// What stands after `RETURN` or `WITH`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Projection {
    pub distinct: bool,
    /// Where `*` stands, if it does.
    pub all: Option<Span>,
    /// Each with the name after `AS`.
    pub items: Vec<(Expr, Option<Name>)>,
    pub order: Vec<Sort>,
    pub skip: Option<Expr>,
    pub limit: Option<Expr>,
}

/// A key of `ORDER BY`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sort {
    pub key: Expr,
    pub descending: bool,
}

/// A node, or a chain of nodes and edges.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    pub first: NodePattern,
    pub steps: Vec<(EdgePattern, NodePattern)>,
    pub span: Span,
}

/// `(name:Labels {…} WHERE …)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodePattern {
    pub name: Option<Name>,
    pub labels: Option<Labels>,
    pub properties: Option<Expr>,
    pub condition: Option<Expr>,
    pub span: Span,
}

/// `-[name:Labels {…} WHERE …]->`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EdgePattern {
    pub name: Option<Name>,
    pub labels: Option<Labels>,
    pub properties: Option<Expr>,
    pub condition: Option<Expr>,
    pub towards: Towards,
    pub span: Span,
}

/// Where an edge's arrow points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Towards {
    Right,
    Left,
    /// No arrow, or one at each end: either way.
    Either,
}

/// One change of `SET` or `REMOVE`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SetItem {
    pub kind: SetKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SetKind {
    /// `SET of.name = value`; without a value, `REMOVE of.name`.
    Property { of: Expr, name: Name, value: Option<Expr> },
    /// `SET name = value`, and with `+=` not `replace`.
    Properties { of: Name, value: Expr, replace: bool },
}

/// Reads one statement. All that can be said without knowing the catalog is said together.
pub(crate) fn parse_statement(text: &str) -> Result<Statement, Vec<Finding>> {
    guard(text, Subject::Statement).map_err(|finding| vec![finding])?;
    let (explain, readable) = readable(text).map_err(|finding| vec![finding])?;
    let parsed = open_cypher::parse(&readable).map_err(|errors| vec![syntax_error(text, &errors)])?;
    let Some(statement) = parsed.program.statements.first() else {
        return Err(vec![Finding::new(Span::new(0, text.len()), "expected a statement")]);
    };
    let statement = convert::statement(statement, Converter { subject: Subject::Statement, text, offset: 0 })?;
    Ok(Statement { explain, ..statement })
}

/// Functions whose names begin other forms as well, such as `COUNT { … }`.
const AMBIGUOUS: [&str; 3] = ["count", "collect", "exists"];

/// Whether the text begins with `EXPLAIN`, and the text as the parser can read it, with everything in its place.
///
/// The grammar of openCypher has no `EXPLAIN`: there are spaces instead. And the parser takes `count(x)` for the beginning of `count(*)` or
/// `COUNT { … }`, finds out too late, and looks for the word to take back near the wrong one: at the `END` of `CASE … END AS x`,
/// wherever that stands in the statement. So it is given a name that begins nothing else. Nor does it see that a bar between the labels
/// of a node has ended with the node: what follows is read as an expression. So it is given `&`, and the converter looks at the text.
fn readable(text: &str) -> Result<(bool, String), Finding> {
    let (tokens, _) = lex(text);
    let is_word =
        |token: &Token<'_>, word: &str| token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(word);
    let mut out = text.to_owned();
    let mut explain = false;
    if let Some(first) = tokens.first() {
        if is_word(first, "PROFILE") {
            return Err(Finding::new(first.span, "`PROFILE` is not supported yet").with_help("EXPLAIN shows the plan"));
        }
        explain = is_word(first, "EXPLAIN");
        if explain {
            out.replace_range(first.span.start..first.span.end, &" ".repeat(first.text.len()));
        }
    }
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| AMBIGUOUS.iter().any(|word| is_word(token, word)))
    {
        let follows = |by: usize, mark: &str| tokens.get(at + by).is_some_and(|token| token.text == mark);
        if follows(1, "(") && !follows(2, "*") {
            out.replace_range(token.span.end - 1..token.span.end, "_");
        }
    }
    for at in label_bars(&tokens) {
        out.replace_range(at.start..at.end, "&");
    }
    Ok((explain, out))
}

/// The bars between alternative labels in round brackets: `:A|B`, `:A|:B`, `:(A|B)`. Not where `&` stands among them, since then it
/// matters which binds closer.
fn label_bars(tokens: &[Token<'_>]) -> Vec<Span> {
    let mut bars = Vec::new();
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => open.push(token.text),
            ")" | "]" | "}" => {
                open.pop();
            }
            "|" if open.last() == Some(&"(") && is_among_labels(tokens, at) => bars.push(token.span),
            _ => {}
        }
    }
    bars
}

/// Whether the labels around this token begin with a colon and are joined by bars alone.
fn is_among_labels(tokens: &[Token<'_>], at: usize) -> bool {
    let is_label = |token: &Token<'_>| {
        matches!(token.kind, TokenKind::Word | TokenKind::QuotedName) || matches!(token.text, "|" | ":" | "(" | ")")
    };
    let before = tokens.get(..at).unwrap_or_default().iter().rev();
    for token in before {
        if token.text == ":" {
            let after = tokens.get(at + 1..).unwrap_or_default().iter();
            return after.take_while(|token| is_label(token) || token.text == "&").all(|token| token.text != "&");
        }
        if !is_label(token) {
            return false;
        }
    }
    false
}

/// Words that begin clauses, for what was meant by another word.
const CLAUSES: [&str; 15] = [
    "MATCH", "OPTIONAL", "WHERE", "UNWIND", "WITH", "RETURN", "ORDER", "SKIP", "LIMIT", "UNION", "CREATE", "MERGE",
    "SET", "REMOVE", "DELETE",
];
/// Words of other dialects that the grammar does not know.
const OTHER_DIALECTS: [(&str, &str); 9] = [
    ("CALL", "`CALL`"),
    ("FILTER", "`FILTER`"),
    ("FINISH", "`FINISH`"),
    ("FOREACH", "`FOREACH`"),
    ("INSERT", "`INSERT`"),
    ("LET", "`LET`"),
    ("LOAD", "`LOAD CSV`"),
    ("NULLS", "a place for nulls in ORDER BY"),
    ("USE", "`USE`"),
];

/// The parser's first complaint, in our words; later ones are mostly its echo.
fn syntax_error(text: &str, errors: &open_cypher::ParseErrors) -> Finding {
    use open_cypher::DiagnosticCode as Code;
    let Some(first) = errors.diagnostics().first() else {
        return Finding::new(Span::new(0, text.len()), "expected a statement");
    };
    let span = Span::new(first.primary_span.start, first.primary_span.end);
    let end = text.trim_end().len();
    if span.start >= end {
        return Finding::new(Span::new(end, end + 1), "the statement ends too early");
    }
    let (tokens, _) = lex(text);
    let at = tokens.iter().position(|token| token.span.start == span.start);
    let (Some(at), Code::UnexpectedToken | Code::ExtraToken) = (at, first.code) else {
        return Finding::new(span, first.message.split("; expected").next().unwrap_or_default());
    };
    if let Some(finding) = recognised(&tokens, at) {
        return finding;
    }
    // `CALL {` fails at the bracket.
    for token in tokens.iter().skip(at.saturating_sub(1)).take(2).filter(|token| token.kind == TokenKind::Word) {
        if let Some((_, what)) = OTHER_DIALECTS.iter().find(|(word, _)| word.eq_ignore_ascii_case(token.text)) {
            return Finding::new(token.span, format!("{what} is not supported yet"));
        }
    }
    let found = text.get(span.start..span.end).unwrap_or_default();
    let finding = Finding::new(span, format!("unexpected `{}`", shorten(found)));
    if tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word) {
        suggest(finding, found, CLAUSES)
    } else {
        finding
    }
}
