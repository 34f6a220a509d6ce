//! Input from a pipe: without a last line break, empty, and with a byte order mark.

use serde_json::Value;

use super::people;

const LINE: &str = "{\"table\":\"Person\",\"data\":{\"id\":\"alan\",\"name\":\"Alan\"}}";

#[test]
fn a_last_line_without_a_line_break_counts() {
    let sandbox = people();
    let outcome = sandbox.run_with_input(&["load", "-", "--json"], LINE);
    assert_eq!((outcome.code, &outcome.json()["tables"]["Person"]["inserted"]), (Some(0), &1.into()));
}

#[test]
fn an_empty_input_changes_nothing() {
    let sandbox = people();
    for input in ["", "\n", "\n\n  \n"] {
        let outcome = sandbox.run_with_input(&["load", "-", "--json"], input);
        assert_eq!((outcome.code, &outcome.json()["commit"]), (Some(0), &Value::Null), "{input:?}: {outcome:?}");
    }
    let outcome = sandbox.run_with_input(&["load", "-"], "");
    assert!(outcome.stderr.contains("nothing changed"), "{outcome:?}");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read() {
    let sandbox = people();
    let outcome = sandbox.run_with_input(&["load", "-", "--json"], format!("\u{feff}{LINE}\r\n"));
    assert_eq!((outcome.code, &outcome.json()["tables"]["Person"]["inserted"]), (Some(0), &1.into()), "{outcome:?}");
}

#[test]
fn a_wrong_line_is_refused_with_its_place_and_nothing_is_published() {
    let sandbox = people();
    for (input, line, word) in [
        (format!("{LINE}\n{{\"table\":\"Person\",\"data\":{{\"id\":\"kurt\"}}}}\n"), 2, "name"),
        (format!("{LINE}\nnot json\n"), 2, "invalid-json"),
        ("{\"table\":\"Persons\",\"data\":{}}\n".to_owned(), 1, "Persons"),
        ("{\"table\":\"Person\",\"data\":{\"id\":\"kurt\",\"name\":\"Kurt\",\"age\":3}}\n".to_owned(), 1, "age"),
        ("{\"table\":\"Knows\",\"from\":\"ada\",\"to\":\"nobody\",\"data\":{}}\n".to_owned(), 1, "nobody"),
        (format!("{LINE}\n{LINE}\n"), 2, "alan"),
    ] {
        let outcome = sandbox.run_with_input(&["load", "-", "--json"], &input);
        assert_eq!(outcome.code, Some(1), "{input}: {outcome:?}");
        let error = outcome.error();
        assert_eq!(
            (error["code"].as_str(), &error["violations"]["total"]),
            (Some("input-refused"), &1.into()),
            "{error}"
        );
        let violation = &error["violations"]["first"][0];
        assert!(violation["line"] == line && violation.to_string().contains(word), "{input}: {violation}");
    }
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1");
}

#[test]
fn violations_are_listed_one_line_each_and_counted_beyond_a_hundred() {
    let sandbox = people();
    let line = |i: u32| match i % 3 {
        0 => format!("{{\"table\":\"Person\",\"data\":{{\"id\":\"p{i}\",\"name\":{i}}}}}\n"),
        1 => format!("{{\"table\":\"Person\",\"data\":{{\"id\":\"p{i}\",\"name\":\"x\",\"born\":\"never\"}}}}\n"),
        _ => format!("{{\"table\":\"Knows\",\"from\":\"ada\",\"to\":{i}}}\n"),
    };
    for (count, more) in [(2, None), (5, None), (100, None), (150, Some("  and 50 more"))] {
        let outcome = sandbox.run_with_input(&["load", "-"], (0..count).map(line).collect::<String>());
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        let mut lines = outcome.stderr.lines();
        let head = lines.next().unwrap();
        assert!(
            head.starts_with(&format!("error: standard input was refused, accepted 0 of {count} rows; ")),
            "{head}"
        );
        let listed: Vec<_> = lines.clone().take_while(|line| line.starts_with("  standard input:")).collect();
        for (i, line) in (0_usize..).zip(&listed) {
            let (place, found) =
                [("Person.name", i.to_string()), ("Person.born", "\"never\"".into()), ("Knows.to", i.to_string())]
                    [i % 3]
                    .clone();
            let expected = format!("  standard input:{}: {place}", i + 1);
            assert!(line.starts_with(&expected) && line.contains(&found) && line.contains("expected"), "{line}");
        }
        assert_eq!(listed.len(), usize::min(count as usize, 100), "{outcome:?}");
        let next = lines.nth(listed.len()).unwrap_or_default();
        match more {
            Some(more) => assert_eq!(next, more),
            None => assert!(next.starts_with("hint: "), "{next}"),
        }
    }
}

#[test]
fn hostile_names_are_refused_at_once_and_shown_in_part() {
    let sandbox = people();
    let long = "x".repeat(300_000);
    for line in [
        format!("{{\"table\":\"{long}\",\"data\":{{}}}}"),
        format!("{{\"table\":\"Person\",\"{long}\":1}}"),
        format!("{{\"table\":\"Person\",\"data\":{{\"id\":\"a\",\"name\":\"b\",\"{long}\":1}}}}"),
        format!("\"{long}\""),
        format!("{{\"table\":\"Knows\",\"from\":\"{long}\",\"to\":\"{long}\"}}"),
        format!("{{\"table\":\"Person\",\"data\":\"{long}\"}}"),
    ] {
        for arguments in [&["load", "-"][..], &["load", "-", "--json"]] {
            let outcome = sandbox.run_with_input(arguments, format!("{line}\n"));
            assert_eq!(outcome.code, Some(1));
            assert!(outcome.stderr.len() < 2_000, "{} bytes", outcome.stderr.len());
        }
    }
    let name = "x".repeat(100_000);
    for arguments in [&["export", "--table", &name][..], &["get", &name, "1"]] {
        let outcome = sandbox.fails(1, arguments);
        assert!(outcome.stderr.len() < 2_000, "{} bytes", outcome.stderr.len());
    }
    let schema = format!("CREATE NODE TABLE P (id STRING PRIMARY KEY, {} STRING, UNIQUE ({long}));", "y".repeat(200));
    let outcome = sandbox.run_with_input(&["init", "--graph", "other", "--schema", "-"], schema);
    assert_eq!(outcome.code, Some(1));
}
