//! Tests of reading inputs and of deciding keys, without a store.

use std::io::Cursor;
use std::sync::Arc;

use super::facts::{Fact, Facts, What};
use super::findings::Findings;
use super::input::{Input, InputBuilder, read_lines};
use super::jsonl::EdgeIds;
use super::shape::Shapes;
use super::{decide, lookup};
use crate::clock::{Clock, Timestamp};
use crate::graph::TableCounts;
use crate::ids::{ChangeId, Digest};
use crate::schema::parse_ddl;
use crate::table::Layout;

const DDL: &str = "
    CREATE NODE TABLE Person (
        id INT64 PRIMARY KEY, name STRING NOT NULL, age INT8 CHECK (age >= 0), mail STRING, rank INT64 DEFAULT 3, UNIQUE (mail)
    );
    CREATE NODE TABLE Place (country STRING, city STRING, PRIMARY KEY (country, city));
    CREATE REL TABLE Knows (FROM Person TO Person, since DATE);
    CREATE REL TABLE LivesIn (FROM Person TO Place, MANY_ONE);
    CREATE REL TABLE Paid (FROM Person TO Person, cents INT64 NOT NULL, MULTI);
";

pub(super) fn shapes() -> Arc<Shapes> {
    let catalog = parse_ddl(DDL, &Clock::manual(Timestamp(0), 1)).unwrap();
    Arc::new(Shapes::new(&catalog, |table| Layout::new(&catalog, table)).unwrap())
}

fn read(text: impl Into<Vec<u8>>, what: What, overwrite: bool) -> Input {
    let clock = Clock::manual(Timestamp(5_000_000), 2);
    let mut builder = InputBuilder::new(shapes(), "in".into(), ChangeId::new(clock.ulid()));
    let ids = EdgeIds::new(clock.ulid());
    read_lines(&mut builder, Cursor::new(text.into()), what, ids, |_, _| true).unwrap();
    builder.finish(overwrite).unwrap()
}

fn wrong(line: &str) -> Vec<(&'static str, String)> {
    let input = read(line, What::Insert, false);
    input.violations.iter().map(|v| (v.code, v.to_string())).collect()
}

