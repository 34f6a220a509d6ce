//! What is said of a statement that runs.

use super::*;

/// Column, message and help of each warning.
fn warnings(text: &str) -> Vec<(usize, String, Option<String>)> {
    bound(text).warnings.into_iter().map(|found| (found.span.start + 1, found.message, found.help)).collect()
}

#[test]
fn an_edge_that_its_table_does_not_join_is_told_with_the_ends_of_the_table() {
    let turned = Some("does the arrow point the other way?".to_owned());
    for (text, at, message, help) in [
        ("MATCH (:City)-[k:Knows]->(:Person) RETURN k", 14, "`Knows` goes from `Person` to `Person`", None),
        ("MATCH (:Person)<-[l:LivesIn]-(:City) RETURN l", 16, "`LivesIn` goes from `Person` to `City`", turned.clone()),
        ("MATCH (c:City)-[l:LivesIn]->() RETURN l", 15, "`LivesIn` goes from `Person` to `City`", turned.clone()),
        (
            "MATCH (c:City) MATCH (c)-[k:Knows|Pays]-() RETURN k",
            25,
            "`Knows` goes from `Person` to `Person`, `Pays` goes from `Person` to `Person`",
            None,
        ),
        ("MATCH (a) OPTIONAL MATCH (a)-[l:LivesIn]->(:Person) RETURN l", 29, "`LivesIn` goes from", turned.clone()),
        ("MATCH (c:City) WHERE true MATCH (c)-[k]-(:City) RETURN k", 36, "and 1 more do not fit either", None),
    ] {
        let found = warnings(text);
        let [(found_at, found_message, found_help)] = found.as_slice() else { panic!("{text}: {found:?}") };
        assert!(found_message.starts_with("nothing can match this edge: "), "{text}: {found_message}");
        assert!(*found_at == at && found_message.contains(message), "{text}: {found_at} {found_message}");
        assert_eq!(*found_help, help, "{text}");
    }
}

#[test]
fn edges_that_do_not_go_together_are_told_as_such() {
    let found = warnings("MATCH ()-[:LivesIn]->(x)-[:Knows]->() RETURN x");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with("nothing can match this edge and the others together: "), "{found:?}");
}

#[test]
fn what_may_match_is_not_warned_of() {
    for text in [
        "MATCH (:Person)-[k:Knows]->(:Person) RETURN k",
        "MATCH (a)-[k]->(b) RETURN k",
        "MATCH (:Person)-[k:Knows|LivesIn]-(:City) RETURN k",
        "MATCH (a)-[:LivesIn]->(c)<-[:Visited]-(b) RETURN c",
        "CREATE (a:Person {id: '1', name: 'x'})-[:Knows]->(a)",
    ] {
        assert_eq!(warnings(text), [], "{text}");
    }
}
