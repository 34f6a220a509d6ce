//! Reading statements: from a text to rows.

use std::fmt;
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};

use super::bind::prepare;
use super::bound::{Body, Statement};
use super::compile::column_name;
use super::eval::EvalContext;
use super::exec::error::QueryRunError;
use super::exec::{QueryContext, decode, explain, failure};
use super::kind::Kind;
use super::layout::Layouts;
use super::output::{Columns, Looks};
use super::params::Params;
use super::value::CypherValue;
use crate::error::Error;
use crate::graph::{Core, Graph};
use crate::store::{IoScope, IoStats};
use crate::syntax::{Problem, locate_all};

impl Graph {
    /// Runs an openCypher statement that reads, on the commit that `reference` names: `main`, `main@42`, `main~2`. Nothing is read before the
    /// first rows are asked for, and rows come as they are found: what they need in memory is bounded
    /// ([`GraphBuilder::query_memory_bytes`](crate::GraphBuilder::query_memory_bytes)).
    ///
    /// ```
    /// # use pleach::{Error, Graph, InitOptions, Params, Write, ChangeOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, age INT64);";
    /// # let graph = Graph::init("memory://query-example", ddl, InitOptions::default()).await?;
    /// # let ada = r#"{"table":"Person","data":{"id":"ada","age":36}}"#;
    /// # graph.write("main", Write::new().insert_json(ada), ChangeOptions::default()).await?;
    /// let params = Params::new().with("least", 18);
    /// let rows = graph.query("main", "MATCH (p:Person) WHERE p.age >= $least RETURN p.id", params).await?;
    /// for row in rows.collect_rows().await? {
    ///     assert_eq!(row[0].to_json(), r#""ada""#);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the reference is not one, the statement is wrong, asks for what is not supported, or changes the graph
    /// ([`QueryRunError::Updates`]), or the store fails. Reading the rows may fail in the same ways, and when an expression has no value for a
    /// row.
    pub async fn query(&self, reference: &str, text: &str, params: Params) -> Result<QueryRows, Error> {
        query(self.core(), reference, text, &params).await
    }
}

async fn query(core: &Arc<Core>, reference: &str, text: &str, params: &Params) -> Result<QueryRows, Error> {
    let io = core.store().io().scope();
    let at = core.snapshot(reference).await?;
    let statement = Arc::new(prepare(text, &at.catalog, params)?);
    let clock = core.clock();
    let context = Arc::new(EvalContext::new(at.catalog.clone(), clock.now(), clock.random_u128()));
    let cx = QueryContext::new(core, &at, text, statement.clone(), context);
    if statement.explain {
        return explained(&cx, io).await;
    }
    let Body::Read(output) = &statement.body else { return Err(QueryRunError::Updates.into()) };
    let columns = output.columns.iter().map(|(name, var)| (name.clone(), column_name(*var), cx.kind_of(*var).clone()));
    let columns: Vec<_> = columns.collect();
    let names = columns.iter().map(|(name, _, kind)| QueryColumn { name: name.clone(), kind: kind.to_string() });
    Ok(QueryRows {
        names: names.collect(),
        batches: cx.stream(&output.plan).await?,
        columns: Columns::new(columns, cx.layouts().clone()),
        looks: Looks::new(&statement, output, &at.catalog),
        warnings: warnings_of(&statement, text),
        text: cx.text().clone(),
        io,
    })
}

