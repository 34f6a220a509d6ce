//! Groups, `DISTINCT` and aggregate functions.

use std::sync::Arc;

use datafusion::datasource::MemTable;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::*;
use crate::query::bound::{Aggregate, AggregateFunction};
use crate::query::eval::order_key;
use crate::query::testing::{BEING, SPAN, column, node};

/// The rows of a plan over `columns`, told apart by everything, in an order of their own. The input comes in batches of two rows on several
/// threads.
async fn rows(
    columns: &[(Kind, Vec<CypherValue>)],
    kinds: &[Kind],
    plan: impl FnOnce(LogicalPlan) -> Result<LogicalPlan>,
) -> Result<Vec<Vec<CypherValue>>> {
    let layouts = layouts();
    let whole = batch(columns);
    let part = |at: usize| (at * 2 < whole.num_rows()).then(|| whole.slice(at * 2, 2.min(whole.num_rows() - at * 2)));
    let parts: Vec<Vec<_>> = (0..).map_while(part).map(|batch| vec![batch]).collect();
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3).with_batch_size(2));
    let table = MemTable::try_new(whole.schema(), if parts.is_empty() { vec![vec![]] } else { parts })?;
    let plan = plan(session.read_table(Arc::new(table))?.into_unoptimized_plan())?;
    let batches = session.execute_logical_plan(plan).await?.collect().await?;
    let mut found = Vec::new();
    for batch in &batches {
        let readers =
            batch.columns().iter().zip(kinds).map(|(array, kind)| Reader::new(array.as_ref(), kind, &layouts));
        let readers = readers.collect::<Result<Vec<_>>>()?;
        found.extend(
            (0..batch.num_rows()).map(|row| readers.iter().map(|reader| reader.value(row)).collect::<Vec<_>>()),
        );
    }
    let cx = context();
    found.sort_by_cached_key(|row| order_key(&CypherValue::List(row.clone()), &cx));
    Ok(found)
}

fn aggregate(function: AggregateFunction, argument: Option<Expr>, distinct: bool, kind: Kind) -> Aggregate {
    Aggregate { function, argument, distinct, kind, span: SPAN }
}

/// The single result of a function over all of column 0.
async fn over(
    function: AggregateFunction,
    distinct: bool,
    kind: Kind,
    of: (Kind, Vec<CypherValue>),
) -> Result<CypherValue> {
    let called = aggregate(function, Some(column(0, of.0.clone())), distinct, kind.clone());
    let compiler = compiler();
    let mut rows = rows(&[of], &[kind], |input| compiler.aggregate(input, &[], &[(VarId(9), called)])).await?;
    assert_eq!(rows.len(), 1, "without keys there is one group");
    Ok(rows.remove(0).remove(0))
}

fn int(value: i128) -> CypherValue {
    CypherValue::Scalar(Value::Int(value))
}

fn float(value: f64) -> CypherValue {
    CypherValue::Scalar(Value::Float(value))
}

fn ints(values: &[Option<i128>]) -> (Kind, Vec<CypherValue>) {
    (Kind::Integer, values.iter().map(|value| value.map_or(CypherValue::NULL, int)).collect())
}

fn sorted(list: CypherValue) -> Vec<CypherValue> {
    let CypherValue::List(mut items) = list else { panic!("{list:?} is no list") };
    let cx = context();
    items.sort_by_cached_key(|item| order_key(item, &cx));
    items
}

#[tokio::test]
async fn nulls_are_left_out() {
    let some = || ints(&[Some(3), None, Some(3), Some(1), None]);
    let of = |function, distinct, kind| over(function, distinct, kind, some());
    assert_eq!(of(AggregateFunction::Count, false, Kind::Integer).await.unwrap(), int(3));
    assert_eq!(of(AggregateFunction::Count, true, Kind::Integer).await.unwrap(), int(2));
    assert_eq!(of(AggregateFunction::Sum, false, Kind::Integer).await.unwrap(), int(7));
    assert_eq!(of(AggregateFunction::Sum, true, Kind::Integer).await.unwrap(), int(4));
    assert_eq!(of(AggregateFunction::Avg, false, Kind::Float).await.unwrap(), float(7.0 / 3.0));
    assert_eq!(of(AggregateFunction::Avg, true, Kind::Float).await.unwrap(), float(2.0));
    assert_eq!(of(AggregateFunction::Min, false, Kind::Integer).await.unwrap(), int(1));
    assert_eq!(of(AggregateFunction::Max, false, Kind::Integer).await.unwrap(), int(3));
    let list = || Kind::List(Box::new(Kind::Integer));
    assert_eq!(sorted(of(AggregateFunction::Collect, false, list()).await.unwrap()), [int(1), int(3), int(3)]);
    assert_eq!(sorted(of(AggregateFunction::Collect, true, list()).await.unwrap()), [int(1), int(3)]);
}

