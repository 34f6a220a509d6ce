use super::{clock, helps, problems};
use crate::error::{Classify, ErrorKind};
use crate::schema::parse_ddl;

/// Problems of one item of a node table, with columns counted from the item.
fn item_problems(item: &str) -> Vec<(usize, String)> {
    let lead = "CREATE NODE TABLE T (id STRING PRIMARY KEY, ";
    let found = problems(&format!("{lead}{item})"));
    found.into_iter().map(|(_, column, message)| (column - lead.len(), message)).collect()
}

#[test]
fn an_error_is_shown_where_it_stands() {
    let text = "CREATE NODE TABLE Person (\n  id STRING PRIMARY KEY,\n\tnäme STRNG\n);\n";
    let error = parse_ddl(text, &clock()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the schema cannot be used

line 3, column 7: there is no type `STRNG`
3 |  näme STRNG
  |       ^^^^^
  = help: did you mean `STRING`?"
    );
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "invalid-schema"));
    assert!(error.hint().is_some());
}

#[test]
fn a_long_line_is_shown_around_the_place() {
    let text = format!("/*{}*/ CREATE NODE TABLE T (id STRNG PRIMARY KEY) //{}", "é".repeat(500), "-".repeat(500));
    let message = parse_ddl(&text, &clock()).unwrap_err().to_string();
    let lines: Vec<_> = message.lines().collect();
    assert!(lines.iter().all(|line| line.chars().count() < 180), "{message}");
    let caret = lines[4].chars().position(|character| character == '^').unwrap();
    let shown: String = lines[3].chars().skip(caret).take(5).collect();
    assert_eq!(shown, "STRNG");
}

#[test]
fn every_statement_and_every_item_reports_its_own_errors() {
    let text = "CREATE NODE TABLE A (id STRNG PRIMARY KEY, n INT64 DEFAULT 'x', m INT64 CHEK (m > 0), o INT64);
CRAETE NODE TABLE B (id STRING PRIMARY KEY);
CREATE NODE TABLE C (id STRING PRIMARY KEY
CREATE NODE TABLE D (id STRING);
CREATE REL TABLE E (FROM A TO X, since DATE, MANY_MNY);
CREATE REL TABLE F (FROM A TO D) CREATE NODE TABLE G (id INT64 PRIMARY KEY)";
    let found: Vec<_> = problems(text).into_iter().map(|(line, _, message)| format!("{line}: {message}")).collect();
    assert_eq!(
        found,
        [
            "1: there is no type `STRNG`",
            "1: 'x' is no default for INT64",
            "1: expected `,`, `)` or an option of the property, found `CHEK`",
            "2: expected `CREATE NODE TABLE` or `CREATE REL TABLE`, found `CRAETE`",
            "4: expected `,`, `)` or an option of the property, found `CREATE`",
            "4: node table `D` has no primary key",
            "5: there is no node table `X`",
            "5: expected a property, found `MANY_MNY`",
            "6: expected `;`, found `CREATE`",
        ]
    );
}

#[test]
fn the_form_of_a_statement_is_checked() {
    for (text, column, message) in [
        ("DROP TABLE A", 1, "expected `CREATE NODE TABLE` or `CREATE REL TABLE`, found `DROP`"),
        ("CREATE TABLE A (a INT64)", 8, "expected `NODE` or `REL`, found `TABLE`"),
        ("CREATE NODE A (a INT64)", 13, "expected `TABLE`, found `A`"),
        ("CREATE NODE TABLE IF NOT EXISTS A (a INT64)", 19, "a schema has no `IF NOT EXISTS`"),
        ("CREATE NODE TABLE (a INT64)", 19, "expected the name of the table, found `(`"),
        ("CREATE NODE TABLE A", 20, "expected `(`, found the end of the text"),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY", 41, "expected `,` or `)`, found the end of the text"),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY) x", 43, "expected `;`, found `x`"),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY, b)", 44, "expected a type, found `)`"),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY, 5)", 43, "expected a property, a key or a condition, found `5`"),
        ("CREATE NODE TABLE A (a INT64 PRIMARY, b INT64)", 37, "expected `KEY` after `PRIMARY`, found `,`"),
        ("CREATE NODE TABLE A (a INT64, PRIMARY KEY ())", 44, "expected the name of a property, found `)`"),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY NOT)", 45, "expected `NULL` after `NOT`, found `)`"),
        (
            "CREATE NODE TABLE A (a INT64 PRIMARY KEY, CHECK (a > 0)",
            56,
            "expected `,` or `)`, found the end of the text",
        ),
        (
            "CREATE NODE TABLE A (a INT64 PRIMARY KEY, CHECK (a > 0;",
            55,
            "expected `)` at the end of the condition, found `;`",
        ),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY) # x", 43, "unexpected `#`"),
        (
            "CREATE NODE TABLE A (a STRING PRIMARY KEY, b STRING DEFAULT 'x)",
            61,
            "the string that opens here is never closed",
        ),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY) -- x", 43, "expected `;`, found `-`"),
    ] {
        let found = problems(text);
        assert_eq!(found, [(1, column, message.to_owned())], "{text}");
    }
}

