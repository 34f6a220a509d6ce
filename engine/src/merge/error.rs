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
    /// A strategy does not fit the schema.
    #[error("the strategy {strategy}: {reason}")]
    Strategy {
        /// As it was given.
        strategy: String,
        /// What is wrong.
        reason: String,
    },
    /// A resolution does not fit the schema, or there is nothing that it could resolve.
    #[error("resolution {number}: {reason}")]
    Resolution {
        /// Its number among all, counted from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// The source has gone on since the plan was made.
    #[error("the plan merges {planned}, but the head of `{branch}` is {head} now")]
    SourceMoved {
        /// The source.
        branch: String,
        /// What the plan merges.
        planned: String,
        /// What its head is.
        head: String,
    },
    /// What is merged is to be deleted and is no branch.
    #[error("`{source_name}` is no branch, so it cannot be deleted after the merge")]
    SourceNotABranch {
        /// As it was named.
        source_name: String,
    },
    /// What is merged is to be deleted and is what it is merged into.
    #[error("`{branch}` cannot be deleted after it was merged into itself")]
    SourceIsTarget {
        /// The branch.
        branch: String,
    },
    /// What is to be merged into is no branch.
    #[error("`{target}` is no branch, so nothing can be merged into it")]
    TargetNotABranch {
        /// As it was named.
        target: String,
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
            Self::SourceMoved { .. } => ErrorKind::Contention,
            Self::Strategy { .. }
            | Self::Resolution { .. }
            | Self::SourceNotABranch { .. }
            | Self::SourceIsTarget { .. }
            | Self::TargetNotABranch { .. } => ErrorKind::Invalid,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Conflicts { .. } => "merge-conflicts",
            Self::Strategy { .. } => "strategy-invalid",
            Self::Resolution { .. } => "resolution-invalid",
            Self::SourceMoved { .. } => "source-moved",
            Self::SourceNotABranch { .. } => "source-not-a-branch",
            Self::SourceIsTarget { .. } => "source-is-target",
            Self::TargetNotABranch { .. } => "target-not-a-branch",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Conflicts { from, into, conflicts } => Some(conflicts_hint(from, into, conflicts)),
            Self::Strategy { .. } => Some("give `source` or `target`, for all or as TABLE=SIDE or TABLE.PROPERTY=SIDE".to_owned()),
            Self::Resolution { .. } => Some(
                "each line names a table, a key, perhaps a property, and a choice (`source` or `target`) or a value; a dry run lists all conflicts"
                    .to_owned(),
            ),
            Self::SourceMoved { .. } => Some("nothing was written; make the plan anew and look at it again".to_owned()),
            Self::SourceIsTarget { .. } => Some("nothing was done; name another branch to merge into".to_owned()),
            Self::SourceNotABranch { .. } => Some("name the branch itself, or leave the deletion out".to_owned()),
            Self::TargetNotABranch { .. } => Some("create a branch there first, and merge into that".to_owned()),
        }
    }
}

/// What to do about conflicts.
fn conflicts_hint(from: &str, into: &str, conflicts: &[Conflict]) -> String {
    let any = |kind| conflicts.iter().any(|conflict| conflict.kind == kind);
    if any(ConflictKind::Schema) {
        let told = conflicts.iter().filter_map(|conflict| conflict.schema);
        if told.clone().any(|schema| schema.reason.choices().is_empty()) {
            format!("nothing was written; change the schema of `{from}` or of `{into}`, then merge again")
        } else {
            "nothing was written; resolve each conflict of the schema (no key; `keep` or `drop` what one side dropped, else `source` or `target`), or let one side win, and merge again; conflicts of rows are looked for then"
                .to_owned()
        }
    } else {
        "nothing was written; resolve each conflict, or let one side win (`source` or `target`), and merge again"
            .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{SchemaClash, SchemaConflict};

    fn error(conflicts: Vec<Conflict>) -> MergeError {
        MergeError::Conflicts { from: "f".to_owned(), into: "main".to_owned(), conflicts }
    }

    #[test]
    fn the_message_counts_all_and_names_the_first() {
        let schema = SchemaConflict { reason: SchemaClash::DroppedBySource, rows: Some(1) };
        let property = Conflict {
            property: Some("nick".to_owned()),
            schema: Some(schema),
            ..Conflict::of_table(ConflictKind::Schema, "Person".to_owned())
        };
        assert_eq!(
            error(vec![property]).to_string(),
            "merging `f` into `main` meets 1 conflict\n  schema: Person.nick was dropped by the source, and the target changed it (1 row)"
        );
        let edge = |n: usize| Conflict {
            key: Some(format!("[1,{n}]")),
            ..Conflict::of_table(ConflictKind::DanglingEdge, "Knows".to_owned())
        };
        let text = error((0..12).map(edge).collect()).to_string();
        assert!(
            text.starts_with("merging `f` into `main` meets 12 conflicts\n  dangling-edge: Knows [1,0]\n"),
            "{text}"
        );
        assert!(text.ends_with("  dangling-edge: Knows [1,9]\n  and 2 more"), "{text}");
    }
}