#[tokio::test]
async fn over_nothing_there_is_zero_or_null_or_an_empty_list() {
    for nothing in [ints(&[]), ints(&[None, None, None])] {
        let of = |function, kind| over(function, false, kind, nothing.clone());
        assert_eq!(of(AggregateFunction::Count, Kind::Integer).await.unwrap(), int(0));
        assert_eq!(of(AggregateFunction::Sum, Kind::Integer).await.unwrap(), int(0));
        assert_eq!(of(AggregateFunction::Avg, Kind::Float).await.unwrap(), CypherValue::NULL);
        assert_eq!(of(AggregateFunction::Max, Kind::Integer).await.unwrap(), CypherValue::NULL);
        let list = Kind::List(Box::new(Kind::Integer));
        assert_eq!(of(AggregateFunction::Collect, list).await.unwrap(), CypherValue::List(vec![]));
    }
    let untyped = || (Kind::Null, vec![CypherValue::NULL; 3]);
    assert_eq!(over(AggregateFunction::Sum, false, Kind::Integer, untyped()).await.unwrap(), int(0));
    assert_eq!(over(AggregateFunction::Min, false, Kind::Null, untyped()).await.unwrap(), CypherValue::NULL);
}

#[tokio::test]
async fn sums_are_exact_and_refused_beyond_64_bits() {
    let most = i128::from(i64::MAX);
    let there_and_back = ints(&[Some(most), Some(most), Some(-most), Some(-most), Some(1)]);
    assert_eq!(over(AggregateFunction::Sum, false, Kind::Integer, there_and_back).await.unwrap(), int(1));
    let beyond = over(AggregateFunction::Sum, false, Kind::Integer, ints(&[Some(most), Some(1)])).await.unwrap_err();
    assert_eq!(fault_of(beyond).map(|fault| (fault.code, fault.span)), Some(("number-overflow", SPAN)));
    let mean =
        over(AggregateFunction::Avg, false, Kind::Float, ints(&[Some(most), Some(most), Some(most)])).await.unwrap();
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    let nearest = i64::MAX as f64;
    assert_eq!(mean, float(nearest));
    let unsigned = (Kind::Unsigned, vec![int(u64::MAX.into()), int(1)]);
    let beyond = over(AggregateFunction::Sum, false, Kind::Integer, unsigned).await.unwrap_err();
    assert_eq!(fault_of(beyond).map(|fault| fault.code), Some("number-overflow"));
}

#[tokio::test]
async fn decimals_keep_all_their_digits() {
    let decimal = |unscaled, scale| CypherValue::Scalar(Value::Decimal { unscaled, scale });
    let largest = 10_i128.pow(38) - 1;
    let kind = Kind::Decimal { precision: 38, scale: 2 };
    let values =
        vec![decimal(largest, 2), decimal(largest, 2), decimal(-largest, 2), decimal(-largest, 2), decimal(5, 2)];
    let sum = over(AggregateFunction::Sum, false, kind.clone(), (kind.clone(), values)).await.unwrap();
    assert_eq!(sum, decimal(5, 2));
    let beyond = (kind.clone(), vec![decimal(largest, 2), decimal(1, 2)]);
    let beyond = over(AggregateFunction::Sum, false, kind.clone(), beyond).await.unwrap_err();
    assert_eq!(fault_of(beyond).map(|fault| fault.code), Some("number-overflow"));
    let halves = (kind, vec![decimal(100, 2), decimal(50, 2)]);
    assert_eq!(over(AggregateFunction::Avg, false, Kind::Float, halves).await.unwrap(), float(0.75));
}

#[tokio::test]
async fn floats_have_one_zero_and_one_nan() {
    let floats = || (Kind::Float, [f64::NAN, -0.0, 0.0, -f64::NAN, 1.0].map(float).to_vec());
    assert_eq!(over(AggregateFunction::Count, true, Kind::Integer, floats()).await.unwrap(), int(3));
    assert_eq!(over(AggregateFunction::Min, false, Kind::Float, floats()).await.unwrap(), float(0.0));
    assert!(identical(&over(AggregateFunction::Max, false, Kind::Float, floats()).await.unwrap(), &float(f64::NAN)));
    let compiler = compiler();
    let key = (VarId(5), column(0, Kind::Float));
    let count = (VarId(6), aggregate(AggregateFunction::Count, None, false, Kind::Integer));
    let found =
        rows(&[floats()], &[Kind::Float, Kind::Integer], |input| compiler.aggregate(input, &[key], &[count])).await;
    let meant = [(0.0, 2), (1.0, 1), (f64::NAN, 2)];
    for (row, (key, count)) in found.unwrap().iter().zip(meant) {
        assert!(identical(&row[0], &float(key)) && row[1] == int(count), "{row:?}");
    }
}

