//! Builds the record that is to follow a head: pure, so that pointing staged versions at another head is only building again.

use std::collections::BTreeMap;

use ulid::Ulid;

use super::Absorbed;
use crate::branch::BranchName;
use crate::clock::{Clock, Timestamp};
use crate::graph::ChangeOptions;
use crate::ids::{ChangeId, CommitId, IncarnationId, Seq, TableId};
use crate::record::{Change, ChangeKind, Extensions, FORMAT, Record, RequestHash, TableCounts};
use crate::table::TableVersion;

/// The identity of one attempt at one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The commit id.
    pub(crate) commit: CommitId,
    /// The commit time.
    pub(crate) time: Timestamp,
}

impl Stamp {
    /// A new identity, later than `before` whatever the clock says, so that times order a branch's commits. The id begins with the
    /// time to the microsecond, so that ids order them as well.
    pub(crate) fn after(clock: &Clock, before: Option<Timestamp>) -> Self {
        // An id tells no time before 1970.
        let now = clock.now().max(Timestamp(0));
        let time = before.map_or(now, |before| now.max(before.plus_micros(1)));
        let micros = u128::from(time.0.rem_euclid(1000).unsigned_abs());
        let random = clock.random_u128();
        let id = Ulid::from_parts(time.millis(), (micros << RANDOM_BITS) | (random & ((1 << RANDOM_BITS) - 1)));
        Self { commit: CommitId::new(id), time }
    }
}

/// How many bits of a commit id are left to chance; the ten before them count the microseconds of its millisecond.
const RANDOM_BITS: u32 = 70;

/// What a caller asked for, to be recorded.
#[derive(Debug, Clone)]
pub(crate) struct NewChange {
    /// The id that stands in the rows it wrote.
    pub(crate) id: ChangeId,
    /// What sort of request it is.
    pub(crate) kind: ChangeKind,
    /// What it did to each table.
    pub(crate) counts: BTreeMap<TableId, TableCounts>,
}

impl NewChange {
    /// The change as a record tells it.
    pub(crate) fn recorded(&self, options: &ChangeOptions) -> Change {
        Change {
            id: self.id,
            kind: self.kind.clone(),
            author: options.author.clone(),
            author_time: options.author_time,
            message: options.message.clone(),
            request_id: options.request_id.clone(),
            parents: Vec::new(),
            tables: self.counts.clone(),
            deleted_keys: BTreeMap::new(),
            merged: BTreeMap::new(),
            extensions: Extensions::default(),
        }
    }
}

/// The record after `head` in its log and incarnation that takes `absorbed` in, with `tables` in place of the head's.
pub(crate) fn absorbing_record(
    head: &Record,
    stamp: Stamp,
    tables: impl IntoIterator<Item = (TableId, TableVersion)>,
    absorbed: &Absorbed,
    changes: impl IntoIterator<Item = Change>,
) -> Record {
    let mut record = next_record(head, stamp, tables, changes);
    record.parents.extend(absorbed.parents.iter().cloned());
    record.lineage = absorbed.lineage.clone();
    if let Some((hash, catalog)) = &absorbed.schema {
        record.schema = *hash;
        record.tables.retain(|id, _| catalog.table_by_id(*id).is_some());
    }
    if let Some(extensions) = &absorbed.extensions {
        record.extensions = extensions.clone();
    }
    record
}

/// The record after `head` in its log and incarnation, with `tables` in place of the head's.
pub(crate) fn next_record(
    head: &Record,
    stamp: Stamp,
    tables: impl IntoIterator<Item = (TableId, TableVersion)>,
    changes: impl IntoIterator<Item = Change>,
) -> Record {
    let mut record = Record {
        format: FORMAT,
        features: Vec::new(),
        graph: head.graph,
        branch: head.branch.clone(),
        incarnation: head.incarnation,
        seq: head.seq.next(),
        commit: stamp.commit,
        time: stamp.time,
        previous: Some(head.commit),
        parents: vec![head.as_parent()],
        schema: head.schema,
        tables: head.tables.clone(),
        lineage: head.lineage.clone(),
        requests: head.requests.clone(),
        changes: Vec::new(),
        spill: None,
        deleted: false,
        tombstone: None,
        extensions: head.extensions.clone(),
    };
    record.tables.extend(tables);
    changes.into_iter().for_each(|change| add_change(&mut record, change));
    record
}

/// The record that ends the life of the branch whose head is `head`.
pub(crate) fn deleting_record(head: &Record, stamp: Stamp, change: Change) -> Record {
    let mut record = next_record(head, stamp, [], [change]);
    record.tables.clear();
    record.extensions = Extensions::default();
    record.deleted = true;
    record
}

/// Where a new branch begins: after `last`, the last record of a deleted branch of that name, or at the first position.
pub(crate) fn creating_record(
    name: &BranchName,
    source: &Record,
    last: Option<&Record>,
    incarnation: IncarnationId,
    stamp: Stamp,
    change: Change,
) -> Record {
    let mut record = Record {
        format: FORMAT,
        features: Vec::new(),
        graph: source.graph,
        branch: name.clone(),
        incarnation,
        seq: last.map_or(Seq::FIRST, |last| last.seq.next()),
        commit: stamp.commit,
        time: stamp.time,
        previous: last.map(|last| last.commit),
        parents: vec![source.as_parent()],
        schema: source.schema,
        tables: source.tables.clone(),
        lineage: source.contained(),
        requests: last.map(|last| last.requests.clone()).unwrap_or_default(),
        changes: Vec::new(),
        spill: None,
        deleted: false,
        tombstone: None,
        extensions: source.extensions.clone(),
    };
    add_change(&mut record, change);
    record
}

