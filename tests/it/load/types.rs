//! Every type against every kind of JSON value: only documented pairs are accepted.

use kit::graphs::{assert_whole, by_kit, export, graph, load, run};
use pleach::{LoadMode, Params};

/// (type, JSON texts it accepts)
const TYPES: &[(&str, &[&str])] = &[
    ("STRING", &[r#""text""#, r#""""#, r#""2024-01-31""#, r#""12""#, r#""true""#]),
    ("BOOL", &["true"]),
    ("INT64", &["12", r#""12""#]),
    ("DOUBLE", &["12", "1.5", r#""NaN""#]),
    ("DECIMAL(5,2)", &["12", "1.5", r#""12""#]),
    ("DATE", &[r#""2024-01-31""#]),
    ("INT64[]", &["[1,null]", "[]"]),
    ("STRING[]", &[r#"["a"]"#, "[]"]),
    // Any JSON value is one.
    ("JSON", VALUES),
];

const VALUES: &[&str] = &[
    r#""text""#,
    r#""""#,
    r#""2024-01-31""#,
    r#""12""#,
    r#""true""#,
    r#""NaN""#,
    "true",
    "12",
    "1.5",
    "[1,null]",
    r#"["a"]"#,
    "[]",
    r#"{"a":1}"#,
];

#[tokio::test]
async fn only_documented_pairs_are_accepted_and_refusals_tell_all() {
    for (ty, accepted) in TYPES {
        let graph = graph(&format!("CREATE NODE TABLE T (k INT64 PRIMARY KEY, v {ty}, r {ty} NOT NULL);")).await;
        let mut key = 0;
        for value in VALUES {
            // STRING takes every text.
            let fits = accepted.contains(value) || (*ty == "STRING" && value.starts_with('"'));
            key += 1;
            let line = format!(r#"{{"table":"T","data":{{"k":{key},"v":{value},"r":{value}}}}}"#);
            match load(&graph, LoadMode::Append, &line).await {
                Ok(report) => assert!(fits && report.commit.is_some(), "{ty} took {value}"),
                Err(error) => {
                    assert!(!fits, "{ty} refused {value}: {error}");
                    let violation = error.violations().expect("violations").iter().next().expect("one").clone();
                    assert_eq!((violation.code, violation.line), ("wrong-type", Some(1)), "{ty} {value}");
                    assert_eq!(violation.property.as_deref(), Some("v"));
                    assert!(
                        violation.found.is_some_and(|found| value.contains(found.trim_end_matches('…'))),
                        "{ty} {value}"
                    );
                    assert!(!violation.expected.is_empty());
                }
            }
        }
        // Null and absence are null where that is allowed, and nothing else is.
        let fits = accepted[0];
        for line in [
            format!(r#"{{"table":"T","data":{{"k":100,"v":null,"r":{fits}}}}}"#),
            format!(r#"{{"table":"T","data":{{"k":101,"r":{fits}}}}}"#),
        ] {
            load(&graph, LoadMode::Append, &line).await.unwrap();
        }
        for line in [r#"{"table":"T","data":{"k":102,"r":null}}"#, r#"{"table":"T","data":{"k":102}}"#] {
            assert!(load(&graph, LoadMode::Append, line).await.is_err(), "{ty} took a null for NOT NULL");
        }
    }
}

#[tokio::test]
async fn the_same_literal_is_refused_in_the_same_words_at_each_door() {
    let graph = graph("CREATE NODE TABLE T (k DATE PRIMARY KEY, d DATE);").await;
    let line = |value: &str| format!(r#"{{"table":"T","data":{{"k":"2024-01-01","d":{value}}}}}"#);
    let words = |error: pleach::Error| {
        let violation = error.violations().expect("violations").iter().next().expect("one").clone();
        (violation.found, violation.expected)
    };
    for value in [r#""2024-02-30""#, "20240101", r#""01.01.2024""#] {
        let loaded = words(load(&graph, LoadMode::Append, &line(value)).await.unwrap_err());
        let written =
            words(kit::graphs::write(&graph, pleach::Write::new().insert_json(line(value))).await.unwrap_err());
        assert_eq!(loaded, written);
        let keyed = words(kit::graphs::write(&graph, pleach::Write::new().delete("T", [value])).await.unwrap_err());
        assert_eq!(loaded, keyed);
        let got = graph.get("main", "T", &[value.to_owned()]).await.unwrap_err().to_string();
        assert!(got.contains(&loaded.1) && got.contains(loaded.0.as_deref().unwrap_or_default()), "{got}");
    }
    load(&graph, LoadMode::Append, &line(r#""2024-01-01""#)).await.unwrap();
    assert_eq!(graph.get("main", "T", &[r#""2024-01-01""#.into()]).await.unwrap(), Some(line(r#""2024-01-01""#)));
}

/// An error with all that it comes from, since what is computed for each row fails in the middle of a statement.
fn causes(error: &dyn std::error::Error) -> String {
    let all: Vec<String> =
        std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect();
    all.join("\n")
}

#[tokio::test]
async fn each_clause_refuses_a_literal_by_naming_it_and_takes_what_a_load_takes() {
    let graph = graph("CREATE NODE TABLE T (k DATE PRIMARY KEY, d DATE);").await;
    let statements = [
        "MATCH (t:T) WHERE t.d = date(VALUE) RETURN t.d",
        "MATCH (t:T {d: date(VALUE)}) RETURN t.d",
        "CREATE (t:T {k: date('2024-01-01'), d: date(VALUE)}) RETURN t.d",
        "MERGE (t:T {k: date('2024-01-01')}) SET t.d = date(VALUE) RETURN t.d",
        "UNWIND [VALUE] AS text MERGE (t:T {k: date('2024-01-01')}) SET t.d = date(text) RETURN t.d",
    ];
    let params = |value: &str| Params::new().with("value", value);
    for value in ["2024-02-30", "20240101", "01.01.2024"] {
        for statement in statements {
            for written in [format!("'{value}'"), "$value".to_owned()] {
                let text = statement.replace("VALUE", &written);
                let error = graph.run("main", &text, params(value), by_kit()).await.expect_err(&text);
                let (told, in_a_row) = (causes(&error), statement.starts_with("UNWIND"));
                let words =
                    if in_a_row { format!("\"{value}\" is no date") } else { format!("'{value}' is not a date") };
                assert!(told.contains(&words), "{text}: {told}");
            }
        }
    }
    assert_eq!(export(&graph, "main").await, "");

    // One that is a date is the same day through each of them.
    for statement in statements.iter().rev() {
        for written in ["'2024-01-01'", "$value"] {
            if statement.starts_with("CREATE") {
                run(&graph, "MATCH (t:T) DELETE t").await.expect("room for it");
            }
            let text = statement.replace("VALUE", written);
            let report = graph.run("main", &text, params("2024-01-01"), by_kit()).await.expect(&text);
            assert_eq!(report.rows.len(), 1, "{text}");
            assert_eq!(
                export(&graph, "main").await,
                "{\"table\":\"T\",\"data\":{\"k\":\"2024-01-01\",\"d\":\"2024-01-01\"}}\n",
                "{text}"
            );
        }
    }
    assert_whole(&graph).await;
}
