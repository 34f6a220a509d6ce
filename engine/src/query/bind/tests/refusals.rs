//! What is refused, where and in which words.

use super::*;

#[test]
fn what_is_not_there_is_refused_with_what_was_meant() {
    let cases = [
        ("MATCH (n:Persn) RETURN 1 AS x", 10, "there is no node table `Persn`", "did you mean `Person`?"),
        ("MATCH ()-[:Knws]->() RETURN 1 AS x", 12, "there is no edge table `Knws`", "did you mean `Knows`?"),
        ("MATCH (n:Knows) RETURN 1 AS x", 10, "`Knows` is an edge table, and a node is meant here", ""),
        ("MATCH ()-[:City]->() RETURN 1 AS x", 12, "`City` is a node table, and an edge is meant here", ""),
        ("MATCH (n:Person) RETURN n.nmae", 27, "`Person` has no property `nmae`", "did you mean `name`?"),
        ("MATCH (n:Person {idd: 1}) RETURN 1 AS x", 18, "`Person` has no property `idd`", "did you mean `id`?"),
        ("MATCH (n) RETURN n.mayr", 20, "no table that is meant here has a property `mayr`", "did you mean `mayor`?"),
        ("MATCH (a)-[:Knows]->(b) RETURN b.mayor", 34, "`Person` has no property `mayor`", ""),
        ("MATCH (n:Person) WHERE n:Cty RETURN 1 AS x", 26, "there is no node table `Cty`", "did you mean `City`?"),
        ("MATCH (person:Person) RETURN persn.name", 30, "there is no variable `persn`", "did you mean `person`?"),
        ("RETURN toUper('a')", 8, "there is no function `toUper`", "did you mean `toUpper`?"),
        ("RETURN cuont(1)", 8, "there is no function `cuont`", "did you mean `count`?"),
        ("RETURN id(1)", 8, "the function `id` is not supported yet", "read the properties of the key"),
        ("RETURN $rowz", 8, "the parameter `$rowz` has no value", "did you mean `rows`?"),
        (
            "RETURN $unlike",
            8,
            "`$unlike` is a list that holds a map and a map, where `a` is an integer in the one and a string in the \
             other; its elements must be alike",
            "",
        ),
        ("RETURN $odd", 8, "`$odd` is a list that holds an integer and a string; its elements must be alike", ""),
        (
            "MATCH (n) RETURN n.age",
            20,
            "`age` is an integer in `Person` and a string in `City`",
            "say which label is meant",
        ),
    ];
    all_equal(cases.map(|(text, at, message, suggestion)| {
        (text.to_owned(), (refusal(text), help(text)), ((at, message.to_owned()), suggestion.to_owned()))
    }));
}

#[test]
fn all_that_is_wrong_is_said_together_and_once() {
    assert_eq!(
        refusals(
            "MATCH (n:Persn)-[:Knws]->(m) WHERE x.a > 1 AND x.b < 2 RETURN m.foo, n.foo, 1 + 'a' AS s, toUper(y) ORDER BY q"
        ),
        [
            (10, "there is no node table `Persn`".to_owned()),
            (19, "there is no edge table `Knws`".to_owned()),
            (36, "there is no variable `x`".to_owned()),
            (65, "no table that is meant here has a property `foo`".to_owned()),
            (81, "`+` joins an integer with a string: they are never comparable".to_owned()),
            (91, "there is no function `toUper`".to_owned()),
            (98, "there is no variable `y`".to_owned()),
            (110, "there is no variable `q`".to_owned()),
        ]
    );
}

