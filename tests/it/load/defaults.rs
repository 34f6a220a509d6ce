//! Every type's default, from the schema to the rows: what `init` takes, a load puts in and reads back.

use kit::graphs::{assert_whole, export, graph, init_options, load, memory_uri};
use pleach::{Graph, LoadMode};

/// (type, default in the schema, the same in JSON)
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("STRING", "'it''s \"é\"'", r#""it's \"é\"""#),
    ("STRING", "''", r#""""#),
    ("BOOL", "false", "false"),
    ("INT8", "-128", "-128"),
    ("INT64", "-9223372036854775808", r#""-9223372036854775808""#),
    ("UINT64", "18446744073709551615", r#""18446744073709551615""#),
    ("FLOAT", "0.1", "0.1"),
    ("FLOAT", "-Infinity", r#""-Infinity""#),
    ("DOUBLE", "5e-324", "5e-324"),
    ("DOUBLE", "NaN", r#""NaN""#),
    ("DECIMAL(5,2)", "-1.5", r#""-1.50""#),
    ("DATE", "date('2024-02-29')", r#""2024-02-29""#),
    ("DATE", "date('0000-01-01')", r#""0000-01-01""#),
    ("DATE", "date('-0044-03-15')", r#""-0044-03-15""#),
    ("DATE", "'-9999-01-01'", r#""-9999-01-01""#),
    ("DATE", "'9999-12-31'", r#""9999-12-31""#),
    ("TIME", "time('23:59:59.999999')", r#""23:59:59.999999""#),
    ("TIME", "'00:00:00.10'", r#""00:00:00.1""#),
    ("TIMESTAMP", "datetime('2024-01-31T12:00:00+05:30')", r#""2024-01-31T06:30:00Z""#),
    ("TIMESTAMP", "datetime('-0044-03-15T00:00:00Z')", r#""-0044-03-15T00:00:00Z""#),
    ("TIMESTAMP", "'0001-01-01T00:00:00+01:00'", r#""0000-12-31T23:00:00Z""#),
    ("TIMESTAMP", "'-9999-01-01T00:00:00Z'", r#""-9999-01-01T00:00:00Z""#),
    ("UUID", "'FFFFFFFF-0000-0000-0000-000000000000'", r#""ffffffff-0000-0000-0000-000000000000""#),
    ("BLOB", "'AAEC/w=='", r#""AAEC/w==""#),
    ("JSON", "'{\"b\":1,\n  \"a\":[1.0]}'", r#"{"b":1,   "a":[1.0]}"#),
    ("JSON", "'\"text\"'", r#""text""#),
    ("ENUM('red', 'it''s')", "'it''s'", r#""it's""#),
    ("INT64[]", "[1, NULL]", "[1,null]"),
    ("DATE[]", "[date('-0044-03-15'), NULL]", r#"["-0044-03-15",null]"#),
    ("TIMESTAMP[]", "['-0001-01-01T00:00:00Z']", r#"["-0001-01-01T00:00:00Z"]"#),
    ("STRING[]", "[]", "[]"),
    ("FLOAT[2]", "[1.5, NaN]", r#"[1.5,"NaN"]"#),
];

/// Literals that loads would not take either.
const REFUSED: &[(&str, &str)] = &[
    ("DATE", "'-0000-01-01'"),
    ("DATE", "'-000044-03-15'"),
    ("DATE", "'10000-01-01'"),
    ("DATE[]", "['2024-02-30']"),
    ("TIME", "'12:34'"),
    ("TIME", "'24:00:00'"),
    ("TIMESTAMP", "'-000044-03-15T00:00:00Z'"),
    ("TIMESTAMP", "'2024-01-31T12:00Z'"),
    ("TIMESTAMP", "'9999-12-31T23:59:59-01:00'"),
    ("UUID", "'ffffffff000000000000000000000000'"),
    ("BLOB", "'AAEC/w'"),
    ("JSON", "'{'"),
    ("FLOAT[2]", "[1.5]"),
];

fn schema() -> String {
    let columns = DEFAULTS.iter().enumerate().map(|(i, (ty, literal, _))| format!(", p{i} {ty} DEFAULT {literal}"));
    format!("CREATE NODE TABLE T (k INT64 PRIMARY KEY{});", columns.collect::<String>())
}

#[tokio::test]
async fn every_default_is_put_in_and_read_back() {
    let first = graph(&schema()).await;
    load(&first, LoadMode::Append, r#"{"table":"T","data":{"k":1}}"#).await.unwrap();
    let exported = export(&first, "main").await;
    let filled = DEFAULTS.iter().enumerate().map(|(i, (_, _, json))| format!(r#","p{i}":{json}"#));
    let expected = format!("{{\"table\":\"T\",\"data\":{{\"k\":1{}}}}}\n", filled.collect::<String>());
    assert_eq!(exported, expected);
    assert_whole(&first).await;

    let second = graph(&schema()).await;
    load(&second, LoadMode::Append, &exported).await.unwrap();
    assert_eq!(export(&second, "main").await, exported);
    // A row with the defaults spelled out is the row that left them out: hashes agree.
    assert!(load(&first, LoadMode::Upsert, &exported).await.unwrap().commit.is_none());
    assert_whole(&second).await;
}

#[tokio::test]
async fn a_default_that_no_load_could_read_is_refused_by_init() {
    for (ty, literal) in REFUSED {
        let ddl = format!("CREATE NODE TABLE T (k INT64 PRIMARY KEY, p {ty} DEFAULT {literal});");
        let error = Graph::init(&memory_uri(), &ddl, init_options()).await.unwrap_err();
        assert_eq!(error.code(), "invalid-schema", "{ty} {literal}: {error}");
    }
}

#[tokio::test]
async fn conditions_know_the_calendar_of_the_rows() {
    let ddl = "
        CREATE NODE TABLE T (
            k INT64 PRIMARY KEY, day DATE DEFAULT date('-0044-03-15') CHECK (day >= date('-0044-03-15')),
            at TIMESTAMP CHECK (at >= datetime('-0044-03-15T00:00:00Z')), t TIME CHECK (t < time('12:00:00'))
        );";
    let graph = graph(ddl).await;
    let line = |data: &str| format!(r#"{{"table":"T","data":{{"k":1{data}}}}}"#);
    for bad in [r#","day":"-0044-03-14""#, r#","at":"-0044-03-14T23:59:59.999999Z""#, r#","t":"12:00:00""#] {
        assert!(load(&graph, LoadMode::Append, &line(bad)).await.is_err(), "{bad}");
    }
    load(&graph, LoadMode::Append, &line(r#","at":"-0044-03-15T00:00:00Z""#)).await.unwrap();
    assert_whole(&graph).await;
}
