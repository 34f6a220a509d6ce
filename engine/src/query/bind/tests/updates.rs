//! Updates.

use super::*;

#[test]
fn updates_are_bound_to_effects() {
    let cases = [
        ("CREATE (p:Person {id: 'a', name: 'A'})", "unit\ncreate (p0:Person {id: 'a', name: 'A'})"),
        (
            "UNWIND $rows AS r CREATE (:Person {id: r.id, age: r.age}) RETURN r.id AS i",
            "unit | unwind [{age: 1, extra: null, id: 'a'}, {age: null, extra: 2.5, id: 'b'}] as r0\n\
             create (1:Person {id: r0.id, age: r0.age})\nrows r0 | i2=r0.id -> i=i2",
        ),
        ("CREATE (p:Person $props) RETURN p", "unit\ncreate (p0:Person {id: 'a', name: 'A'})\nrows p0 | p1=p0 -> p=p1"),
        (
            "MATCH (a:Person) CREATE (a)-[k:Knows {since: 1}]->(b:Person {id: a.name})<-[:Knows]-(a)",
            "unit | match (a0:Person)\ncreate (b1:Person {id: a0.<Person.name>}), (k2:Knows a0->b1 {since: 1}), (3:Knows a0->b1 {})",
        ),
        (
            "CREATE (a:Person {id: 'a'}), (c:City {country: 'x', name: 'y'}), (a)-[:LivesIn]->(c)",
            "unit\ncreate (a0:Person {id: 'a'}), (c1:City {country: 'x', name: 'y'}), (2:LivesIn a0->c1 {})",
        ),
        (
            "MERGE (p:Person {id: $id}) ON CREATE SET p.name = 'n', p.age = 1 ON MATCH SET p.age = p.age + 1 SET p.active = true RETURN p.age AS a",
            "unit\nmerge (p0:Person {id: 'p1'}) on create p0.<Person.name> = 'n', p0.<Person.age> = 1 on match p0.<Person.age> = (p0.<Person.age> + 1)\n\
             set p0.<Person.active> = true\nrows p0 | a1=p0.<Person.age> -> a=a1",
        ),
        (
            "MATCH (a:Person), (c:City) MERGE (c)<-[v:Visited {day: date('2024-01-31')}]-(a) SET v.times = 1",
            "unit | match (a0:Person) (c1:City)\nmerge (v2:Visited a0->c1 {day: Date(19753)})\nset v2.<Visited.times> = 1",
        ),
        (
            "MATCH (p:Person) REMOVE p.age, p.born",
            "unit | match (p0:Person)\nset p0.<Person.age> = null, p0.<Person.born> = null",
        ),
        (
            "MATCH (p:Person) SET p += {age: 1}, p.price = 0.5",
            "unit | match (p0:Person)\nset p0 += {age: 1}, p0.<Person.price> = 5e-1",
        ),
        (
            "UNWIND $rows AS r MERGE (p:Person {id: r.id}) SET p += {age: r.age}",
            "unit | unwind [{age: 1, extra: null, id: 'a'}, {age: null, extra: 2.5, id: 'b'}] as r0\nmerge (p1:Person {id: r0.id})\nset p1 += {age: r0.age}",
        ),
        ("MATCH (p:Person) SET p = $props", "unit | match (p0:Person)\nset p0 = {id: 'a', name: 'A'}"),
        ("MATCH (p:Person), (q:Person) SET p += q", "unit | match (p0:Person) (q1:Person)\nset p0 += Properties(q1)"),
        (
            "MATCH (p:Person)-[k]->() DELETE k, p",
            "unit | match (p0:Person) (2:Person|City) p0-[k1:Knows|LivesIn|Visited|Pays]->2\ndelete k1, p0",
        ),
        (
            "MATCH (p:Person) DETACH DELETE p RETURN count(*) AS n",
            "unit | match (p0:Person)\ndetach delete p0\nrows p0 | group [] 1=Count(*) | n2=1 -> n=n2",
        ),
    ];
    all_equal(cases.map(|(text, expected)| (text.to_owned(), shown(text), expected.to_owned())));
    let values = shown("MATCH (p:Person {id: 'a'}) SET p.uid = $uid, p.doc = '{}', p.small = 127");
    assert!(
        values.contains("p0.<Person.uid> = Uuid([")
            && values.ends_with("p0.<Person.doc> = '{}', p0.<Person.small> = 127"),
        "{values}"
    );
}

