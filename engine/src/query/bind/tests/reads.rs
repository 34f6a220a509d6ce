//! Patterns, their tables and conditions.

use super::*;

#[test]
fn a_pattern_gives_a_column_for_each_node_and_edge() {
    let cases = [
        ("MATCH (n:Person) RETURN n", "unit | match (n0:Person) | n1=n0 -> n=n1"),
        (
            "MATCH (a:Person)-[k:Knows]->(b) RETURN b.name",
            "unit | match (a0:Person) (b2:Person) a0-[k1:Knows]->b2 | b_name3=b2.<Person.name> -> b.name=b_name3",
        ),
        (
            "MATCH ()<-[:LivesIn]-(a) RETURN a.id AS i",
            "unit | match (0:City) (a2:Person) 0<-[1:LivesIn]-a2 | i3=a2.<Person.id> -> i=i3",
        ),
        (
            "MATCH (a)-[k:Knows|LivesIn]-(b:City) RETURN 1 AS one",
            "unit | match (a0:Person) (b2:City) a0-[k1:LivesIn]-b2 | one3=1 -> one=one3",
        ),
        (
            "MATCH (n) RETURN n.name",
            "unit | match (n0:Person|City) | n_name1=n0.<Person.name|City.name> -> n.name=n_name1",
        ),
        (
            "MATCH (n:Person|City) WHERE NOT n:City RETURN 1 AS x",
            "unit | match (n0:Person|City) if not n0:City | x1=1 -> x=x1",
        ),
        (
            "MATCH (n) WHERE n:City AND n.mayor = 'x' RETURN 1 AS x",
            "unit | match (n0:City) if n0:City and (n0.<City.mayor> = 'x') | x1=1 -> x=x1",
        ),
        (
            "MATCH (n WHERE n:City) RETURN n.mayor AS x",
            "unit | match (n0:City) if n0:City | x1=n0.<City.mayor> -> x=x1",
        ),
        ("MATCH (n:!Person) RETURN 1 AS x", "unit | match (n0:City) | x1=1 -> x=x1"),
        ("MATCH (n:Person&City) RETURN n.mayor AS x", "unit | match (n0:!) | x1=n0.<City.mayor> -> x=x1"),
        ("MATCH (a:City)-->(b) RETURN 1 AS x", "unit | match (a0:!) (b2:!) a0-[1:!]->b2 | x3=1 -> x=x3"),
        (
            "MATCH (a)-[r]->(a) RETURN type(r) AS x",
            "unit | match (a0:Person) a0-[r1:Knows|Pays]->a0 | x2=Type(r1) -> x=x2",
        ),
        (
            "MATCH (a:Person {id: $id}), (b {name: a.name}) RETURN 1 AS x",
            "unit | match (a0:Person) (b1:Person|City) if (a0.<Person.id> = 'p1') and (b1.<Person.name|City.name> = a0.<Person.name>) | x2=1 -> x=x2",
        ),
        (
            "MATCH (a:Person $props)-[:Knows {since: 1}]->({age: 2}) RETURN 1 AS x",
            "unit | match (a0:Person) (2:Person) a0-[1:Knows]->2 if (a0.<Person.id> = 'a') and (a0.<Person.name> = 'A') \
             and (1.<Knows.since> = 1) and (2.<Person.age> = 2) | x3=1 -> x=x3",
        ),
    ];
    all_equal(cases.map(|(text, expected)| (text.to_owned(), shown(text), expected.to_owned())));
}

