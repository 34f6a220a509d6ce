//! Writing all rows of a commit as JSON Lines, in an order that depends on nothing but the rows.

use std::collections::BTreeMap;
use std::io::Write;

use futures::TryStreamExt as _;

use crate::error::Error;
use crate::graph::{Core, Graph};
use crate::publish::Snapshot;
use crate::read::sort::{LineSorter, SortError};
use crate::read::{ReadError, write_line};
use crate::syntax::nearest;
use crate::table::Scan;
use crate::value::Value;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};
use crate::write::violation::shorten;

impl Graph {
    /// Writes nodes, then edges, as JSON Lines: each table in the order of its keys, each property in the order of the schema, nulls left out.
    /// A load of the output into an empty graph of the same schema makes the same graph, edge ids included. Returns rows per
    /// table. `tables` names those wanted, in any order; none means all.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, Write};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://export-example", ddl, InitOptions::default()).await?;
    /// let ada = r#"{"table":"Person","data":{"id":"ada","name":"Ada"}}"#;
    /// graph.write("main", Write::new().insert_json(ada), ChangeOptions::default()).await?;
    /// let mut lines = Vec::new();
    /// graph.export("main", &[], &mut lines).await?;
    /// assert_eq!(lines, format!("{ada}\n").as_bytes());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the reference or a table is not one, the store fails, or `out` does.
    pub async fn export(
        &self,
        reference: &str,
        tables: &[String],
        mut out: impl Write + Send,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let core = self.core();
        let at = core.snapshot(reference).await?;
        let shapes = Shapes::new(&at.catalog, |table| core.layout(&at, table))?;
        if let Some(unknown) = tables.iter().find(|name| shapes.by_name(name).is_none()) {
            let like = nearest(unknown, shapes.names()).map(str::to_owned);
            return Err(ReadError::NoSuchTable { reference: reference.into(), table: shorten(unknown), like }.into());
        }
        let mut wanted: Vec<&TableShape> = shapes
            .tables
            .iter()
            .filter(|shape| tables.is_empty() || tables.iter().any(|name| name == shape.name()))
            .collect();
        wanted.sort_by_key(|shape| (shape.ends.is_some(), shape.name()));
        let mut rows = BTreeMap::new();
        for shape in wanted {
            let count = export_table(core, &at, &shapes, shape, &mut out).await?;
            rows.insert(shape.name().to_owned(), count);
        }
        out.flush().map_err(|source| ReadError::Output { source })?;
        Ok(rows)
    }
}

async fn export_table(
    core: &Core,
    at: &Snapshot,
    shapes: &Shapes,
    shape: &TableShape,
    out: &mut (impl Write + Send),
) -> Result<u64, Error> {
    if at.table_version(shape.table_id()).is_none_or(|version| version.rows == 0) {
        return Ok(0);
    }
    let temporary = |source| ReadError::Temporary { source };
    let columns: Vec<usize> = (0..shape.layout.columns.len()).collect();
    let open = core.open_table(at, &shape.layout.table).await?;
    let mut batches = open.scan(Scan { columns: columns.clone(), ..Scan::default() });
    let mut sorter = LineSorter::default();
    let mut rows = 0;
    while let Some(batch) = batches.try_next().await? {
        for i in 0..batch.num_rows() {
            let row = Row::read(shape, &columns, &batch, i);
            let mut line = Vec::with_capacity(128);
            write_line(shapes, shape, &row, &mut line);
            sorter.push(sort_key(shapes, shape, &row), line).map_err(temporary)?;
            rows += 1;
        }
    }
    sorter.finish(out).map_err(|error| match error {
        SortError::Temporary(source) => temporary(source),
        SortError::Output(source) => ReadError::Output { source },
    })?;
    Ok(rows)
}

/// Bytes that sort as the row's ends and key do. Edges are sorted by their ends, also where a hidden id tells them apart.
fn sort_key(shapes: &Shapes, shape: &TableShape, row: &Row) -> Vec<u8> {
    let mut key = Vec::with_capacity(32);
    let ends = shape.ends.iter().filter(|ends| ends.multi).flat_map(|ends| [ends.from.space, ends.to.space]);
    for space in ends.chain([shape.key]) {
        shapes.columns_of(space).iter().for_each(|column| push_sortable(row.cell(shape, *column), &mut key));
    }
    key
}

/// Appends bytes whose order is the order of key values of one type, and of which none is a prefix of another.
fn push_sortable(value: &Value, out: &mut Vec<u8>) {
    let signed = |n: i128| (n.cast_unsigned() ^ (1 << 127)).to_be_bytes();
    match value {
        Value::Bool(b) => out.push(u8::from(*b)),
        Value::Int(n) => out.extend_from_slice(&signed(*n)),
        Value::Decimal { unscaled, .. } => out.extend_from_slice(&signed(*unscaled)),
        Value::Date(n) => out.extend_from_slice(&signed((*n).into())),
        Value::Time(n) | Value::Timestamp(n) => out.extend_from_slice(&signed((*n).into())),
        Value::Uuid(bytes) => out.extend_from_slice(bytes),
        Value::String(text) => push_text(text.as_bytes(), out),
        Value::Blob(bytes) => push_text(bytes, out),
        // No key has these.
        Value::Null | Value::Float(_) | Value::Json(_) | Value::List(_) | Value::Vector(_) => {}
    }
}

/// Bytes of any length: a zero is written as 0, 255, the end as 0, 0.
fn push_text(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(255);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[Value]) -> Vec<u8> {
        let mut out = Vec::new();
        for part in parts {
            push_sortable(part, &mut out);
        }
        out
    }

    #[test]
    fn keys_sort_as_their_values() {
        let text = |s: &str| Value::String(s.into());
        let ordered = [
            vec![
                key(&[text(""), text("z")]),
                key(&[text("a"), text("z")]),
                key(&[text("a\0"), text("a")]),
                key(&[text("a\0\0"), text("a")]),
                key(&[text("a\u{1}"), text("a")]),
                key(&[text("aa"), text("")]),
                key(&[text("é"), text("")]),
            ],
            [i128::from(i64::MIN), -300, -1, 0, 1, 300, u64::MAX.into()].map(|n| key(&[Value::Int(n)])).to_vec(),
            [i32::MIN, -1, 0, 5].map(|n| key(&[Value::Date(n)])).to_vec(),
            [false, true].map(|b| key(&[Value::Bool(b)])).to_vec(),
        ];
        for keys in ordered {
            assert!(keys.is_sorted() && keys.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}
