//! Creating a table's dataset: an empty attached first version, then a detached one whose columns have our field ids.

use std::sync::Arc;

use lance::Dataset;
use lance::dataset::CommitBuilder;
use lance::dataset::transaction::{Operation, Transaction};
use lance_core::datatypes::Schema as LanceSchema;

use super::commit_handler::Recorded;
use super::mapping::lance_schema;
use super::stage::staged_version;
use super::{Layout, StagedVersion, TableError, Tables, provider};

/// The format of data files, named exactly: "stable" and the default move with Lance, and a table should not change its format
/// because a dependency was upgraded. It is the latest that Lance calls stable; RFC 0002 compares it with its forerunners.
pub(super) const DATA_FILE_VERSION: &str = "2.2";

impl Tables {
    /// Creates the dataset of a table that no commit names yet, and its empty first version with our field ids.
    ///
    /// Lance numbers the fields of a new dataset itself, and only of a new one. So the attached version 1, which nothing ever
    /// reads, has Lance's numbers, and a projection made detached on top of it has ours. All files written later carry them.
    ///
    /// # Errors
    /// If the store fails, or the dataset exists.
    pub(crate) async fn create(&self, layout: &Arc<Layout>) -> Result<StagedVersion, TableError> {
        let table = layout.table.id;
        let failed = |error| TableError::from_lance(table, "creating", error);
        let schema = lance_schema(layout)?;
        let empty = Operation::Overwrite {
            fragments: Vec::new(),
            schema: schema.clone(),
            config_upsert_values: None,
            initial_bases: None,
        };
        let address = provider::address(table);
        let first = CommitBuilder::new(address.as_str())
            .with_session(self.session())
            .with_commit_handler(Arc::new(Recorded::default()))
            .with_storage_format(DATA_FILE_VERSION.parse().map_err(failed)?)
            .use_stable_row_ids(false)
            .with_skip_auto_cleanup(true)
            .execute(Transaction::new(0, empty, None))
            .await
            .map_err(failed)?;
        let first_path = first.manifest_location().path.clone();
        let dataset = project(&Arc::new(first), schema).await.map_err(failed)?;
        let mut staged = staged_version(table, &dataset, Vec::new())?;
        staged.files.push(first_path);
        self.remember(table, dataset).await;
        Ok(staged)
    }
}

/// A detached version with another schema and the same rows: no data file is touched.
pub(super) async fn project(base: &Arc<Dataset>, schema: LanceSchema) -> lance::Result<Arc<Dataset>> {
    commit(base, Operation::Project { schema, preserves_nullability: true }).await
}

/// Writes the manifest of a detached version on top of `base`.
pub(super) async fn commit(base: &Arc<Dataset>, operation: Operation) -> lance::Result<Arc<Dataset>> {
    CommitBuilder::new(base.clone())
        .with_detached(true)
        .with_skip_auto_cleanup(true)
        .execute(Transaction::new(base.version_id(), operation, None))
        .await
        .map(Arc::new)
}
