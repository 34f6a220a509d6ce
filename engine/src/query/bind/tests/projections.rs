//! `RETURN`, `WITH`, groups, orders and unions.

use super::*;

const P: &str = "unit | match (p0:Person)";

fn of_person(rest: &str) -> String {
    let text = format!("MATCH (p:Person) {rest}");
    let shown = shown(&text);
    let Some(tail) = shown.strip_prefix(P) else { panic!("{text}\n{shown}") };
    tail.trim_start_matches(" | ").to_owned()
}

#[test]
fn columns_are_named_as_the_user_says_or_writes() {
    let names = |text: &str| match bound(text).body {
        Body::Read(output) => output.columns.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        Body::Update(_) => panic!("{text} is no read"),
    };
    assert_eq!(
        names("MATCH (p:Person) RETURN p, p.name, p . age , (p.age+1), 2 AS `a b`"),
        ["p", "p.name", "p . age", "(p.age+1)", "a b"]
    );
    assert_eq!(names("MATCH (b:Person)-[k:Knows]->(a) RETURN *, 1 AS x"), ["b", "k", "a", "x"]);
    assert_eq!(names("WITH 1 AS a, 2 AS b WITH *, 3 AS c RETURN *"), ["a", "b", "c"]);
}

#[test]
fn groups_are_made_by_what_has_no_aggregate() {
    let cases = [
        ("RETURN count(*)", "group [] 1=Count(*) | count___2=1 -> count(*)=count___2"),
        (
            "RETURN p.age AS a, count(DISTINCT p.name) AS n",
            "group [2=p0.<Person.age>] 1=Count(distinct p0.<Person.name>) | a3=2, n4=1 -> a=a3, n=n4",
        ),
        // The same aggregate is computed once, and expressions may hold several.
        (
            "RETURN sum(p.age) / count(*) + count(*) AS x",
            "group [] 1=Sum(p0.<Person.age>), 2=Count(*) | x3=((1 / 2) + 2) -> x=x3",
        ),
        (
            "RETURN p.age AS a, p.age + count(*) AS b",
            "group [2=p0.<Person.age>] 1=Count(*) | a3=2, b4=(2 + 1) -> a=a3, b=b4",
        ),
        (
            "WITH p, max(p.age) AS m RETURN p.name AS n, m",
            "group [2=p0] 1=Max(p0.<Person.age>) | p3=2, m4=1 | n5=p3.<Person.name>, m6=m4 -> n=n5, m=m6",
        ),
        (
            // Chance is asked each time that it is written.
            "RETURN randomUUID() AS a, randomUUID() AS b, count(*) AS n ORDER BY randomUUID()",
            "group [2=RandomUuid(), 3=RandomUuid()] 1=Count(*) | a4=2, b5=3, n6=1 | sort RandomUuid() -> a=a4, b=b5, n=n6",
        ),
        ("RETURN collect(p.big) AS x", "group [] 1=Collect(p0.<Person.big>) | x2=1 -> x=x2"),
    ];
    all_equal(cases.map(|(rest, expected)| (rest.to_owned(), of_person(rest), expected.to_owned())));
}

#[test]
fn aggregates_stand_beside_other_forms() {
    // The parser by itself reads none of these.
    assert_eq!(
        of_person("RETURN CASE WHEN p.active THEN 1 END AS y, Collect(p.age) AS z, count (p) AS c"),
        "group [3=case p0.<Person.active>: 1] 1=Collect(p0.<Person.age>), 2=Count(p0) | y4=3, z5=1, c6=2 -> y=y4, z=z5, c=c6"
    );
    assert_eq!(
        refusal("RETURN CASE 1 WHEN 1 THEN 2 END AS y, exists(1)"),
        (39, "the function `exists` is not supported yet".to_owned())
    );
    assert_eq!(refusal("RETURN collec_([1])"), (8, "there is no function `collec_`".to_owned()));
}

