use std::collections::HashSet;

use serde_json::json;

use super::{clock, parse, table};
use crate::schema::{
    JsonText, MergePolicy, Multiplicity, OnMerge, TableKind, Type, decode_catalog, encode_catalog, parse_ddl, print_ddl,
};

#[test]
fn every_type_is_read() {
    for (text, ty) in [
        ("STRING", Type::String),
        ("string", Type::String),
        ("BOOL", Type::Bool),
        ("INT8", Type::Int8),
        ("INT16", Type::Int16),
        ("INT32", Type::Int32),
        ("INT64", Type::Int64),
        ("UINT8", Type::UInt8),
        ("UINT16", Type::UInt16),
        ("UINT32", Type::UInt32),
        ("UINT64", Type::UInt64),
        ("FLOAT", Type::Float),
        ("DOUBLE", Type::Double),
        ("DECIMAL(38, 38)", Type::Decimal { precision: 38, scale: 38 }),
        ("DECIMAL(5)", Type::Decimal { precision: 5, scale: 0 }),
        ("DATE", Type::Date),
        ("TIME", Type::Time),
        ("TIMESTAMP", Type::Timestamp),
        ("UUID", Type::Uuid),
        ("BLOB", Type::Blob),
        ("JSON", Type::Json),
        ("STRING[]", Type::List(Box::new(Type::String))),
        ("FLOAT[]", Type::List(Box::new(Type::Float))),
        ("DECIMAL(4, 2)[]", Type::List(Box::new(Type::Decimal { precision: 4, scale: 2 }))),
        ("FLOAT[384]", Type::Vector(384)),
        (r"ENUM('a', 'it\'s')", Type::Enum(vec!["a".to_owned(), "it's".to_owned()])),
        ("ENUM('a')[]", Type::List(Box::new(Type::Enum(vec!["a".to_owned()])))),
    ] {
        let table = table(&format!("CREATE NODE TABLE T (id STRING PRIMARY KEY, p {text})"));
        assert_eq!(table.properties[1].ty, ty, "{text}");
        assert_eq!(table.properties[1].item_field.is_some(), matches!(ty, Type::List(_)), "{text}");
    }
}

#[test]
fn options_of_properties_come_in_any_order() {
    let table = table(
        "CREATE NODE TABLE Person (
           id STRING PRIMARY KEY, // the badge
           name STRING UNIQUE NOT NULL,
           age INT64 CHECK (age >= 0) MERGE max DEFAULT 18 NOT NULL,
           /* labels */ tags STRING[] MERGE union,
           seen TIMESTAMP MERGE last_writer
         );",
    );
    let [id, name, age, tags, seen] = table.properties.as_slice() else { panic!("{table:?}") };
    assert_eq!(table.key, [id.id]);
    assert_eq!(table.unique, [[name.id]]);
    assert_eq!((id.not_null, name.not_null, age.not_null, tags.not_null), (true, true, true, false));
    assert_eq!(age.default.as_ref().map(JsonText::get), Some("18"));
    assert_eq!(
        [age.merge, tags.merge, seen.merge],
        [Some(MergePolicy::Max), Some(MergePolicy::Union), Some(MergePolicy::LastWriter)]
    );
    assert_eq!((table.checks[0].expression.as_str(), &table.checks[0].properties), ("age >= 0", &vec![age.id]));
}

#[test]
fn table_wide_keys_uniques_and_checks_name_properties_in_their_order() {
    let table = table(
        "create node table T (a STRING, b INT64, c STRING, primary key (b, a), unique (a, c), check (b > size(a) OR b IN [1, 2]))",
    );
    let [a, b, c] = table.properties.as_slice() else { panic!("{table:?}") };
    assert_eq!(table.key, [b.id, a.id]);
    assert!(a.not_null && b.not_null && !c.not_null);
    assert_eq!(table.unique, [[a.id, c.id]]);
    assert_eq!(table.checks[0].properties, [b.id, a.id]);
}

