//! Reads: columns, filters, limits, addresses.

use datafusion::prelude::{Expr, ident, lit};
use futures::TryStreamExt;

use super::sample::{key, number, numbers, person, property, rows, texts, with_properties};
use super::{AGE, KEY, Rig, addresses, expected, insert, is_key, read, remove};
use crate::schema::Type;
use crate::table::mapping::ROW_ADDRESS;
use crate::table::{Scan, TableError};

async fn people(rig: &Rig) -> crate::table::Table {
    let base = rig.append(&rig.create(&person(1)).await, 0..50, 1).await;
    let gone = addresses(&base).await[&key(7)];
    let base = rig.write(&base, remove([gone])).await;
    rig.append(&base, 50..60, 1).await
}

#[tokio::test]
async fn columns_come_as_asked_in_the_types_of_the_layout() {
    let rig = Rig::new();
    let table = people(&rig).await;
    let layout = table.layout();
    let batch = read(&table, Scan { columns: vec![AGE, 5, KEY], filter: Some(is_key(13)), ..Scan::default() }).await;
    assert_eq!(batch.num_columns(), 3);
    assert_eq!(numbers(&batch, 0), [Some(number(13, 1))]);
    assert_eq!(texts(&batch, 2), [key(13)]);
    assert_eq!(batch.schema_ref().field(1), layout.arrow.field(5));
    // Whole rows come back as they were written: lists with nulls, vectors, missing ones.
    for n in [0, 13, 55] {
        let batch =
            read(&table, Scan { columns: layout.all_columns(), filter: Some(is_key(n)), ..Scan::default() }).await;
        assert_eq!(batch, rows(layout, [n], 1));
    }
}

#[tokio::test]
async fn filters_convert_literals_and_fold_constants() {
    let rig = Rig::new();
    let table = people(&rig).await;
    let count = async |filter: Expr| {
        read(&table, Scan { columns: vec![KEY], filter: Some(filter), ..Scan::default() }).await.num_rows()
    };
    assert_eq!(count(ident("age").gt(lit(1_000_054_i32))).await, 5);
    assert_eq!(count(ident("id").in_list(vec![lit(key(7)), lit(key(8)), lit("nobody")], false)).await, 1);
    assert_eq!(count(ident("tags").is_null()).await, 12);
    assert_eq!(count(lit(true).or(is_key(1))).await, 59);
    assert_eq!(count(lit(false)).await, 0);
    assert_eq!(count(lit(datafusion::common::ScalarValue::Null)).await, 0);
    assert_eq!(count(ident(ROW_ADDRESS).in_list(vec![lit(3_u64), lit(7_u64), lit(1_u64 << 32)], false)).await, 2);
    let error = table
        .scan(Scan { columns: vec![KEY], filter: Some(ident("nothing").is_null()), ..Scan::default() })
        .try_collect::<Vec<_>>()
        .await
        .unwrap_err();
    assert!(matches!(error, TableError::NoSuchColumn { .. }), "{error}");
}

#[tokio::test]
async fn addresses_and_counts_need_no_columns() {
    let rig = Rig::new();
    let table = people(&rig).await;
    let batch = read(&table, Scan { addresses: true, ..Scan::default() }).await;
    assert_eq!((batch.num_rows(), batch.num_columns()), (59, 1));
    assert_eq!(batch.schema_ref().field(0).name(), ROW_ADDRESS);
    let mut counted = 0;
    let mut batches = table.scan(Scan { filter: Some(ident("age").lt(lit(1_000_010_i64))), ..Scan::default() });
    while let Some(batch) = batches.try_next().await.unwrap() {
        assert_eq!(batch.num_columns(), 0);
        counted += batch.num_rows();
    }
    assert_eq!(counted, 9);
    let batch = read(&table, Scan { addresses: true, filter: Some(is_key(50)), ..Scan::default() }).await;
    assert_eq!((batch.num_rows(), batch.num_columns()), (1, 1));
}

#[tokio::test]
async fn limits_hold_with_and_without_a_filter() {
    let rig = Rig::new();
    let table = people(&rig).await;
    for (limit, want) in [(0, 0), (1, 1), (49, 49), (58, 58), (1000, 59), (u64::MAX, 59)] {
        let scan = Scan { columns: vec![KEY], limit: Some(limit), ..Scan::default() };
        assert_eq!(read(&table, scan).await.num_rows(), want);
    }
    let filter = Some(ident("age").gt_eq(lit(number(40, 1))));
    assert_eq!(
        read(&table, Scan { columns: vec![KEY], filter, limit: Some(3), ..Scan::default() }).await.num_rows(),
        3
    );
}

#[tokio::test]
async fn wrong_columns_are_errors() {
    let rig = Rig::new();
    let table = people(&rig).await;
    for columns in [vec![6], vec![KEY, KEY]] {
        let error = table.scan(Scan { columns, ..Scan::default() }).try_collect::<Vec<_>>().await.unwrap_err();
        assert!(matches!(error, TableError::NoSuchColumn { .. }), "{error}");
    }
}

#[tokio::test]
async fn odd_names_work_as_columns_and_in_filters() {
    let rig = Rig::new();
    let mut properties = person(1).table.properties.clone();
    for (n, name) in ["a.b", "Größe", "select", "with space", "`tick`", "UPPER", "x'y\"z", "a=2Eb"].iter().enumerate()
    {
        let n = u128::try_from(n).unwrap();
        properties.push(property(100 + n, 3000 + 20 * i32::try_from(n).unwrap(), name, Type::Int64));
    }
    let layout = with_properties(&person(1), properties);
    let base = rig.create(&layout).await;
    let table = rig.write(&base, insert(rows(&layout, 0..20, 1))).await;
    for column in layout.columns.iter().skip(6) {
        let filter = Some(ident(column.name.clone()).eq(lit(number(4, 1))));
        let scan = Scan { columns: layout.all_columns(), filter, ..Scan::default() };
        assert_eq!(read(&table, scan).await, rows(&layout, [4], 1), "{}", column.name);
    }
    assert_eq!(super::contents(&table).await, expected(0..20, 1));
}

#[tokio::test]
async fn batches_are_bounded_in_bytes() {
    let rig = Rig::new();
    let mut properties = person(1).table.properties.clone();
    properties[3].ty = Type::Vector(3072);
    let layout = with_properties(&person(1), properties);
    let table = rig.write(&rig.create(&layout).await, insert(rows(&layout, 0..3000, 1))).await;
    let mut batches = table.scan(Scan { columns: vec![KEY, 5], ..Scan::default() });
    let (mut total, mut largest) = (0, 0);
    while let Some(batch) = batches.try_next().await.unwrap() {
        total += batch.num_rows();
        largest = largest.max(batch.num_rows());
    }
    assert_eq!(total, 3000);
    assert!(largest <= 512, "{largest} rows of 12 KiB in one batch");
}