#[test]
fn names_are_checked() {
    let long = "a".repeat(201);
    for (text, messages) in [
        (
            "CREATE NODE TABLE A (id INT64 PRIMARY KEY); CREATE NODE TABLE A (id INT64 PRIMARY KEY)",
            vec!["there are two tables called `A`"],
        ),
        (
            "CREATE NODE TABLE Maß (id INT64 PRIMARY KEY); CREATE NODE TABLE MASS (id INT64 PRIMARY KEY)",
            vec!["`MASS` and `Maß` differ only in case"],
        ),
        (
            "CREATE NODE TABLE A (id INT64 PRIMARY KEY, ID INT64, id STRING)",
            vec!["`ID` and `id` differ only in case", "there are two properties called `id`"],
        ),
        ("CREATE NODE TABLE A (é INT64 PRIMARY KEY, `e\u{301}` INT64)", vec!["there are two properties called `é`"]),
        (
            "CREATE NODE TABLE _A (_id INT64 PRIMARY KEY)",
            vec![
                "the name `_A` begins with `_`, which is kept for hidden columns",
                "the name `_id` begins with `_`, which is kept for hidden columns",
            ],
        ),
        (
            "CREATE NODE TABLE `` (`a.b` INT64 PRIMARY KEY)",
            vec!["the name of a table is empty", "the name of a property cannot hold '.'"],
        ),
        (
            &format!("CREATE NODE TABLE {long} (id INT64 PRIMARY KEY)"),
            vec!["the name of a table is longer than 200 bytes"],
        ),
    ] {
        let found: Vec<_> = problems(text).into_iter().map(|(_, _, message)| message).collect();
        assert_eq!(found, messages, "{text}");
    }
}

#[test]
fn types_are_checked() {
    for (item, column, message) in [
        ("p DECIMAL", 10, "expected `(` with precision and scale, such as DECIMAL(18, 2), found `)`"),
        ("p DECIMAL(39, 2)", 11, "the precision of a DECIMAL is 1 to 38, not 39"),
        ("p DECIMAL(0)", 11, "the precision of a DECIMAL is 1 to 38, not 0"),
        ("p DECIMAL(5, 6)", 14, "the scale 6 is larger than the precision 5"),
        ("p FLOAT[0]", 9, "a vector has 1 to 65536 elements, not 0"),
        ("p FLOAT[99999999999]", 9, "a vector has 1 to 65536 elements, not 99999999999"),
        ("p DOUBLE[3]", 3, "only FLOAT makes vectors, not DOUBLE"),
        ("p STRING[][]", 3, "a list cannot hold STRING[]: its elements must be scalar"),
        ("p FLOAT[3][]", 3, "a list cannot hold FLOAT[3]: its elements must be scalar"),
        ("p JSON[]", 3, "a list cannot hold JSON: its elements must be scalar"),
        ("p ENUM()", 3, "an ENUM needs at least one label"),
        ("p ENUM('a', 'b', 'a')", 18, "the label 'a' is given twice"),
        ("p ENUM('a', '')", 13, "a label is empty"),
        ("p ENUM(a)", 8, "expected a label between quotes, found `a`"),
        ("p VARCHAR(20)", 3, "there is no type `VARCHAR`"),
        ("p 'x'", 3, "expected a type, found `'x'`"),
    ] {
        assert_eq!(item_problems(item), [(column, message.to_owned())], "{item}");
    }
}

