//! References: how a person names a commit.
//!
//! `BRANCH`, then at most one of `@SEQ`, `@COMMIT`, `@TIME`, each with an optional `#CHANGE`, then an optional `~STEPS` along
//! first parents. A lone commit id is looked up in `main`.

use std::fmt;
use std::str::FromStr;

use super::name::{BranchName, InvalidName};
use crate::clock::Timestamp;
use crate::error::{Classify, ErrorKind};
use crate::ids::{CommitId, Seq};

/// A parsed reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// In whose log to look.
    pub branch: BranchName,
    /// Where in it.
    pub at: At,
    /// Which change of the commit, counted from 0. A reference to a change names its commit.
    pub change: Option<u32>,
    /// How many first parents to go back from there.
    pub back: u64,
    /// Whether only a commit id was given, so that an error can say how to name a branch.
    pub bare: bool,
}

/// A place in a branch log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The last commit.
    Head,
    /// A position.
    Seq(Seq),
    /// The commit with this id.
    Commit(CommitId),
    /// The last commit at or before this moment.
    Time(Timestamp),
}

/// Why a text is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReference {
    /// What stands for the branch cannot be one.
    #[error("`{text}` does not name a branch")]
    Name {
        /// What was given.
        text: String,
        /// What is wrong with the name.
        #[source]
        source: InvalidName,
    },
    /// What follows the branch says nothing.
    #[error("in `{text}`, `{part}` is not {expected}")]
    Part {
        /// What was given.
        text: String,
        /// The part that is wrong.
        part: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl Classify for InvalidReference {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Name { source, .. } => source.code(),
            Self::Part { .. } => "reference-invalid",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Name { source, .. } => source.hint(),
            Self::Part { .. } => Some(
                "write `main`, `main@42`, `main@42#0`, `main~2`, `main@COMMIT-ID` or `main@2024-01-31T12:00:00Z`"
                    .to_owned(),
            ),
        }
    }
}

impl FromStr for Reference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        let wrong =
            |part: &str, expected| InvalidReference::Part { text: text.to_owned(), part: part.to_owned(), expected };
        let (rest, back) = match text.split_once('~') {
            None => (text, 0),
            Some((rest, steps)) => (rest, number(steps).ok_or_else(|| wrong(steps, "a number of commits to go back"))?),
        };
        let (rest, change) = match rest.split_once('#') {
            None => (rest, None),
            Some((rest, change)) => {
                let change = number(change).and_then(|change| u32::try_from(change).ok());
                (rest, Some(change.ok_or_else(|| wrong(text, "a reference with the number of a change"))?))
            }
        };
        let (name, at) = match rest.split_once('@') {
            Some((name, place)) => {
                let at = place_of(place)
                    .ok_or_else(|| wrong(place, "a sequence number, a commit id or an RFC 3339 time"))?;
                (name, at)
            }
            None => match rest.parse() {
                Ok(commit) => {
                    return Ok(Self { branch: BranchName::main(), at: At::Commit(commit), change, back, bare: true });
                }
                Err(_) => (rest, At::Head),
            },
        };
        let branch =
            BranchName::parse(name).map_err(|source| InvalidReference::Name { text: text.to_owned(), source })?;
        Ok(Self { branch, at, change, back, bare: false })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Commit(commit) if self.bare => write!(f, "{commit}")?,
            At::Head => write!(f, "{}", self.branch)?,
            At::Seq(seq) => write!(f, "{}@{seq}", self.branch)?,
            At::Commit(commit) => write!(f, "{}@{commit}", self.branch)?,
            At::Time(time) => write!(f, "{}@{time}", self.branch)?,
        }
        if let Some(change) = self.change {
            write!(f, "#{change}")?;
        }
        if self.back > 0 {
            write!(f, "~{}", self.back)?;
        }
        Ok(())
    }
}

/// Digits alone: `+1` is not a number here.
fn number(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|c| c.is_ascii_digit()) { None } else { text.parse().ok() }
}

fn place_of(text: &str) -> Option<At> {
    // A commit id may be digits alone, but is longer than any sequence number.
    if let Ok(commit) = text.parse() {
        return Some(At::Commit(commit));
    }
    if let Some(seq) = number(text) {
        return Some(At::Seq(Seq(seq)));
    }
    text.parse().ok().map(At::Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Reference {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn every_form_is_understood_and_printed_back() {
        let commit = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        for (text, name, at, change, back) in [
            ("main", "main", At::Head, None, 0),
            ("Team/x@42", "Team/x", At::Seq(Seq(42)), None, 0),
            ("main@42#3", "main", At::Seq(Seq(42)), Some(3), 0),
            ("main~2", "main", At::Head, None, 2),
            ("main@42~2", "main", At::Seq(Seq(42)), None, 2),
            ("main@42#0~1", "main", At::Seq(Seq(42)), Some(0), 1),
            (&format!("f@{commit}"), "f", At::Commit(commit.parse().unwrap()), None, 0),
            (commit, "main", At::Commit(commit.parse().unwrap()), None, 0),
            ("main@1970-01-01T00:00:01.000000Z", "main", At::Time(Timestamp(1_000_000)), None, 0),
        ] {
            let reference = parsed(text);
            assert_eq!((reference.branch.as_str(), reference.at), (name, at), "{text}");
            assert_eq!((reference.change, reference.back), (change, back), "{text}");
            assert_eq!(reference.to_string(), text);
        }
        assert!(parsed(commit).bare && !parsed(&format!("main@{commit}")).bare);
        assert_eq!(parsed("main@1970-01-01T01:00:00+01:00").at, At::Time(Timestamp(0)));
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for text in [
            "",
            "@1",
            "main@",
            "main@x",
            "main@-1",
            "main@+1",
            "main~",
            "main~x",
            "main~1~1",
            "main@1@2",
            "main#x",
            "main@1#",
            "main@2024-01-31",
            "-x@1",
            "a..b",
            "main@18446744073709551616",
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
    }
}
