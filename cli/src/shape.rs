//! The JSON shapes that commands print; names are stable, fields may be added. `docs/cli.md` describes them.

use std::collections::BTreeMap;

use pleach::record::SideCounts;
use pleach::store::IoStats;
use pleach::{BranchInfo, ChangeInfo, CommitInfo, MergedTable, OptimizedTable, ParentInfo, TableCounts};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Commit<'a> {
    #[serde(rename = "ref")]
    reference: String,
    branch: &'a str,
    seq: u64,
    incarnation: String,
    id: String,
    time: String,
    parents: Vec<Parent<'a>>,
    changes: Vec<Change<'a>>,
    rows: &'a BTreeMap<String, u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Parent<'a> {
    #[serde(rename = "ref")]
    reference: String,
    branch: &'a str,
    seq: u64,
    incarnation: String,
    id: String,
}

#[derive(Debug, Serialize)]
struct Change<'a> {
    #[serde(rename = "ref")]
    reference: String,
    id: String,
    kind: &'a str,
    author: &'a str,
    author_time: String,
    message: &'a str,
    request_id: Option<&'a str>,
    tables: BTreeMap<&'a str, Counts>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Counts {
    read: u64,
    inserted: u64,
    updated: u64,
    unchanged: u64,
    duplicates: u64,
    removed: u64,
}

/// What a merge made of a table; what is null was not looked into, since one side's table was taken as it is.
#[derive(Debug, Serialize)]
pub(crate) struct Merged {
    rows_before: Option<u64>,
    rows: Option<u64>,
    source: Option<SideChanges>,
    target: Option<SideChanges>,
    added: Option<u64>,
    removed: Option<u64>,
    fragments_adopted: u64,
    rows_rewritten: u64,
}

#[derive(Debug, Serialize)]
struct SideChanges {
    added: u64,
    changed: u64,
    removed: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Optimized {
    fragments_before: u64,
    fragments: u64,
    rows: u64,
    rewritten_bytes: u64,
    written_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Branch<'a> {
    name: &'a str,
    head: Commit<'a>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Io {
    requests: u64,
    serial_rounds: u64,
    gets: u64,
    heads: u64,
    lists: u64,
    puts: u64,
    deletes: u64,
    copies: u64,
    bytes_read: u64,
    bytes_written: u64,
}

/// How people and commands name a commit.
pub(crate) fn reference(branch: &str, seq: pleach::ids::Seq) -> String {
    format!("{branch}@{seq}")
}

impl<'a> From<&'a CommitInfo> for Commit<'a> {
    fn from(commit: &'a CommitInfo) -> Self {
        Self {
            reference: reference(&commit.branch, commit.seq),
            branch: &commit.branch,
            seq: commit.seq.0,
            incarnation: commit.incarnation.to_string(),
            id: commit.id.to_string(),
            time: commit.time.to_string(),
            parents: commit.parents.iter().map(Parent::from).collect(),
            changes: changes(commit, None),
            rows: &commit.rows,
        }
    }
}

impl<'a> From<&'a ParentInfo> for Parent<'a> {
    fn from(parent: &'a ParentInfo) -> Self {
        Self {
            reference: parent.reference(),
            branch: &parent.branch,
            seq: parent.seq.0,
            incarnation: parent.incarnation.to_string(),
            id: parent.id.to_string(),
        }
    }
}

/// What a merge made of each table, by name.
pub(crate) fn merged_tables(tables: &BTreeMap<String, MergedTable>) -> BTreeMap<&str, Merged> {
    tables.iter().map(|(name, table)| (name.as_str(), table.into())).collect()
}

impl From<&MergedTable> for Merged {
    fn from(table: &MergedTable) -> Self {
        let counts = table.counts.as_ref();
        Self {
            rows_before: table.rows_before,
            rows: table.rows,
            source: counts.map(|counts| (&counts.source).into()),
            target: counts.map(|counts| (&counts.target).into()),
            added: counts.map(|counts| counts.added),
            removed: counts.map(|counts| counts.removed),
            fragments_adopted: table.adopted,
            rows_rewritten: table.rewritten,
        }
    }
}

impl From<&SideCounts> for SideChanges {
    fn from(counts: &SideCounts) -> Self {
        Self { added: counts.inserted, changed: counts.updated, removed: counts.removed }
    }
}

/// What an optimize made of each table, by name.
pub(crate) fn optimized_tables(tables: &BTreeMap<String, OptimizedTable>) -> BTreeMap<&str, Optimized> {
    tables.iter().map(|(name, table)| (name.as_str(), table.into())).collect()
}

impl From<&OptimizedTable> for Optimized {
    fn from(table: &OptimizedTable) -> Self {
        Self {
            fragments_before: table.fragments_before,
            fragments: table.fragments,
            rows: table.rows,
            rewritten_bytes: table.rewritten_bytes,
            written_bytes: table.written_bytes,
        }
    }
}

/// How people and commands name one change of a commit.
pub(crate) fn change_reference(commit: &CommitInfo, change: usize) -> String {
    format!("{}#{change}", reference(&commit.branch, commit.seq))
}

/// The changes of a commit, or one of them.
fn changes(commit: &CommitInfo, only: Option<usize>) -> Vec<Change<'_>> {
    let all = commit.changes.iter().enumerate().filter(|(number, _)| only.is_none_or(|only| only == *number));
    all.map(|(number, change)| Change::new(change_reference(commit, number), change)).collect()
}

impl<'a> Commit<'a> {
    /// With one of its changes alone, if one is named.
    pub(crate) fn showing(commit: &'a CommitInfo, only: Option<usize>) -> Self {
        Self { changes: changes(commit, only), ..Self::from(commit) }
    }
}

impl<'a> Change<'a> {
    fn new(reference: String, change: &'a ChangeInfo) -> Self {
        Self {
            reference,
            id: change.id.to_string(),
            kind: &change.kind,
            author: &change.author,
            author_time: change.author_time.to_string(),
            message: &change.message,
            request_id: change.request_id.as_deref(),
            tables: counts(&change.tables),
        }
    }
}

impl<'a> From<&'a BranchInfo> for Branch<'a> {
    fn from(branch: &'a BranchInfo) -> Self {
        Self { name: &branch.name, head: (&branch.head).into() }
    }
}

/// Counts by table name.
pub(crate) fn counts(tables: &BTreeMap<String, TableCounts>) -> BTreeMap<&str, Counts> {
    tables.iter().map(|(name, counts)| (name.as_str(), counts.into())).collect()
}

impl From<&TableCounts> for Counts {
    fn from(counts: &TableCounts) -> Self {
        Self {
            read: counts.read,
            inserted: counts.inserted,
            updated: counts.updated,
            unchanged: counts.unchanged,
            duplicates: counts.duplicates,
            removed: counts.removed,
        }
    }
}

impl From<&IoStats> for Io {
    fn from(io: &IoStats) -> Self {
        Self {
            requests: io.requests(),
            serial_rounds: io.serial_depth,
            gets: io.gets,
            heads: io.heads,
            lists: io.lists,
            puts: io.puts,
            deletes: io.deletes,
            copies: io.copies,
            bytes_read: io.bytes_read,
            bytes_written: io.bytes_written,
        }
    }
}
