//! How many tables a graph has room for: a record names them all, and must have room for what else grows in it.

use std::collections::BTreeMap;

use ulid::Ulid;

use super::codec::WRITER_BYTES;
use super::ring::ENSURED;
use super::{Extensions, FORMAT, Lineage, Parent, Record, RecordError, RequestHash, RequestRing, Spill};
use crate::branch::BranchName;
use crate::clock::Timestamp;
use crate::ids::{CommitId, GraphId, IncarnationId, Seq, TableId};
use crate::schema::SchemaHash;
use crate::table::TableVersion;

/// How long the e-tag of a table version may be.
const E_TAG_BYTES: usize = 32;

/// Refuses a schema of so many tables that a commit might not find room beside them for a full lineage and [`ENSURED`] request ids.
///
/// # Errors
/// [`RecordError::TooManyTables`].
pub(crate) fn check_room(tables: usize) -> Result<(), RecordError> {
    let [none, one, two] = [0, 1, 2].map(largest);
    let (none, per_table) = (none?, two?.saturating_sub(one?).max(1));
    let most = WRITER_BYTES.saturating_sub(none) / per_table;
    if tables <= most { Ok(()) } else { Err(RecordError::TooManyTables { tables, most }) }
}

/// What the largest record of so many tables takes once its changes have moved out.
fn largest(tables: u8) -> Result<usize, RecordError> {
    let (incarnation, commit, name) =
        (IncarnationId::from_bytes([0; 16]), CommitId::from_bytes([0; 16]), BranchName::longest());
    let seq = Seq(u64::MAX - 1);
    let parent = Parent { log: name.clone(), incarnation, seq, commit };
    let version = TableVersion { version: u64::MAX, size: u64::MAX, e_tag: "e".repeat(E_TAG_BYTES), rows: u64::MAX };
    let mut requests = RequestRing::default();
    for number in 0..ENSURED as u64 {
        // Commits without a request id lie between those that have one.
        requests.push(RequestHash::of(""), Seq(u64::MAX / 2 + (number << 20)), u32::from(u8::MAX));
    }
    let record = Record {
        format: FORMAT,
        features: Vec::new(),
        graph: GraphId::from_bytes([0; 16]),
        branch: name,
        incarnation,
        seq,
        commit,
        time: Timestamp(0),
        previous: Some(commit),
        parents: vec![parent.clone(), parent],
        schema: SchemaHash([0; 32]),
        tables: (0..tables)
            .map(|table| (TableId::from_bytes([table; 16]), version.clone()))
            .collect::<BTreeMap<_, _>>(),
        lineage: Lineage::fullest(),
        requests,
        changes: Vec::new(),
        spill: Some(Spill { object: Ulid::nil(), changes: u32::MAX }),
        deleted: false,
        tombstone: None,
        extensions: Extensions::default(),
    };
    serde_json::to_vec(&record).map(|bytes| bytes.len()).map_err(RecordError::Unwritable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_refused_exactly_when_it_would_not_fit() {
        let RecordError::TooManyTables { most, .. } = check_room(100_000).unwrap_err() else { panic!() };
        assert_eq!(most, 508, "as the documentation says");
        check_room(most).unwrap();
        assert!(check_room(most + 1).is_err());
        let most = u8::try_from(most / 2).unwrap();
        let (half, none) = (largest(most).unwrap(), largest(0).unwrap());
        assert!(none + 2 * (half - none) <= WRITER_BYTES);
    }
}