#[test]
fn defaults_must_fit_their_types() {
    for (item, column, message) in [
        ("p INT64 DEFAULT 'x'", 17, "'x' is no default for INT64"),
        ("p INT64 DEFAULT 1.0", 17, "1.0 is no default for INT64"),
        ("p INT8 DEFAULT 128", 16, "128 does not fit INT8"),
        ("p UINT8 DEFAULT -1", 17, "-1 does not fit UINT8"),
        ("p STRING DEFAULT 1", 18, "1 is no default for STRING"),
        ("p BOOL DEFAULT 'true'", 16, "'true' is no default for BOOL"),
        ("p DOUBLE DEFAULT 1e999", 18, "1e999 does not fit DOUBLE"),
        ("p FLOAT DEFAULT 1e39", 17, "1e39 does not fit FLOAT"),
        ("p DECIMAL(4, 2) DEFAULT 100", 25, "100 does not fit DECIMAL(4, 2)"),
        ("p DECIMAL(4, 2) DEFAULT 0.125", 25, "0.125 does not fit DECIMAL(4, 2)"),
        ("p DATE DEFAULT '2024-02-30'", 16, "'2024-02-30' is no default for DATE"),
        ("p DATE DEFAULT time('12:00:00')", 16, "time(…) is no default for DATE"),
        ("p TIMESTAMP DEFAULT '2024-01-31'", 21, "'2024-01-31' is no default for TIMESTAMP"),
        ("p UUID DEFAULT 'x'", 16, "'x' is no default for UUID"),
        ("p BLOB DEFAULT 'AAF='", 16, "'AAF=' is no default for BLOB"),
        ("p JSON DEFAULT '{'", 16, "the default is not JSON: EOF while parsing an object at line 1 column 1"),
        ("p ENUM('open', 'closed') DEFAULT 'opne'", 34, "'opne' is no label of ENUM('open', 'closed')"),
        ("p INT64[] DEFAULT [1, 'x']", 23, "'x' is no default for INT64"),
        ("p INT64[] DEFAULT 1", 19, "1 is no default for INT64[]"),
        ("p FLOAT[2] DEFAULT [1]", 20, "a vector of 2 elements is needed, this one has 1"),
        ("p FLOAT[2] DEFAULT [1, NULL]", 24, "a vector has no nulls"),
        ("p INT64 NOT NULL DEFAULT NULL", 26, "the default of `p` is NULL, but it is NOT NULL"),
        ("p INT64 DEFAULT", 16, "expected a value, found `)`"),
        ("p INT64 DEFAULT - 'x'", 19, "expected a number, found `'x'`"),
        ("p INT64 DEFAULT 1 DEFAULT 2", 19, "DEFAULT is given twice"),
        ("p INT64 DEFAULT [[1]]", 18, "expected a value, found `[`"),
    ] {
        assert_eq!(item_problems(item), [(column, message.to_owned())], "{item}");
    }
}

#[test]
fn merge_policies_must_fit_their_types() {
    for (item, column, message) in [
        ("p STRING MERGE sum", 16, "MERGE sum needs a number; `p` is of type STRING"),
        ("p DATE MERGE sum", 14, "MERGE sum needs a number; `p` is of type DATE"),
        ("p STRING MERGE max", 16, "MERGE max needs a number, date or time; `p` is of type STRING"),
        ("p BOOL MERGE min", 14, "MERGE min needs a number, date or time; `p` is of type BOOL"),
        ("p INT64 MERGE union", 15, "MERGE union needs a list; `p` is of type INT64"),
        ("p FLOAT[2] MERGE union", 18, "MERGE union needs a list; `p` is of type FLOAT[2]"),
        ("p INT64 MERGE maxx", 15, "expected `sum`, `max`, `min`, `union` or `last_writer`, found `maxx`"),
        ("p INT64 MERGE sum MERGE max", 19, "MERGE is given twice"),
    ] {
        assert_eq!(item_problems(item), [(column, message.to_owned())], "{item}");
    }
    let key = "CREATE NODE TABLE T (id INT64 PRIMARY KEY MERGE max)";
    assert_eq!(problems(key), [(1, 49, "`id` is part of the key, which no merge changes".to_owned())]);
}

