//! What was asked for, and what the askers were told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pleach::CommitInfo;

/// What was asked for that changes rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// Two rows and an edge that bear the request's name, and one more in the sum.
    Write,
    /// The second row of that write, with its edge.
    Delete(String),
}

/// What the asker was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// It is in the commit of this id.
    Done(String),
    /// It was not done.
    Refused,
    /// Nothing certain; or nothing at all.
    Unknown,
}

/// A request that changes rows.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) asked: Asked,
    pub(super) told: Told,
}

#[derive(Debug, Default)]
pub(super) struct Book {
    /// By name, which is the message of its change.
    pub(super) requests: BTreeMap<String, Request>,
    /// What commits held when they were first read, by id.
    pub(super) seen: BTreeMap<String, String>,
    /// Commits that somebody was told of, in order: `branch@seq` and id.
    pub(super) commits: Vec<(String, String)>,
    pub(super) merges: usize,
    pub(super) deaths: usize,
    /// What must not happen, and did.
    pub(super) problems: Vec<String>,
}

/// The book of all processes. Clones are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<Book>>);

impl Ledger {
    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request before it is sent: what it comes to is not known yet.
    pub(super) fn asks(&self, name: &str, asked: Asked) {
        self.book().requests.insert(name.to_owned(), Request { asked, told: Told::Unknown });
    }

    pub(super) fn told(&self, name: &str, told: Told) {
        if let Some(request) = self.book().requests.get_mut(name) {
            request.told = told;
        }
    }

    /// Notes a commit that somebody was told of; gives its id.
    pub(super) fn commit(&self, commit: &CommitInfo) -> String {
        let id = commit.id.to_string();
        self.book().commits.push((commit.reference(), id.clone()));
        id
    }

    pub(super) fn problem(&self, problem: String) {
        self.book().problems.push(problem);
    }
}
