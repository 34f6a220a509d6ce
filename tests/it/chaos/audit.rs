//! After a run: all histories are read without troubles, and compared with what everybody was told.

use std::collections::{BTreeMap, BTreeSet};

use kit::graphs::export;
use pleach::{CommitInfo, Graph};

use super::Sums;
use super::ledger::{Asked, Book, Ledger, Told};
use super::weather::Weather;

/// A commit, and the lines that it has to hold.
type Expected = (String, Vec<String>);

/// Commits by id, with the requests that each contains.
#[derive(Default)]
struct History {
    commits: BTreeMap<String, CommitInfo>,
    contained: BTreeMap<String, BTreeSet<String>>,
}

impl History {
    /// Reads a commit and all that it goes back to.
    async fn read(&mut self, graph: &Graph, reference: &str) -> Result<String, String> {
        let head = graph.show(reference).await.map_err(|e| format!("{reference}: {e}"))?;
        let id = head.id.to_string();
        let mut open = vec![head];
        while let Some(commit) = open.last().cloned() {
            let missing = commit.parents.iter().find(|parent| !self.contained.contains_key(&parent.id.to_string()));
            if let Some(parent) = missing {
                let name = parent.reference();
                let found = graph.show(&name).await.map_err(|e| format!("a parent of {}: {e}", commit.reference()))?;
                if found.id != parent.id {
                    return Err(format!("{name} is not the parent of {}", commit.reference()));
                }
                open.push(found);
                continue;
            }
            open.pop();
            let mut contained: BTreeSet<String> = BTreeSet::new();
            for parent in &commit.parents {
                contained.extend(self.contained[&parent.id.to_string()].iter().cloned());
            }
            contained.extend(own(&commit));
            self.contained.insert(commit.id.to_string(), contained);
            self.commits.insert(commit.id.to_string(), commit);
        }
        Ok(id)
    }
}

/// The requests that a commit itself brought.
fn own(commit: &CommitInfo) -> impl Iterator<Item = String> {
    commit.changes.iter().filter(|change| change.kind == "write").map(|change| change.message.clone())
}

/// What a commit has to hold that contains these requests.
fn expected(book: &Book, contained: &BTreeSet<String>) -> Vec<String> {
    let asked = |name: &String| book.requests.get(name).map(|request| request.asked.clone());
    let deleted: BTreeSet<String> = contained
        .iter()
        .filter_map(|name| match asked(name) {
            Some(Asked::Delete(of)) => Some(of),
            _ => None,
        })
        .collect();
    let mut lines = Vec::new();
    let writes: Vec<&String> = contained.iter().filter(|name| asked(name) == Some(Asked::Write)).collect();
    for name in &writes {
        let item = |end: &str| format!(r#"{{"table":"Item","data":{{"id":"{name}{end}","op":"{name}"}}}}"#);
        lines.push(item("a"));
        if !deleted.contains(*name) {
            lines.push(item("b"));
            lines.push(format!(r#"{{"table":"Of","from":"{name}a","to":"{name}b","data":{{"op":"{name}"}}}}"#));
        }
    }
    if !writes.is_empty() {
        lines.push(format!(r#"{{"table":"Total","data":{{"id":1,"n":{}}}}}"#, writes.len()));
    }
    lines.sort();
    lines
}

/// Checks one run.
pub(super) async fn audit(weather: &Weather, ledger: &Ledger) -> Result<Sums, String> {
    let graph = Graph::open_on(weather.calm()).await.map_err(|e| e.to_string())?;
    let report = graph.fsck_deep(&[]).await.map_err(|e| e.to_string())?;
    if !report.problems.is_empty() {
        return Err(format!("{:#?}", report.problems));
    }
    let mut history = History::default();
    for branch in graph.branches().await.map_err(|e| e.to_string())? {
        history.read(&graph, &branch.head.reference()).await?;
    }
    let told = ledger.book().commits.clone();
    for (reference, id) in &told {
        if history.read(&graph, reference).await? != *id {
            return Err(format!("{reference} is not the commit that somebody was told of"));
        }
    }
    let (sums, all) = compare(&ledger.book(), &history)?;
    for (reference, expected) in all {
        let found = export(&graph, &reference).await;
        let mut found: Vec<&str> = found.lines().collect();
        found.sort_unstable();
        if found != expected {
            return Err(format!("{reference} holds\n{found:#?}\nand should hold\n{expected:#?}"));
        }
    }
    Ok(sums)
}

/// Compares what was told with what is in the history. Gives what every commit has to hold.
fn compare(book: &Book, history: &History) -> Result<(Sums, Vec<Expected>), String> {
    if !book.problems.is_empty() {
        return Err(book.problems.join("\n"));
    }
    let mut sums = Sums { merges: book.merges, deaths: book.deaths, ..Sums::default() };
    let mut where_it_is: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for commit in history.commits.values() {
        for name in own(commit) {
            where_it_is.entry(name).or_default().push(commit.id.to_string());
        }
    }
    for (name, request) in &book.requests {
        let found = where_it_is.get(name).map_or(&[][..], Vec::as_slice);
        let fits = match &request.told {
            Told::Done(id) => found == [id.clone()],
            Told::Refused => found.is_empty(),
            Told::Unknown => found.len() <= 1,
        };
        match &request.told {
            Told::Done(_) => sums.acknowledged += 1,
            Told::Refused => sums.refused += 1,
            Told::Unknown => sums.unknown += 1,
        }
        if !fits {
            return Err(format!("{name}: {request:?}, and it is in {found:?}"));
        }
    }
    // Every commit, be it of a branch that is gone: its rows are those of the requests that it contains.
    let all: Vec<Expected> = history
        .commits
        .values()
        .map(|commit| (commit.reference(), expected(book, &history.contained[&commit.id.to_string()])))
        .collect();
    Ok((sums, all))
}