#[test]
fn keys_and_uniques_are_checked() {
    for (text, column, message) in [
        ("CREATE NODE TABLE T (id STRING)", 19, "node table `T` has no primary key"),
        ("CREATE NODE TABLE T ()", 19, "node table `T` has no primary key"),
        ("CREATE NODE TABLE T (a STRING PRIMARY KEY, b STRING PRIMARY KEY)", 53, "the table has a second key"),
        ("CREATE NODE TABLE T (a STRING, PRIMARY KEY (b))", 45, "table `T` has no property `b`"),
        ("CREATE NODE TABLE T (a STRING, PRIMARY KEY (a, a))", 48, "`a` is named twice"),
        ("CREATE NODE TABLE T (a DOUBLE PRIMARY KEY)", 22, "`a` is of type DOUBLE, which cannot be part of a key"),
        ("CREATE NODE TABLE T (a JSON, PRIMARY KEY (a))", 43, "`a` is of type JSON, which cannot be part of a key"),
        (
            "CREATE NODE TABLE T (a INT64 PRIMARY KEY, b FLOAT[2] UNIQUE)",
            43,
            "`b` is of type FLOAT[2], which cannot be unique",
        ),
        (
            "CREATE NODE TABLE T (a INT64 PRIMARY KEY, b INT64, UNIQUE (a, b), UNIQUE (b, a))",
            67,
            "the same properties are declared unique twice",
        ),
        ("CREATE NODE TABLE T (a INT64 PRIMARY KEY, UNIQUE (c))", 51, "table `T` has no property `c`"),
        ("CREATE NODE TABLE T (a INT64 PRIMARY KEY, MULTI)", 43, "a node table cannot have MULTI"),
        ("CREATE NODE TABLE T (a INT64 PRIMARY KEY, ONE_ONE)", 43, "a node table cannot have a multiplicity"),
        ("CREATE NODE TABLE T (a INT64 PRIMARY KEY, FROM T TO T)", 43, "a node table cannot have FROM … TO …"),
    ] {
        assert_eq!(problems(text), [(1, column, message.to_owned())], "{text}");
    }
}

#[test]
fn edge_tables_are_checked() {
    for (item, column, message) in [
        ("since DATE", -7, "edge table `E` does not say which nodes it joins"),
        ("FROM T TO P", 11, "there is no node table `P`"),
        ("FROM E TO T", 6, "`E` is an edge table; edges join nodes"),
        ("FROM T TO T, FROM T TO T", 14, "an edge table joins one pair of node tables"),
        ("FROM T TO T, k INT64, KEY (k), MULTI", 32, "a MULTI edge table cannot have a key"),
        ("FROM T TO T, MULTI, MULTI", 21, "MULTI is given twice"),
        ("FROM T TO T, MANY_ONE, ONE_MANY", 24, "the multiplicity is given twice"),
        ("FROM T TO T, k FLOAT, KEY (k)", 28, "`k` is of type FLOAT, which cannot be part of a key"),
        ("FROM T TO T, _id INT64", 14, "the name `_id` begins with `_`, which is kept for hidden columns"),
    ] {
        let lead = "CREATE NODE TABLE T (id INT64 PRIMARY KEY); CREATE REL TABLE E   (";
        let found: Vec<_> = problems(&format!("{lead}{item})"))
            .into_iter()
            .map(|(_, column, message)| (i64::try_from(column).unwrap() - i64::try_from(lead.len()).unwrap(), message))
            .collect();
        let column = if column < 0 {
            i64::try_from(lead.find(" E ").unwrap() + 2).unwrap() - i64::try_from(lead.len()).unwrap()
        } else {
            column
        };
        assert_eq!(found, [(column, message.to_owned())], "{item}");
    }
}

