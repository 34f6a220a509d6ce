//! Why a merge was not done.

use crate::error::{Classify, Conflict, ConflictKind, ErrorKind};

/// How many conflicts the message names.
const NAMED: usize = 10;

/// Why a merge was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Both sides changed the same thing incompatibly. Nothing was written.
    #[error("merging `{from}` into `{into}` meets {}", told(.conflicts))]
    Conflicts {
        /// What was to be merged, as it was named.
        from: String,
        /// The branch it was to be merged into.
        into: String,
        /// All conflicts, in the order of tables and keys.
        conflicts: Vec<Conflict>,
    },
}

/// How many conflicts there are, then the first of them, a line each.
fn told(conflicts: &[Conflict]) -> String {
    let count = match conflicts.len() {
        1 => "1 conflict".to_owned(),
        n => format!("{n} conflicts"),
    };
    let first = conflicts.iter().take(NAMED).map(|conflict| format!("\n  {conflict}"));
    let more = conflicts.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("\n  and {more} more"));
    std::iter::once(count).chain(first).chain(more).collect()
}

impl Classify for MergeError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Conflicts { .. } => ErrorKind::Conflict,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Conflicts { .. } => "merge-conflicts",
        }
    }

    fn hint(&self) -> Option<String> {
        let Self::Conflicts { from, into, conflicts } = self;
        let any = |kind| conflicts.iter().any(|conflict| conflict.kind == kind);
        Some(if any(ConflictKind::Schema) {
            format!(
                "nothing was written; give `{from}` the schema of `{into}` or the other way round, then merge again"
            )
        } else if conflicts.iter().any(|conflict| conflict.key.is_none()) {
            format!(
                "nothing was written; this version takes a table from one side as a whole: make the changes of `{from}` to these tables on a new branch from `{into}`, and merge that"
            )
        } else {
            format!("nothing was written; change `{from}` or `{into}` so that the rows agree, then merge again")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(conflicts: Vec<Conflict>) -> MergeError {
        MergeError::Conflicts { from: "f".to_owned(), into: "main".to_owned(), conflicts }
    }

    #[test]
    fn the_message_counts_all_and_names_the_first() {
        let table = Conflict { kind: ConflictKind::BothChanged, table: "Person".to_owned(), key: None };
        assert_eq!(
            error(vec![table]).to_string(),
            "merging `f` into `main` meets 1 conflict\n  both-changed: both sides changed the table Person"
        );
        let edge = |n: usize| Conflict {
            kind: ConflictKind::DanglingEdge,
            table: "Knows".to_owned(),
            key: Some(format!("[1,{n}]")),
        };
        let text = error((0..12).map(edge).collect()).to_string();
        assert!(
            text.starts_with("merging `f` into `main` meets 12 conflicts\n  dangling-edge: Knows [1,0]\n"),
            "{text}"
        );
        assert!(text.ends_with("  dangling-edge: Knows [1,9]\n  and 2 more"), "{text}");
    }
}
