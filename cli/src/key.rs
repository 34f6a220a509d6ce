//! Keys on the command line: plain text, read by the type of the key.

use pleach::schema::{Catalog, TableDef, TableKind, Type};

use crate::failure::CliError;

/// One part of a table's key.
struct Part<'a> {
    /// As errors name it.
    name: String,
    /// `None` for the hidden id of an edge.
    ty: Option<&'a Type>,
}

/// The JSON texts that stand for the plain `texts` of a key of `table`. A table that does not exist takes any: the engine
/// says so in its own words.
pub(crate) fn json_key(catalog: &Catalog, table: &str, texts: &[String]) -> Result<Vec<String>, CliError> {
    let Some(table) = catalog.table(table) else {
        return Ok(texts.iter().map(|text| json_text(text, None)).collect());
    };
    let parts = parts(catalog, table);
    // The id of a parallel edge tells it apart on its own.
    if let ([text], Some(Part { ty: None, .. })) = (texts, parts.last()) {
        return Ok(vec![json_text(text, None)]);
    }
    if parts.len() != texts.len() {
        let expected = parts.into_iter().map(|part| part.name).collect();
        return Err(CliError::KeyParts { table: table.name.clone(), expected, given: texts.len() });
    }
    Ok(parts.iter().zip(texts).map(|(part, text)| json_text(text, part.ty)).collect())
}

/// The parts of a table's key in their order.
fn parts<'a>(catalog: &'a Catalog, table: &'a TableDef) -> Vec<Part<'a>> {
    let own = table.key_properties().map(|property| Part { name: property.name.clone(), ty: Some(&property.ty) });
    let TableKind::Edge { from, to, multi, .. } = &table.kind else { return own.collect() };
    let mut parts = Vec::new();
    for (side, node) in [("from", from), ("to", to)] {
        let node_key = catalog.table_by_id(*node).into_iter().flat_map(TableDef::key_properties);
        parts.extend(node_key.map(|p| Part { name: format!("{side}.{}", p.name), ty: Some(&p.ty) }));
    }
    parts.extend(own);
    if *multi {
        parts.push(Part { name: "edge id".to_owned(), ty: None });
    }
    parts
}

/// Every type that a key may have is also spelled as a JSON string, Booleans apart.
fn json_text(text: &str, ty: Option<&Type>) -> String {
    match (ty, text) {
        (Some(Type::Bool), "true" | "false") => text.to_owned(),
        _ => serde_json::Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let property = |n: u8, name: &str, ty: &str| serde_json::json!({"id": ulid(n), "field": 1000 + i32::from(n), "name": name, "type": ty, "not_null": true});
        let node = serde_json::json!({
            "id": ulid(1), "name": "Seat", "kind": {"node": {}}, "key": [ulid(2), ulid(3)],
            "properties": [property(2, "row", "int32"), property(3, "window", "bool")],
        });
        let edge = |id: u8, name: &str, multi: bool, key: &[String]| {
            let kind = serde_json::json!({"edge": {
                "from": ulid(1), "to": ulid(1), "from_fields": [1100, 1101], "to_fields": [1102, 1103],
                "multi": multi, "multiplicity": "many-many",
            }});
            let properties = [property(id + 1, "day", "date")];
            serde_json::json!({"id": ulid(id), "name": name, "kind": kind, "key": key, "properties": properties})
        };
        let tables = [node, edge(10, "Next", false, &[ulid(11)]), edge(20, "Swap", true, &[])];
        serde_json::from_value(serde_json::json!({ "tables": tables })).unwrap()
    }

    fn ulid(n: u8) -> String {
        format!("0{n:025}")
    }

    fn key(table: &str, texts: &[&str]) -> Result<Vec<String>, CliError> {
        json_key(&catalog(), table, &texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn text_is_quoted_and_booleans_are_not() {
        assert_eq!(key("Seat", &["12", "true"]).unwrap(), ["\"12\"", "true"]);
        assert_eq!(key("Seat", &["a\"b", "yes"]).unwrap(), ["\"a\\\"b\"", "\"yes\""]);
    }

    #[test]
    fn an_edge_takes_both_ends_and_its_own_key() {
        assert_eq!(
            key("Next", &["1", "true", "2", "false", "2024-01-31"]).unwrap(),
            ["\"1\"", "true", "\"2\"", "false", "\"2024-01-31\""]
        );
        assert_eq!(key("Swap", &["1", "true", "2", "false", "01J"]).unwrap()[4], "\"01J\"");
        assert_eq!(key("Swap", &["01J"]).unwrap(), ["\"01J\""]);
    }

    #[test]
    fn a_wrong_number_of_parts_is_refused_naming_them() {
        let error = key("Swap", &["1", "true"]).unwrap_err().to_string();
        assert_eq!(error, "the key of Swap has 5 parts (from.row, from.window, to.row, to.window, edge id), 2 given");
        assert_eq!(key("Nope", &["1"]).unwrap(), ["\"1\""]);
    }
}
