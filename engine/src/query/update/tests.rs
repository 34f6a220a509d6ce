//! What the layer of changes says of rows, and the operations that it comes to.

use std::sync::Arc;

use super::overlay::{Found, Overlay};
use super::rows::{Known, RowId, known, to_value, whole_row};
use crate::clock::{Clock, Timestamp};
use crate::ids::EdgeId;
use crate::query::CypherValue;
use crate::schema::parse_ddl;
use crate::syntax::Span;
use crate::table::Layout;
use crate::value::Value;
use crate::write::TypedOperation;
use crate::write::row::Row;
use crate::write::shape::Shapes;

const DDL: &str = "
    CREATE NODE TABLE P (a STRING, b INT64, name STRING, score FLOAT, PRIMARY KEY (b, a));
    CREATE REL TABLE E (FROM P TO P, kind STRING, w INT64, KEY (kind));
    CREATE REL TABLE M (FROM P TO P, MULTI);
";

/// The tables, by index.
struct Tables {
    p: usize,
    e: usize,
    m: usize,
}

fn overlay() -> (Overlay, Tables) {
    let catalog = parse_ddl(DDL, &Clock::manual(Timestamp(0), 1)).unwrap();
    let shapes = Arc::new(Shapes::new(&catalog, |table| Layout::new(&catalog, table)).unwrap());
    let table = |name| shapes.by_name(name).unwrap();
    let tables = Tables { p: table("P"), e: table("E"), m: table("M") };
    (Overlay::new(shapes), tables)
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn p(id: i128, name: &str) -> Row {
    Row { properties: vec![text("x"), Value::Int(id), text(name), Value::Null], ..Row::default() }
}

fn e(from: i128, to: i128, w: i128) -> Row {
    let end = |id| vec![Value::Int(id), text("x")];
    Row { from: end(from), to: end(to), edge_id: None, properties: vec![text("k"), Value::Int(w)] }
}

fn id(overlay: &Overlay, table: usize, row: &Row) -> RowId {
    RowId::of_row(overlay.shapes(), table, row).unwrap()
}

/// What a statement has read of a stored row.
fn stored(overlay: &Overlay, table: usize, row: &Row) -> Known {
    Known { id: id(overlay, table, row), row: row.clone() }
}

const HERE: Span = Span::new(0, 1);

#[test]
fn a_row_as_a_value_is_known_again_whatever_its_table() {
    let (overlay, tables) = overlay();
    let mut score = p(7, "n");
    score.properties[3] = Value::Float(f64::from(0.1_f32));
    let multi = Row { edge_id: Some(Value::Uuid([7; 16])), properties: Vec::new(), ..e(1, 2, 0) };
    for (table, row) in [(tables.p, score), (tables.e, e(1, 2, 3)), (tables.m, multi)] {
        let value = to_value(&overlay.shapes().tables[table], &row);
        let found = known(overlay.shapes(), &value).unwrap();
        assert_eq!(found.id, id(&overlay, table, &row));
        assert_eq!(RowId::of_row(overlay.shapes(), table, &found.row), Some(found.id), "the key is all it takes");
        assert_eq!(whole_row(overlay.shapes(), &value), Some(row));
    }
    let CypherValue::Edge(edge) = to_value(&overlay.shapes().tables[tables.e], &e(1, 2, 3)) else { panic!() };
    assert_eq!((edge.label.as_str(), edge.from, edge.id), ("E", vec![Value::Int(1), text("x")], None));
    assert!(known(overlay.shapes(), &CypherValue::Scalar(Value::Int(1))).is_none());
}

#[test]
fn an_edge_of_many_is_known_by_its_id_alone() {
    let (overlay, tables) = overlay();
    let edge = |from, bytes| Row { edge_id: Some(Value::Uuid(bytes)), properties: Vec::new(), ..e(from, 2, 0) };
    let value = |row: &Row| to_value(&overlay.shapes().tables[tables.m], row);
    let (one, other) = (value(&edge(1, [7; 16])), value(&edge(1, [8; 16])));
    let ids = [one, other].map(|value| known(overlay.shapes(), &value).unwrap().id);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(EdgeId::from_bytes([7; 16]).to_string().parse::<EdgeId>().unwrap().to_bytes(), [7; 16]);
}

#[test]
fn a_run_of_puts_is_one_operation_with_the_last_row() {
    let (mut overlay, t) = overlay();
    let key = id(&overlay, t.p, &p(1, "a"));
    overlay.replace(key, p(1, "b"), HERE);
    overlay.replace(key, p(1, "c"), HERE);
    let new = id(&overlay, t.p, &p(2, "a"));
    overlay.create(new, p(2, "a"), false, HERE);
    overlay.replace(new, p(2, "z"), HERE);
    assert_eq!(overlay.find(key), Found::Row(&p(1, "c")));
    let put = |row, new| TypedOperation::Put { table: t.p, row, new, fresh: false };
    assert_eq!(overlay.finish().0, [put(p(1, "c"), false), put(p(2, "z"), true)]);
}

#[test]
fn what_a_deleted_row_was_set_to_before_does_not_count() {
    let (mut overlay, t) = overlay();
    let node = stored(&overlay, t.p, &p(1, "a"));
    overlay.replace(node.id, p(1, "b"), HERE);
    overlay.delete(&node, false, HERE);
    assert!(overlay.is_deleted(&node));
    overlay.create(node.id, p(1, "c"), false, HERE);
    assert!(!overlay.is_deleted(&node));
    let key = vec![Value::Int(1), text("x")];
    assert_eq!(
        overlay.finish().0,
        [
            TypedOperation::Nothing,
            TypedOperation::Delete { table: t.p, key, detach: false },
            TypedOperation::Put { table: t.p, row: p(1, "c"), new: true, fresh: false },
        ]
    );
}

#[test]
fn that_a_new_row_was_not_there_is_judged_although_it_is_deleted_again() {
    let (mut overlay, t) = overlay();
    let node = stored(&overlay, t.p, &p(1, "a"));
    overlay.create(node.id, p(1, "a"), false, HERE);
    overlay.delete(&node, false, HERE);
    assert!(matches!(
        overlay.finish().0.as_slice(),
        [TypedOperation::Put { new: true, .. }, TypedOperation::Delete { .. }]
    ));
}

#[test]
fn edges_go_with_a_detached_end_unless_they_were_made_later() {
    let (mut overlay, t) = overlay();
    let before = stored(&overlay, t.e, &e(1, 2, 0));
    let untouched = stored(&overlay, t.e, &e(2, 1, 0));
    let elsewhere = stored(&overlay, t.e, &e(2, 3, 0));
    overlay.replace(before.id, e(1, 2, 5), HERE);
    let made = stored(&overlay, t.e, &e(3, 1, 0));
    overlay.create(made.id, made.row.clone(), false, HERE);
    let node = stored(&overlay, t.p, &p(1, "a"));
    overlay.delete(&node, true, HERE);
    for gone in [&before, &untouched, &made] {
        assert!(overlay.is_deleted(gone), "{gone:?}");
    }
    assert!(!overlay.is_deleted(&elsewhere));
    // Looked up, it is still as the snapshot has it.
    overlay.learn(untouched.id, Some(untouched.row.clone()));
    assert_eq!(overlay.find(untouched.id), Found::Nothing);
    overlay.create(node.id, p(1, "b"), false, HERE);
    overlay.create(made.id, made.row.clone(), false, HERE);
    assert!(overlay.is_deleted(&before) && !overlay.is_deleted(&made));
    assert!(!overlay.is_deleted(&node));
}

#[test]
fn deleting_a_node_alone_leaves_its_edges_to_be_judged() {
    let (mut overlay, t) = overlay();
    let edge = stored(&overlay, t.e, &e(1, 2, 0));
    overlay.delete(&stored(&overlay, t.p, &p(1, "a")), false, HERE);
    assert!(!overlay.is_deleted(&edge));
}

#[test]
fn values_follow_what_becomes_of_their_rows_however_deep_they_are() {
    let (mut overlay, t) = overlay();
    let value = |row: &Row, overlay: &Overlay| to_value(&overlay.shapes().tables[t.p], row);
    let (old, new) = (value(&p(1, "a"), &overlay), value(&p(1, "b"), &overlay));
    let node = stored(&overlay, t.p, &p(1, "a"));
    let mut nested = CypherValue::List(vec![CypherValue::NULL, CypherValue::Map([("n".to_owned(), old)].into())]);
    overlay.refresh(&mut nested, 0);
    overlay.replace(node.id, p(1, "b"), HERE);
    overlay.refresh(&mut nested, 0);
    let wanted = CypherValue::List(vec![CypherValue::NULL, CypherValue::Map([("n".to_owned(), new)].into())]);
    assert_eq!(nested, wanted);
    assert!(overlay.deleted_in(&nested).is_none());
    // Only changes after those that were seen are looked for.
    let (mut stale, seen) = (value(&p(1, "a"), &overlay), overlay.changes());
    overlay.refresh(&mut stale, seen);
    assert_eq!(stale, value(&p(1, "a"), &overlay));
    overlay.replace(node.id, p(1, "b"), HERE);
    overlay.refresh(&mut stale, seen);
    assert_eq!(stale, value(&p(1, "b"), &overlay));
    overlay.delete(&node, false, HERE);
    overlay.refresh(&mut nested, 0);
    assert_eq!(nested, wanted, "it stays as it was");
    assert_eq!(overlay.deleted_in(&nested).map(|known| known.id), Some(node.id));
}
