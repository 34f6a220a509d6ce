use std::sync::Arc;

use arrow_array::{Int64Array, StringArray, StructArray, UInt16Array};
use arrow_schema::{Field, Fields, Schema};

use super::*;

fn batch() -> RecordBatch {
    let fields = Fields::from(vec![
        Field::new("table", DataType::UInt16, true),
        Field::new("address", DataType::UInt64, true),
        Field::new("0:id", DataType::Int64, true),
    ]);
    let nodes = StructArray::try_new(
        fields.clone(),
        vec![
            Arc::new(UInt16Array::from(vec![0, 1, 0, 0, 0])),
            arrow_array::new_null_array(&DataType::UInt64, 5),
            Arc::new(Int64Array::from(vec![Some(7), Some(7), Some(300), None, Some(7)])),
        ],
        None,
    )
    .unwrap();
    let names = StringArray::from(vec![Some("a"), Some("a"), Some("b"), Some("c"), Some("a")]);
    let schema =
        Schema::new(vec![Field::new("v0", DataType::Struct(fields), true), Field::new("k0", DataType::Utf8, true)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(nodes), Arc::new(names)]).unwrap()
}

fn part(column: &str, within: Option<(u16, usize)>) -> Part {
    Part { column: column.to_owned(), within }
}

#[test]
fn rows_of_other_tables_and_with_nulls_have_no_key() {
    let parts = read_parts(&batch(), &[part("v0", Some((0, 2)))]).unwrap();
    assert_eq!(parts.present.set_indices().collect::<Vec<_>>(), [0, 2, 4]);
    assert!(read_parts(&batch(), &[part("v1", None)]).is_err());
}

#[test]
fn an_index_finds_all_rows_of_a_key() {
    let parts = read_parts(&batch(), &[part("v0", Some((0, 2))), part("k0", None)]).unwrap();
    let bytes = KeyBytes::new([DataType::Int64, DataType::Utf8]).unwrap();
    let index = KeyIndex::new(&parts, &bytes).unwrap();
    assert_eq!(index.len(), 2);
    let keys = bytes.rows(&parts.arrays).unwrap();
    let mut found: Vec<u32> = index.rows_of(keys.row(0).data()).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 4]);
    assert_eq!(index.rows_of(keys.row(3).data()).count(), 0, "a null is no key");
}

#[test]
fn a_filter_leaves_out_what_the_stored_type_cannot_hold() {
    let parts = read_parts(&batch(), &[part("v0", Some((0, 2))), part("k0", None)]).unwrap();
    let bytes = KeyBytes::new([DataType::Int64, DataType::Utf8]).unwrap();
    let index = KeyIndex::new(&parts, &bytes).unwrap();
    let columns = [("id".to_owned(), DataType::Int8), ("name".to_owned(), DataType::Utf8)];
    let filter = key_filter(&index, &parts, &columns).unwrap().unwrap();
    assert_eq!(filter.to_string(), r#"id = Int8(7) AND name IN ([Utf8("a"), Utf8("b")])"#);
}
