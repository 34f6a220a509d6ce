//! Stored catalogs: golden bytes, and what is refused.

use super::*;
use crate::clock::{Clock, Timestamp};
use crate::error::Classify;

const DDL: &str = "CREATE NODE TABLE P (id STRING PRIMARY KEY, n INT64 DEFAULT 9007199254740993 MERGE sum, tags STRING[], \
                   UNIQUE (n), CHECK (n > 0)); CREATE REL TABLE K (FROM P TO P, since DATE, KEY (since), MANY_ONE);";

fn catalog() -> Catalog {
    parse_ddl(DDL, &Clock::manual(Timestamp(1_700_000_000_000_000), 1)).unwrap()
}

#[test]
fn the_stored_form_never_changes() {
    let mut catalog = catalog();
    // Ids and fields by position, so that the bytes do not depend on a random number generator.
    let mut next = 0_u8;
    let mut id = || {
        next += 1;
        [next; 16]
    };
    let (mut tables, mut properties) = (std::collections::HashMap::new(), std::collections::HashMap::new());
    let mut number = 1000;
    let mut field = || {
        number += 1;
        crate::ids::FieldId(number)
    };
    for table in &mut catalog.tables {
        table.id = *tables.entry(table.id).or_insert_with(|| crate::ids::TableId::from_bytes(id()));
        for property in &mut table.properties {
            property.id = *properties.entry(property.id).or_insert_with(|| crate::ids::PropertyId::from_bytes(id()));
            property.field = field();
            property.item_field = property.item_field.map(|_| field());
        }
        for id in table
            .key
            .iter_mut()
            .chain(table.unique.iter_mut().flatten())
            .chain(table.checks.iter_mut().flat_map(|check| &mut check.properties))
        {
            *id = properties[id];
        }
        if let TableKind::Edge { from, to, from_fields, to_fields, .. } = &mut table.kind {
            (*from, *to) = (tables[from], tables[to]);
            from_fields.iter_mut().chain(to_fields).for_each(|end| *end = field());
        }
    }
    let (bytes, hash) = encode_catalog(&catalog);
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), GOLDEN);
    assert_eq!(hash.to_string(), GOLDEN_HASH);
    assert_eq!(decode_catalog(&bytes).unwrap(), catalog);
}

const GOLDEN: &str = "{\"format\":1,\"tables\":[{\"id\":\"01040G2081040G2081040G2081\",\"name\":\"P\",\"kind\":{\"node\":{}},\"properties\":[\
    {\"id\":\"02081040G2081040G2081040G2\",\"field\":1001,\"name\":\"id\",\"type\":\"string\",\"not_null\":true},\
    {\"id\":\"030C1G60R30C1G60R30C1G60R3\",\"field\":1002,\"name\":\"n\",\"type\":\"int64\",\"default\":\"9007199254740993\",\"merge\":\"sum\"},\
    {\"id\":\"040G2081040G2081040G208104\",\"field\":1003,\"item_field\":1004,\"name\":\"tags\",\"type\":{\"list\":\"string\"}}]\
    ,\"key\":[\"02081040G2081040G2081040G2\"]\
    ,\"unique\":[[\"030C1G60R30C1G60R30C1G60R3\"]]\
    ,\"checks\":[{\"expression\":\"n > 0\",\"properties\":[\
    \"030C1G60R30C1G60R30C1G60R3\"]}]},\
    {\"id\":\"050M2GA1850M2GA1850M2GA185\",\"name\":\"K\",\"kind\":{\"edge\":{\"from\":\"01040G2081040G2081040G2081\",\"to\":\"01040G2081040G2081040G2081\",\"from_fields\":[1006],\"to_fields\":[1007],\"multi\":false,\"multiplicity\":\"many-one\"}},\"properties\":[\
    {\"id\":\"060R30C1G60R30C1G60R30C1G6\",\"field\":1005,\"name\":\"since\",\"type\":\"date\",\"not_null\":true}]\
    ,\"key\":[\"060R30C1G60R30C1G60R30C1G6\"]}]}";
const GOLDEN_HASH: &str = "e775b5d253656c14747b9c0783f62dc19969455a4333c20ff93caa84331b7c52";

#[test]
fn a_catalog_is_read_back() {
    let catalog = catalog();
    let (bytes, hash) = encode_catalog(&catalog);
    assert_eq!(decode_catalog(&bytes).unwrap(), catalog);
    assert_eq!(hash, SchemaHash::of(&bytes));
    assert_eq!(encode_catalog(&Catalog::default()).0, br#"{"format":1,"tables":[]}"#);
}

#[test]
fn unknown_formats_fields_and_spellings_are_refused() {
    for (bytes, code, message) in [
        (
            r#"{"format":2,"tables":[],"views":[]}"#,
            "unknown-schema-format",
            "the stored schema has format 2; this version of Pleach reads format 1",
        ),
        (r#"{"format":1,"tables":[],"views":[]}"#, "damaged-schema", "the stored schema cannot be read"),
        (r#"{"tables":[]}"#, "damaged-schema", "the stored schema cannot be read"),
        ("nonsense", "damaged-schema", "the stored schema cannot be read"),
        (
            r#"{"format": 1,"tables":[]}"#,
            "damaged-schema",
            "the stored schema is damaged: it is not written in the canonical form",
        ),
    ] {
        let error = decode_catalog(bytes.as_bytes()).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (code, message), "{bytes}");
    }
}

#[test]
fn a_catalog_that_contradicts_itself_is_refused() {
    let refused = |change: fn(&mut Catalog)| {
        let mut catalog = catalog();
        change(&mut catalog);
        decode_catalog(&encode_catalog(&catalog).0).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|catalog| catalog.tables.reverse()),
        "the stored schema is damaged: its tables are not in the order of their ids"
    );
    assert_eq!(
        refused(|catalog| {
            catalog.tables.remove(0);
        }),
        "the stored schema is damaged: an end of edge table `K` is no node table"
    );
    assert!(
        refused(|catalog| {
            catalog.tables[0].properties.remove(1);
        })
        .starts_with("the stored schema is damaged: table `P` mentions a property 01")
    );
}