#[test]
fn edges_join_tables_that_stand_anywhere_in_the_text() {
    let catalog = parse(
        "CREATE REL TABLE Knows (FROM Person TO Person, since DATE, MANY_MANY);
         CREATE REL TABLE Rated (FROM Person TO Film, MULTI, stars INT8);
         CREATE REL TABLE Lives (FROM Person TO Place, since DATE, KEY (since), many_one)
         ; CREATE REL TABLE Owns (FROM Person TO Place, year INT64 PRIMARY KEY, ONE_ONE);
         CREATE NODE TABLE Person (id STRING PRIMARY KEY);
         CREATE NODE TABLE Film (id STRING PRIMARY KEY);
         CREATE NODE TABLE Place (country STRING, city STRING, PRIMARY KEY (country, city));",
    );
    let edge = |name: &str| match &catalog.table(name).unwrap().kind {
        TableKind::Edge { from, to, from_fields, to_fields, multi, multiplicity, .. } => {
            let name = |id| catalog.table_by_id(id).unwrap().name.as_str();
            (name(*from), name(*to), from_fields.len(), to_fields.len(), *multi, *multiplicity)
        }
        TableKind::Node {} => panic!("{name} is a node table"),
    };
    assert_eq!(edge("Knows"), ("Person", "Person", 1, 1, false, Multiplicity::ManyMany));
    assert_eq!(edge("Rated"), ("Person", "Film", 1, 1, true, Multiplicity::ManyMany));
    assert_eq!(edge("Lives"), ("Person", "Place", 1, 2, false, Multiplicity::ManyOne));
    assert_eq!(edge("Owns"), ("Person", "Place", 1, 2, false, Multiplicity::OneOne));
    for (name, key) in [("Knows", 0), ("Rated", 0), ("Lives", 1), ("Owns", 1)] {
        let table = catalog.table(name).unwrap();
        assert_eq!(table.key.len(), key, "{name}");
        assert!(table.key_properties().all(|property| property.not_null), "{name}");
    }
}

#[test]
fn ids_follow_the_order_of_declaration_and_columns_are_numbered_apart() {
    let text: String = (0..20)
        .map(|i| format!("CREATE NODE TABLE T{i} (id STRING PRIMARY KEY, tags STRING[], v FLOAT[2]);"))
        .chain((0..20).map(|i| format!("CREATE REL TABLE E{i} (FROM T{i} TO T0);")))
        .collect();
    let catalog = parse(&text);
    assert!(catalog.tables.is_sorted_by(|a, b| a.id < b.id));
    assert_eq!(catalog.tables[3].name, "T3");
    let mut fields = Vec::new();
    for table in &catalog.tables {
        fields
            .extend(table.properties.iter().flat_map(|property| [Some(property.field), property.item_field]).flatten());
        if let TableKind::Edge { from_fields, to_fields, .. } = &table.kind {
            fields.extend(from_fields.iter().chain(to_fields));
        }
    }
    assert_eq!(fields.len(), 20 * 4 + 20 * 2);
    assert!(fields.iter().all(|field| field.0 >= 1000));
    assert_eq!(fields.iter().collect::<HashSet<_>>().len(), fields.len());
    assert_ne!(parse_ddl(&text, &crate::clock::Clock::system()).unwrap().tables[0].id, catalog.tables[0].id);
}

#[test]
fn words_of_the_language_are_names_where_a_name_stands() {
    let table = table(
        "CREATE NODE TABLE table (key STRING PRIMARY KEY, unique INT64, check BOOL, primary STRING, from STRING, to STRING,
         multi STRING, `has space` STRING, `order` INT64, date DATE, many_many INT64, CHECK (`order` > 0 AND `has space` <> ''))",
    );
    let names: Vec<_> = table.properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(
        names,
        ["key", "unique", "check", "primary", "from", "to", "multi", "has space", "order", "date", "many_many"]
    );
}

#[test]
fn names_are_kept_in_one_unicode_form() {
    let table = table(
        "CREATE NODE TABLE `Cafe\u{301}` (`e\u{301}` INT64 PRIMARY KEY, CHECK (`e\u{301}` > 0), UNIQUE (`\u{e9}`))",
    );
    assert_eq!((table.name.as_str(), table.properties[0].name.as_str()), ("Caf\u{e9}", "\u{e9}"));
    assert_eq!(table.checks[0].properties, table.key);
}

