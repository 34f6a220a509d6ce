//! Commits as people read them.

use std::collections::BTreeMap;

use pleach::{ChangeInfo, CommitInfo, TableCounts};

use crate::output::{printable, table};
use crate::shape::{change_reference, reference};

/// Said beside an outcome that is told again.
pub(crate) const REPEATED: &str =
    "this request id took effect before: nothing was done now, and this is the outcome of then";

/// The reference and id of a commit: the last line of every command that made one.
pub(crate) fn name(commit: &CommitInfo) -> String {
    format!("{} {}", reference(&commit.branch, commit.seq), commit.id)
}

/// The same, of the commit that carries one change: `main@42#3` where others share it.
pub(crate) fn name_of(commit: &CommitInfo, change: usize) -> String {
    match commit.changes.len() {
        0 | 1 => name(commit),
        _ => format!("{} {}", change_reference(commit, change), commit.id),
    }
}

/// One line per commit.
pub(crate) fn list(commits: &[CommitInfo]) -> String {
    let rows = commits.iter().map(|commit| {
        let kinds: Vec<&str> = commit.changes.iter().map(|change| change.kind.as_str()).collect();
        [
            reference(&commit.branch, commit.seq),
            commit.time.to_string(),
            kinds.join(", "),
            commit.changes.first().map(|change| change.author.clone()).unwrap_or_default(),
            subject(&commit.changes),
        ]
    });
    table(["commit", "time", "kind", "author", "message"], rows)
}

/// The first line of the first message, and how many changes share the commit with it.
pub(crate) fn subject(changes: &[ChangeInfo]) -> String {
    let first = changes.first().and_then(|change| change.message.lines().next()).unwrap_or_default();
    match changes.len() {
        0 | 1 => first.to_owned(),
        n => format!("{first} (and {} more)", n - 1).trim_start().to_owned(),
    }
}

/// All of one commit; of its changes one alone, if one is named.
pub(crate) fn full(commit: &CommitInfo, only: Option<usize>) -> String {
    let mut lines = vec![
        field("commit", &reference(&commit.branch, commit.seq)),
        field("id", &commit.id.to_string()),
        field("time", &commit.time.to_string()),
    ];
    let parents = commit.parents.iter();
    lines.extend(parents.map(|p| field("parent", &format!("{} {}", reference(&p.branch, p.seq), p.id))));
    let all = commit.changes.iter().enumerate().filter(|(number, _)| only.is_none_or(|only| only == *number));
    for (number, change) in all {
        lines.push(String::new());
        lines.extend(full_change(&change_reference(commit, number), change));
    }
    let rows = commit.rows.iter().map(|(name, rows)| [name.clone(), rows.to_string()]);
    lines.extend([String::new(), table(["table", "#rows"], rows)]);
    lines.join("\n")
}

fn full_change(reference: &str, change: &ChangeInfo) -> Vec<String> {
    let mut lines = vec![
        field("change", &format!("{reference} {}", change.id)),
        field("kind", &change.kind),
        field("author", &change.author),
        field("written", &change.author_time.to_string()),
    ];
    lines.extend(change.request_id.iter().map(|id| field("request", id)));
    lines.extend(change.message.lines().map(|line| format!("    {}", printable(line))));
    if !change.tables.is_empty() {
        lines.push(counts(&change.tables));
    }
    lines
}

fn field(name: &str, value: &str) -> String {
    format!("{name:<8}{}", printable(value))
}

/// What a change did, table by table.
pub(crate) fn counts(tables: &BTreeMap<String, TableCounts>) -> String {
    let rows = tables.iter().map(|(name, counts)| {
        let TableCounts { read, inserted, updated, unchanged, duplicates, removed } = counts;
        let numbers = [read, inserted, updated, unchanged, duplicates, removed];
        let [read, inserted, updated, unchanged, duplicates, removed] = numbers.map(u64::to_string);
        [name.clone(), read, inserted, updated, unchanged, duplicates, removed]
    });
    table(["table", "#read", "#inserted", "#updated", "#unchanged", "#duplicates", "#removed"], rows)
}
