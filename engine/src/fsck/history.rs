//! Checks the branch logs: every record decodes, follows the one before, and what it names exists and is what it says.
//!
//! A log is walked with a few records in memory, whatever its length.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join_all;
use object_store::path::Path;
use sha2::{Digest as _, Sha256};

use crate::branch::{BranchName, Catalogs, decode};
use crate::error::Error;
use crate::fsck::contents::Contents;
use crate::fsck::problems::{Problems, with_causes};
use crate::graph::Core;
use crate::ids::{CommitId, Seq};
use crate::log::Log;
use crate::publish::Snapshot;
use crate::record::lineage::{Chunk, ChunkHash};
use crate::record::{Parent, Record, RecordError};
use crate::schema::{Catalog, SchemaHash, decode_catalog};
use crate::table::Layout;
use crate::write::shape::Shapes;

/// Records that are read side by side.
const PARALLEL: u64 = 16;

/// The logs of a graph being checked.
pub(super) struct History<'a> {
    core: &'a Arc<Core>,
    /// Commits by log folder and position, of the logs that were walked.
    seen: BTreeMap<(String, u64), CommitId>,
    parents: BTreeSet<(String, u64, CommitId, String)>,
    schemas: BTreeMap<[u8; 32], Option<Schema>>,
    chunks: BTreeSet<String>,
    /// Records that were read.
    pub(super) commits: u64,
}

/// A schema that can be used.
#[derive(Clone)]
struct Schema {
    catalog: Arc<Catalog>,
    shapes: Arc<Shapes>,
}

impl<'a> History<'a> {
    pub(super) fn new(core: &'a Arc<Core>) -> Self {
        Self {
            core,
            seen: BTreeMap::new(),
            parents: BTreeSet::new(),
            schemas: BTreeMap::new(),
            chunks: BTreeSet::new(),
            commits: 0,
        }
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
                let record = self.record(name, seq, bytes, problems);
                if let Some(record) = &record {
                    let content = self.check(record, before.as_ref(), problems).await?;
                    let is_head = seq == head;
                    living = is_head && !record.deleted;
                    if let (true, Some((at, shapes))) = (all || is_head, content) {
                        contents.check(&at, &shapes, problems).await?;
                    }
                }
                before = record;
            }
            next = end + 1;
        }
        Ok(living)
    }

    /// Checks a record and the objects it names. Returns what it holds, if that can be read at all.
    async fn check(
        &mut self,
        record: &Record,
        before: Option<&Record>,
        problems: &mut Problems,
    ) -> Result<Option<(Snapshot, Arc<Shapes>)>, Error> {
        let place = format!("{}@{}", record.branch, record.seq);
        self.commits += 1;
        if let Some(before) = before {
            follow(before, record, &place, problems);
        }
        self.seen.insert((record.branch.folder().to_owned(), record.seq.0), record.commit);
        let parents = record.parents.iter().chain(record.changes.iter().flat_map(|change| &change.parents));
        self.parents.extend(parents.map(|parent| seen_parent(parent, &place)));
        let schema = self.named(record, &place, problems).await?;
        let has_rows = !record.deleted && record.tombstone.is_none();
        Ok(schema.filter(|_| has_rows).map(|Schema { catalog, shapes }| {
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

    /// Checks the objects a record names, and returns its schema.
    async fn named(&mut self, record: &Record, place: &str, problems: &mut Problems) -> Result<Option<Schema>, Error> {
        for chunk in record.lineage.chunks() {
            self.chunk(chunk.hash, place, problems).await?;
        }
        if let Some(spill) = &record.spill {
            let path = Path::from_iter(["changes".to_owned(), spill.object.to_string()]);
            match self.read(&path).await? {
                None => problems.add("missing-file", place, format!("{path} is missing")),
                Some(bytes) => match Record::decode_spilled(&bytes, place) {
                    Err(error) => problems.add("record-unreadable", place, with_causes(&error)),
                    Ok(changes) if changes.len() != spill.changes as usize => {
                        let counts = (changes.len(), spill.changes);
                        problems.add(
                            "record-unreadable",
                            place,
                            format!("{path} has {} changes, not {}", counts.0, counts.1),
                        );
                    }
                    Ok(changes) => {
                        let parents = changes.iter().flat_map(|change| &change.parents);
                        self.parents.extend(parents.map(|parent| seen_parent(parent, place)));
                    }
                },
            }
        }
        self.schema(record.schema, place, problems).await
    }

    async fn schema(
        &mut self,
        hash: SchemaHash,
        place: &str,
        problems: &mut Problems,
    ) -> Result<Option<Schema>, Error> {
        if let Some(known) = self.schemas.get(&hash.0) {
            return Ok(known.clone());
        }
        let path = Catalogs::path(hash);
        let schema = match self.read(&path).await? {
            None => {
                problems.add("missing-file", place, format!("{path} is missing"));
                None
            }
            Some(bytes) if <[u8; 32]>::from(Sha256::digest(&bytes)) != hash.0 => {
                problems.add("schema-damaged", place, format!("{path} does not have the hash that is its name"));
                None
            }
            Some(bytes) => match usable(&bytes) {
                Ok(schema) => Some(schema),
                Err(reason) => {
                    problems.add("schema-damaged", place, format!("{path}: {reason}"));
                    None
                }
            },
        };
        self.schemas.insert(hash.0, schema.clone());
        Ok(schema)
    }

    async fn chunk(&mut self, hash: ChunkHash, place: &str, problems: &mut Problems) -> Result<(), Error> {
        if !self.chunks.insert(hash.to_string()) {
            return Ok(());
        }
        let path = Path::from_iter(["lineages".to_owned(), hash.to_string()]);
        match self.read(&path).await? {
            None => problems.add("missing-file", place, format!("{path} is missing")),
            Some(bytes) => {
                if let Err(error) = Chunk::decode(hash, &bytes) {
                    problems.add("lineage-damaged", place, with_causes(&error));
                }
            }
        }
        Ok(())
    }

    async fn read(&self, path: &Path) -> Result<Option<Bytes>, Error> {
        Ok(self.core.store().read(path).await?)
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

/// A stored schema, decoded and compiled; else what is wrong with it, in words.
fn usable(bytes: &[u8]) -> Result<Schema, String> {
    let catalog = decode_catalog(bytes).map_err(|error| with_causes(&error))?;
    let shapes = Shapes::new(&catalog, |table| Layout::new(&catalog, table)).map_err(|error| with_causes(&error))?;
    Ok(Schema { catalog: Arc::new(catalog), shapes: Arc::new(shapes) })
}

/// Checks that two neighbours of a log agree.
fn follow(before: &Record, record: &Record, place: &str, problems: &mut Problems) {
    if record.previous != Some(before.commit) {
        let expected = record.previous.map_or_else(|| "nothing".to_owned(), |commit| commit.to_string());
        let detail = format!("it was put after {expected}, but {} is there", before.commit);
        problems.add("broken-chain", place, detail);
    }
    if record.time <= before.time {
        problems.add("commit-time", place, format!("its time {} is not after {}", record.time, before.time));
    }
    if (record.incarnation != before.incarnation) != before.deleted {
        problems.add("broken-chain", place, "the branch changed its life without having been deleted".into());
    }
}
