use super::{ExprKind, TokenKind, lex, names_in, parse_expression, quote_name, quote_string};

fn refusal(text: &str) -> (usize, String) {
    let finding = parse_expression(text).unwrap_err();
    (finding.span.start, finding.message)
}

#[test]
fn strings_and_names_are_read_back_as_they_were() {
    for text in ["", "a", "it's", r"back\slash", "line\nend\r\t", "é 🦀", "a`b", "\u{8}\u{c}"] {
        let quoted = quote_string(text);
        let (tokens, findings) = lex(&quoted);
        assert!(findings.is_empty() && tokens.len() == 1, "{quoted}");
        assert_eq!((tokens[0].kind, tokens[0].value().as_str()), (TokenKind::String, text));
    }
    for name in ["a", "order", "PRIMARY", "has space", "é", r"a\b", "a`b", "1a", "from"] {
        let quoted = quote_name(name);
        let (tokens, _) = lex(&quoted);
        assert_eq!((tokens.len(), tokens[0].value().as_str()), (1, name), "{quoted}");
    }
    assert_eq!(quote_name("age_2"), "age_2");
    assert_eq!(quote_name("Order"), "`Order`");
}

#[test]
fn escapes_and_doubled_quotes_are_understood() {
    for (text, value) in
        [(r"'\u00e9\U01F980'", "é🦀"), (r#""a\"b""#, "a\"b"), ("'it''s'", "it's"), (r"'\t\n\\'", "\t\n\\")]
    {
        assert_eq!(lex(text).0[0].value(), value, "{text}");
    }
}

#[test]
fn unclosed_text_is_pointed_at_where_it_opens() {
    for (text, start, message) in [
        ("a 'b", 2, "the string that opens here is never closed"),
        ("`b", 0, "the backquote that opens here is never closed"),
        ("a /* b", 2, "the comment that opens here is never closed"),
    ] {
        let (_, findings) = lex(text);
        assert_eq!((findings[0].span.start, findings[0].message.as_str()), (start, message));
    }
}

#[test]
fn names_come_in_the_order_of_their_first_use() {
    let expr = parse_expression("b > 1 AND (a < b OR `c d` IS NULL) // e").unwrap();
    let names = names_in(&expr);
    assert_eq!(
        names.iter().map(|(name, spans)| (name.as_str(), spans.len())).collect::<Vec<_>>(),
        [("b", 2), ("a", 1), ("c d", 1)]
    );
    assert_eq!(names[1].1[0].start, 11);
}

#[test]
fn comparisons_chain_unless_bracketed() {
    let chain = parse_expression("1 < a <= 3 <> b").unwrap();
    assert!(matches!(&chain.kind, ExprKind::Compare(_, rest) if rest.len() == 3), "{chain:?}");
    let bracketed = parse_expression("(1 < a) = true").unwrap();
    assert!(matches!(&bracketed.kind, ExprKind::Compare(first, rest)
        if rest.len() == 1 && matches!(first.kind, ExprKind::Compare(..))));
}

#[test]
fn one_expression_is_all_that_is_read() {
    for text in ["a AS b", "a, b", "a ORDER BY b", "a) OR (b", "a RETURN b", "a; RETURN b", "", "a LIMIT 1", "*"] {
        assert!(parse_expression(text).is_err(), "{text}");
    }
}

#[test]
fn what_a_condition_cannot_use_is_refused_by_name_where_it_stands() {
    for (text, at, message) in [
        ("a =~ 'x'", 2, "a condition cannot use `=~`"),
        ("a || b = 'x'", 2, "a condition cannot use `||`"),
        ("[x IN a | x] = []", 0, "a condition cannot use a list comprehension"),
        ("all(x IN a WHERE x > 1)", 0, "a condition cannot use `all`, `any`, `none` or `single`"),
        ("EXISTS { MATCH (n) }", 0, "a condition cannot use a subquery"),
        ("a = 999999999999999999999999999999999999999999", 4, "the number is too large"),
        ("a >= ", 5, "the condition ends too early"),
        ("a = = 1", 4, "the condition cannot be read: unexpected token `=`"),
        ("a)", 1, "`)` closes nothing"),
    ] {
        assert_eq!(refusal(text), (at, message.to_owned()), "{text}");
    }
}

#[test]
fn depth_and_length_are_bounded_before_anything_recurses() {
    let deep = "the condition is nested too deeply";
    let brackets = format!("{}1{} = 1", "(".repeat(20_000), ")".repeat(20_000));
    let nots = format!("{}true", "NOT ".repeat(3_000));
    let minus = format!("1 = {}1", "- ".repeat(3_000));
    let sum = format!("1 = 1{}", " + 1".repeat(1_500));
    for text in [brackets, nots, minus, sum] {
        assert_eq!(refusal(&text).1, deep, "{}", &text[..20]);
    }
    let long = format!("a IN [1{}]", ", 1".repeat(10_000));
    assert_eq!(refusal(&long).1, "the condition is longer than 4000 words and marks");
    assert!(parse_expression(&format!("a IN [1{}]", ", 1".repeat(1_500))).is_ok());
}
