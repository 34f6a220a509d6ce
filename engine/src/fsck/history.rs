//! Checks the branch logs: every record decodes, is later than the one before and follows it, and so do its parents.
//!
//! A log is walked with a few records in memory, whatever its length.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join_all;

use crate::branch::{BranchName, decode};
use crate::error::Error;
use crate::fsck::contents::Contents;
use crate::fsck::named::{Named, Schema};
use crate::fsck::problems::{Problems, with_causes};
use crate::graph::Core;
use crate::ids::{CommitId, Seq};
use crate::log::Log;
use crate::publish::Snapshot;
use crate::record::{Parent, Record, RecordError};
use crate::write::shape::Shapes;

/// Records that are read side by side.
const PARALLEL: u64 = 16;

/// The logs of a graph being checked.
pub(super) struct History<'a> {
    core: &'a Arc<Core>,
    /// Commits by log folder and position, of the logs that were walked.
    seen: BTreeMap<(String, u64), CommitId>,
    parents: BTreeSet<(String, u64, CommitId, String)>,
    named: Named<'a>,
    /// Records that were read.
    pub(super) commits: u64,
}

impl<'a> History<'a> {
    pub(super) fn new(core: &'a Arc<Core>) -> Self {
        Self { core, seen: BTreeMap::new(), parents: BTreeSet::new(), named: Named::new(core), commits: 0 }
    }

    /// Walks one log from its beginning; `contents` checks the rows of its head, or with `all` of every commit that is not given
    /// up. Tells whether the branch lives.
    pub(super) async fn walk(
        &mut self,
        name: &BranchName,
        all: bool,
        contents: &mut Contents<'_>,
        problems: &mut Problems,
    ) -> Result<bool, Error> {
        let log = Log::new(self.core.store().clone(), name.log_folder());
        let Some((head, _)) = log.head().await? else {
            problems.add("missing-record", name.as_str(), "the log is empty".into());
            return Ok(false);
        };
        let mut living = false;
        let mut before: Option<Record> = None;
        let mut next = 0;
        while next <= head.0 {
            // Whole groups, not a stream: rows are checked in between, and a response that nobody reads meanwhile would be cut off.
            let end = head.0.min(next.saturating_add(PARALLEL - 1));
            let read = try_join_all((next..=end).map(|seq| log.read(Seq(seq)))).await?;
            for (seq, bytes) in (next..).map(Seq).zip(read) {
                let Some(record) = self.record(name, seq, bytes, problems) else { continue };
                let content = self.check(&record, before.as_ref(), problems).await?;
                let is_head = seq == head;
                living = is_head && !record.deleted;
                if let (true, Some((at, shapes))) = (all || is_head, content) {
                    contents.check(&at, &shapes, problems).await?;
                }
                before = Some(record);
            }
            next = end + 1;
        }
        Ok(living)
    }

    /// Checks a record and the objects it names; `before` is the last one further down the log that could be read. Returns what it
    /// holds, if that can be read at all.
    async fn check(
        &mut self,
        record: &Record,
        before: Option<&Record>,
        problems: &mut Problems,
    ) -> Result<Option<(Snapshot, Arc<Shapes>)>, Error> {
        let place = format!("{}@{}", record.branch, record.seq);
        self.commits += 1;
        if let Some(before) = before {
            rise(before, record, &place, problems);
            if before.seq.next() == record.seq {
                follow(before, record, &place, problems);
            }
        }
        self.seen.insert((record.branch.folder().to_owned(), record.seq.0), record.commit);
        let named = self.named.check(record, &place, problems).await?;
        let changes = record.changes.iter().chain(&named.changes);
        let parents = record.parents.iter().chain(changes.flat_map(|change| &change.parents));
        self.parents.extend(parents.map(|parent| seen_parent(parent, &place)));
        let has_rows = !record.deleted && record.tombstone.is_none();
        Ok(named.schema.filter(|_| has_rows).map(|Schema { catalog, shapes }| {
            let at = Snapshot { record: Arc::new(record.clone()), catalog };
            (at, shapes)
        }))
    }

    fn record(&self, name: &BranchName, seq: Seq, bytes: Option<Bytes>, problems: &mut Problems) -> Option<Record> {
        let place = &format!("{name}@{seq}");
        let Some(bytes) = bytes else {
            problems.add("missing-record", place, "there is no record, though later ones exist".into());
            return None;
        };
        match decode(self.core.file().graph, name, seq, &bytes) {
            Ok(record) => Some(record),
            Err(error) => {
                let code = match &error {
                    RecordError::Misplaced { .. } => "record-misplaced",
                    RecordError::Foreign { .. } => "record-foreign",
                    _ => "record-unreadable",
                };
                problems.add(code, place, with_causes(&error));
                None
            }
        }
    }

    /// Checks that every parent is the commit its child says.
    pub(super) async fn check_parents(&mut self, problems: &mut Problems) -> Result<(), Error> {
        for (folder, seq, commit, place) in std::mem::take(&mut self.parents) {
            let known = self.seen.get(&(folder.clone(), seq)).copied();
            let found = match (known, BranchName::of_folder(&folder)) {
                (Some(found), _) => Some(found),
                (None, None) => None,
                (None, Some(name)) => {
                    let log = Log::new(self.core.store().clone(), name.log_folder());
                    let bytes = log.read(Seq(seq)).await?;
                    bytes.and_then(|bytes| Record::decode(&bytes, &place).ok()).map(|record| record.commit)
                }
            };
            if found != Some(commit) {
                let found = found.map_or_else(|| "nothing readable".to_owned(), |found| found.to_string());
                let detail = format!("its parent at {folder}@{seq} is to be {commit}, but {found} is there");
                problems.add("broken-chain", &place, detail);
            }
        }
        Ok(())
    }
}

fn seen_parent(parent: &Parent, place: &str) -> (String, u64, CommitId, String) {
    (parent.log.folder().to_owned(), parent.seq.0, parent.commit, place.to_owned())
}

/// Checks that a record is later than one further down its log, by its time as by its id: both are searched by bisection.
fn rise(before: &Record, record: &Record, place: &str, problems: &mut Problems) {
    let earlier = before.seq;
    if record.time <= before.time {
        let detail = format!("its time {} is not after {}, the time of {earlier}", record.time, before.time);
        problems.add("commit-time", place, detail);
    }
    if record.commit <= before.commit {
        let detail = format!("its id {} does not come after {}, the id of {earlier}", record.commit, before.commit);
        problems.add("commit-id", place, detail);
    }
}

/// Checks that two neighbours of a log agree.
fn follow(before: &Record, record: &Record, place: &str, problems: &mut Problems) {
    if record.previous != Some(before.commit) {
        let expected = record.previous.map_or_else(|| "nothing".to_owned(), |commit| commit.to_string());
        let detail = format!("it was put after {expected}, but {} is there", before.commit);
        problems.add("broken-chain", place, detail);
    }
    if (record.incarnation != before.incarnation) != before.deleted {
        problems.add("broken-chain", place, "the branch changed its life without having been deleted".into());
    }
}
