//! Records to bytes and back, refusing what this version does not know.

use bytes::Bytes;
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use ulid::Ulid;

use super::{Change, Record, Spill};
use crate::error::{Classify, ErrorKind};
use crate::ids::{GraphId, Seq};

/// The format of records that this version writes, and the only one it reads.
pub const FORMAT: u32 = 1;

/// The format of the objects in `changes/`.
const CHANGES_FORMAT: u32 = 1;

/// The features of stored objects that this version understands. An object names those that a reader must understand.
const FEATURES: &[&str] = &[];

/// The largest record: one is read on every commit, so it has to stay one cheap request.
pub const MAX_BYTES: usize = 128 * 1024;

/// What writers leave free, so that any record can become a tombstone.
const TOMBSTONE_BYTES: usize = 512;

/// The largest record that is not a tombstone.
pub(super) const WRITER_BYTES: usize = MAX_BYTES - TOMBSTONE_BYTES;

/// Why bytes are not a record, or a record cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Another version of Pleach wrote it.
    #[error("{place} is in format {found}, and this version reads format {known}")]
    Format {
        /// Where it was found.
        place: String,
        /// The format it names.
        found: u64,
        /// The format that is known.
        known: u32,
    },
    /// A newer version of Pleach wrote it, in a way that must be understood.
    #[error("{place} was written by a newer version of Pleach: it uses `{feature}`, which this version does not know")]
    Feature {
        /// Where it was found.
        place: String,
        /// What is not known.
        feature: String,
    },
    /// Another graph was made at the same address, or its objects were copied here.
    #[error("{place} belongs to another graph: to {found}, not to {expected}")]
    Foreign {
        /// Where it was found.
        place: String,
        /// The graph it belongs to.
        found: GraphId,
        /// The graph that was opened.
        expected: GraphId,
    },
    /// It is damaged, or has fields this version does not know.
    #[error("{place} cannot be read")]
    Unreadable {
        /// Where it was found.
        place: String,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// It says that it stands elsewhere.
    #[error("{place} holds the record of {found}")]
    Misplaced {
        /// Where it was found.
        place: String,
        /// Where it says it is.
        found: String,
    },
    /// It does not fit, even without its changes.
    #[error("the record would take {bytes} bytes, more than {MAX_BYTES}")]
    TooLarge {
        /// What it would take.
        bytes: usize,
    },
    /// A record that names so many tables would leave no room for what else belongs into it.
    #[error("the schema has {tables} tables, and a graph has room for {most}")]
    TooManyTables {
        /// The tables of the schema.
        tables: usize,
        /// How many there may be.
        most: usize,
    },
    /// It could not be turned into JSON.
    #[error("the record cannot be written")]
    Unwritable(#[source] serde_json::Error),
}

impl Classify for RecordError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Format { .. }
            | Self::Feature { .. }
            | Self::Foreign { .. }
            | Self::Unreadable { .. }
            | Self::Misplaced { .. } => ErrorKind::Data,
            Self::TooLarge { .. } | Self::TooManyTables { .. } => ErrorKind::Invalid,
            Self::Unwritable(_) => ErrorKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Format { .. } | Self::Feature { .. } => "record-format",
            Self::Foreign { .. } => "record-foreign",
            Self::Unreadable { .. } => "record-unreadable",
            Self::Misplaced { .. } => "record-misplaced",
            Self::TooLarge { .. } => "record-too-large",
            Self::TooManyTables { .. } => "too-many-tables",
            Self::Unwritable(_) => "record-unwritable",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Format { .. } | Self::Feature { .. } => {
                Some("use the version of Pleach that wrote this graph, or a later one".to_owned())
            }
            Self::Foreign { .. } => Some(
                "open the graph anew: the one that was open is gone, and nothing was written into the one that is there".to_owned(),
            ),
            Self::Unreadable { .. } | Self::Misplaced { .. } => {
                Some("run `pleach fsck` to see what else is affected".to_owned())
            }
            Self::TooLarge { .. } => Some("use fewer tables; a graph has room for about 500".to_owned()),
            Self::TooManyTables { .. } => Some("put fewer tables into one graph: every commit names them all".to_owned()),
            Self::Unwritable(_) => None,
        }
    }
}

/// What tells one format from another, whatever else changes.
#[derive(Deserialize)]
struct Envelope<'a> {
    format: u64,
    /// Looked at only once the format is known.
    #[serde(borrow, default)]
    features: Option<&'a RawValue>,
}

