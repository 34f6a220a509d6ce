//! What `fsck` found, bounded in number.

/// Problems that are told; further ones are only counted.
const MOST: usize = 1_000;

/// What is wrong at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsckProblem {
    /// Stable, kebab-case: `dangling-edge`, `duplicate-key`, `hash-mismatch`, `table-unreadable`, `broken-chain`, …
    pub code: &'static str,
    /// Where: a reference, or a reference and a table.
    pub place: String,
    /// What, and which rows.
    pub detail: String,
}

/// What fsck found. Clean means `problems` is empty.
#[derive(Debug, Clone, Default)]
pub struct FsckReport {
    /// Branches that were checked.
    pub branches: u64,
    /// Records that were read.
    pub commits: u64,
    /// Table versions whose rows were read.
    pub table_versions: u64,
    /// Rows that were read.
    pub rows: u64,
    /// What is wrong; at most a thousand, of which the last counts the rest.
    pub problems: Vec<FsckProblem>,
}

/// An error with its causes, in one line.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

/// Problems being gathered.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<FsckProblem>,
    untold: u64,
}

impl Problems {
    pub(super) fn add(&mut self, code: &'static str, place: &str, detail: String) {
        self.add_many(1, code, place, detail);
    }

    /// One problem of `count` rows.
    pub(super) fn add_many(&mut self, count: u64, code: &'static str, place: &str, detail: String) {
        if self.told.len() < MOST - 1 {
            self.told.push(FsckProblem { code, place: place.to_owned(), detail });
        } else {
            self.untold += count;
        }
    }

    pub(super) fn finish(mut self) -> Vec<FsckProblem> {
        if self.untold > 0 {
            let detail = format!("{} further problems are not told", self.untold);
            self.told.push(FsckProblem { code: "more", place: String::new(), detail });
        }
        self.told
    }
}