#[tokio::test]
async fn groups_are_made_of_the_same_node_whatever_was_read_of_it() {
    let nodes = (
        Kind::Entity(BEING),
        vec![
            node("Person", "a", None),
            node("Robot", "a", Some(7)),
            node("Person", "a", None),
            CypherValue::NULL,
            CypherValue::NULL,
        ],
    );
    let amounts = ints(&[Some(1), Some(2), Some(3), Some(4), None]);
    let compiler = compiler();
    let keys = [(VarId(5), column(0, nodes.0.clone()))];
    let sum = (VarId(6), aggregate(AggregateFunction::Sum, Some(column(1, Kind::Integer)), false, Kind::Integer));
    let kinds = [nodes.0.clone(), Kind::Integer];
    let found =
        rows(&[nodes.clone(), amounts], &kinds, |input| compiler.aggregate(input, &keys, &[sum])).await.unwrap();
    assert_eq!(
        found,
        [
            vec![node("Person", "a", None), int(4)],
            vec![node("Robot", "a", Some(7)), int(2)],
            vec![CypherValue::NULL, int(4)]
        ]
    );
    assert_eq!(over(AggregateFunction::Count, true, Kind::Integer, nodes.clone()).await.unwrap(), int(2));
    let list = Kind::List(Box::new(nodes.0.clone()));
    let collected = sorted(over(AggregateFunction::Collect, true, list, nodes.clone()).await.unwrap());
    assert_eq!(collected, [node("Person", "a", None), node("Robot", "a", Some(7))]);
}

#[tokio::test]
async fn distinct_rows_are_told_apart_by_all_columns_and_null_is_equal_to_null() {
    let lists = (
        Kind::List(Box::new(Kind::Integer)),
        vec![
            CypherValue::List(vec![int(1), CypherValue::NULL]),
            CypherValue::List(vec![int(1), CypherValue::NULL]),
            CypherValue::List(vec![]),
            CypherValue::NULL,
            CypherValue::NULL,
        ],
    );
    let numbers = ints(&[None, None, Some(1), Some(1), Some(1)]);
    let kinds = [lists.0.clone(), Kind::Integer];
    let columns = [lists, numbers];
    let keys: Vec<_> = (0..2).map(|at| (VarId(at), kinds[at as usize].clone())).collect();
    let compiler = compiler();
    let found = rows(&columns, &kinds, |input| compiler.distinct(input, &keys)).await.unwrap();
    assert_eq!(
        found,
        [
            vec![CypherValue::List(vec![]), int(1)],
            vec![CypherValue::List(vec![int(1), CypherValue::NULL]), CypherValue::NULL],
            vec![CypherValue::NULL, int(1)],
        ]
    );
}

#[tokio::test]
async fn strings_and_truth_values_have_extremes() {
    let texts =
        (Kind::String, ["b", "a", "c"].map(|text| CypherValue::Scalar(Value::String(text.to_owned()))).to_vec());
    assert_eq!(over(AggregateFunction::Max, false, Kind::String, texts.clone()).await.unwrap(), texts.1[2]);
    let truths = (Kind::Bool, [true, false].map(|value| CypherValue::Scalar(Value::Bool(value))).to_vec());
    assert_eq!(over(AggregateFunction::Min, false, Kind::Bool, truths.clone()).await.unwrap(), truths.1[1]);
}

#[tokio::test]
async fn rows_without_columns_are_all_the_same() {
    let compiler = compiler();
    let found = rows(&[ints(&[Some(1), Some(2), Some(3)])], &[], |input| compiler.distinct(input, &[])).await.unwrap();
    assert_eq!(found.len(), 1);
    let count = (VarId(0), aggregate(AggregateFunction::Count, None, false, Kind::Integer));
    let found = rows(&[ints(&[])], &[Kind::Integer], |input| compiler.aggregate(input, &[], &[count])).await.unwrap();
    assert_eq!(found, [vec![int(0)]]);
}
