//! Tests of the module over a store in memory.

mod combining;
mod compacting;
mod costs;
pub(crate) mod counting;
mod deltas;
mod evolution;
mod forks;
mod guards;
pub(crate) mod sample;
mod scanning;
mod staging;
mod warming;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_select::concat::concat_batches;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::ObjectStore;
use roaring::RoaringTreemap;

use super::open::Settings;
use super::{BatchStream, Layout, Scan, StagedVersion, Table, TableWrite, Tables};
use counting::{Counting, Front};
use sample::rows;

/// A graph's tables over a store in memory; [`Self::cold`] is another process on the same store.
pub(crate) struct Rig {
    pub store: Arc<Counting>,
    pub tables: Tables,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::over(Counting::new(), Settings::default())
    }

    pub(in crate::table) fn over(store: Arc<Counting>, settings: Settings) -> Self {
        let objects: Arc<dyn ObjectStore> = Arc::new(Front(store.clone()));
        Self { tables: Tables::over(objects, settings), store }
    }

    pub(crate) fn cold(&self) -> Self {
        Self::over(self.store.clone(), Settings::default())
    }

    /// A new table, open at its empty version.
    pub(crate) async fn create(&self, layout: &Arc<Layout>) -> Table {
        let staged = self.tables.create(layout).await.unwrap();
        self.open(layout, &staged).await
    }

    pub(crate) async fn open(&self, layout: &Arc<Layout>, staged: &StagedVersion) -> Table {
        self.tables.open(layout, &staged.version).await.unwrap()
    }

    /// Stages a write and opens the result.
    pub(crate) async fn write(&self, table: &Table, write: TableWrite) -> Table {
        let staged = table.stage(write).await.unwrap();
        self.open(table.layout(), &staged).await
    }

    /// Compacts a version that gains by it and opens the result.
    pub(crate) async fn compact(&self, table: &Table) -> Table {
        let plan = table.plan_compaction().unwrap().expect("something to gain");
        let staged = table.compact(&plan).await.unwrap();
        self.open(table.layout(), &staged).await
    }

    /// Appends rows of the sample.
    pub(crate) async fn append(&self, table: &Table, keys: impl IntoIterator<Item = u64>, tag: i64) -> Table {
        self.write(table, insert(rows(table.layout(), keys, tag))).await
    }
}

pub(crate) fn stream_of(batches: Vec<RecordBatch>) -> BatchStream {
    stream::iter(batches.into_iter().map(Ok)).boxed()
}

pub(crate) fn insert(batch: RecordBatch) -> TableWrite {
    let insert_rows = batch.num_rows() as u64;
    TableWrite { remove: RoaringTreemap::new(), remove_all: false, insert: stream_of(vec![batch]), insert_rows }
}

pub(crate) fn remove(addresses: impl IntoIterator<Item = u64>) -> TableWrite {
    TableWrite {
        remove: addresses.into_iter().collect(),
        remove_all: false,
        insert: stream::empty().boxed(),
        insert_rows: 0,
    }
}

pub(crate) fn upsert(addresses: impl IntoIterator<Item = u64>, batch: RecordBatch) -> TableWrite {
    TableWrite { remove: addresses.into_iter().collect(), ..insert(batch) }
}

/// All that a scan returns, as one batch.
pub(crate) async fn read(table: &Table, scan: Scan) -> RecordBatch {
    let batches: Vec<RecordBatch> = table.scan(scan).try_collect().await.unwrap();
    match batches.first() {
        Some(first) => concat_batches(first.schema_ref(), &batches).unwrap(),
        None => RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty())),
    }
}

/// The columns of the sample's key and number.
pub(crate) const KEY: usize = 2;
pub(crate) const AGE: usize = 3;

/// Key → number of the whole table.
pub(crate) async fn contents(table: &Table) -> BTreeMap<String, Option<i64>> {
    let batch = read(table, Scan { columns: vec![KEY, AGE], ..Scan::default() }).await;
    if batch.num_rows() == 0 {
        return BTreeMap::new();
    }
    let map: BTreeMap<_, _> = sample::texts(&batch, 0).into_iter().zip(sample::numbers(&batch, 1)).collect();
    assert_eq!(map.len(), batch.num_rows(), "a key occurs twice");
    assert_eq!(map.len() as u64, table.version().rows, "the row count of the version");
    map
}

/// Key → number as it should be.
pub(crate) fn expected(keys: impl IntoIterator<Item = u64>, tag: i64) -> BTreeMap<String, Option<i64>> {
    keys.into_iter().map(|n| (sample::key(n), Some(sample::number(n, tag)))).collect()
}

/// A filter on the sample's key.
pub(crate) fn is_key(n: u64) -> datafusion::logical_expr::Expr {
    use datafusion::prelude::{ident, lit};
    ident("id").eq(lit(sample::key(n)))
}

/// Key → address of the whole table.
pub(crate) async fn addresses(table: &Table) -> BTreeMap<String, u64> {
    let batch = read(table, Scan { columns: vec![KEY], addresses: true, ..Scan::default() }).await;
    if batch.num_rows() == 0 {
        return BTreeMap::new();
    }
    let found = batch.column(1).as_primitive::<UInt64Type>().values().to_vec();
    sample::texts(&batch, 0).into_iter().zip(found).collect()
}

/// All paths in the store.
pub(crate) async fn objects(rig: &Rig) -> Vec<String> {
    let mut paths: Vec<String> =
        Front(rig.store.clone()).list(None).map_ok(|meta| meta.location.to_string()).try_collect().await.unwrap();
    paths.sort();
    paths
}
