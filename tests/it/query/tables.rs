//! Variables that stand for rows of several tables.

use super::{all, people, rows};

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_a_label_is_of_any_table_that_fits() {
    let graph = people().await;
    all(
        &graph,
        &[
            ("MATCH (n) RETURN labels(n), count(*)", &[r#"["City"] 2"#, r#"["Person"] 4"#]),
            ("MATCH (n) WHERE n.name = 'Paris' OR n.name = 'Ada' RETURN n.name", &[r#""Ada""#, r#""Paris""#]),
            ("MATCH (n) WHERE n.age = 20 RETURN n.id", &[r#""b""#, r#""d""#]),
            ("MATCH (n) WHERE n.age IS NULL RETURN n.name", &[r#""London""#, r#""Paris""#]),
            (
                "MATCH (a {id: 'a'})-[r]->(x) RETURN type(r), x.name",
                &[
                    r#""Knows" "Bob""#,
                    r#""Knows" "Cy""#,
                    r#""Likes" "Bob""#,
                    r#""Likes" "Bob""#,
                    r#""LivesIn" "London""#,
                ],
            ),
            ("MATCH (x)-[r]-(y:City {country: 'FR', code: 1}) RETURN x.id, type(r)", &[r#""c" "LivesIn""#]),
            ("MATCH (n) RETURN count(DISTINCT n)", &["6"]),
            ("MATCH (n)-[]-(m) WITH DISTINCT m RETURN count(m)", &["5"]),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_nodes_and_edges_are_returned_as_lines() {
    let graph = people().await;
    all(
        &graph,
        &[
            (
                "MATCH (n:City) RETURN n",
                &[
                    r#"{"table":"City","data":{"country":"FR","code":1,"name":"Paris"}}"#,
                    r#"{"table":"City","data":{"country":"UK","code":1,"name":"London"}}"#,
                ],
            ),
            (
                "MATCH (:Person {id: 'a'})-[r]->(:City) RETURN r",
                &[r#"{"table":"LivesIn","from":"a","to":["UK",1],"data":{}}"#],
            ),
            (
                "MATCH ()-[r:Likes {what: 'talk'}]->() RETURN r",
                &[r#"{"table":"Likes","from":"a","to":"b","id":"01HZX3ZJ5M0000000000000001","data":{"what":"talk"}}"#],
            ),
            ("MATCH (p:Person {age: 20}) RETURN collect(p.id) = ['b', 'd'] OR collect(p.id) = ['d', 'b']", &["true"]),
        ],
    )
    .await;
    let nodes = rows(&graph, "MATCH (p)-[:Knows]->(q {id: 'c'}) RETURN p, q").await;
    let ada = r#"{"table":"Person","data":{"id":"a","name":"Ada","age":36,"score":1.5}}"#;
    let cy = r#"{"table":"Person","data":{"id":"c","name":"Cy","age":50,"score":0.0}}"#;
    assert_eq!(nodes, [format!("{ada} {cy}"), format!("{cy} {cy}")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_that_no_table_fits_have_no_match() {
    let graph = people().await;
    all(
        &graph,
        &[
            ("MATCH (c:City)-[r]->(x) RETURN x", &[]),
            (
                "MATCH (p:Person {id: 'a'}) OPTIONAL MATCH (p)<-[r]-(c:City) RETURN p.id, r, c.name",
                &[r#""a" null null"#],
            ),
        ],
    )
    .await;
}