#[test]
fn defaults_are_kept_in_the_spelling_of_loads() {
    for (ty, literal, json) in [
        ("STRING", r"'it\'s'", json!("it's")),
        ("BOOL", "TRUE", json!(true)),
        ("INT8", "-128", json!(-128)),
        ("INT64", "0x1F", json!(31)),
        ("INT64", "1_000", json!(1000)),
        ("INT64", "9007199254740992", json!(9_007_199_254_740_992_i64)),
        ("INT64", "9007199254740993", json!("9007199254740993")),
        ("UINT64", "18446744073709551615", json!("18446744073709551615")),
        ("DOUBLE", "1", json!(1.0)),
        ("DOUBLE", "-0.0", json!(-0.0)),
        ("DOUBLE", "-Infinity", json!("-Infinity")),
        ("FLOAT", "NaN", json!("NaN")),
        ("FLOAT", "0.1", json!(0.1)),
        ("FLOAT", "16777217", json!(16_777_216.0)),
        ("DECIMAL(10, 2)", "1.5", json!("1.50")),
        ("DECIMAL(10, 2)", "-.5", json!("-0.50")),
        ("DECIMAL(10, 2)", "1.500", json!("1.50")),
        ("DECIMAL(10, 2)", "12e2", json!("1200.00")),
        ("DECIMAL(3, 3)", "0.123", json!("0.123")),
        ("DECIMAL(3, 0)", "-0", json!("0")),
        ("DATE", "'2024-01-31'", json!("2024-01-31")),
        ("DATE", "date('2024-01-31')", json!("2024-01-31")),
        ("TIME", "time('12:34:56.500')", json!("12:34:56.5")),
        ("TIMESTAMP", "'2024-01-31T12:00:00+02:00'", json!("2024-01-31T10:00:00Z")),
        ("TIMESTAMP", "datetime('1969-12-31T23:59:59.999999Z')", json!("1969-12-31T23:59:59.999999Z")),
        ("UUID", "'123E4567-e89b-12d3-a456-426614174000'", json!("123e4567-e89b-12d3-a456-426614174000")),
        ("BLOB", "'AAE='", json!("AAE=")),
        ("ENUM('a', 'b')", "'b'", json!("b")),
        ("INT64[]", "[1, NULL, 3]", json!([1, null, 3])),
        ("STRING[]", "[]", json!([])),
        ("FLOAT[2]", "[1, NaN]", json!([1.0, "NaN"])),
    ] {
        let table = table(&format!("CREATE NODE TABLE T (id STRING PRIMARY KEY, p {ty} DEFAULT {literal})"));
        let default = table.properties[1].default.clone();
        assert_eq!(default.as_ref().map(JsonText::get), Some(json.to_string().as_str()), "{ty} {literal}");
        let printed = print_ddl(&crate::schema::Catalog { tables: vec![table] });
        assert_eq!(parse(&printed).tables[0].properties[1].default, default, "{printed}");
    }
    for none in ["INT64 DEFAULT NULL", "JSON DEFAULT ' null '"] {
        let table = table(&format!("CREATE NODE TABLE T (id STRING PRIMARY KEY, p {none})"));
        assert_eq!(table.properties[1].default, None, "{none}");
    }
}

