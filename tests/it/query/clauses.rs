//! Projections, groups, order, and unions.

use super::{all, ordered, people};

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_grouped_and_told_apart() {
    let graph = people().await;
    all(
        &graph,
        &[
            (
                "MATCH (p:Person) RETURN p.age, count(*), min(p.id), max(p.id)",
                &[r#"20 2 "b" "d""#, r#"36 1 "a" "a""#, r#"50 1 "c" "c""#],
            ),
            ("MATCH (p:Person) RETURN DISTINCT p.age", &["20", "36", "50"]),
            ("MATCH (p:Person) RETURN count(p.score), avg(p.age), sum(p.age)", &["3 31.5 126"]),
            ("MATCH (p:Person {id: 'x'}) RETURN count(*), sum(p.age), min(p.age), collect(p.id)", &["0 0 null []"]),
            ("MATCH (p:Person {id: 'x'}) RETURN p.age, count(*)", &[]),
            ("MATCH (p:Person)-[:Knows]->(q) WITH p, count(q) AS n WHERE n > 1 RETURN p.name, n", &[r#""Ada" 2"#]),
            ("MATCH (a)-[:Knows]-(b) RETURN DISTINCT b.id", &[r#""a""#, r#""b""#, r#""c""#]),
            ("RETURN 1 AS x UNION ALL RETURN 1 AS x", &["1", "1"]),
            ("RETURN 1 AS x UNION RETURN 1 AS x UNION RETURN 2 AS x", &["1", "2"]),
            ("UNWIND [1, 2, null] AS x RETURN x", &["1", "2", "null"]),
            ("UNWIND [] AS x RETURN x", &[]),
            ("UNWIND null AS x RETURN x", &[]),
            ("UNWIND [[1, 2], [], [3]] AS xs UNWIND xs AS x RETURN x", &["1", "2", "3"]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_ordered_and_cut() {
    let graph = people().await;
    for (text, expected) in [
        ("MATCH (p:Person) RETURN p.id ORDER BY p.age, p.id DESC", &["d", "b", "a", "c"][..]),
        ("MATCH (p:Person) RETURN p.id ORDER BY p.name", &["a", "b", "c", "d"]),
        ("MATCH (p:Person) RETURN p.id ORDER BY p.name DESC", &["d", "c", "b", "a"]),
        ("MATCH (p:Person) RETURN p.id ORDER BY p.id SKIP 1 LIMIT 2", &["b", "c"]),
        ("MATCH (p:Person) RETURN p.id ORDER BY p.age LIMIT 1", &["b"]),
        (
            "MATCH (p:Person) WITH p ORDER BY p.age DESC LIMIT 2 MATCH (p)-[:Knows]->(q) RETURN q.id ORDER BY q.id",
            &["b", "c", "c"],
        ),
        ("MATCH (p:Person) RETURN p.id ORDER BY p.id LIMIT 0", &[]),
        ("MATCH (p:Person) WITH p.id AS id ORDER BY id RETURN id SKIP 3", &["d"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|id| format!("\"{id}\"")).collect();
        assert_eq!(ordered(&graph, text).await, expected, "{text}");
    }
    assert_eq!(ordered(&graph, "MATCH (n) RETURN n.name LIMIT 3").await.len(), 3);
}
