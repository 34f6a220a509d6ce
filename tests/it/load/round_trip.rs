//! An export loaded into an empty graph makes the same graph: every type, every nasty value, edge ids and keys.

use kit::graphs::{assert_whole, export, graph, load, write};
use pleach::{LoadMode, Write};

const DDL: &str = r"
    CREATE NODE TABLE A (
        k INT64 PRIMARY KEY, s STRING, b BOOL, i8 INT8, i16 INT16, i32 INT32, i64 INT64, u8 UINT8, u16 UINT16, u32 UINT32, u64 UINT64,
        f FLOAT, d DOUBLE, m DECIMAL(38,10), day DATE, t TIME, ts TIMESTAMP, u UUID, blob BLOB, j JSON, e ENUM('red', 'it''s'),
        ls STRING[], li INT64[], ld DOUBLE[], v FLOAT[3], dflt INT64 DEFAULT 7
    );
    CREATE NODE TABLE B (s STRING, day DATE, u UUID, blob BLOB, m DECIMAL(5,2), PRIMARY KEY (s, day, u, blob, m));
    CREATE REL TABLE AB (FROM A TO B, note STRING);
    CREATE REL TABLE BB (FROM B TO B, w INT64, MULTI);
    CREATE REL TABLE Keyed (FROM A TO A, at TIMESTAMP, KEY (at));
";