#[test]
fn updates_that_can_never_be_are_refused() {
    let cases = [
        ("CREATE (p)", 8, "a new node needs a label"),
        ("CREATE (p:Person|City)", 11, "a new node has exactly one label"),
        ("CREATE (p:Persn {id: 'a'})", 11, "there is no node table `Persn`"),
        ("CREATE (p:Person)", 8, "`Person` needs a value for `id`, which is part of its key"),
        ("CREATE (p:Person {id: null})", 23, "`id` is part of the key of `Person`, which is never null"),
        ("CREATE (p:Person {id: 'a', nmae: 'b'})", 28, "`Person` has no property `nmae`"),
        ("CREATE (p:Person {id: 'a', id: 'b'})", 28, "`id` is given twice"),
        ("CREATE (p:Person {id: 1})", 23, "`id` is of type STRING, and this is an integer"),
        ("CREATE (p:Person {id: 'a', born: '2024-01-31'})", 34, "`born` is of type DATE, and this is a string"),
        ("CREATE (p:Person {id: 'a', small: 200})", 35, "`small` is an INT8 (-128 to 127), and 200 is none"),
        ("CREATE (p:Person {id: 'a', sort: 'c'})", 34, "`sort` is one of \"a\", \"b\", and 'c' is none"),
        ("CREATE (p:Person {id: 'a', doc: '{'})", 33, "`doc` is a JSON value, and '{' is none"),
        ("CREATE (p:Person {id: 'a', uid: 'x'})", 33, "'x' is not a UUID"),
        ("MATCH (p:Person) CREATE (p)", 26, "`p` is there already, and CREATE makes new nodes"),
        ("MATCH (p:Person) CREATE (p:Person)-[:Knows]->(p)", 26, "`p` is there already, and CREATE makes new nodes"),
        (
            "MATCH (a:Person), (c:City) CREATE (a)-[:Knows]->(c)",
            38,
            "`Knows` ends at `Person`, and this node is of `City`",
        ),
        (
            "MATCH (a:Person), (c:City) CREATE (a)<-[:LivesIn]-(c)",
            38,
            "`LivesIn` starts at `Person`, and this node is of `City`",
        ),
        ("MATCH (a:Person) CREATE (a)-[:Knows]-(a)", 28, "a new edge needs a direction"),
        ("MATCH (a:Person) CREATE (a)-->(a)", 28, "a new edge needs a type"),
        ("MATCH (a:Person) CREATE (a)-[:Knows|Pays]->(a)", 31, "a new edge has exactly one type"),
        ("MATCH (a:Person)-[k:Knows]->() CREATE (a)-[k:Knows]->(a)", 44, "`k` is there already"),
        (
            "MATCH (a:Person), (c:City) CREATE (a)-[:Visited]->(c)",
            38,
            "`Visited` needs a value for `day`, which is part of its key",
        ),
        ("WITH 1 AS a CREATE (a)-[:Knows]->(b:Person {id: 'b'})", 21, "`a` is an integer, and a node is meant here"),
        ("MERGE (p:Person {name: 'a'})", 18, "MERGE finds by key, and `name` is not part of it"),
        ("MERGE (c:City {name: 'a'})", 7, "`City` needs a value for `country`, which is part of its key"),
        ("MATCH (p:Person) MERGE (p:Person {id: 'a'})", 25, "`p` is there already"),
        (
            "MATCH (a:Person) MERGE (a)-[:Knows]->(b:Person {id: 'b'})",
            38,
            "MERGE of an edge needs both its nodes before",
        ),
        ("MATCH (a:Person) MERGE (a)-[:Pays]->(a)", 27, "an edge of `Pays` has no key to be found by: it is MULTI"),
        (
            "MATCH (a:Person) MERGE (a)-[:Knows]->(a)-[:Knows]->(a)",
            41,
            "MERGE of more than one edge is not supported yet",
        ),
        ("MATCH (p:Person) SET p.id = 'b'", 24, "`id` is part of the key of `Person`, which never changes"),
        ("MATCH (p:Person) SET p += {id: 'b'}", 28, "`id` is part of the key of `Person`, which never changes"),
        ("MATCH (p:Person) REMOVE p.id", 27, "`id` is part of the key of `Person`, which never changes"),
        ("MATCH (p:Person) SET p.agee = 1", 24, "`Person` has no property `agee`"),
        ("MATCH (p:Person) SET p += {agee: 1}", 28, "`Person` has no property `agee`"),
        ("MATCH (p:Person) SET p.age = 'a'", 30, "`age` is of type INT64, and this is a string"),
        ("MATCH (p:Person) SET p += {age: 'a'}", 33, "`age` is of type INT64, and this is a string"),
        ("MATCH (p:Person) SET p = 1", 26, "`SET` needs a map, such as {name: 'a'}, and this is an integer"),
        ("MATCH (p:Person) SET p:City", 22, "a node keeps its label for life: it is the table that the node lives in"),
        (
            "MATCH (p:Person) REMOVE p:Person",
            25,
            "a node keeps its label for life: it is the table that the node lives in",
        ),
        // The name is part of a city's key.
        ("MATCH (n) SET n.name = 'x'", 17, "`name` is part of the key of `City`, which never changes"),
        ("MATCH (p:Person) SET q.age = 1", 22, "there is no variable `q`"),
        ("WITH {a: 1} AS m SET m.a = 2", 22, "`SET` needs a node or an edge, and this is a map"),
        ("MATCH (p:Person) SET [p][0].age = 1", 22, "a property is set of a variable, such as n.name"),
        ("MATCH (p:Person) SET p.age = count(*)", 30, "`count` cannot stand in SET: it speaks of many rows"),
        ("MATCH (p:Person) DELETE p.age", 25, "`DELETE` needs a node or an edge, and this is an integer"),
        (
            "RETURN 1 AS x UNION CREATE (p:Person {id: 'a'}) RETURN 1 AS x",
            21,
            "an update in a UNION is not supported yet",
        ),
    ];
    all_equal(cases.map(|(text, at, message)| (text.to_owned(), refusal(text), (at, message.to_owned()))));
}