/// Adds a change, and remembers by which request id it may be asked for again.
fn add_change(record: &mut Record, change: Change) {
    if let Some(request) = &change.request_id {
        let number = u32::try_from(record.changes.len()).unwrap_or(u32::MAX);
        record.requests.push(RequestHash::of(request), record.seq, number);
    }
    record.changes.push(change);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{record, request, table, version};

    fn change(options: &ChangeOptions) -> Change {
        NewChange { id: ChangeId::from_bytes([3; 16]), kind: ChangeKind::Write, counts: BTreeMap::new() }
            .recorded(options)
    }

    #[test]
    fn a_stamp_is_later_than_what_it_follows_whatever_the_clock_says() {
        let clock = Clock::manual(Timestamp(5_000_000), 1);
        assert_eq!(Stamp::after(&clock, None).time, Timestamp(5_000_000));
        assert_eq!(Stamp::after(&clock, Some(Timestamp(4_000_000))).time, Timestamp(5_000_000));
        let later = Stamp::after(&clock, Some(Timestamp(9_000_000)));
        assert_eq!(later.time, Timestamp(9_000_001));
        assert_eq!(later.commit.timestamp_ms(), 9_000, "the id tells the time that the commit has");
        assert_ne!(Stamp::after(&clock, None).commit, Stamp::after(&clock, None).commit);
        let ancient = Clock::manual(Timestamp(-5_000_000), 1);
        assert_eq!(Stamp::after(&ancient, None).time, Timestamp(0));
    }

    #[test]
    fn ids_are_ordered_as_times_are_although_the_clock_is_behind() {
        // Somebody else's clock is ahead: all of these are forced to be one microsecond later than the one before.
        let clock = Clock::manual(Timestamp(5_000_000), 1);
        let mut before = Stamp { commit: CommitId::from_bytes([0; 16]), time: Timestamp(9_000_000 - 3) };
        for _ in 0..2_000 {
            let stamp = Stamp::after(&clock, Some(before.time));
            assert!(stamp.commit > before.commit && stamp.time > before.time, "{stamp:?} after {before:?}");
            assert_eq!(stamp.commit.timestamp_ms(), stamp.time.millis());
            before = stamp;
        }
    }

    #[test]
    fn what_other_versions_tell_of_a_snapshot_goes_with_it() {
        let told: Extensions = serde_json::from_str(r#"{"novel":{"b": 1.0,"a":[]}}"#).unwrap();
        let mut head = record(4);
        head.extensions = told.clone();
        let stamp = Stamp { commit: CommitId::from_bytes([9; 16]), time: Timestamp(50) };
        let plain = || change(&ChangeOptions::default());
        let life = IncarnationId::from_bytes([5; 16]);
        let next = next_record(&head, stamp, [(table(2), version(7))], [plain()]);
        let fork = creating_record(&BranchName::main(), &head, Some(&record(7)), life, stamp, plain());
        assert_eq!((&next.extensions, &fork.extensions), (&told, &told));
        assert!(deleting_record(&head, stamp, plain()).extensions.is_empty(), "no snapshot, nothing to tell of it");
        for record in [next, fork] {
            let text = String::from_utf8(record.encode().unwrap().to_vec()).unwrap();
            assert!(text.ends_with(r#","extensions":{"novel":{"b": 1.0,"a":[]}}}"#), "{text}");
        }
    }

    #[test]
    fn the_next_record_is_the_head_with_what_was_written() {
        let mut head = record(4);
        head.tables = [(table(1), version(1)), (table(2), version(2))].into();
        let stamp = Stamp { commit: CommitId::from_bytes([9; 16]), time: Timestamp(50) };
        let next = next_record(&head, stamp, [(table(2), version(7))], [change(&request("r"))]);
        assert!(next.follows(&head));
        assert_eq!(next.tables, [(table(1), version(1)), (table(2), version(7))].into());
        assert_eq!(next.requests.find(RequestHash::of("r")), Some((Seq(5), 0)));
        assert_eq!(next.parents, [head.as_parent()]);
    }

    #[test]
    fn a_branch_that_is_created_again_follows_its_deletion_and_remembers_its_requests() {
        let stamp = |time| Stamp { commit: CommitId::from_bytes([9; 16]), time: Timestamp(time) };
        let (source, head) = (record(4), record(7));
        let deletion = deleting_record(&head, stamp(50), change(&request("d")));
        assert!(deletion.deleted && deletion.tables.is_empty() && deletion.follows(&head));
        let life = IncarnationId::from_bytes([5; 16]);
        let name = BranchName::main();
        let again =
            creating_record(&name, &source, Some(&deletion), life, stamp(60), change(&ChangeOptions::default()));
        assert!(again.follows(&deletion));
        assert_eq!(again.parents, [source.as_parent()]);
        assert_eq!(again.requests.find(RequestHash::of("d")), Some((Seq(8), 0)));
        let new = creating_record(&name, &source, None, life, stamp(60), change(&ChangeOptions::default()));
        assert_eq!((new.seq, new.previous), (Seq::FIRST, None));
        assert_eq!(new.lineage.recent()[0].commit, source.commit, "what it was forked from is contained");
    }
}
