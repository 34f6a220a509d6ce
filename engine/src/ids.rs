//! The identities that records carry: one newtype per kind of id, so that none can be taken for another.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use ulid::Ulid;

/// The text is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind}")]
pub struct InvalidId {
    /// What was given.
    pub text: String,
    /// What was expected, for people.
    pub kind: &'static str,
}

macro_rules! ulid_ids {
    ($($(#[$doc:meta])* $name:ident, $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Ulid);

        impl $name {
            /// Takes a ULID as an id of this kind.
            #[must_use]
            pub const fn new(ulid: Ulid) -> Self {
                Self(ulid)
            }

            /// The 16 bytes of the id, most significant first; their order is the order of ids.
            #[must_use]
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }

            /// Reads an id back from [`Self::to_bytes`].
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Ulid::from_bytes(bytes))
            }

            /// The milliseconds since 1970 that the id was drawn at.
            #[must_use]
            pub const fn timestamp_ms(self) -> u64 {
                self.0.timestamp_ms()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                ulid_of(text).map(Self).ok_or_else(|| InvalidId { text: text.to_owned(), kind: $kind })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<str>::deserialize(deserializer)?;
                // One stored spelling, so that equal ids have equal bytes.
                if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
                    return Err(D::Error::custom(InvalidId { text: text.into_owned(), kind: $kind }));
                }
                text.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

ulid_ids! {
    /// One graph, whatever its address.
    GraphId, "graph id";
    /// One node or edge table; a table that is dropped and created again is another one.
    TableId, "table id";
    /// One property; survives renaming and widening.
    PropertyId, "property id";
    /// One commit.
    CommitId, "commit id";
    /// What one caller asked for; a commit carries one or several.
    ChangeId, "change id";
    /// One life of a branch name, from its creation to its deletion.
    IncarnationId, "incarnation id";
    /// The hidden identity of an edge in a `MULTI` table.
    EdgeId, "edge id";
}

/// The ULID that `text` spells in either case. 26 digits hold 130 bits: those that need more than 128 would lose them.
fn ulid_of(text: &str) -> Option<Ulid> {
    if text.as_bytes().first().is_none_or(|first| *first > b'7') {
        return None;
    }
    Ulid::from_string(text).ok()
}

/// The position of a commit in one branch log, counted from 0. The very last one is never used, so that every position has
/// a next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// The first position of a log.
    pub const FIRST: Self = Self(0);

    /// The position after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The position before this one; `None` for the first.
    #[must_use]
    pub const fn previous(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(seq) => Some(Self(seq)),
            None => None,
        }
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The number by which Lance knows a physical column: 31 bits, drawn at random whenever a column is added, since Lance's
/// own numbering gives two branches the same number for different columns and then reads the wrong one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldId(pub i32);

/// A 128-bit digest by which rows, keys and values are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 16]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_beyond_128_bits_is_no_id_at_any_door() {
        let wraps_to = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        for first in "89ABCDEFGHJKMNPQRSTVWXYZz".chars() {
            let text = format!("{first}{}", &wraps_to[1..]);
            assert!(text.parse::<EdgeId>().is_err(), "{text}");
            let error = serde_json::from_str::<CommitId>(&format!("\"{text}\"")).unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}` is not a commit id")), "{error}");
        }
        assert!("".parse::<EdgeId>().is_err());
    }

    #[test]
    fn either_case_is_read_and_upper_case_is_written() {
        for text in ["7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "00000000000000000000000000"] {
            let id: EdgeId = text.to_lowercase().parse().unwrap();
            assert_eq!(id.to_string(), text);
            assert_eq!(serde_json::from_str::<EdgeId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        }
    }

    #[test]
    fn an_id_has_one_stored_spelling() {
        let id = CommitId::from_bytes([0xff; 16]);
        let text = id.to_string();
        assert_eq!(serde_json::from_str::<CommitId>(&format!("\"{text}\"")).unwrap(), id);
        assert_eq!(text.to_lowercase().parse(), Ok(id), "people may write it in lower case");
        // The same bits and two more: 130 bits do not fit.
        let wrapped = format!("Z{}", &text[1..]);
        for wrong in [text.to_lowercase(), wrapped.clone(), text[1..].to_owned(), String::new()] {
            assert!(serde_json::from_str::<CommitId>(&format!("\"{wrong}\"")).is_err(), "{wrong}");
        }
        assert!(wrapped.parse::<CommitId>().is_err());
    }
}