#[test]
fn later_patterns_know_earlier_variables() {
    let cases = [
        (
            "MATCH (a) MATCH (a)-[:Knows]->(b) RETURN a.age",
            "unit | match (a0:Person|City) | match (*a0:Person) (b2:Person) a0-[1:Knows]->b2 | a_age3=a0.<Person.age> -> a.age=a_age3",
        ),
        (
            "MATCH (a:Person) OPTIONAL MATCH (a)-[k]->(b:City) WHERE b.mayor = a.name RETURN k.since AS s",
            "unit | match (a0:Person) | optional (*a0:Person) (b2:City) a0-[k1:LivesIn|Visited]->b2 if (b2.<City.mayor> = a0.<Person.name>) \
             | s3=k1.<LivesIn.since> -> s=s3",
        ),
        (
            "MATCH (a)-[k:Knows]->() WITH k MATCH (x)-[k]->(y) RETURN 1 AS x1",
            "unit | match (a0:Person) (2:Person) a0-[k1:Knows]->2 | k3=k1 | match (x4:Person) (y5:Person) x4-[*k3:Knows]->y5 | x16=1 -> x1=x16",
        ),
    ];
    all_equal(cases.map(|(text, expected)| (text.to_owned(), shown(text), expected.to_owned())));
    // An optional match leaves open what a variable was before.
    assert!(shown("MATCH (a) OPTIONAL MATCH (a:City) RETURN a.name AS n").contains("a0.<Person.name|City.name>"));
}

#[test]
fn lists_are_unwound_to_their_elements() {
    let cases = [
        ("UNWIND $xs AS x RETURN x", "unit | unwind [1, 2] as x0 | x1=x0 -> x=x1"),
        (
            "UNWIND $rows AS r RETURN r.age AS a, r.nothing AS b",
            "unit | unwind [{age: 1, extra: null, id: 'a'}, {age: null, extra: 2.5, id: 'b'}] as r0 | a1=r0.age, b2=null -> a=a1, b=b2",
        ),
        ("UNWIND [] AS x RETURN x", "unit | unwind [] as x0 | x1=x0 -> x=x1"),
        (
            "MATCH (p:Person) UNWIND p.place AS x RETURN x + 1 AS y",
            "unit | match (p0:Person) | unwind p0.<Person.place> as x1 | y2=(x1 + 1) -> y=y2",
        ),
    ];
    all_equal(cases.map(|(text, expected)| (text.to_owned(), shown(text), expected.to_owned())));
}

#[test]
fn entities_that_meet_share_one_layout() {
    let statement = bound("MATCH (a:Person), (b:City), (c:Person) UNWIND [a, b] AS x RETURN x.name AS n, c.age AS g");
    assert_eq!(show::needs(&statement, &catalog()), ["Person(name)|City(name)", "Person(age)"]);
    let kinds: Vec<_> = statement.vars.iter().filter(|var| !var.name.is_empty()).map(|var| var.kind.clone()).collect();
    assert_eq!(kinds[0], kinds[1]);
    assert_eq!(kinds[0], kinds[3]);
    assert_ne!(kinds[0], kinds[2]);
}

#[test]
fn only_what_is_asked_for_is_needed() {
    let needs = |text: &str| show::needs(&bound(text), &catalog());
    assert_eq!(needs("MATCH (p:Person)-[k:Knows]->(q) RETURN count(k) AS n"), ["Person()", "Knows()", "Person()"]);
    assert_eq!(needs("MATCH (c:City) WHERE c.mayor IS NULL RETURN c.name AS n"), ["City(mayor,name)"]);
    let all = "City(age,country,mayor,name)";
    for text in [
        "MATCH (c:City) RETURN c",
        "MATCH (c:City) RETURN collect(c) AS cs",
        "MATCH (c:City) WITH c AS d RETURN {a: [d]} AS m",
        "MATCH (c:City) RETURN properties(c).mayor AS m",
        "MATCH (c:City) RETURN keys(c) AS k",
        "MATCH (c:City) SET c.mayor = 'x'",
    ] {
        assert_eq!(needs(text), [all], "{text}");
    }
    assert_eq!(needs("MATCH (c:City) WITH c WHERE c.age = '1' RETURN DISTINCT c.age AS a"), ["City(age)"]);
    assert_eq!(needs("MATCH (c:City) DELETE c"), ["City()"]);
}

#[test]
fn explain_is_kept() {
    assert!(bound("EXPLAIN RETURN 1 AS x").explain);
    assert!(bound("EXPLAIN MATCH (p:Person) DELETE p").explain);
    assert!(bound(" /* what */ explain\nRETURN 1 AS x").explain);
    assert!(!bound("RETURN 1 AS explain").explain);
    // The place of a finding is that of the whole text.
    assert_eq!(refusal("EXPLAIN RETURN y").0, 16);
}
