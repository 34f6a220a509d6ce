//! Statements as long as they may be, on a runtime whose threads have the stacks that they have by default.

use kit::graphs::{graph, load};
use pleach::{LoadMode, Params};

const DDL: &str = "
    CREATE NODE TABLE N (id INT64 PRIMARY KEY, n INT64);
    CREATE REL TABLE E (FROM N TO N);
";

fn path(edges: usize) -> String {
    let steps: Vec<String> = (1..=edges).map(|i| format!("-[:E]->(a{i})")).collect();
    format!("MATCH (a0){} RETURN count(*) AS n", steps.concat())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_longest_statements_of_each_shape_are_answered() {
    let graph = graph(DDL).await;
    let rows = (0..30).map(|i| format!("{{\"table\":\"N\",\"data\":{{\"id\":{i},\"n\":1}}}}\n"));
    let edges = (0..29).map(|i| format!("{{\"table\":\"E\",\"from\":{i},\"to\":{}}}\n", i + 1));
    load(&graph, LoadMode::Append, &rows.chain(edges).collect::<Vec<_>>().concat()).await.unwrap();
    let withs = format!("MATCH (a:N) {} RETURN count(a) AS n", "WITH a, 1 AS y WHERE a.n > 0 ".repeat(190));
    let unions = format!("RETURN 1 AS n{}", " UNION ALL RETURN 1 AS n".repeat(27));
    for (text, expected) in [(path(28), "2"), (withs, "30"), (unions, "1")] {
        let rows = graph.query("main", &text, Params::new()).await.unwrap().collect_rows().await.unwrap();
        assert_eq!(rows[0][0].to_json(), expected, "{}", &text[..40]);
    }
    let error = graph.query("main", &path(40), Params::new()).await.unwrap_err();
    assert!(error.to_string().contains("too long to be planned"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_double_again_and_again_are_refused_in_time() {
    let graph = graph(DDL).await;
    for (first, step, code) in [
        ("'aaaaaaaa'", "s + s", "value-too-large"),
        // The columns of so many elements have no room in the memory of queries.
        ("[1]", "s + s", "query-out-of-memory"),
        ("'aaaaaaaa'", "replace(s, 'a', s)", "value-too-large"),
    ] {
        let text = format!("WITH {first} AS s {} RETURN size(s) AS n", format!("WITH {step} AS s ").repeat(40));
        let rows = graph.query("main", &text, Params::new()).await.unwrap().collect_rows().await;
        assert_eq!(rows.unwrap_err().code(), code, "{first} {step}");
    }
}
