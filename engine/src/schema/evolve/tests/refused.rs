//! What cannot be done in place, where it stands and what to do instead.

use super::{parse, refusals};
use crate::schema::{SchemaError, parse_ddl};

const FROM: &str = "CREATE NODE TABLE P (id STRING PRIMARY KEY, a INT64, e ENUM('x', 'y')); CREATE NODE TABLE Q (id STRING PRIMARY KEY);
                    CREATE REL TABLE K (FROM P TO P, since DATE, KEY (since));";

/// `FROM` with other tables in place of those of the same name.
fn with(tables: &[&str]) -> String {
    let mut texts: Vec<&str> = FROM.split_inclusive(';').map(str::trim).collect();
    for table in tables {
        let name = |text: &str| text.split_whitespace().nth(3).map(str::to_owned);
        let place = texts.iter().position(|text| name(text) == name(table)).unwrap();
        texts[place] = table;
    }
    texts.join("\n")
}

#[test]
fn what_cannot_be_done_in_place_is_refused_by_name() {
    let cases = [
        (
            "CREATE NODE TABLE P (id STRING, a INT64 PRIMARY KEY, e ENUM('x', 'y'));",
            (1, 41, "the primary key of `P` cannot be changed: it tells which rows are the same"),
        ),
        (
            "CREATE NODE TABLE P (id STRING PRIMARY KEY, a INT32, e ENUM('x', 'y'));",
            (1, 47, "`a` is of type INT64, whose values are not all of type INT32"),
        ),
        (
            "CREATE NODE TABLE P (id STRING PRIMARY KEY, a DOUBLE, e ENUM('x', 'y'));",
            (1, 47, "`a` is of type INT64, whose values are not all of type DOUBLE"),
        ),
        (
            "CREATE NODE TABLE P (id STRING PRIMARY KEY, a INT64, e ENUM('y', 'x'));",
            (1, 56, "labels of `e` can only be added behind those that are there: it is ENUM('x', 'y')"),
        ),
        (
            "CREATE REL TABLE K (FROM P TO Q, since DATE, KEY (since));",
            (3, 21, "`K` joins other node tables: its edges would end nowhere"),
        ),
        (
            "CREATE REL TABLE K (FROM P TO P, since DATE, MULTI);",
            (3, 18, "`K` is not MULTI, which tells its edges apart and cannot be changed"),
        ),
        (
            "CREATE REL TABLE K (FROM P TO P, since DATE);",
            (3, 18, "the key of `K` cannot be changed: it tells which rows are the same"),
        ),
        (
            "CREATE NODE TABLE P (id STRING PRIMARY KEY, b INT64 RENAMED FROM aa, e ENUM('x', 'y'));",
            (1, 66, "there is no property of `P` `aa` that could be renamed"),
        ),
        ("CREATE NODE TABLE P (id STRING PRIMARY KEY, a INT64 RENAMED FROM e);", (1, 66, "there are both `e` and `a`")),
        (
            "CREATE NODE TABLE P (id STRING PRIMARY KEY, b INT64 RENAMED FROM a, c INT64 RENAMED FROM a);",
            (1, 90, "property of `P` `a` is renamed twice, to `b` and to `c`"),
        ),
    ];
    for (table, (line, column, message)) in cases {
        let found = refusals(FROM, &with(&[table]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].0, found[0].1, found[0].2.as_str()), (line, column, message));
        assert!(!found[0].3.is_empty(), "{message}: says what to do instead");
    }
    let wider = refusals("CREATE NODE TABLE P (n INT32 PRIMARY KEY);", "CREATE NODE TABLE P (n INT64 PRIMARY KEY);");
    assert_eq!(wider[0].2, "the type of `n` cannot be changed: it is part of the key");
    let kind = refusals(FROM, "CREATE NODE TABLE K (id STRING PRIMARY KEY);");
    assert_eq!(kind[0].2, "`K` is an edge table and cannot become a node table");
}

#[test]
fn a_new_table_and_a_new_graph_have_nothing_to_rename() {
    let found = refusals(FROM, &format!("{FROM} CREATE NODE TABLE N (id STRING PRIMARY KEY, b INT8 RENAMED FROM a);"));
    assert_eq!(found[0].2, "there is no property `a`: the table is new");
    let text = "CREATE NODE TABLE P RENAMED FROM Q (id STRING PRIMARY KEY, b INT8 RENAMED FROM a)";
    let Err(SchemaError::Ddl { problems }) = parse_ddl(text, &super::clock(1)) else { panic!() };
    assert_eq!(problems.iter().map(|problem| problem.column).collect::<Vec<_>>(), [34, 80]);
}

#[test]
fn renamed_is_a_word_among_others() {
    let catalog = parse("CREATE NODE TABLE renamed (renamed STRING PRIMARY KEY, `from` INT8);");
    assert_eq!(catalog.tables[0].name, "renamed");
    let text = "CREATE NODE TABLE P (id STRING PRIMARY KEY, a INT8 RENAMED)";
    let Err(SchemaError::Ddl { problems }) = parse_ddl(text, &super::clock(1)) else { panic!() };
    assert_eq!(problems[0].message, "expected `FROM` after `RENAMED`, found `)`");
}