#[test]
fn what_the_schema_does_not_know_is_refused_with_its_place() {
    let person = |data: &str| format!(r#"{{"table":"Person","data":{data}}}"#);
    let cases = [
        (
            r#"{"table":"Persn","data":{}}"#.to_owned(),
            "unknown-table",
            "in:1: there is no table Persn; did you mean Person?",
        ),
        (r#"{"data":{}}"#.to_owned(), "missing-field", "the field \"table\" is missing"),
        (r#"{"table":7}"#.to_owned(), "wrong-type", "found 7"),
        (
            person(r#"{"id":1,"nme":"x","name":"y"}"#),
            "unknown-property",
            "Person.nme: there is no property nme; did you mean name?",
        ),
        (person(r#"{"id":1}"#), "missing-property", "Person.name: the property is missing; expected STRING (NOT NULL)"),
        (person(r#"{"name":"x"}"#), "missing-property", "Person.id"),
        (person(r#"{"id":1,"name":null}"#), "null-not-allowed", "Person.name: found null"),
        (person(r#"{"id":null,"name":"x"}"#), "null-not-allowed", "Person.id: found null"),
        (person(r#"{"id":"a","name":"x"}"#), "wrong-type", "Person.id: found \"a\""),
        (person(r#"{"id":1,"name":"x","age":128}"#), "wrong-type", "Person.age: found 128"),
        (person(r#"{"id":1,"name":"x","age":-1}"#), "check", "CHECK (age >= 0) is broken"),
        (person(r#"{"id":1,"id":2,"name":"x"}"#), "duplicate-field", "Person.id: the property is there twice"),
        (person("[1]"), "wrong-type", "Person.data: found [1], expected an object of properties"),
        (
            r#"{"table":"Person","from":1,"data":{"id":1,"name":"x"}}"#.to_owned(),
            "unexpected-field",
            "a node has no field \"from\"",
        ),
        (r#"{"table":"Person","dat":{},"data":{"id":1,"name":"x"}}"#.to_owned(), "unknown-field", "did you mean data?"),
        (
            r#"{"table":"Knows","from":1,"table":"Knows","to":2}"#.to_owned(),
            "duplicate-field",
            "the field \"table\" is there twice",
        ),
        (r#"{"table":"Knows","to":1}"#.to_owned(), "missing-field", "Knows.from: the field \"from\" is missing"),
        (
            r#"{"table":"Knows","from":1,"to":null}"#.to_owned(),
            "wrong-type",
            "Knows.to: found null, expected a key part of type INT64",
        ),
        (r#"{"table":"Knows","from":1,"to":2,"id":"x"}"#.to_owned(), "unexpected-field", "only edges of MULTI tables"),
        (
            r#"{"table":"Paid","from":1,"to":2,"id":"x","data":{"cents":1}}"#.to_owned(),
            "wrong-type",
            "an edge id (a ULID)",
        ),
        (r#"{"table":"LivesIn","from":1,"to":"Paris"}"#.to_owned(), "wrong-type", "an array of 2 key parts"),
        (r#"{"table":"LivesIn","from":1,"to":["FR"]}"#.to_owned(), "wrong-type", "an array of 2 key parts"),
        (r#"{"table":"Person""#.to_owned(), "invalid-json", "in:1: column 17: EOF"),
        (r#"{"table":"Person"} {}"#.to_owned(), "invalid-json", "trailing characters"),
        ("7".to_owned(), "invalid-json", "expected an object"),
    ];
    for (line, code, text) in cases {
        let found = wrong(&line);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert_eq!(found[0].0, code, "{line}: {found:?}");
        assert!(found[0].1.contains(text), "{line}: {} lacks {text}", found[0].1);
    }
}

#[test]
fn invalid_utf8_is_told_with_line_and_column() {
    let input = read(b"\n{\"table\":\"P\xff\"}\n".to_vec(), What::Insert, false);
    let found: Vec<_> = input.violations.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["in:2: column 12 is not UTF-8"]);
}

#[test]
fn all_that_is_wrong_with_a_line_is_told() {
    let found = wrong(r#"{"table":"Person","data":{"id":"a","age":1000,"x":1}}"#);
    let codes: Vec<_> = found.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ["wrong-type", "wrong-type", "unknown-property", "missing-property"]);
}

#[test]
fn a_mark_at_the_start_blank_lines_and_carriage_returns_are_tolerated() {
    let text = "\u{feff}{\"table\":\"Place\",\"data\":{\"country\":\"FR\",\"city\":\"Paris\"}}\r\n\r\n  \n\
                {\"table\":\"Place\",\"data\":{\"country\":\"FR\",\"city\":\"Lyon\"}}";
    let input = read(text, What::Insert, false);
    assert!(input.violations.is_empty(), "{}", input.violations);
    assert_eq!(input.read.values().sum::<u64>(), 2);
}

#[test]
fn lines_keep_their_numbers_however_the_input_is_cut() {
    let filler = "x".repeat(700);
    let mut text = String::new();
    for n in 0..10_000 {
        text.push_str(&person(n, &filler));
        if n == 9_000 {
            text.push_str("oops\n");
        }
    }
    let input = read(text, What::Insert, false);
    let found: Vec<_> = input.violations.iter().filter_map(|v| v.line).collect();
    assert_eq!(found, [9_002]);
    assert_eq!(input.read.values().sum::<u64>(), 10_000);
}

#[test]
fn defaults_fill_what_is_absent_and_an_explicit_null_stays() {
    let text = "{\"table\":\"Person\",\"data\":{\"id\":1,\"name\":\"a\"}}\n{\"table\":\"Person\",\"data\":{\"id\":2,\"name\":\"b\",\"rank\":null}}";
    let input = read(text, What::Insert, false);
    let shape = &input.shapes.tables[0];
    let columns: Vec<_> = (0..shape.layout.columns.len()).collect();
    let batch = input.rows[&0].batches().unwrap().next().unwrap().unwrap();
    let lines: Vec<_> = (0..2)
        .map(|i| {
            let row = super::row::Row::read(shape, &columns, &batch, i);
            let mut line = Vec::new();
            crate::read::write_line(&input.shapes, shape, &row, &mut line);
            String::from_utf8(line).unwrap()
        })
        .collect();
    assert_eq!(
        lines,
        [
            r#"{"table":"Person","data":{"id":1,"name":"a","rank":3}}"#,
            r#"{"table":"Person","data":{"id":2,"name":"b","rank":null}}"#,
        ]
    );
}

#[test]
fn the_same_line_gets_the_same_edge_id_and_no_other_does() {
    let text = "{\"table\":\"Paid\",\"from\":1,\"to\":2,\"data\":{\"cents\":5}}\n".repeat(300);
    let ids = |input: &Input| {
        let shape = &input.shapes.tables[4];
        let id = shape.layout.key_columns()[0];
        let batches = input.rows[&4].batches().unwrap().map(Result::unwrap);
        let mut ids = Vec::new();
        for batch in batches {
            let column = crate::table::Role::EdgeId;
            assert_eq!(shape.layout.columns[id].role, column);
            for i in 0..batch.num_rows() {
                ids.push(super::row::Row::read(shape, &[id], &batch.project(&[id]).unwrap(), i).edge_id);
            }
        }
        ids
    };
    let (a, b) = (ids(&read(text.clone(), What::Insert, false)), ids(&read(text, What::Insert, false)));
    assert_eq!(a, b);
    let distinct: std::collections::BTreeSet<_> = a.iter().map(|id| format!("{id:?}")).collect();
    assert_eq!(distinct.len(), 300);
}

fn person(id: u64, name: &str) -> String {
    format!("{{\"table\":\"Person\",\"data\":{{\"id\":{id},\"name\":\"{name}\"}}}}\n")
}

/// The facts of rows that `lines` would have stored, at addresses 100, 101, ….
fn stored(lines: &str) -> lookup::Stored {
    let input = read(lines, What::Insert, false);
    let mut found = lookup::Stored::default();
    for (space, facts) in &input.facts {
        let mut stored = Facts::new(&input.pool);
        super::groups::for_each_group([facts], |group| {
            for fact in group.filter(|fact| fact.what == What::Insert) {
                stored.push(&Fact { what: What::Stored, at: 99 + fact.at, ..fact }).unwrap();
            }
        })
        .unwrap();
        found.facts.entry(*space).or_default().push(stored);
    }
    found
}

fn outcome(input: &Input, stored: &lookup::Stored, rows: u64) -> (decide::Outcome, bool) {
    let mut findings = Findings::default();
    let mut outcomes = decide::decide(input, stored, |_| rows, &mut findings).unwrap();
    (outcomes.remove(&0).unwrap(), findings.is_empty())
}

#[test]
fn an_upsert_replaces_what_differs_and_leaves_what_does_not() {
    let stored = stored(&[person(1, "a"), person(2, "b")].concat());
    let input = read([person(1, "a"), person(2, "x"), person(2, "y"), person(3, "c")].concat(), What::Upsert, false);
    let (outcome, fine) = outcome(&input, &stored, 2);
    assert!(fine);
    let counts = TableCounts { read: 4, inserted: 1, updated: 1, unchanged: 1, duplicates: 1, removed: 0 };
    assert_eq!(outcome.counts, counts);
    assert_eq!(outcome.keep.iter().collect::<Vec<_>>(), [3, 4]);
    assert_eq!(outcome.remove.iter().collect::<Vec<_>>(), [101]);
}

#[test]
fn an_append_refuses_keys_that_exist_or_come_twice() {
    let stored = stored(&person(1, "a"));
    for text in [person(1, "a"), [person(2, "b"), person(2, "b")].concat()] {
        let (_, fine) = outcome(&read(text, What::Insert, false), &stored, 1);
        assert!(!fine);
    }
}

#[test]
fn an_overwrite_removes_everything_and_looks_nothing_up() {
    let input = read(person(1, "a"), What::Insert, true);
    let (outcome, fine) = outcome(&input, &lookup::Stored::default(), 7);
    assert!(fine && outcome.remove_all);
    assert_eq!(outcome.counts, TableCounts { read: 1, inserted: 1, removed: 7, ..TableCounts::default() });
}

#[test]
fn more_than_the_most_probes_are_scanned_for() {
    let few: String = (0..2_000).map(|n| person(n, "x")).collect();
    let many: String = (0..2_001).map(|n| person(n, "x")).collect();
    let key = |input: &Input| input.shapes.tables[0].key;
    let input = read(few, What::Insert, false);
    assert!(matches!(input.probes[&key(&input)], super::chunk::Probes::Few(_)));
    let input = read(many, What::Insert, false);
    assert!(matches!(input.probes[&key(&input)], super::chunk::Probes::Many));
}

#[test]
fn nulls_take_no_part_in_unique_rules() {
    let input = read([person(1, "a"), person(2, "b")].concat(), What::Insert, false);
    assert!(!input.facts.contains_key(&input.shapes.tables[0].unique[0]));
}

#[test]
fn a_deletion_meets_the_key_that_a_row_has() {
    let input = read(person(1, "a"), What::Insert, false);
    let shapes = &input.shapes;
    let key = super::read_key(shapes, "Person", &["1".to_owned()]).unwrap();
    let mut chunk = super::chunk::Chunk::default();
    chunk.delete(shapes, 1, key.table, &key.values, false);
    let mut digests: Vec<Digest> = Vec::new();
    super::groups::for_each_group([&input.facts[&shapes.tables[0].key]], |group| digests.push(group.digest())).unwrap();
    assert_eq!(digests, [chunk.facts[0].1.digest]);
}

#[test]
fn keys_are_read_in_all_their_forms() {
    let shapes = shapes();
    let key = |table: &str, parts: &[&str]| {
        let parts: Vec<_> = parts.iter().map(|part| (*part).to_owned()).collect();
        super::read_key(&shapes, table, &parts).map(|key| key.values.len()).map_err(|wrong| wrong.expected)
    };
    assert_eq!(key("Person", &["1"]), Ok(1));
    assert_eq!(key("Place", &["\"FR\"", "\"Paris\""]), Ok(2));
    assert_eq!(key("LivesIn", &["1", "\"FR\"", "\"Paris\""]), Ok(3));
    let id = "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"";
    assert_eq!(key("Paid", &[id]), Ok(1));
    assert_eq!(key("Paid", &["1", "2", id]), Ok(1));
    assert_eq!(key("Person", &["1", "2"]), Err("a key of 1 parts, not 2".into()));
    assert_eq!(key("Person", &["null"]), Err("a key part of type INT64".into()));
    assert_eq!(key("Nowhere", &["1"]), Err("there is no table Nowhere".into()));
    assert!(key("Person", &["oops"]).is_err());
}
