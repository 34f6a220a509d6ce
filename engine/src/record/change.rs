//! A change: what one caller asked for, as a record tells it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use ulid::Ulid;

use super::{Extensions, Parent, base64, time_text};
use crate::clock::Timestamp;
use crate::ids::{ChangeId, TableId};

/// What one caller asked for; a commit carries one or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Stands in the hidden `_change` column of every row it wrote.
    pub id: ChangeId,
    /// What sort of request it was.
    pub kind: ChangeKind,
    /// Who asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// When they say they did; the commit's time when absent.
    #[serde(default, with = "time_text::optional", skip_serializing_if = "Option::is_none")]
    pub author_time: Option<Timestamp>,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// By which name the caller may ask for the outcome again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What it took in from other branches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<Parent>,
    /// What it did to each table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<TableId, TableCounts>,
    /// In a commit of several changes, the keys it deleted: no row is left to tell which of them did it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deleted_keys: BTreeMap<TableId, Vec<EncodedKey>>,
    /// The accounts of a merge.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub merged: BTreeMap<TableId, MergeCounts>,
    /// What may be ignored: the fingerprint of the request, and what other versions tell of it.
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

impl Change {
    /// About how many bytes it takes in memory.
    pub(crate) fn weight(&self) -> usize {
        let keys: usize = self.deleted_keys.values().flatten().map(|key| 32 + key.0.len()).sum();
        256 + self.message.len() + self.extensions.len() + 112 * self.tables.len() + 128 * self.merged.len() + keys
    }
}

/// What sort of request a change was. It explains a commit and decides nothing, so one that this version does not know is kept
/// as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The first commit of a branch.
    Create,
    /// Rows were written.
    Write,
    /// Rows were loaded in bulk.
    Load,
    /// Another branch was merged in.
    Merge,
    /// The schema was changed.
    Schema,
    /// Tables were rewritten without changing what they say.
    Optimize,
    /// A commit's effect was taken back.
    Revert,
    /// A commit's effect was taken over from another branch.
    CherryPick,
    /// An earlier content was put back.
    Restore,
    /// The branch was deleted.
    Delete,
    /// Another version calls it so.
    Other(Box<str>),
}

impl ChangeKind {
    /// The kind as records and reports spell it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Create => "create",
            Self::Write => "write",
            Self::Load => "load",
            Self::Merge => "merge",
            Self::Schema => "schema",
            Self::Optimize => "optimize",
            Self::Revert => "revert",
            Self::CherryPick => "cherry-pick",
            Self::Restore => "restore",
            Self::Delete => "delete",
            Self::Other(kind) => kind,
        }
    }

    /// The kind that is spelled `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text {
            "create" => Self::Create,
            "write" => Self::Write,
            "load" => Self::Load,
            "merge" => Self::Merge,
            "schema" => Self::Schema,
            "optimize" => Self::Optimize,
            "revert" => Self::Revert,
            "cherry-pick" => Self::CherryPick,
            "restore" => Self::Restore,
            "delete" => Self::Delete,
            other => Self::Other(other.into()),
        }
    }
}

impl Serialize for ChangeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ChangeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Cow::<str>::deserialize(deserializer)?))
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a change did to the rows of one table; a count of zero is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableCounts {
    /// Rows that the caller gave.
    #[serde(skip_serializing_if = "is_zero")]
    pub read: u64,
    /// Rows whose key was new.
    #[serde(skip_serializing_if = "is_zero")]
    pub inserted: u64,
    /// Rows whose key existed with other values.
    #[serde(skip_serializing_if = "is_zero")]
    pub updated: u64,
    /// Rows that said what the table said already.
    #[serde(skip_serializing_if = "is_zero")]
    pub unchanged: u64,
    /// Rows that a later row of the same key replaced.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicates: u64,
    /// Rows that are gone.
    #[serde(skip_serializing_if = "is_zero")]
    pub removed: u64,
}

/// The key of a row, in a form that outlives the row: the canonical encodings of its parts one after the other. None of those
/// is a prefix of another, so there is one reading. A node has the parts of its key in the order of the schema; an edge the
/// parts of the key it goes from, those it goes to, then those of its own key; an edge of a `MULTI` table its id alone, as
/// a UUID. In JSON it is Base64 without padding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EncodedKey(pub Vec<u8>);

impl Serialize for EncodedKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for EncodedKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        base64::decode(&text).map(Self).ok_or_else(|| D::Error::custom(format!("`{text}` is not a key")))
    }
}

/// What a merge made of one table: `before` + `added` − `removed` = `result`. A count of zero is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MergeCounts {
    /// Live rows of the target before.
    #[serde(skip_serializing_if = "is_zero")]
    pub before: u64,
    /// Rows that the source brought.
    #[serde(skip_serializing_if = "is_zero")]
    pub added: u64,
    /// Rows that the source took away.
    #[serde(skip_serializing_if = "is_zero")]
    pub removed: u64,
    /// Live rows afterwards.
    #[serde(skip_serializing_if = "is_zero")]
    pub result: u64,
    /// What the source had changed since the merge bases.
    #[serde(skip_serializing_if = "SideCounts::is_none")]
    pub source: SideCounts,
    /// What the target had changed since then.
    #[serde(skip_serializing_if = "SideCounts::is_none")]
    pub target: SideCounts,
}

/// What one side of a merge had changed in one table; a count of zero is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SideCounts {
    /// Rows whose key is new.
    #[serde(skip_serializing_if = "is_zero")]
    pub inserted: u64,
    /// Rows with other values.
    #[serde(skip_serializing_if = "is_zero")]
    pub updated: u64,
    /// Rows that are gone.
    #[serde(skip_serializing_if = "is_zero")]
    pub removed: u64,
}

impl SideCounts {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where the changes of a record are that would burst it: one object of the same staging round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spill {
    /// The object's name in `changes/`.
    pub object: Ulid,
    /// How many changes it holds.
    pub changes: u32,
}