#[test]
fn kinds_that_do_not_go_together_are_refused() {
    let head = "MATCH (p:Person)-[k:Knows]->() RETURN ";
    let cases = [
        ("p.name = 1", 9, "`=` compares a string with an integer: they are never comparable"),
        ("p.age < 'x'", 8, "`<` compares an integer with a string: they are never comparable"),
        ("p.born = '2024-01-31'", 9, "`=` compares a date with a string: they are never comparable"),
        ("p.doc = p.doc", 0, "JSON documents are not compared"),
        ("p.tags < p.tags", 0, "`<` needs an order, and a list has none"),
        ("p < p", 0, "`<` needs an order, and a node has none"),
        ("p = k", 4, "`=` compares a node with an edge: they are never comparable"),
        ("p.uid = 'x'", 8, "'x' is not a UUID"),
        ("p.age IN 1", 9, "`IN` needs a list, and this is an integer"),
        ("p.age IN ['a']", 0, "`IN` compares a string with an integer: they are never comparable"),
        ("p.age STARTS WITH 'a'", 0, "`STARTS WITH` needs a string, and this is an integer"),
        ("NOT p.age", 4, "`NOT` needs a truth value, and this is an integer"),
        ("p.active AND 1", 13, "`AND` needs a truth value, and this is an integer"),
        ("p.name * 2", 0, "`*` needs a number, and this is a string"),
        ("p.born - p.born", 0, "`-` needs a number, and this is a date"),
        ("-p.name", 1, "`-` needs a number, and this is a string"),
        ("[1, 'a']", 4, "a list cannot hold an integer with a string: they are never comparable"),
        ("[p, k]", 4, "a list cannot hold a node with an edge: they are never comparable"),
        (
            "[{a: 1, b: {c: 1}}, {b: {c: 'x'}}]",
            20,
            "a list cannot hold a map with a map: `b.c` is an integer in the one and a string in the other",
        ),
        ("{a: 1, a: 2}", 7, "the map has two values for `a`"),
        ("p.age[0]", 0, "an index needs a list, and this is an integer"),
        ("p.tags['a']", 7, "an index needs an integer, and this is a string"),
        ("p[p.name]", 2, "a property whose name is computed is not supported yet"),
        ("p.age[0..1]", 0, "a slice needs a list, and this is an integer"),
        ("p.age.x", 0, "`.` needs a node, an edge or a map, and this is an integer"),
        ("p.born.year", 7, "a part of a date is not supported yet"),
        ("p.doc.a", 6, "reading from a JSON document is not supported yet"),
        ("p.age:Person", 0, "a label needs a node or an edge, and this is an integer"),
        ("CASE WHEN 1 THEN 2 END", 10, "`WHEN` needs a truth value, and this is an integer"),
        ("CASE p.age WHEN 'a' THEN 2 END", 16, "`CASE` compares an integer with a string: they are never comparable"),
        ("CASE WHEN true THEN 1 ELSE 'a' END", 27, "`CASE` gives an integer with a string: they are never comparable"),
        ("abs('a')", 4, "`abs` needs a number, and this is a string"),
        ("size(1)", 5, "`size` needs a string or a list, and this is an integer"),
        ("labels(k)", 7, "`labels` needs a node, and this is an edge"),
        ("type(p)", 5, "`type` needs an edge, and this is a node"),
        ("toString(p)", 9, "`toString` needs a single value, and this is a node"),
        ("substring('a')", 0, "`substring` takes 2 to 3 arguments"),
        ("abs()", 0, "`abs` takes one argument"),
        ("randomUUID(1)", 0, "`randomUUID` takes no argument"),
        ("coalesce()", 0, "`coalesce` takes at least 1 argument"),
        ("coalesce(1, 'a')", 12, "`coalesce` gives an integer with a string: they are never comparable"),
        ("size(DISTINCT 'a')", 0, "DISTINCT is for aggregates, and `size` is none"),
        ("date('2024-02-30')", 5, "'2024-02-30' is not a date"),
        ("date(p.age)", 5, "`date` needs a string, such as date('2024-01-31'), and this is an integer"),
        ("sum('a')", 4, "`sum` needs a number, and this is a string"),
        ("max(p)", 4, "`max` needs values that have an order, and this is a node"),
        ("count(1, 2)", 0, "`count` takes one argument"),
        ("sum(count(*))", 4, "`count` cannot stand in an aggregate: it speaks of many rows"),
        ("99999999999999999999", 0, "the number is too large: an integer has 64 bits"),
        ("[x IN [1] | x]", 0, "a list comprehension is not supported yet"),
        ("p.name =~ 'x'", 7, "`=~` is not supported yet"),
        ("exists { MATCH (p) }", 0, "a subquery is not supported yet"),
        ("(p)-->()", 0, "a pattern is not supported yet"),
        ("p {.name}", 0, "a map projection is not supported yet"),
    ];
    all_equal(cases.map(|(expression, at, message)| {
        let text = format!("{head}{expression} AS x");
        let found = refusal(&text);
        (text, found, (head.len() + at + 1, message.to_owned()))
    }));
}

