//! The order of rows.

use std::sync::Arc;

use datafusion::datasource::MemTable;
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::prelude::SessionContext;

use super::*;
use crate::query::bound::SortKey;
use crate::query::testing::{BEING, PERSON, column, knows, node};

async fn sorted(kind: &Kind, values: &[CypherValue], descending: bool) -> Vec<CypherValue> {
    let layouts = layouts();
    let batch = batch(&[(kind.clone(), values.to_vec())]);
    let session = SessionContext::new();
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
    let plan = session.read_table(Arc::new(table)).unwrap().into_unoptimized_plan();
    let keys = compiler().sort_keys(&[SortKey { expr: column(0, kind.clone()), descending }]).unwrap();
    let plan = LogicalPlanBuilder::from(plan).sort(keys).unwrap().build().unwrap();
    let batches = session.execute_logical_plan(plan).await.unwrap().collect().await.unwrap();
    let mut found = Vec::new();
    for batch in &batches {
        let reader = Reader::new(batch.column(0).as_ref(), kind, &layouts).unwrap();
        found.extend((0..batch.num_rows()).map(|row| reader.value(row)));
    }
    found
}

async fn assert_order(kind: Kind, ordered: &[CypherValue]) {
    let shuffled: Vec<CypherValue> = ordered.iter().rev().cloned().collect();
    let ascending = sorted(&kind, &shuffled, false).await;
    assert!(ascending.iter().zip(ordered).all(|(a, b)| identical(a, b)), "{ascending:?}");
    let descending = sorted(&kind, ordered, true).await;
    assert!(descending.iter().zip(&shuffled).all(|(a, b)| identical(a, b)), "{descending:?}");
}

#[tokio::test]
async fn null_is_last_and_nan_after_all_numbers() {
    let float = |value| CypherValue::Scalar(Value::Float(value));
    let floats = [f64::NEG_INFINITY, -1.0, 0.0, 1.0, f64::INFINITY, f64::NAN].map(float);
    assert_order(Kind::Float, &[&floats[..], &[CypherValue::NULL]].concat()).await;
    let int = |value: i128| CypherValue::Scalar(Value::Int(value));
    assert_order(Kind::Integer, &[int(i64::MIN.into()), int(0), int(i64::MAX.into()), CypherValue::NULL]).await;
    let truth = |value| CypherValue::Scalar(Value::Bool(value));
    assert_order(Kind::Bool, &[truth(false), truth(true), CypherValue::NULL]).await;
    let id = |byte| CypherValue::Scalar(Value::Uuid([byte; 16]));
    assert_order(Kind::Uuid, &[id(0), id(1), id(255), CypherValue::NULL]).await;
}

#[tokio::test]
async fn lists_are_ordered_by_their_elements_and_nodes_by_table_and_key() {
    let list = |values: &[Value]| CypherValue::List(values.iter().cloned().map(CypherValue::from).collect());
    let lists = [
        list(&[]),
        list(&[Value::Int(1)]),
        list(&[Value::Int(1), Value::Int(5)]),
        list(&[Value::Int(1), Value::Null]),
        list(&[Value::Int(2)]),
        CypherValue::NULL,
    ];
    assert_order(Kind::List(Box::new(Kind::Integer)), &lists).await;
    let beings = [
        node("Person", "a", None),
        node("Person", "b", None),
        node("Robot", "a", Some(7)),
        node("Robot", "b", Some(7)),
        CypherValue::NULL,
    ];
    assert_order(Kind::Entity(BEING), &beings).await;
    assert_order(Kind::Entity(PERSON), &[node("Person", "a", None), node("Person", "b", None), CypherValue::NULL])
        .await;
    let edges = [knows("a", "a"), knows("a", "b"), knows("b", "a"), CypherValue::NULL];
    assert_order(Kind::Entity(crate::query::testing::KNOWS), &edges).await;
}