#[test]
fn orders_see_new_columns_and_old_variables() {
    let cases = [
        ("RETURN p.age AS a ORDER BY a DESC SKIP 1 LIMIT $n", "a1=p0.<Person.age> | sort a1 desc | slice 1..3 -> a=a1"),
        ("RETURN p.age AS a ORDER BY p.age", "a1=p0.<Person.age> | sort a1 -> a=a1"),
        ("RETURN p.age AS a ORDER BY p.name, a", "a1=p0.<Person.age>, 2=p0.<Person.name> | sort 2, a1 | a1=a1 -> a=a1"),
        (
            "RETURN p.age AS a ORDER BY a + size(p.name)",
            "a1=p0.<Person.age>, 2=(p0.<Person.age> + Size(p0.<Person.name>)) | sort 2 | a1=a1 -> a=a1",
        ),
        ("RETURN p ORDER BY p.name", "p1=p0 | sort p1.<Person.name> -> p=p1"),
        // A new name hides an old variable.
        ("RETURN p.name AS p ORDER BY p", "p1=p0.<Person.name> | sort p1 -> p=p1"),
        (
            "RETURN DISTINCT p.age AS a ORDER BY p.age + 1 LIMIT 2",
            "a1=p0.<Person.age> | distinct | sort (a1 + 1) | slice ..2 -> a=a1",
        ),
        (
            "RETURN p.age AS a, count(*) AS n ORDER BY count(*) DESC, p.age",
            "group [2=p0.<Person.age>] 1=Count(*) | a3=2, n4=1 | sort n4 desc, a3 -> a=a3, n=n4",
        ),
        (
            "RETURN count(*) + 1 AS n ORDER BY count(*)",
            "group [] 1=Count(*) | n2=(1 + 1), 3=1 | sort 3 | n2=n2 -> n=n2",
        ),
    ];
    all_equal(cases.map(|(rest, expected)| (rest.to_owned(), of_person(rest), expected.to_owned())));
}

#[test]
fn conditions_after_with_see_new_columns_and_old_variables() {
    let cases = [
        (
            "WITH p.age AS a WHERE a > 1 AND a < 3 RETURN a",
            "a1=p0.<Person.age> | where (a1 > 1) | where (a1 < 3) | a2=a1 -> a=a2",
        ),
        (
            "WITH p.age AS a WHERE p.name = 'x' RETURN a",
            "a1=p0.<Person.age>, 2=(p0.<Person.name> = 'x') | where 2 | a1=a1 | a3=a1 -> a=a3",
        ),
        (
            "WITH p.age AS a, count(*) AS n WHERE n > 1 RETURN a",
            "group [2=p0.<Person.age>] 1=Count(*) | a3=2, n4=1 | where (n4 > 1) | a5=a3 -> a=a5",
        ),
        (
            "WITH p LIMIT 3 WHERE p.age = 1 RETURN p.id AS i",
            "p1=p0 | slice ..3 | where (p1.<Person.age> = 1) | i2=p1.<Person.id> -> i=i2",
        ),
    ];
    all_equal(cases.map(|(rest, expected)| (rest.to_owned(), of_person(rest), expected.to_owned())));
}

#[test]
fn unions_bring_columns_together_by_name_and_kind() {
    let cases = [
        ("RETURN 1 AS a UNION ALL RETURN 2 AS a", "(unit | a0=1) union all (unit | a1=2) as a2 -> a=a2"),
        (
            "RETURN 1 AS a, 'x' AS b UNION RETURN 'y' AS b, 2 AS a",
            "(unit | a0=1, b1='x') union (unit | b2='y', a3=2 | a3=a3, b2=b2) as a4, b5 -> a=a4, b=b5",
        ),
        ("RETURN 1 AS a UNION RETURN 2.5 AS a", "(unit | a0=1 | 3=convert(a0)) union (unit | a1=2.5) as a2 -> a=a2"),
        (
            "RETURN null AS a UNION RETURN 'x' AS a",
            "(unit | a0=null | 3=convert(a0)) union (unit | a1='x') as a2 -> a=a2",
        ),
        (
            "MATCH (n:Person) RETURN n UNION MATCH (n:City) RETURN n",
            "(unit | match (n0:Person) | n1=n0) union (unit | match (n2:City) | n3=n2) as n4 -> n=n4",
        ),
    ];
    all_equal(cases.map(|(text, expected)| (text.to_owned(), shown(text), expected.to_owned())));
    assert_eq!(bound("MATCH (n:Person) RETURN n UNION MATCH (n:City) RETURN n").entities.len(), 1);
    assert_eq!(
        bound("MATCH (n:Person) RETURN n UNION MATCH (m:City) RETURN m AS n UNION MATCH (n) RETURN n").entities.len(),
        1
    );
}