#[test]
fn clauses_are_refused_by_name() {
    let cases = [
        ("", 1, "expected a statement"),
        ("// nothing", 1, "expected a statement"),
        ("MATCH (n:Person)", 16, "the statement neither returns nor changes anything"),
        ("MATCH (n:Person) WITH n", 23, "the statement neither returns nor changes anything"),
        ("MATCH (n:Person) RETRUN n", 18, "unexpected `RETRUN`"),
        ("CREATE NODE TABLE T (id STRING PRIMARY KEY)", 13, "unexpected `TABLE`"),
        ("PROFILE RETURN 1 AS x", 1, "`PROFILE` is not supported yet"),
        ("MATCH p = (a)-->(b) RETURN 1 AS x", 7, "a variable for a path is not supported yet"),
        ("MATCH (a)-[:Knows*1..2]->(b) RETURN 1 AS x", 18, "a path of variable length is not supported yet"),
        ("MATCH (a)-[:Knows]->{1,2}(b) RETURN 1 AS x", 21, "a path of variable length is not supported yet"),
        ("MATCH shortestPath((a)-[:Knows]->(b)) RETURN 1 AS x", 7, "a shortest path is not supported yet"),
        (
            "UNWIND [1] AS x FOREACH (y IN [1] | CREATE (:City {country: 'a', name: 'b'}))",
            17,
            "`FOREACH` is not supported yet",
        ),
        ("CALL { RETURN 1 AS x } RETURN x", 1, "`CALL` is not supported yet"),
        ("LOAD CSV FROM 'x' AS r RETURN r", 1, "`LOAD CSV` is not supported yet"),
        ("RETURN 1 AS x ORDER BY x NULLS FIRST", 26, "a place for nulls in ORDER BY is not supported yet"),
        (
            "MATCH (n:Person) CREATE (:City {country: 'a', name: 'b'}) MATCH (m) RETURN m",
            59,
            "`MATCH` after an update is not supported yet",
        ),
        (
            "CREATE (:City {country: 'a', name: 'b'}) WITH 1 AS x RETURN x",
            42,
            "`WITH` after an update is not supported yet",
        ),
        (
            "MATCH (n:Person) RETURN count(n) + n.age AS x",
            36,
            "`n` stands beside an aggregate, but is no key of the groups",
        ),
        ("MATCH (n:Person) WHERE count(n) > 1 RETURN n", 24, "`count` cannot stand in WHERE: it speaks of many rows"),
        ("MATCH (n:Person) RETURN n ORDER BY count(n)", 36, "`count` cannot stand in ORDER BY: it speaks of many rows"),
        (
            "MATCH (n:Person) RETURN n.age AS a, count(n) AS c ORDER BY max(n.age)",
            60,
            "the order asks for an aggregate that is not projected",
        ),
        (
            "MATCH (n:Person) RETURN n.age AS a, count(n) AS c ORDER BY n.name",
            60,
            "`n` is gone: rows were grouped, and it is not projected",
        ),
        (
            "MATCH (n:Person) RETURN DISTINCT n.age AS a ORDER BY n.name",
            54,
            "`n` is gone: rows were made distinct, and it is not projected",
        ),
        ("MATCH (n:Person) WITH n.age RETURN 1 AS x", 23, "an expression in WITH needs a name"),
        ("MATCH (n:Person) WITH n.age AS a RETURN n", 41, "there is no variable `n`"),
        ("RETURN 1 AS a, 2 AS a", 21, "two columns are called `a`"),
        ("RETURN *", 8, "`*` stands for all variables, and there are none"),
        ("UNWIND 1 AS x RETURN x", 8, "`UNWIND` needs a list, and this is an integer"),
        ("WITH 1 AS x UNWIND [1] AS x RETURN x", 27, "there is a variable `x` already"),
        ("MATCH (n:Person) RETURN n LIMIT n.age", 33, "LIMIT cannot use the variable `n`: it is the same for all rows"),
        ("RETURN 1 AS x SKIP -1", 20, "SKIP cannot be negative"),
        ("RETURN 1 AS x LIMIT 'a'", 21, "LIMIT needs an integer, and this is a string"),
        ("RETURN 1 AS x LIMIT $none", 21, "LIMIT needs an integer, and this is null"),
        ("WITH 1 AS n MATCH (n) RETURN n", 20, "`n` is an integer, and a node is meant here"),
        ("MATCH (n:Person) MATCH ()-[n]->() RETURN n", 28, "`n` is a node, and an edge is meant here"),
        ("MATCH (n)-[n:Knows]->() RETURN n", 12, "`n` is a node, and an edge is meant here"),
        (
            "MATCH ()-[k:Knows]->()-[k:Knows]->() RETURN k",
            25,
            "`k` stands for two edges of one pattern, which are never the same",
        ),
        ("MATCH (n:Person 1) RETURN n", 17, "unexpected `1`"),
        ("MATCH (n:Person $n) RETURN n", 17, "a pattern needs a map, such as {id: 1}, and this is an integer"),
        ("RETURN 1 AS a UNION RETURN 2 AS b", 15, "both sides of UNION need the same columns: `a` and `b`"),
        ("RETURN 1 AS a UNION RETURN 'x' AS a", 15, "`a` gives an integer with a string: they are never comparable"),
        ("RETURN 1 AS a UNION RETURN 2 AS a UNION ALL RETURN 3 AS a", 35, "UNION and UNION ALL cannot be mixed"),
        ("RETURN 1 AS", 12, "the statement ends too early"),
        ("RETURN (1", 8, "unclosed delimiter `(`"),
        ("RETURN 1)", 9, "`)` closes nothing"),
    ];
    all_equal(cases.map(|(text, at, message)| (text.to_owned(), refusal(text), (at, message.to_owned()))));
}

