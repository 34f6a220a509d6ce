//! What people write who come from SQL or from a programming language, and what openCypher has for it.

use super::{Finding, Span, Token, TokenKind};

/// What was meant, if a text that could not be read at token `at` is another language's there.
pub(super) fn recognised(tokens: &[Token<'_>], at: usize) -> Option<Finding> {
    if let Some(select) = tokens.iter().take(2).find(|token| is(token, "SELECT")) {
        return Some(Finding::new(select.span, "`SELECT` is SQL").with_help(SELECT_HELP));
    }
    // Where the parser gives up may be one off what it gives up at.
    [Some(at), at.checked_sub(1)].into_iter().flatten().find_map(|at| foreign(tokens, at))
}

/// What openCypher has for `SELECT`.
pub(super) const SELECT_HELP: &str = "write MATCH (n:Table) WHERE n.property = … RETURN n.property";

fn foreign(tokens: &[Token<'_>], at: usize) -> Option<Finding> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1);
    let doubled = |mark: &str| {
        let beside = |first: &Token<'_>, second: &Token<'_>| {
            first.text == mark && second.text == mark && first.span.end == second.span.start
        };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before)).filter(|before| beside(before, token));
        let after = next.filter(|after| beside(token, after));
        let (first, second) = before.map(|first| (first, token)).or_else(|| Some((token, after?)))?;
        Some(first.span.to(second.span))
    };
    if let Some(span) = doubled("=") {
        return Some(Finding::new(span, "unexpected `==`").with_help("`=` compares"));
    }
    if let Some(span) = doubled("&") {
        return Some(Finding::new(span, "unexpected `&&`").with_help("write AND"));
    }
    if token.text == "!" {
        return Some(Finding::new(token.span, "unexpected `!`").with_help("write NOT, or `<>` for `!=`"));
    }
    if token.kind != TokenKind::Word {
        return None;
    }
    let to = |word: &str| next.filter(|next| is(next, word)).map_or(token.span, |next| token.span.to(next.span));
    let (span, help): (Span, String) = match token.text.to_ascii_uppercase().as_str() {
        "LIKE" | "ILIKE" => (token.span, like(next)),
        "GROUP" => (
            to("BY"),
            "leave it out: rows are grouped by all that stands beside the aggregates in RETURN or WITH".to_owned(),
        ),
        "HAVING" => (token.span, "put the aggregate into WITH … AS name, and WHERE after it".to_owned()),
        "BETWEEN" => (token.span, "write low <= n.property <= high".to_owned()),
        "JOIN" => (token.span, "write the edge: MATCH (a)-[:Edge]->(b)".to_owned()),
        "FROM" => (token.span, "write MATCH (n:Table)".to_owned()),
        "UPDATE" => (token.span, "write MATCH (n:Table) WHERE … SET n.property = …".to_owned()),
        "VALUES" => (token.span, "write CREATE (:Table {property: …})".to_owned()),
        _ => return None,
    };
    let words = if span == token.span { token.text.to_owned() } else { format!("{} BY", token.text) };
    Some(Finding::new(span, format!("unexpected `{words}`")).with_help(help))
}

/// What does as the pattern after `LIKE` asks.
fn like(pattern: Option<&Token<'_>>) -> String {
    let quoted = |text: &str| super::quote_string(text);
    let text = pattern.filter(|token| token.kind == TokenKind::String).map(Token::value);
    let Some(text) = text else { return "use STARTS WITH, ENDS WITH or CONTAINS".to_owned() };
    let inner = text.trim_matches('%');
    if inner.is_empty() || inner.contains(['%', '_']) {
        return "use STARTS WITH, ENDS WITH or CONTAINS, joined by AND".to_owned();
    }
    match (text.starts_with('%'), text.ends_with('%')) {
        (true, true) => format!("use CONTAINS {}", quoted(inner)),
        (true, false) => format!("use ENDS WITH {}", quoted(inner)),
        (false, true) => format!("use STARTS WITH {}", quoted(inner)),
        (false, false) => format!("use = {}", quoted(inner)),
    }
}

fn is(token: &Token<'_>, word: &str) -> bool {
    token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use crate::syntax::{Problem, parse_statement};

    fn problem(text: &str) -> (usize, String, String) {
        let findings = parse_statement(text).unwrap_err();
        let problem = Problem::locate(text, findings[0].clone());
        (problem.column, problem.message, problem.help.unwrap_or_default())
    }

    #[test]
    fn what_other_languages_write_is_recognised_where_it_stands() {
        for (text, column, message, help) in [
            ("MATCH (n) WHERE n.a == 1 RETURN n", 21, "unexpected `==`", "`=` compares"),
            ("MATCH (n) WHERE n.a = 1 && n.b = 2 RETURN n", 25, "unexpected `&&`", "write AND"),
            ("MATCH (n) WHERE n.a = 1 || n.b = 2 RETURN n", 25, "`||` is not supported yet", "OR joins conditions"),
            ("MATCH (n) WHERE n.a LIKE 'x%' RETURN n", 21, "unexpected `LIKE`", "use STARTS WITH 'x'"),
            ("MATCH (n) WHERE n.a like '%x' RETURN n", 21, "unexpected `like`", "use ENDS WITH 'x'"),
            ("MATCH (n) WHERE n.a ILIKE '%x%' RETURN n", 21, "unexpected `ILIKE`", "use CONTAINS 'x'"),
            ("MATCH (n) WHERE n.a LIKE $x RETURN n", 21, "unexpected `LIKE`", "use STARTS WITH, ENDS WITH or CONTAINS"),
            ("MATCH (n) WHERE n.a LIKE 'x_%' RETURN n", 21, "unexpected `LIKE`", "joined by AND"),
            ("MATCH (n) RETURN n.a, count(*) GROUP BY n.a", 32, "unexpected `GROUP BY`", "leave it out"),
            ("MATCH (n) WHERE n.a BETWEEN 1 AND 2 RETURN n", 21, "unexpected `BETWEEN`", "low <= n.property"),
            ("SELECT n.a FROM N n", 1, "`SELECT` is", "write MATCH (n:Table)"),
            ("SELECT * FROM N WHERE a = 1", 1, "`SELECT` is", "write MATCH (n:Table)"),
            ("EXPLAIN SELECT a FROM N", 9, "`SELECT` is", "write MATCH (n:Table)"),
            ("UPDATE N SET a = 1", 1, "unexpected `UPDATE`", "write MATCH (n:Table)"),
            ("MATCH (a) WHERE (a)-->(:B) RETURN a", 17, "a pattern is not supported yet", "MATCH"),
        ] {
            let (found_at, found, found_help) = problem(text);
            assert!(
                found_at == column && found.starts_with(message) && found_help.contains(help),
                "{text}: {found_at} {found} ({found_help})"
            );
        }
    }

    #[test]
    fn a_name_is_no_word_of_another_language() {
        for text in [
            "MATCH (n) WHERE n.a != 1 RETURN n.like AS group, n.having AS select",
            "MATCH (join) RETURN join.from AS values, \"double\" AS update",
        ] {
            assert!(parse_statement(text).is_ok(), "{text}");
        }
    }
}
