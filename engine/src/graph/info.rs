//! Commits and branches as people see them: names instead of ids.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::branch::{BranchName, InvalidName};
use crate::clock::Timestamp;
use crate::ids::{ChangeId, CommitId, IncarnationId, Seq, TableId};
use crate::record::{Change, Parent, Record, TableCounts};
use crate::schema::Catalog;

/// One commit, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// The branch whose log holds it, in the spelling it was created with.
    pub branch: String,
    /// The life of that name.
    pub incarnation: IncarnationId,
    /// The position in the log.
    pub seq: Seq,
    /// The commit's own id.
    pub id: CommitId,
    /// When it was published.
    pub time: Timestamp,
    /// The first is what it was made upon; the others were merged into it.
    pub parents: Vec<ParentInfo>,
    /// What it carries, in the order in which it takes effect.
    pub changes: Arc<[ChangeInfo]>,
    /// Live rows per table name.
    pub rows: BTreeMap<String, u64>,
}

/// A commit that another one is told with, such as a parent or a merge base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentInfo {
    /// The branch whose log holds it.
    pub branch: String,
    /// The life of that name.
    pub incarnation: IncarnationId,
    /// The position in the log.
    pub seq: Seq,
    /// The commit's own id.
    pub id: CommitId,
}

/// What one caller asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeInfo {
    /// The id that stands in the rows it wrote.
    pub id: ChangeId,
    /// `create`, `write`, `load`, …
    pub kind: String,
    /// Who asked.
    pub author: String,
    /// When they say they did.
    pub author_time: Timestamp,
    /// Why.
    pub message: String,
    /// By which name the outcome may be asked for again.
    pub request_id: Option<String>,
    /// What it did, per table name.
    pub tables: BTreeMap<String, TableCounts>,
}

/// A living branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchInfo {
    /// The name in the spelling it was created with.
    pub name: String,
    /// Its last commit.
    pub head: CommitInfo,
}

impl CommitInfo {
    /// Tells `record`, whose changes are `changes` and whose schema is `catalog`.
    pub(crate) fn new(record: &Record, changes: &[Change], catalog: &Catalog) -> Self {
        Self {
            branch: record.branch.to_string(),
            incarnation: record.incarnation,
            seq: record.seq,
            id: record.commit,
            time: record.time,
            parents: record.parents.iter().map(ParentInfo::from).collect(),
            changes: changes.iter().map(|change| ChangeInfo::new(change, record.time, catalog)).collect(),
            rows: record.tables.iter().map(|(id, version)| (table_name(catalog, *id), version.rows)).collect(),
        }
    }

    /// The commit as a reference: `main@42`.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{}@{}", self.branch, self.seq)
    }
}

impl ParentInfo {
    /// The commit as a reference: `main@42`.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{}@{}", self.branch, self.seq)
    }
}

impl ParentInfo {
    /// The commit as a reference that names it alone, whatever stands at its position: `main@01J…`.
    pub(crate) fn by_id(&self) -> String {
        format!("{}@{}", self.branch, self.id)
    }
}

impl From<&CommitInfo> for ParentInfo {
    fn from(commit: &CommitInfo) -> Self {
        let CommitInfo { branch, incarnation, seq, id, .. } = commit;
        Self { branch: branch.clone(), incarnation: *incarnation, seq: *seq, id: *id }
    }
}

impl From<&Parent> for ParentInfo {
    fn from(parent: &Parent) -> Self {
        Self { branch: parent.log.to_string(), incarnation: parent.incarnation, seq: parent.seq, id: parent.commit }
    }
}

impl TryFrom<&ParentInfo> for Parent {
    type Error = InvalidName;

    fn try_from(info: &ParentInfo) -> Result<Self, InvalidName> {
        let log = BranchName::stored(&info.branch)?;
        Ok(Self { log, incarnation: info.incarnation, seq: info.seq, commit: info.id })
    }
}

impl ChangeInfo {
    fn new(change: &Change, commit_time: Timestamp, catalog: &Catalog) -> Self {
        Self {
            id: change.id,
            kind: change.kind.as_str().to_owned(),
            author: change.author.clone(),
            author_time: change.author_time.unwrap_or(commit_time),
            message: change.message.clone(),
            request_id: change.request_id.clone(),
            tables: change.tables.iter().map(|(id, counts)| (table_name(catalog, *id), *counts)).collect(),
        }
    }
}

/// A table's name; its id where the catalog does not know it, so that a broken record can still be shown.
fn table_name(catalog: &Catalog, id: TableId) -> String {
    catalog.table_by_id(id).map_or_else(|| id.to_string(), |table| table.name.clone())
}
