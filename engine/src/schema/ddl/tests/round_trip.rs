//! Whatever schema there is, its text gives it back.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::json;

use super::{clock, parse};
use crate::ids::{FieldId, PropertyId, TableId};
use crate::schema::{
    Catalog, CheckDef, JsonText, MergePolicy, Multiplicity, OnMerge, PropertyDef, TableDef, TableKind, Type,
    decode_catalog, encode_catalog, print_ddl,
};

/// The catalog with ids counted in the order of the text, so that two of the same shape are equal.
fn shape(catalog: &Catalog) -> Catalog {
    let mut tables: Vec<TableDef> = catalog.tables.iter().filter(|table| table.is_node()).cloned().collect();
    tables.extend(catalog.tables.iter().filter(|table| !table.is_node()).cloned());
    let number = |n: usize| [u8::try_from(n).unwrap(); 16];
    let ids: HashMap<TableId, TableId> =
        tables.iter().enumerate().map(|(i, table)| (table.id, TableId::from_bytes(number(i)))).collect();
    for table in &mut tables {
        table.id = ids[&table.id];
        let properties: HashMap<PropertyId, PropertyId> = table
            .properties
            .iter()
            .enumerate()
            .map(|(i, property)| (property.id, PropertyId::from_bytes(number(i))))
            .collect();
        for property in &mut table.properties {
            property.id = properties[&property.id];
            property.field = FieldId(0);
            property.item_field = property.item_field.map(|_| FieldId(0));
        }
        table.key.iter_mut().for_each(|id| *id = properties[id]);
        table.unique.iter_mut().flatten().for_each(|id| *id = properties[id]);
        table.checks.iter_mut().flat_map(|check| &mut check.properties).for_each(|id| *id = properties[id]);
        if let TableKind::Edge { from, to, from_fields, to_fields, .. } = &mut table.kind {
            (*from, *to) = (ids[from], ids[to]);
            from_fields.iter_mut().chain(to_fields).for_each(|field| *field = FieldId(0));
        }
    }
    Catalog { tables }
}

fn scalar() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(Type::String),
        Just(Type::Bool),
        Just(Type::Int8),
        Just(Type::Int64),
        Just(Type::UInt64),
        Just(Type::Float),
        Just(Type::Double),
        (1_u8..=38)
            .prop_flat_map(|precision| (Just(precision), 0..=precision))
            .prop_map(|(precision, scale)| Type::Decimal { precision, scale }),
        Just(Type::Date),
        Just(Type::Time),
        Just(Type::Timestamp),
        Just(Type::Uuid),
        Just(Type::Blob),
        proptest::collection::btree_set("[^\\p{Cc}]{1,6}", 1..4)
            .prop_map(|labels| Type::Enum(labels.into_iter().collect())),
    ]
}

fn any_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        4 => scalar(),
        1 => Just(Type::Json),
        1 => (1_u32..=65_536).prop_map(Type::Vector),
        1 => scalar().prop_map(|element| Type::List(Box::new(element))),
    ]
}

/// A type with a default of it and a policy for it, or without.
fn property() -> impl Strategy<Value = (Type, bool, Option<JsonText>, Option<MergePolicy>)> {
    let with_value = prop_oneof![
        any::<String>().prop_map(|text| (Type::String, json!(text).to_string(), Some(MergePolicy::LastWriter))),
        any::<i64>().prop_map(|value| {
            let json = if value.unsigned_abs() <= 1 << 53 { json!(value) } else { json!(value.to_string()) };
            (Type::Int64, json.to_string(), Some(MergePolicy::Sum))
        }),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| (
            Type::Double,
            format!("{value:?}"),
            Some(MergePolicy::Max)
        )),
        any::<f32>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| (
            Type::Float,
            format!("{value:?}"),
            Some(MergePolicy::Min)
        )),
        proptest::collection::vec(proptest::option::of(any::<String>()), 0..4).prop_map(|items| (
            Type::List(Box::new(Type::String)),
            json!(items).to_string(),
            Some(MergePolicy::Union)
        )),
        any::<String>().prop_map(|text| (Type::Json, json!({ "a": [1, text] }).to_string(), None)),
    ];
    prop_oneof![
        (any_type(), any::<bool>()).prop_map(|(ty, not_null)| (ty, not_null, None, None)),
        (with_value, any::<bool>()).prop_map(|((ty, default, merge), not_null)| (
            ty,
            not_null,
            Some(JsonText::new(&default).unwrap()),
            merge
        )),
    ]
}

fn name() -> impl Strategy<Value = String> {
    // Distinct without regard to case by their numbers, put in by the caller.
    prop_oneof!["[a-z]{1,8}", Just("order".to_owned()), Just("KEY ".to_owned()), "[a-zäöü\\\\ '\"$-]{1,8}"]
}

