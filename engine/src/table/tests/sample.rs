//! A small schema and rows for it.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, ListBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, Date32Array, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use ulid::Ulid;

use crate::ids::{FieldId, PropertyId, TableId};
use crate::schema::{Catalog, Multiplicity, PropertyDef, TableDef, TableKind, Type};
use crate::table::Layout;

pub(crate) fn property(n: u128, field: i32, name: &str, ty: Type) -> PropertyDef {
    PropertyDef {
        id: PropertyId::new(Ulid(n)),
        also: Vec::new(),
        field: FieldId(field),
        item_field: matches!(ty, Type::List(_)).then_some(FieldId(field - 7)),
        name: name.to_owned(),
        ty,
        not_null: false,
        default: None,
        fill: None,
        merge: None,
    }
}

/// `Person(id STRING key, age INT64, tags STRING[], embedding FLOAT[3])` and `Knows(Person, Person, since DATE)`. Field ids are
/// sparse and in no order.
pub(crate) fn catalog() -> (Catalog, TableDef, TableDef) {
    let person = TableDef {
        id: TableId::new(Ulid(1)),
        also: vec![],
        name: "Person".to_owned(),
        kind: TableKind::Node {},
        properties: vec![
            property(10, 1_900_000_003, "id", Type::String),
            property(11, 40_007, "age", Type::Int64),
            property(12, 2_147_483_647, "tags", Type::List(Box::new(Type::String))),
            property(13, 5_000, "embedding", Type::Vector(3)),
        ],
        key: vec![PropertyId::new(Ulid(10))],
        unique: vec![],
        checks: vec![],
        dropped: vec![],
    };
    let knows = TableDef {
        id: TableId::new(Ulid(2)),
        also: vec![],
        name: "Knows".to_owned(),
        kind: TableKind::Edge {
            from: person.id,
            to: person.id,
            from_fields: vec![FieldId(1_200_000_000)],
            to_fields: vec![FieldId(1_100_000_000)],
            multi: false,
            multiplicity: Multiplicity::ManyMany,
            on_merge: None,
        },
        properties: vec![property(20, 77_777, "since", Type::Date)],
        key: vec![],
        unique: vec![],
        checks: vec![],
        dropped: vec![],
    };
    (Catalog { tables: vec![person.clone(), knows.clone()] }, person, knows)
}

/// The layout of `Person`, under another table id for each `n`.
pub(crate) fn person(n: u128) -> Arc<Layout> {
    let (catalog, mut person, _) = catalog();
    person.id = TableId::new(Ulid(1000 + n));
    Layout::new(&catalog, &person)
}

/// The same table with other properties.
pub(crate) fn with_properties(layout: &Layout, properties: Vec<PropertyDef>) -> Arc<Layout> {
    let mut table = layout.table.clone();
    table.properties = properties;
    Layout::new(&Catalog { tables: vec![table.clone()] }, &table)
}

pub(crate) fn key(n: u64) -> String {
    format!("k{n:06}")
}

/// Row `n` of each; `tag` is added to numbers, so that versions of a row can be told apart. Every fifth row has no list and no
/// vector.
pub(crate) fn rows(layout: &Layout, keys: impl IntoIterator<Item = u64>, tag: i64) -> RecordBatch {
    let keys: Vec<u64> = keys.into_iter().collect();
    let columns =
        layout.columns.iter().zip(layout.arrow.fields()).map(|(column, field)| column_of(column, field, &keys, tag));
    RecordBatch::try_new(layout.arrow.clone(), columns.collect()).unwrap()
}

fn column_of(column: &crate::table::Column, field: &arrow_schema::Field, keys: &[u64], tag: i64) -> ArrayRef {
    match field.data_type() {
        DataType::FixedSizeBinary(16) => {
            // As random as a real hash, so that it compresses as little.
            let hashes = keys
                .iter()
                .map(|n| blake3::hash(format!("{}{n}{tag}", column.name).as_bytes()).as_bytes()[..16].to_vec());
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(hashes.map(Some), 16).unwrap())
        }
        DataType::Utf8 => Arc::new(StringArray::from_iter_values(keys.iter().map(|n| key(*n)))),
        DataType::Int64 => Arc::new(Int64Array::from_iter_values(keys.iter().map(|n| number(*n, tag)))),
        DataType::Date32 => Arc::new(Date32Array::from_iter_values(keys.iter().map(|n| i32::try_from(*n).unwrap()))),
        DataType::List(item) => {
            let mut list = ListBuilder::new(StringBuilder::new()).with_field(item.clone());
            for n in keys {
                list.values().append_value(format!("t{n}"));
                list.values().append_null();
                list.append(n % 5 != 0);
            }
            Arc::new(list.finish())
        }
        DataType::FixedSizeList(item, length) => {
            let mut vectors = FixedSizeListBuilder::new(Float32Builder::new(), *length).with_field(item.clone());
            for n in keys {
                for i in 0..*length {
                    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                    vectors.values().append_value(*n as f32 + i as f32);
                }
                vectors.append(n % 5 != 0);
            }
            Arc::new(vectors.finish())
        }
        other => panic!("no sample values of {other}"),
    }
}

pub(crate) fn number(n: u64, tag: i64) -> i64 {
    tag * 1_000_000 + i64::try_from(n).unwrap()
}

/// The texts of a batch's column.
pub(crate) fn texts(batch: &RecordBatch, column: usize) -> Vec<String> {
    let array = batch.column(column).as_any().downcast_ref::<StringArray>().unwrap();
    (0..array.len()).map(|row| array.value(row).to_owned()).collect()
}

/// The numbers of a batch's column.
pub(crate) fn numbers(batch: &RecordBatch, column: usize) -> Vec<Option<i64>> {
    batch.column(column).as_any().downcast_ref::<Int64Array>().unwrap().iter().collect()
}