#[test]
fn size_is_bounded_before_anything_recurses() {
    let brackets = format!("RETURN {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    let sum = format!("RETURN 1{}", " + 1".repeat(10_000));
    let nots = format!("RETURN {}true", "NOT ".repeat(3_000));
    let indexes = format!("RETURN [1, [1]]{}", "[0]".repeat(10_000));
    let nested = format!("RETURN {}1{}", "[1 + 1 - ".repeat(60), "]".repeat(60));
    for text in [brackets, sum, nots, indexes] {
        assert_eq!(refusals(&text)[0].1, "the statement is nested too deeply", "{}", &text[..20]);
    }
    assert!(prepare(&nested, &catalog(), &params()).is_err());
    let many = format!("MATCH {} RETURN 1 AS x", vec!["(:Person)"; 400].join(", "));
    assert!(refusal(&many).1.starts_with("the statement is too long to be planned"));
    let long = format!("RETURN [{}] AS x", vec!["1"; 50_000].join(", "));
    assert_eq!(refusal(&long).1, "the statement is longer than 40000 words and marks");
    bound(&format!("RETURN [{}] AS x", vec!["1"; 15_000].join(", ")));
}

#[test]
fn a_misspelt_clause_is_recognised() {
    assert_eq!(help("MATCH (n:Person) RETRUN n"), "did you mean `RETURN`?");
}