#[test]
fn checks_are_checked_with_their_place_in_the_text() {
    for (item, column, message) in [
        ("p INT64, CHECK (pp > 0)", 17, "there is no property `pp`"),
        ("p INT64 CHECK (p > 'x')", 20, "`>` compares an integer with a string: they are never comparable"),
        ("p INT64 CHECK ( p >= )", 21, "the condition ends too early"),
        ("p INT64 CHECK ()", 16, "expected a condition"),
        ("p INT64 CHECK (p = $x)", 20, "a condition cannot use a parameter"),
        ("p INT64 CHECK (size(p) > 0)", 21, "`size` needs a string or a list, and this is an integer"),
        ("p INT64 CHECK (p + 1)", 16, "a CHECK needs a truth value, and this is an integer"),
    ] {
        assert_eq!(item_problems(item), [(column, message.to_owned())], "{item}");
    }
}

#[test]
fn a_wrong_property_does_not_draw_further_errors() {
    assert_eq!(
        problems("CREATE NODE TABLE T (id STRNG PRIMARY KEY, p STRNG DEFAULT 1 MERGE sum, UNIQUE (p), CHECK (p > id))")
            .len(),
        2
    );
    assert_eq!(problems("CREATE NODE TABLE T (id 5, p INT64, PRIMARY KEY (id), CHECK (id > p))").len(), 1);
}

#[test]
fn near_misses_are_recognised() {
    for (text, help) in [
        ("CRAETE NODE TABLE A (a INT64 PRIMARY KEY)", "did you mean `CREATE`?"),
        ("CREATE NOED TABLE A (a INT64 PRIMARY KEY)", "did you mean `NODE`?"),
        ("CREATE NODE TABLE A (a ITN64 PRIMARY KEY)", "did you mean `INT64`?"),
        ("CREATE NODE TABLE A (a INTEGER PRIMARY KEY)", "write INT64"),
        (
            "CREATE NODE TABLE A (a SERIAL PRIMARY KEY)",
            "keys are given by whoever writes the row: use INT64, STRING or UUID",
        ),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY UNIQE)", "did you mean `UNIQUE`?"),
        ("CREATE NODE TABLE A (name STRING, PRIMARY KEY (nmae))", "did you mean `name`?"),
        ("CREATE NODE TABLE A (name STRING PRIMARY KEY, CHECK (nam <> ''))", "did you mean `name`?"),
        (
            "CREATE NODE TABLE Person (a INT64 PRIMARY KEY); CREATE REL TABLE K (FROM person TO Person)",
            "did you mean `Person`?",
        ),
        (
            "CREATE NODE TABLE A (a INT64 PRIMARY KEY); CREATE REL TABLE K (FROM A TO A, MANYONE)",
            "did you mean `MANY_ONE`?",
        ),
        ("CREATE NODE TABLE A (a ENUM('open', 'shut') DEFAULT 'opn' PRIMARY KEY)", "did you mean `open`?"),
        ("CREATE NODE TABLE A (a INT64 PRIMARY KEY MERGE smu)", "did you mean `sum`?"),
        (
            "CREATE NODE TABLE A (a INT64 PRIMARY KEY, d DATE CHECK (d > '2024-01-31'))",
            "a date is written date('2024-01-31')",
        ),
        ("CREATE NODE TABLE A (a INT8 PRIMARY KEY DEFAULT 300)", "INT8 is -128 to 127"),
    ] {
        assert_eq!(helps(text), [help], "{text}");
    }
}

#[test]
fn what_a_merge_makes_of_deleted_nodes_is_said_once_and_of_edges() {
    assert_eq!(item_problems("ON MERGE KEEP"), [(1, "a node table cannot have ON MERGE".to_owned())]);
    let lead = "CREATE NODE TABLE P (id STRING PRIMARY KEY); CREATE REL TABLE E (FROM P TO P, ";
    for (items, column, message) in [
        ("ON MERGE KEEP, ON MERGE CASCADE", 16, "ON MERGE is given twice"),
        ("ON MERGE DROP", 10, "expected `CASCADE` or `KEEP` after `ON MERGE`, found `DROP`"),
        ("ON MERGE", 9, "expected `CASCADE` or `KEEP` after `ON MERGE`, found `)`"),
        ("ON MERGE KEEP CASCADE", 15, "expected `,` or `)`, found `CASCADE`"),
    ] {
        let text = format!("{lead}{items})");
        assert_eq!(problems(&text), [(1, lead.len() + column, message.to_owned())], "{text}");
    }
    assert_eq!(helps(&format!("{lead}ON MERGE CASCAD)")), ["did you mean `CASCADE`?"]);
}
