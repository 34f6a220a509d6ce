//! `OPTIONAL MATCH`.

use super::{all, people};

#[tokio::test(flavor = "multi_thread")]
async fn a_row_without_a_match_is_kept_once_with_nulls() {
    let graph = people().await;
    all(
        &graph,
        &[
            (
                "MATCH (p:Person) OPTIONAL MATCH (p)-[k:Knows]->(q) RETURN p.id, k.since, q.name",
                &[r#""a" 2000 "Bob""#, r#""a" 2002 "Cy""#, r#""b" 2001 "Ada""#, r#""c" 2003 "Cy""#, r#""d" null null"#],
            ),
            (
                "MATCH (p:Person) OPTIONAL MATCH (p)-[:Knows]->(q) WHERE q.age > 40 RETURN p.id, q.id",
                &[r#""a" "c""#, r#""b" null"#, r#""c" "c""#, r#""d" null"#],
            ),
            ("OPTIONAL MATCH (p:Person {id: 'x'}) RETURN p, p.name", &["null null"]),
            ("OPTIONAL MATCH (p:Person {age: 20}) RETURN p.id", &[r#""b""#, r#""d""#]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_matches_at_a_null() {
    let graph = people().await;
    all(
        &graph,
        &[
            (
                "MATCH (p:Person {age: 20}) OPTIONAL MATCH (p)-[:LivesIn]->(c) OPTIONAL MATCH (c)<-[:LivesIn]-(q) \
                 RETURN p.id, c.name, q.id",
                &[r#""b" "London" "a""#, r#""b" "London" "b""#, r#""d" null null"#],
            ),
            ("OPTIONAL MATCH (p:Person {id: 'x'}) MATCH (p) RETURN p.id", &[]),
            ("OPTIONAL MATCH (p:Person {id: 'x'}) OPTIONAL MATCH (p)-[:Knows]->(q) RETURN p, q", &["null null"]),
            ("OPTIONAL MATCH (p:Person {id: 'x'}) WITH p MATCH (q:Person {id: 'a'}) RETURN p, q.id", &[r#"null "a""#]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_rows_are_kept_apart() {
    let graph = people().await;
    all(
        &graph,
        &[
            (
                "UNWIND [1, 1, 2] AS n OPTIONAL MATCH (p:Person {age: n}) RETURN n, p.id",
                &["1 null", "1 null", "2 null"],
            ),
            (
                "UNWIND [20, 20] AS n OPTIONAL MATCH (p:Person {age: n}) RETURN n, p.id",
                &[r#"20 "b""#, r#"20 "b""#, r#"20 "d""#, r#"20 "d""#],
            ),
            (
                "MATCH (p:Person) OPTIONAL MATCH (p)-[:LivesIn]->(c) RETURN c.name, count(*)",
                &[r#""London" 2"#, r#""Paris" 1"#, "null 1"],
            ),
        ],
    )
    .await;
}
