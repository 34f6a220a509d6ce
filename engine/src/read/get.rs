//! Reading one row by its key.

use futures::TryStreamExt as _;

use crate::error::Error;
use crate::graph::Graph;
use crate::read::{ReadError, write_line};
use crate::syntax::nearest;
use crate::table::Scan;
use crate::write::lookup::tuples_filter;
use crate::write::read_key;
use crate::write::row::Row;
use crate::write::shape::Shapes;
use crate::write::violation::shorten;

impl Graph {
    /// A node or edge as the JSON line that [`Graph::export`] would write; `None` if there is none with this key. `key` is one JSON text
    /// per part; edges: the parts of the start, the parts of the end, then those of the declared key or the edge id of `MULTI`
    /// tables (the id alone will do).
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, Write};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://get-example", ddl, InitOptions::default()).await?;
    /// let ada = r#"{"table":"Person","data":{"id":"ada","name":"Ada"}}"#;
    /// graph.write("main", Write::new().insert_json(ada), ChangeOptions::default()).await?;
    /// let key = [r#""ada""#.to_owned()];
    /// assert_eq!(graph.get("main", "Person", &key).await?.as_deref(), Some(ada));
    /// assert_eq!(graph.get("main~1", "Person", &key).await?, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the reference, the table or the key is not one, or the store fails.
    pub async fn get(&self, reference: &str, table: &str, key: &[String]) -> Result<Option<String>, Error> {
        let core = self.core();
        let at = core.snapshot(reference).await?;
        let shapes = Shapes::new(&at.catalog, |table| core.layout(&at, table))?;
        let key = read_key(&shapes, table, key).map_err(|wrong| match wrong.code {
            "unknown-table" => ReadError::NoSuchTable {
                reference: reference.to_owned(),
                table: shorten(table),
                like: nearest(table, shapes.names()).map(str::to_owned),
            },
            _ => ReadError::WrongKey { table: table.to_owned(), found: wrong.found, expected: wrong.expected },
        })?;
        let Some(shape) = shapes.tables.get(key.table) else { return Ok(None) };
        if at.table_version(shape.table_id()).is_none_or(|version| version.rows == 0) {
            return Ok(None);
        }
        let filter = tuples_filter(shape, shapes.columns_of(shape.key), &[&key.values])?;
        let columns: Vec<usize> = (0..shape.layout.columns.len()).collect();
        let open = core.open_table(&at, &shape.layout.table).await?;
        let mut batches = open.scan(Scan { columns: columns.clone(), filter, limit: None, addresses: false });
        while let Some(batch) = batches.try_next().await? {
            if batch.num_rows() == 0 {
                continue;
            }
            let row = Row::read(shape, &columns, &batch, 0);
            if !key.ends.is_empty() && !key.ends.iter().eq(row.from.iter().chain(&row.to)) {
                return Ok(None);
            }
            let mut line = Vec::new();
            write_line(&shapes, shape, &row, &mut line);
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
        Ok(None)
    }
}