#[test]
fn a_default_keeps_every_digit_and_a_json_default_its_text() {
    for (ty, literal, text) in [
        ("DOUBLE", "-2.133448162305065e-153", "-2.133448162305065e-153"),
        ("DOUBLE", "0.1000000000000000055511151231257827", "0.1"),
        ("DOUBLE", "1e+300", "1e300"),
        ("FLOAT", "9.598285e35", "9.598285e35"),
        ("JSON", r#"' {"b": 1.50, "a": [1, "x y"], "a": 2} '"#, r#"{"b": 1.50, "a": [1, "x y"], "a": 2}"#),
    ] {
        let catalog = parse(&format!("CREATE NODE TABLE T (id STRING PRIMARY KEY, p {ty} DEFAULT {literal})"));
        for read in [parse(&print_ddl(&catalog)), decode_catalog(&encode_catalog(&catalog).0).unwrap()] {
            assert_eq!(read.tables[0].properties[1].default.as_ref().map(JsonText::get), Some(text));
        }
    }
}

#[test]
fn no_text_is_an_empty_schema() {
    for text in ["", " \n", "// nothing", ";;"] {
        assert_eq!(parse(text).tables, []);
    }
    assert_eq!(print_ddl(&parse("")), "");
}

#[test]
fn a_catalog_is_printed_nodes_first() {
    let text = "CREATE REL TABLE Knows (FROM Person TO Person, since DATE, KEY (since), CHECK (since > date('1900-01-01')), MANY_ONE);
        CREATE NODE TABLE Person (id STRING PRIMARY KEY, `order` INT64 NOT NULL DEFAULT 1 MERGE sum, UNIQUE (`order`, id));
        CREATE NODE TABLE Place (country STRING, city STRING, PRIMARY KEY (country, city));
        CREATE REL TABLE Visited (FROM Person TO Place, MULTI);";
    assert_eq!(
        print_ddl(&parse(text)),
        "\
CREATE NODE TABLE Person (
  id STRING PRIMARY KEY,
  `order` INT64 NOT NULL DEFAULT 1 MERGE sum,
  UNIQUE (`order`, id)
);

CREATE NODE TABLE Place (
  country STRING,
  city STRING,
  PRIMARY KEY (country, city)
);

CREATE REL TABLE Knows (
  FROM Person TO Person,
  since DATE,
  KEY (since),
  CHECK (since > date('1900-01-01')),
  MANY_ONE
);

CREATE REL TABLE Visited (
  FROM Person TO Place,
  MULTI
);
"
    );
}

#[test]
fn a_renamed_property_is_printed_under_its_new_name_in_checks_too() {
    let mut catalog = parse("CREATE NODE TABLE T (id INT64 PRIMARY KEY, a INT64, CHECK (a > 0 AND a < id // a\n))");
    catalog.tables[0].properties[1].name = "in".to_owned();
    let printed = print_ddl(&catalog);
    assert!(printed.contains("CHECK (`in` > 0 AND `in` < id // a\n"), "{printed}");
    assert_eq!(parse(&printed).tables[0].checks[0].properties.len(), 2);
}

#[test]
fn the_same_clock_gives_the_same_catalog() {
    let text = "CREATE NODE TABLE T (id INT64 PRIMARY KEY)";
    assert_eq!(parse_ddl(text, &clock()).unwrap(), parse_ddl(text, &clock()).unwrap());
}

#[test]
fn an_edge_table_says_what_a_merge_makes_of_deleted_nodes() {
    let text = "CREATE NODE TABLE P (id STRING PRIMARY KEY, on INT64);
                CREATE REL TABLE A (FROM P TO P, ON MERGE CASCADE);
                CREATE REL TABLE B (FROM P TO P, on merge keep, merge INT64, MANY_ONE);
                CREATE REL TABLE C (FROM P TO P, on INT64 MERGE sum);";
    let catalog = parse(text);
    let declared: Vec<_> = ["P", "A", "B", "C"].map(|name| catalog.table(name).unwrap().on_merge()).into();
    assert_eq!(declared, [None, Some(OnMerge::Cascade), Some(OnMerge::Keep), None]);
    let printed = crate::schema::print_ddl(&catalog);
    assert!(
        printed.contains("  ON MERGE CASCADE\n") && printed.contains("  MANY_ONE,\n  ON MERGE KEEP\n"),
        "{printed}"
    );
    let stored = String::from_utf8(crate::schema::encode_catalog(&catalog).0).unwrap();
    assert_eq!(stored.matches("on_merge").count(), 2, "{stored}");
    assert!(stored.contains(r#""multiplicity":"many-one","on_merge":"keep"}"#), "{stored}");
}