/// The plan as rows: one column, a line a row.
async fn explained(cx: &QueryContext, io: IoScope) -> Result<QueryRows, Error> {
    let lines = explain(cx).await?;
    let schema = Arc::new(Schema::new(vec![Field::new("plan", DataType::Utf8, true)]));
    let lines = RecordBatch::try_new(schema.clone(), vec![Arc::new(StringArray::from(lines))]);
    let lines = futures::stream::iter([lines.map_err(Into::into)]);
    let columns = vec![("plan".to_owned(), "plan".to_owned(), Kind::String)];
    Ok(QueryRows {
        names: vec![QueryColumn { name: "plan".to_owned(), kind: Kind::String.to_string() }],
        batches: Box::pin(RecordBatchStreamAdapter::new(schema, lines)),
        columns: Columns::new(columns, Arc::new(Layouts { entities: Vec::new() })),
        looks: Looks::plain(),
        warnings: warnings_of(cx.statement(), cx.text()),
        text: cx.text().clone(),
        io,
    })
}

/// What is to be said of a statement that runs.
pub(super) fn warnings_of(statement: &Statement, text: &str) -> Vec<Problem> {
    locate_all(text, statement.warnings.clone())
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryColumn {
    /// Its name: an alias, or the expression as it is written.
    pub name: String,
    /// What its values are, for people: "an integer", "a list", "a node or an edge". Any of them may be null.
    pub kind: String,
}

/// The rows of a query, as they are found. Dropping it stops all reads.
pub struct QueryRows {
    names: Vec<QueryColumn>,
    batches: SendableRecordBatchStream,
    columns: Columns,
    looks: Looks,
    warnings: Vec<Problem>,
    text: Arc<str>,
    io: IoScope,
}

impl fmt::Debug for QueryRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryRows").field("columns", &self.names).finish_non_exhaustive()
    }
}

impl QueryRows {
    /// The columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[QueryColumn] {
        &self.names
    }

    /// What the statement asks although nothing can come of it, such as an edge between nodes that its table does not join.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The Arrow schema of [`Self::batches`]. A node is a struct of `_table` and its properties; an edge has `_from_0`, … and `_to_0`, …, the
    /// parts of the keys of its ends, before its properties, and `_id` after them if its table is `MULTI`. Where a column may
    /// hold rows of several tables, properties of one name and type share a field; those of other types are called `table.property`.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.columns.schema().clone()
    }

    /// The next rows, some at a time: the values of the columns, in order. `None` after the last. A `FLOAT` is given as the number with the
    /// fewest digits that stands for it: 0.1 and not 0.10000000149011612, though expressions compute with the latter.
    ///
    /// # Errors
    /// If the store fails, memory or temporary space runs out, or an expression has no value for a row.
    ///
    /// # Cancellation
    /// Dropping the future loses no row.
    pub async fn next_rows(&mut self) -> Result<Option<Vec<Vec<CypherValue>>>, Error> {
        while let Some(batch) = self.batches.try_next().await.map_err(|error| failure(&self.text, error))? {
            if batch.num_rows() > 0 {
                let rows = decode(&batch, &self.columns.sources(), self.columns.layouts());
                let mut rows = rows.map_err(|error| failure(&self.text, error))?;
                self.looks.apply(&mut rows);
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }

    /// All rows that are left.
    ///
    /// # Errors
    /// As [`Self::next_rows`].
    pub async fn collect_rows(mut self) -> Result<Vec<Vec<CypherValue>>, Error> {
        let mut all = Vec::new();
        while let Some(mut rows) = self.next_rows().await? {
            all.append(&mut rows);
        }
        Ok(all)
    }

    /// The rows that are left as Arrow batches of [`Self::schema`]. Errors are as in [`Self::next_rows`].
    #[must_use]
    pub fn batches(self) -> BoxStream<'static, Result<RecordBatch, Error>> {
        let Self { batches, columns, text, io, .. } = self;
        batches
            .map(move |batch| {
                let _counting = &io;
                let batch = batch.and_then(|batch| Ok(columns.present(&batch)?));
                batch.map_err(|error| failure(&text, error))
            })
            .boxed()
    }

    /// Ends the query and tells the requests since its beginning, those of others meanwhile included.
    #[must_use]
    pub fn finish(self) -> IoStats {
        let Self { batches, io, .. } = self;
        drop(batches);
        io.finish()
    }
}
