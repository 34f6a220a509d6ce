//! The tables of the commit that a statement sees.

use std::fmt;
use std::sync::Arc;

use arrow_array::StructArray;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::Expr;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};

use super::error::carry;
use super::pack::Packer;
use crate::error::Error;
use crate::graph::Core;
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::query::layout::EntityLayout;
use crate::table::Scan;

/// Reads rows as structs of an entity.
pub(crate) struct Reader {
    core: Arc<Core>,
    at: Snapshot,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader({})", self.at.reference())
    }
}

/// Rows as structs.
pub(crate) type Structs = BoxStream<'static, Result<StructArray, DataFusionError>>;

impl Reader {
    pub(crate) fn new(core: Arc<Core>, at: Snapshot) -> Self {
        Self { core, at }
    }

    pub(crate) fn at(&self) -> &Snapshot {
        &self.at
    }

    /// How many rows a table has.
    pub(crate) fn rows(&self, table: TableId) -> u64 {
        self.at.table_version(table).map_or(0, |version| version.rows)
    }

    /// The name of a table.
    pub(crate) fn name(&self, table: TableId) -> String {
        self.at.catalog.table_by_id(table).map_or_else(|| table.to_string(), |table| table.name.clone())
    }

    /// Reads the rows of a table for which the filter is true, all fields that the entity has; nothing if the entity never stands for
    /// them. Dropping the stream stops the reads.
    pub(crate) fn read(
        self: &Arc<Self>,
        entity: &EntityLayout,
        table: TableId,
        filter: Option<Expr>,
        limit: Option<u64>,
    ) -> Structs {
        let Some(packer) = Packer::new(entity, table) else { return futures::stream::empty().boxed() };
        let scan = Scan { columns: packer.columns(), filter, limit, addresses: true };
        let reader = self.clone();
        futures::stream::once(async move {
            let batches = reader.scan(table, scan).await.map_err(carry)?;
            Ok::<_, DataFusionError>(batches.map(move |batch| {
                let batch = batch.map_err(|error| carry(error.into()))?;
                packer.pack(&batch).map_err(DataFusionError::from)
            }))
        })
        .try_flatten()
        .boxed()
    }

    /// Counts the rows of a table for which the filter is true, as lengths of batches.
    pub(crate) fn count(self: &Arc<Self>, table: TableId, filter: Option<Expr>, limit: Option<u64>) -> Lengths {
        let scan = Scan { columns: Vec::new(), filter, limit, addresses: false };
        let reader = self.clone();
        futures::stream::once(async move {
            let batches = reader.scan(table, scan).await.map_err(carry)?;
            Ok::<_, DataFusionError>(batches.map(|batch| Ok(batch.map_err(|error| carry(error.into()))?.num_rows())))
        })
        .try_flatten()
        .boxed()
    }

    async fn scan(&self, table: TableId, scan: Scan) -> Result<crate::table::BatchStream, Error> {
        let Some(described) = self.at.catalog.table_by_id(table).filter(|_| self.rows(table) > 0) else {
            return Ok(futures::stream::empty().boxed());
        };
        Ok(self.core.open_table(&self.at, described).await?.scan(scan))
    }
}

/// Lengths of batches.
pub(crate) type Lengths = BoxStream<'static, Result<usize, DataFusionError>>;
