//! What the parser must not see: it recurses, and so does dropping its tree.

use super::convert::Subject;
use super::{Finding, Span, Token, TokenKind, lex};

/// Brackets may nest this deep. The parser recurses, and a deeper text would overflow a thread's stack.
const MAX_NESTING: usize = 64;
/// At most this many tokens may stand in one another: of each open bracket, those since its last comma. This bounds the depth of the
/// parser's tree, which a chain of operators builds up as well as brackets do.
const MAX_CHAIN: usize = 4_000;
/// A condition is no longer than this.
const MAX_CONDITION: usize = 4_000;
/// A statement is no longer than this: its parser takes time that grows faster than the text.
const MAX_STATEMENT: usize = 40_000;
/// A statement has at most this many clauses that read or return. The parser's time grows faster than their number; how many can be
/// planned, the binder decides.
const MAX_CLAUSES: usize = 1_000;
/// The words that begin such clauses.
const CLAUSES: [&str; 5] = ["MATCH", "WITH", "UNWIND", "RETURN", "UNION"];

/// Refuses a text that overflows the stack or breaks out of what it is wrapped in.
pub(super) fn guard(text: &str, subject: Subject) -> Result<(), Finding> {
    let (tokens, findings) = lex(text);
    if let Some(finding) = findings.into_iter().next() {
        return Err(finding);
    }
    if tokens.is_empty() {
        return Err(Finding::new(Span::new(0, text.len()), format!("expected a {}", subject.name())));
    }
    // Tokens since the last comma, for each bracket that is open; and their sum.
    let (mut chains, mut depth) = (vec![0_usize], 0_usize);
    for token in &tokens {
        if let Some(chain) = chains.last_mut() {
            *chain += 1;
            depth += 1;
            if token.text == "," {
                depth -= std::mem::take(chain);
            }
        }
        match token.text {
            "(" | "[" | "{" => chains.push(0),
            ")" | "]" | "}" => {
                if chains.len() == 1 {
                    return Err(Finding::new(token.span, format!("`{}` closes nothing", token.text)));
                }
                let closed = chains.pop().unwrap_or_default();
                depth -= closed;
                // The closing bracket belongs outside.
                if let Some(outer) = chains.last_mut() {
                    *outer += 1;
                    depth += 1;
                }
            }
            _ => {}
        }
        if chains.len() > MAX_NESTING + 1 || (depth > MAX_CHAIN && subject == Subject::Statement) {
            return Err(too_deep(subject, token.span));
        }
    }
    let begins = |token: &&Token<'_>| {
        token.kind == TokenKind::Word && CLAUSES.iter().any(|word| token.text.eq_ignore_ascii_case(word))
    };
    if let Some(token) = tokens.iter().filter(begins).nth(MAX_CLAUSES) {
        return Err(Finding::new(token.span, format!("the statement has more than {MAX_CLAUSES} clauses")));
    }
    let limit = if subject == Subject::Statement { MAX_STATEMENT } else { MAX_CONDITION };
    let Some(token) = tokens.get(limit) else { return Ok(()) };
    let finding = Finding::new(token.span, format!("the {} is longer than {limit} words and marks", subject.name()));
    Err(match subject {
        Subject::Condition => finding,
        Subject::Statement => finding.with_help("pass long lists as parameters"),
    })
}

/// The complaint about a text that no stack should be asked to hold.
pub(super) fn too_deep(subject: Subject, span: Span) -> Finding {
    let help = match subject {
        Subject::Condition => "split it into several CHECKs, or use `IN`",
        Subject::Statement => "use `IN`, or split it with WITH",
    };
    Finding::new(span, format!("the {} is nested too deeply", subject.name())).with_help(help)
}

impl Subject {
    const fn name(self) -> &'static str {
        match self {
            Self::Condition => "condition",
            Self::Statement => "statement",
        }
    }
}