fn values() -> Vec<String> {
    let texts = [
        r#""""#,
        r#"" leading and trailing ""#,
        r#""quote \" backslash \\ slash / tab \t newline \n return \r""#,
        r#""😀 é é \u200b""#,
        r#""\u0000 zero""#,
        r#""null""#,
        r#""\u2028\u2029""#,
    ];
    let mut all: Vec<String> = texts.iter().map(|text| format!(r#""s":{text}"#)).collect();
    let others = [
        r#""b":true"#,
        r#""b":false"#,
        r#""i8":-128,"i16":-32768,"i32":-2147483648,"i64":"-9223372036854775808""#,
        r#""i8":127,"i16":32767,"i32":2147483647,"i64":"9223372036854775807""#,
        r#""u8":255,"u16":65535,"u32":4294967295,"u64":"18446744073709551615""#,
        r#""i64":9007199254740991,"u64":9007199254740992"#,
        r#""f":-0.0,"d":-0.0"#,
        r#""f":0.0,"d":0.0"#,
        r#""f":"NaN","d":"NaN""#,
        r#""f":"Infinity","d":"-Infinity""#,
        r#""f":3.4028235e38,"d":1.7976931348623157e308"#,
        r#""f":1e-45,"d":5e-324"#,
        r#""f":0.1,"d":0.1"#,
        r#""m":"9999999999999999999999999999.9999999999""#,
        r#""m":"-0.0000000001""#,
        r#""m":"0.0000000000""#,
        r#""day":"0001-01-01""#,
        r#""day":"-9999-01-01""#,
        r#""day":"9999-12-31""#,
        r#""day":"1969-12-31""#,
        r#""t":"00:00:00""#,
        r#""t":"23:59:59.999999""#,
        r#""ts":"1969-12-31T23:59:59.999999Z""#,
        r#""ts":"2024-02-29T12:00:00.000001+05:30""#,
        r#""ts":"0001-01-01T00:00:00Z""#,
        r#""u":"00000000-0000-0000-0000-000000000000""#,
        r#""u":"ffffffff-ffff-ffff-ffff-ffffffffffff""#,
        r#""blob":"""#,
        r#""blob":"AAEC/w==""#,
        r#""j":{"b":1,  "a":[1.0,1e3,-0]}"#,
        r#""j":"x""#,
        r#""j":123456789012345678901234567890"#,
        r#""j":[]"#,
        r#""e":"it's""#,
        r#""ls":[],"li":[],"ld":[]"#,
        r#""ls":["",null,"a\n"],"li":[null],"ld":["NaN",-0.0,null]"#,
        r#""v":[1.5,-0.0,"NaN"]"#,
        r#""dflt":null"#,
        r#""dflt":8"#,
    ];
    all.extend(others.iter().map(|text| (*text).to_owned()));
    all
}

fn input() -> String {
    let mut lines = Vec::new();
    for (k, value) in values().iter().enumerate() {
        lines.push(format!(r#"{{"table":"A","data":{{"k":{k},{value}}}}}"#));
    }
    lines.push(r#"{"table":"A","data":{"k":-1}}"#.into());
    let keys = [
        r#"["","-0044-03-15","00000000-0000-0000-0000-000000000000","","-999.99"]"#,
        r#"["a\u0000\"","2024-02-29","ffffffff-ffff-ffff-ffff-ffffffffffff","/+8=","0.10"]"#,
    ];
    for key in keys {
        let parts: Vec<serde_json::Value> = serde_json::from_str(key).unwrap();
        let data = serde_json::json!({"s": parts[0], "day": parts[1], "u": parts[2], "blob": parts[3], "m": parts[4]});
        lines.push(format!(r#"{{"table":"B","data":{data}}}"#));
        lines.push(format!(r#"{{"table":"AB","from":1,"to":{key},"data":{{"note":"x"}}}}"#));
        for w in [1, 1, 2] {
            lines.push(format!(r#"{{"table":"BB","from":{key},"to":{},"data":{{"w":{w}}}}}"#, keys[0]));
        }
    }
    lines.push(r#"{"table":"BB","from":@,"to":@,"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","data":{}}"#.replace('@', keys[1]));
    for at in ["1960-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z"] {
        lines.push(format!(r#"{{"table":"Keyed","from":0,"to":1,"data":{{"at":"{at}"}}}}"#));
    }
    lines.join("\n")
}

#[tokio::test]
async fn an_export_loaded_anew_makes_the_same_graph() {
    let first = graph(DDL).await;
    let report = load(&first, LoadMode::Append, &input()).await.unwrap();
    assert!(report.commit.is_some());
    let exported = export(&first, "main").await;
    assert_eq!(exported.lines().count(), input().lines().count());
    // Nodes come before edges, and what was given is told as it was.
    let tables: Vec<_> = exported.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
    assert!(tables.is_sorted_by_key(|table| (!matches!(*table, "A" | "B"), *table)));
    for kept in [
        r#""d":-0.0"#,
        r#""j":{"b":1,  "a":[1.0,1e3,-0]}"#,
        r#""s":"""#,
        r#""id":"01ARZ3NDEKTSV4RRFFQ69G5FAV""#,
        r#""dflt":null"#,
    ] {
        assert!(exported.contains(kept), "{kept} is lost");
    }

    let second = graph(DDL).await;
    load(&second, LoadMode::Append, &exported).await.unwrap();
    assert_eq!(export(&second, "main").await, exported);
    // The same rows say nothing new: hashes agree.
    assert!(load(&second, LoadMode::Upsert, &exported).await.unwrap().commit.is_none());
    assert!(load(&first, LoadMode::Upsert, &exported).await.unwrap().commit.is_none());
    assert_whole(&first).await;
    assert_whole(&second).await;
}

#[tokio::test]
async fn an_export_does_not_depend_on_how_the_rows_came() {
    let (one, two) = (graph(DDL).await, graph(DDL).await);
    let input = input().replace(r#"{"w":1}"#, "{}");
    let lines: Vec<_> = input.lines().filter(|line| !line.contains(r#""table":"BB""#)).collect();
    load(&one, LoadMode::Append, &lines.join("\n")).await.unwrap();
    let (nodes, edges): (Vec<&str>, Vec<&str>) = lines.into_iter().rev().partition(|line| !line.contains(r#""from":"#));
    for part in nodes.chunks(7).chain(edges.chunks(2)) {
        load(&two, LoadMode::Append, &part.join("\n")).await.unwrap();
    }
    assert_eq!(export(&one, "main").await, export(&two, "main").await);
}

#[tokio::test]
async fn some_tables_are_exported_alone() {
    let graph = graph(DDL).await;
    load(&graph, LoadMode::Append, &input()).await.unwrap();
    let mut out = Vec::new();
    let rows = graph.export("main", &["Keyed".into(), "B".into()], &mut out).await.unwrap();
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), [("B".to_owned(), 2), ("Keyed".to_owned(), 2)]);
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 4);
    let error = graph.export("main", &["Keyd".into()], Vec::new()).await.unwrap_err();
    assert_eq!((error.code(), error.hint().as_deref()), ("unknown-table", Some("did you mean Keyed?")));
}

#[tokio::test]
async fn json_over_several_lines_is_one_line_of_an_export_at_whatever_door_it_came() {
    let ddl =
        "CREATE NODE TABLE T (k INT64 PRIMARY KEY, j JSON DEFAULT '{\r\n  \"a\": \"x\\\\ny\",\n  \"b\": [1,\r 2]\n}');";
    let first = graph(ddl).await;
    let stored = r#"{    "a": "x\ny",   "b": [1,  2] }"#;
    // The default, in a load and in a write.
    load(&first, LoadMode::Append, r#"{"table":"T","data":{"k":1}}"#).await.unwrap();
    write(&first, Write::new().insert_json(r#"{"table":"T","data":{"k":2}}"#)).await.unwrap();
    // A carriage return in a line of a load.
    load(&first, LoadMode::Append, "{\"table\":\"T\",\"data\":{\"k\":3,\"j\":[1,\r2]}}\r\n").await.unwrap();
    // Pretty-printed, as a write takes it.
    let pretty =
        "{\n  \"table\": \"T\",\r\n  \"data\": {\n    \"k\": 4,\n    \"j\": {\r\n      \"c\": null\n    }\n  }\n}\n";
    write(&first, Write::new().insert_json(pretty)).await.unwrap();
    write(&first, Write::new().upsert_json(pretty.replace("4,", "5,"))).await.unwrap();

    let exported = export(&first, "main").await;
    let line = |k: i64, j: &str| format!("{{\"table\":\"T\",\"data\":{{\"k\":{k},\"j\":{j}}}}}\n");
    let object = r#"{        "c": null     }"#;
    assert_eq!(
        exported,
        [line(1, stored), line(2, stored), line(3, "[1, 2]"), line(4, object), line(5, object)].concat()
    );
    let second = graph(ddl).await;
    load(&second, LoadMode::Append, &exported).await.unwrap();
    assert_eq!(export(&second, "main").await, exported);
    // What is stored is what is told: the same again says nothing new, in either spelling.
    assert!(load(&first, LoadMode::Upsert, &exported).await.unwrap().commit.is_none());
    assert!(write(&first, Write::new().upsert_json(pretty)).await.unwrap().commit.is_none());
    assert_whole(&first).await;
    assert_whole(&second).await;
}

#[tokio::test]
async fn an_edge_id_that_is_too_large_is_refused_at_every_door() {
    let graph = graph("CREATE NODE TABLE N (id INT64 PRIMARY KEY); CREATE REL TABLE E (FROM N TO N, MULTI);").await;
    let (id, beyond) = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "81ARZ3NDEKTSV4RRFFQ69G5FAV");
    let edge = |id: &str| format!(r#"{{"table":"E","from":1,"to":1,"id":"{id}","data":{{}}}}"#);
    let node = r#"{"table":"N","data":{"id":1}}"#;
    load(&graph, LoadMode::Append, &format!("{node}\n{}", edge(id))).await.unwrap();
    let before = export(&graph, "main").await;
    let key = format!("\"{beyond}\"");
    for outcome in [
        load(&graph, LoadMode::Upsert, &edge(beyond)).await.map(drop),
        load(&graph, LoadMode::Append, &edge(beyond)).await.map(drop),
        write(&graph, Write::new().upsert_json(edge(beyond))).await.map(drop),
        write(&graph, Write::new().delete("E", [key.clone()])).await.map(drop),
        graph.get("main", "E", &[key]).await.map(drop),
    ] {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("an edge id (a ULID)") && text.contains(beyond), "{text}");
    }
    assert_eq!(export(&graph, "main").await, before);
    // The case of its letters says nothing.
    assert!(load(&graph, LoadMode::Upsert, &edge(&id.to_lowercase())).await.unwrap().commit.is_none());
}
