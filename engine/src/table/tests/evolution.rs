//! Versions older than the schema they are read under.

use datafusion::prelude::{ident, lit};

use super::sample::{self, key, number, numbers, person, property, rows, with_properties};
use super::{Rig, addresses, insert, is_key, read, upsert};
use crate::schema::Type;
use crate::table::{Scan, TableError};

#[tokio::test]
async fn an_added_property_reads_null_until_rows_are_written() {
    let rig = Rig::new();
    let old = person(1);
    let base = rig.append(&rig.create(&old).await, 0..5, 1).await;
    let mut properties = old.table.properties.clone();
    properties.insert(1, property(50, 31_337, "height", Type::Int64));
    let new = with_properties(&old, properties);
    let height = new.columns.iter().position(|column| column.name == "height").unwrap();

    let table = rig.tables.open(&new, base.version()).await.unwrap();
    let batch = read(&table, Scan { columns: vec![height, 2], ..Scan::default() }).await;
    assert_eq!(numbers(&batch, 0), [None; 5]);
    let only_new = Scan { columns: vec![height], addresses: true, ..Scan::default() };
    assert_eq!(read(&table, only_new).await.num_rows(), 5);
    let is_null = Scan { columns: vec![2], filter: Some(ident("height").is_null()), ..Scan::default() };
    assert_eq!(read(&table, is_null).await.num_rows(), 5);
    let equals = Scan { columns: vec![2], filter: Some(ident("height").eq(lit(1_i64))), ..Scan::default() };
    assert_eq!(read(&table, equals).await.num_rows(), 0);

    // Writing under the new schema gives the version that schema.
    let found = addresses(&table).await;
    let written = rig.write(&table, upsert([found[&key(2)]], rows(&new, [2, 9], 2))).await;
    let cold = rig.cold().tables.open(&new, written.version()).await.unwrap();
    assert!(cold.mapping.is_aligned());
    let batch = read(&cold, Scan { columns: new.all_columns(), filter: Some(is_key(9)), ..Scan::default() }).await;
    assert_eq!(batch, rows(&new, [9], 2));
    let batch = read(&cold, Scan { columns: vec![height], filter: Some(is_key(3)), ..Scan::default() }).await;
    assert_eq!(numbers(&batch, 0), [None]);
    assert_eq!(cold.verify().await.unwrap(), Vec::<String>::new());
    // The version before still reads under the old one.
    assert_eq!(super::contents(&base).await, super::expected(0..5, 1));
}

#[tokio::test]
async fn a_renamed_property_keeps_its_values() {
    let rig = Rig::new();
    let old = person(1);
    let base = rig.append(&rig.create(&old).await, 0..5, 1).await;
    let mut properties = old.table.properties.clone();
    properties[1].name = "years".to_owned();
    let new = with_properties(&old, properties);
    let table = rig.tables.open(&new, base.version()).await.unwrap();
    let scan = || Scan { columns: vec![3], filter: Some(ident("years").eq(lit(number(4, 1)))), ..Scan::default() };
    let batch = read(&table, scan()).await;
    assert_eq!(numbers(&batch, 0), [Some(number(4, 1))]);
    assert_eq!(batch.schema_ref().field(0).name(), "years");
    let table = rig.write(&table, insert(rows(&new, [8], 1))).await;
    assert!(table.mapping.is_aligned());
    assert_eq!(numbers(&read(&table, scan()).await, 0), [Some(number(4, 1))]);
}

#[tokio::test]
async fn a_property_dropped_and_added_again_starts_empty() {
    let rig = Rig::new();
    let old = person(1);
    let base = rig.append(&rig.create(&old).await, 0..5, 1).await;
    let mut properties = old.table.properties.clone();
    properties[1] = property(60, 600_000, "age", Type::Int64);
    let new = with_properties(&old, properties);
    let table = rig.tables.open(&new, base.version()).await.unwrap();
    assert_eq!(numbers(&read(&table, Scan { columns: vec![3], ..Scan::default() }).await, 0), [None; 5]);
    let table = rig.write(&table, insert(rows(&new, [8], 1))).await;
    let cold = rig.cold().tables.open(&new, table.version()).await.unwrap();
    let batch = read(&cold, Scan { columns: vec![2, 3], ..Scan::default() }).await;
    for (row, (id, age)) in sample::texts(&batch, 0).into_iter().zip(numbers(&batch, 1)).enumerate() {
        assert_eq!(age, (id == key(8)).then(|| number(8, 1)), "row {row}");
    }
}

#[tokio::test]
async fn a_fold_across_a_schema_change_keeps_old_rows() {
    let rig = Rig::new();
    let old = person(1);
    let mut table = rig.create(&old).await;
    for n in 0..16 {
        table = rig.append(&table, [n], 1).await;
    }
    let mut properties = old.table.properties.clone();
    properties.remove(2);
    properties.push(property(50, 31_337, "height", Type::Int64));
    let new = with_properties(&old, properties);
    let height = new.columns.iter().position(|column| column.name == "height").unwrap();
    let table = rig.tables.open(&new, table.version()).await.unwrap();
    let folded = rig.write(&table, insert(rows(&new, [16], 1))).await;
    assert_eq!(folded.dataset.fragments().len(), 1);
    assert_eq!(super::contents(&folded).await, super::expected(0..17, 1));
    let scan = Scan { columns: vec![2], filter: Some(ident("height").is_not_null()), ..Scan::default() };
    assert_eq!(sample::texts(&read(&folded, scan).await, 0), [key(16)]);
    assert_eq!(height, 5);
}

#[tokio::test]
async fn a_field_id_that_bears_another_type_is_damage() {
    let rig = Rig::new();
    let old = person(1);
    let base = rig.append(&rig.create(&old).await, 0..5, 1).await;
    let mut properties = old.table.properties.clone();
    properties[1].ty = Type::Date;
    let new = with_properties(&old, properties);
    let error = rig.tables.open(&new, base.version()).await.unwrap_err();
    assert!(matches!(error, TableError::Damaged { .. }), "{error}");
}

#[tokio::test]
async fn a_layout_that_lance_cannot_keep_apart_is_refused() {
    let rig = Rig::new();
    let old = person(1);
    let mut same_id = old.table.properties.clone();
    same_id[1].field = same_id[0].field;
    let mut no_item = old.table.properties.clone();
    no_item[2].item_field = None;
    for properties in [same_id, no_item] {
        let layout = with_properties(&old, properties);
        assert!(matches!(rig.tables.create(&layout).await.unwrap_err(), TableError::Damaged { .. }));
    }
}