/// Reads any stored JSON of ours: first the format and the features alone, so that what is newer is named and not called damaged.
pub(crate) fn decode_json<T>(bytes: &[u8], place: &str, known: u32) -> Result<T, RecordError>
where
    T: for<'de> Deserialize<'de>,
{
    let unreadable = |source| RecordError::Unreadable { place: place.to_owned(), source };
    let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(unreadable)?;
    if envelope.format != u64::from(known) {
        return Err(RecordError::Format { place: place.to_owned(), found: envelope.format, known });
    }
    if let Some(features) = envelope.features {
        let features: Vec<String> = serde_json::from_str(features.get()).map_err(unreadable)?;
        if let Some(feature) = features.into_iter().find(|feature| !FEATURES.contains(&feature.as_str())) {
            return Err(RecordError::Feature { place: place.to_owned(), feature });
        }
    }
    serde_json::from_slice(bytes).map_err(unreadable)
}

/// The object that holds the changes of a record that would burst.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpilledChanges {
    format: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    features: Vec<String>,
    changes: Vec<Change>,
}

/// A record brought within its bounds.
#[derive(Debug)]
pub(crate) struct Fitted {
    /// Its stored form.
    pub(crate) bytes: Bytes,
    /// The object that its changes moved into, to be staged with it.
    pub(crate) spilled: Option<(Ulid, Bytes)>,
}

impl Record {
    /// The stored form.
    ///
    /// # Errors
    /// [`RecordError::TooLarge`] beyond [`MAX_BYTES`]; all but tombstones stay 512 bytes below.
    pub fn encode(&self) -> Result<Bytes, RecordError> {
        self.check().map_err(RecordError::Unwritable)?;
        let bytes = serde_json::to_vec(self).map_err(RecordError::Unwritable)?;
        if bytes.len() > self.bound() {
            return Err(RecordError::TooLarge { bytes: bytes.len() });
        }
        Ok(bytes.into())
    }

    const fn bound(&self) -> usize {
        if self.tombstone.is_some() { MAX_BYTES } else { WRITER_BYTES }
    }

    /// What its fields must keep among each other, or the next record could not be made from it.
    fn check(&self) -> Result<(), serde_json::Error> {
        let wrong = |reason| Err(serde_json::Error::custom(reason));
        if self.seq == Seq(u64::MAX) {
            return wrong("nothing could follow its position");
        }
        if self.requests.latest() > Some(self.seq) {
            return wrong("it remembers a request of a later position");
        }
        Ok(())
    }

    /// The stored form, whatever it takes: if need be the changes move out into an object called what `object` says, and if
    /// that is not enough the oldest requests are forgotten.
    ///
    /// # Errors
    /// [`RecordError::TooLarge`] when its tables alone are too many.
    pub(crate) fn fit(&mut self, object: impl FnOnce() -> Ulid) -> Result<Fitted, RecordError> {
        match self.encode() {
            Err(RecordError::TooLarge { .. }) => {}
            fits => return Ok(Fitted { bytes: fits?, spilled: None }),
        }
        let object = object();
        let spilled = Some((object, self.spill(object)?));
        loop {
            match self.encode() {
                Err(RecordError::TooLarge { bytes })
                    if self.requests.make_room(bytes.saturating_sub(self.bound()), self.seq) => {}
                fits => return Ok(Fitted { bytes: fits?, spilled }),
            }
        }
    }

    /// Reads what [`Self::encode`] wrote; `place` names it in errors.
    ///
    /// # Errors
    /// Any other format, any unknown feature or field, any damage.
    pub fn decode(bytes: &[u8], place: &str) -> Result<Self, RecordError> {
        let record: Self = decode_json(bytes, place, FORMAT)?;
        record.check().map_err(|source| RecordError::Unreadable { place: place.to_owned(), source })?;
        Ok(record)
    }

    /// Moves the changes out into an object called `object`, whose bytes are returned.
    pub(crate) fn spill(&mut self, object: Ulid) -> Result<Bytes, RecordError> {
        let changes = std::mem::take(&mut self.changes);
        self.spill = Some(Spill { object, changes: u32::try_from(changes.len()).unwrap_or(u32::MAX) });
        serde_json::to_vec(&SpilledChanges { format: CHANGES_FORMAT, features: Vec::new(), changes })
            .map(Bytes::from)
            .map_err(RecordError::Unwritable)
    }

    /// Reads the bytes that [`Self::spill`] returned.
    pub(crate) fn decode_spilled(bytes: &[u8], place: &str) -> Result<Vec<Change>, RecordError> {
        decode_json::<SpilledChanges>(bytes, place, CHANGES_FORMAT).map(|spilled| spilled.changes)
    }
}