fn node_table(i: usize) -> impl Strategy<Value = TableDef> {
    let properties = proptest::collection::vec((name(), property()), 0..5);
    (name(), properties, 1_usize..3, any::<bool>(), any::<bool>()).prop_map(
        move |(name, properties, keys, is_unique, is_checked)| {
            let number = |n: usize| u8::try_from(n).unwrap();
            let plain = |n: usize, name: String, ty: Type, not_null: bool| PropertyDef {
                id: PropertyId::from_bytes([number(n); 16]),
                also: Vec::new(),
                field: FieldId(0),
                item_field: matches!(ty, Type::List(_)).then_some(FieldId(0)),
                name,
                ty,
                not_null,
                default: None,
                fill: None,
                merge: None,
            };
            let mut defs: Vec<_> = (0..keys).map(|n| plain(n, format!("key_{n}"), Type::Int64, true)).collect();
            let key: Vec<_> = defs.iter().map(|property| property.id).collect();
            for (p, (name, (ty, not_null, default, merge))) in properties.into_iter().enumerate() {
                let def = plain(keys + p, format!("{name}{p}"), ty, not_null);
                defs.push(PropertyDef { default, merge, ..def });
            }
            let check = CheckDef { expression: "key_0 <> 1 OR key_0 > 5 // why".to_owned(), properties: vec![key[0]] };
            TableDef {
                id: TableId::from_bytes([number(i); 16]),
                also: Vec::new(),
                name: format!("{name}{i}"),
                kind: TableKind::Node {},
                properties: defs,
                unique: is_unique.then(|| key.clone()).into_iter().collect(),
                checks: is_checked.then_some(check).into_iter().collect(),
                dropped: Vec::new(),
                key,
            }
        },
    )
}

/// An edge table from the first to the last node table, built on the properties of a node table.
fn edge_table(
    nodes: &[TableDef],
    base: TableDef,
    multi: bool,
    (multiplicity, on_merge): (Multiplicity, Option<OnMerge>),
) -> TableDef {
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return base };
    let mut base = base;
    if multi {
        let key = std::mem::take(&mut base.key);
        base.properties.iter_mut().filter(|property| key.contains(&property.id)).for_each(|p| p.not_null = false);
    }
    let kind = TableKind::Edge {
        from: first.id,
        to: last.id,
        from_fields: vec![FieldId(0); first.key.len()],
        to_fields: vec![FieldId(0); last.key.len()],
        multi,
        multiplicity,
        on_merge,
    };
    TableDef { kind, ..base }
}

fn catalog() -> impl Strategy<Value = Catalog> {
    let multiplicity = prop_oneof![
        Just(Multiplicity::ManyMany),
        Just(Multiplicity::ManyOne),
        Just(Multiplicity::OneMany),
        Just(Multiplicity::OneOne),
    ];
    let on_merge = prop_oneof![Just(None), Just(Some(OnMerge::Cascade)), Just(Some(OnMerge::Keep))];
    (node_table(0), node_table(1), node_table(2), any::<bool>(), (multiplicity, on_merge)).prop_map(
        |(first, second, third, multi, rules)| {
            let mut tables = vec![first, second];
            tables.push(edge_table(&tables, third, multi, rules));
            Catalog { tables }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_catalog_survives_its_text_and_its_bytes(catalog in catalog()) {
        let text = print_ddl(&catalog);
        let read = parse(&text);
        prop_assert_eq!(shape(&read), shape(&catalog), "{}", text);
        prop_assert_eq!(print_ddl(&read), text);
        let (bytes, _) = encode_catalog(&read);
        prop_assert_eq!(decode_catalog(&bytes).unwrap(), read);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(?s).{0,80}") {
        let _ = crate::schema::parse_ddl(&text, &clock());
    }

    #[test]
    fn no_mangled_schema_makes_the_parser_panic(cut in 0_usize..200, length in 0_usize..20, insert in "[(),;'`a-zA-Z0-9 \\[\\]]{0,6}") {
        let mut text = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, age INT64 DEFAULT 1 CHECK (age >= 0), e ENUM('a'));\n\
                        CREATE REL TABLE Knows (FROM Person TO Person, since DATE, KEY (since), MANY_ONE, ON MERGE KEEP);".to_owned();
        let end = (cut + length).min(text.len());
        text.replace_range(cut.min(text.len())..end, &insert);
        if let Err(error) = crate::schema::parse_ddl(&text, &clock()) {
            prop_assert!(error.to_string().contains("line "));
        }
    }
}
