//! Patterns of required matches.

use kit::graphs::{graph, load};
use pleach::{LoadMode, Params};

use super::{all, people, rows, try_ordered};

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_matched_by_label_and_condition() {
    let graph = people().await;
    all(
        &graph,
        &[
            ("MATCH (p:Person) RETURN p.id", &[r#""a""#, r#""b""#, r#""c""#, r#""d""#]),
            ("MATCH (p:Person {id: 'a'}) RETURN p.name", &[r#""Ada""#]),
            ("MATCH (p:Person {id: 'x'}) RETURN p.name", &[]),
            ("MATCH (p:Person) WHERE p.age < 30 AND p.name IS NULL RETURN p.id", &[r#""d""#]),
            ("MATCH (p:Person) WHERE p.age < 30 OR p.name = 'Cy' RETURN p.id", &[r#""b""#, r#""c""#, r#""d""#]),
            ("MATCH (p:Person) WHERE NOT p.name STARTS WITH 'A' RETURN p.id", &[r#""b""#, r#""c""#]),
            ("MATCH (p:Person) WHERE p.id IN ['a', 'd', 'x', null] RETURN p.id", &[r#""a""#, r#""d""#]),
            ("MATCH (p:Person) WHERE p.score = 0 RETURN p.id", &[r#""c""#, r#""d""#]),
            ("MATCH (p:Person) WHERE p.score >= 0.0 RETURN p.id", &[r#""a""#, r#""c""#, r#""d""#]),
            ("MATCH (c:City {country: 'UK', code: 1}) RETURN c.name", &[r#""London""#]),
            ("MATCH (c:City) WHERE c.code = 1 AND c.country > 'FR' RETURN c.name", &[r#""London""#]),
            ("MATCH (p:Person) RETURN count(*)", &["4"]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edges_are_followed_in_either_direction() {
    let graph = people().await;
    all(
        &graph,
        &[
            ("MATCH (:Person {id: 'a'})-[:Knows]->(p) RETURN p.name", &[r#""Bob""#, r#""Cy""#]),
            ("MATCH (:Person {id: 'a'})<-[k:Knows]-(p) RETURN p.name, k.since", &[r#""Bob" 2001"#]),
            (
                "MATCH (:Person {id: 'a'})-[k:Knows]-(p) RETURN p.id, k.since",
                &[r#""b" 2000"#, r#""b" 2001"#, r#""c" 2002"#],
            ),
            ("MATCH (a)-[:Knows]->(b) RETURN a.id, b.id", &[r#""a" "b""#, r#""a" "c""#, r#""b" "a""#, r#""c" "c""#]),
            ("MATCH (a)-[k:Knows]->(b) WHERE k.since > 2001 RETURN a.name, b.name", &[r#""Ada" "Cy""#, r#""Cy" "Cy""#]),
            ("MATCH (a)-[:LivesIn]->(c:City {country: 'UK', code: 1}) RETURN a.id", &[r#""a""#, r#""b""#]),
            ("MATCH (a:Person {id: 'a'})-[l:Likes]->(b:Person {id: 'b'}) RETURN l.what", &[r#""talk""#, r#""walk""#]),
            (
                "MATCH (a:Person {id: 'a'})-[:Knows|LivesIn]->(x) RETURN labels(x)",
                &[r#"["City"]"#, r#"["Person"]"#, r#"["Person"]"#],
            ),
            ("MATCH ()-[k:Knows]->() RETURN count(*), sum(k.since)", &["4 8006"]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_from_a_node_to_itself_matches_once_whatever_the_direction() {
    let graph = people().await;
    all(
        &graph,
        &[
            ("MATCH (:Person {id: 'c'})-[k:Knows]-(p) RETURN p.id, k.since", &[r#""a" 2002"#, r#""c" 2003"#]),
            ("MATCH (p)-[k:Knows]-(p) RETURN p.id, k.since", &[r#""c" 2003"#]),
            ("MATCH (p)-[k:Knows]->(p) RETURN p.id", &[r#""c""#]),
            ("MATCH ()-[k:Knows]-() RETURN count(k)", &["7"]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_edge_is_used_twice_in_a_match() {
    let graph = people().await;
    all(
        &graph,
        &[
            (
                "MATCH (:Person {id: 'b'})-[:Knows]-(:Person {id: 'a'})-[:Knows]-(x) RETURN x.id",
                &[r#""b""#, r#""b""#, r#""c""#, r#""c""#],
            ),
            ("MATCH (a:Person {id: 'c'})-[:Knows]->(b)-[:Knows]->(c) RETURN c.id", &[]),
            ("MATCH (a:Person {id: 'c'})-[:Knows]->(b) MATCH (b)-[:Knows]->(c) RETURN c.id", &[r#""c""#]),
            (
                "MATCH (a)-[x:Likes]->(b), (a)-[y:Likes]->(b) RETURN x.what, y.what",
                &[r#""talk" "walk""#, r#""walk" "talk""#],
            ),
            (
                "MATCH (a)-[x]->(b), (a)-[y:Likes]->(b) RETURN type(x), y.what",
                &[r#""Knows" "talk""#, r#""Knows" "walk""#, r#""Likes" "talk""#, r#""Likes" "walk""#],
            ),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_that_went_through_an_expression_is_still_itself() {
    let graph = people().await;
    all(
        &graph,
        &[
            (
                "MATCH (c:Person)-[k:Knows]->(c) WITH head(collect(k)) AS k MATCH (x)-[k]->(y)-[l:Knows]->() RETURN l.since",
                &[],
            ),
            (
                "MATCH (:Person {id: 'a'})-[k:Likes]->() WITH k ORDER BY k.what LIMIT 1 WITH [k][0] AS k \
                 MATCH ()-[k]->(y)-[l:Likes]-() RETURN k.what, l.what",
                &[r#""talk" "walk""#],
            ),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cycles_and_parts_that_nothing_joins() {
    let graph = people().await;
    all(
        &graph,
        &[
            ("MATCH (a)-[:Knows]->(b)-[:Knows]->(a) RETURN a.id, b.id", &[r#""a" "b""#, r#""b" "a""#]),
            (
                "MATCH (a)-[:LivesIn]->(c)<-[:LivesIn]-(b), (a)-[:Knows]->(b) RETURN a.id, b.id, c.name",
                &[r#""a" "b" "London""#, r#""b" "a" "London""#],
            ),
            ("MATCH (c:City), (p:Person {id: 'd'}) RETURN c.name, p.age", &[r#""London" 20"#, r#""Paris" 20"#]),
            ("MATCH (a:Person), (b:Person) WHERE a.age = b.age AND a.id < b.id RETURN a.id, b.id", &[r#""b" "d""#]),
            ("MATCH (a:Person), (b:Person) RETURN count(*)", &["16"]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_former_clause_found_is_gone_on_from() {
    let graph = people().await;
    all(
        &graph,
        &[
            ("MATCH (a:Person {id: 'a'}) MATCH (a)-[:Knows]->(b) RETURN b.id", &[r#""b""#, r#""c""#]),
            (
                "MATCH (a)-[k:Knows]->(b) WITH k MATCH (x)-[k]->(y) RETURN x.id, y.id, k.since",
                &[r#""a" "b" 2000"#, r#""a" "c" 2002"#, r#""b" "a" 2001"#, r#""c" "c" 2003"#],
            ),
            ("MATCH ()-[k:Knows {since: 2000}]->() MATCH (x)-[k]-(y) RETURN x.id, y.id", &[r#""a" "b""#, r#""b" "a""#]),
            ("MATCH ()-[k:Knows {since: 2003}]->() MATCH (x)-[k]-(y) RETURN x.id, y.id", &[r#""c" "c""#]),
            ("MATCH (a:Person {id: 'b'})-[k:Knows]->() MATCH (a)<-[k]-(y) RETURN y.id", &[]),
            ("MATCH (a:Person {id: 'b'})-[k:Knows]->() MATCH (y)<-[k]-(a) RETURN y.id", &[r#""a""#]),
            (
                "UNWIND ['b', 'x', null, 'a', 'b'] AS id MATCH (p:Person {id: id}) RETURN p.name",
                &[r#""Ada""#, r#""Bob""#, r#""Bob""#],
            ),
            (
                "UNWIND [{c: 'UK', n: 1}, {c: 'FR', n: 2}] AS k MATCH (c:City {country: k.c, code: k.n}) RETURN c.name",
                &[r#""London""#],
            ),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_constants() {
    let graph = people().await;
    let params = Params::from_json(r#"{"id": "a", "least": 2001}"#).unwrap();
    let text = "MATCH (p:Person {id: $id})-[k:Knows]->(q) WHERE k.since > $least RETURN q.name";
    assert_eq!(try_ordered(&graph, text, params).await.unwrap(), [r#""Cy""#]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_keys_are_looked_for_by_reading_the_table_through() {
    const PEOPLE: usize = 3_000;
    let graph = graph(super::DDL).await;
    let person = |id: usize| format!(r#"{{"table":"Person","data":{{"id":"p{id}","age":{}}}}}"#, id % 7);
    let knows = |id: usize| format!(r#"{{"table":"Knows","from":"p{id}","to":"p{}"}}"#, (id + 1) % PEOPLE);
    let lines: Vec<String> = (0..PEOPLE).map(person).chain((0..PEOPLE).map(knows)).collect();
    load(&graph, LoadMode::Append, &lines.join("\n")).await.unwrap();
    all(
        &graph,
        &[
            ("MATCH (a:Person)-[:Knows]->(b) RETURN count(b.age), sum(b.age)", &["3000 8994"]),
            ("MATCH (a)-[:Knows]->(b)-[:Knows]->(c) WHERE a.age = 3 AND c.age = 5 RETURN count(*)", &["428"]),
            ("MATCH (a)-[:Knows]-(b) WITH b.age AS age RETURN count(*), sum(age)", &["6000 17988"]),
        ],
    )
    .await;
    let ids: Vec<String> = (0..2_000).map(|id| format!("\"p{}\"", id * 2)).collect();
    let params = Params::from_json(&format!("{{\"ids\": [{}]}}", ids.join(","))).unwrap();
    let text = "UNWIND $ids AS id MATCH (p:Person {id: id}) RETURN count(p)";
    assert_eq!(try_ordered(&graph, text, params).await.unwrap(), ["1500"]);
    assert_eq!(rows(&graph, "MATCH (p:Person) RETURN p.age AS age, count(*) ORDER BY age LIMIT 1").await, ["0 429"]);
}
