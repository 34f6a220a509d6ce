//! Branches, commits and merges of the model.

use std::collections::{BTreeMap, BTreeSet};

use super::three_way::{Known, Side, key, states};
use super::{Conflict, Key, State};

/// A commit.
#[derive(Debug, Clone)]
struct Commit {
    parents: Vec<usize>,
    state: State,
    reference: String,
}

/// All commits, in the order in which they were made, and the heads of branches.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    commits: Vec<Commit>,
    heads: BTreeMap<String, usize>,
}

/// What a merge comes to.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The commits that both sides come from, as references.
    pub(crate) bases: BTreeSet<String>,
    /// Whether the source has what every base has.
    pub(crate) brings_nothing: bool,
    /// Whether the source contains the target.
    pub(crate) is_fast_forward: bool,
    /// What is left to people.
    pub(crate) conflicts: Vec<Conflict>,
    /// The rows, once there are none.
    pub(crate) result: State,
}

impl History {
    /// The rows of a branch.
    pub(crate) fn state(&self, branch: &str) -> &State {
        &self.commits[self.heads[branch]].state
    }

    /// The branches.
    pub(crate) fn branches(&self) -> Vec<String> {
        self.heads.keys().cloned().collect()
    }

    /// Makes a commit on a branch; a branch that is not there yet begins with it.
    pub(crate) fn commit(&mut self, branch: &str, state: State, merged: Option<&str>, reference: String) {
        let parents = self.heads.get(branch).copied().into_iter();
        let parents = parents.chain(merged.map(|source| self.heads[source])).collect();
        self.heads.insert(branch.to_owned(), self.commits.len());
        self.commits.push(Commit { parents, state, reference });
    }

    /// Begins a branch at the head of another.
    pub(crate) fn branch(&mut self, name: &str, from: &str, reference: String) {
        let parent = self.heads[from];
        let state = self.commits[parent].state.clone();
        self.heads.insert(name.to_owned(), self.commits.len());
        self.commits.push(Commit { parents: vec![parent], state, reference });
    }

    /// Forgets a name; its commits stay.
    pub(crate) fn delete(&mut self, name: &str) {
        self.heads.remove(name);
    }

    fn contained(&self, heads: &[usize]) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        let mut open = heads.to_vec();
        while let Some(commit) = open.pop() {
            if all.insert(commit) {
                open.extend(&self.commits[commit].parents);
            }
        }
        all
    }

    /// Commits that both contain and no other such commit contains, the earliest first.
    fn bases(&self, ones: &[usize], others: &[usize]) -> Vec<usize> {
        let common: BTreeSet<usize> = self.contained(ones).intersection(&self.contained(others)).copied().collect();
        let covered =
            |commit: usize| common.iter().any(|other| *other != commit && self.contained(&[*other]).contains(&commit));
        common.iter().copied().filter(|commit| !covered(*commit)).collect()
    }

    /// What several bases say of a key: the first two merged over theirs, and so on.
    fn known(&self, bases: &[usize], at: Key) -> Known {
        let state = |commit: usize| Known::of(self.commits[commit].state.get(&at));
        let Some(first) = bases.first() else { return Known::Nothing };
        let mut known = state(*first);
        for number in 1..bases.len() {
            let over = self.known(&self.bases(&bases[..number], &bases[number..=number]), at);
            known = key(&over, &known, &state(bases[number])).into();
        }
        known
    }

    /// Merges one branch into another, in thought. `choose` settles conflicts.
    pub(crate) fn merge(&self, source: &str, target: &str, choose: &impl Fn(&Conflict) -> Option<Side>) -> Merge {
        let (source, target) = (self.heads[source], self.heads[target]);
        let bases = self.bases(&[source], &[target]);
        let state = |commit: usize| &self.commits[commit].state;
        let is_fast_forward = bases == [target];
        let named = bases.iter().map(|base| self.commits[*base].reference.clone()).collect();
        let brings_nothing = bases.iter().all(|base| state(*base) == state(source));
        let all = bases.iter().chain([&source, &target]);
        let keys: BTreeSet<Key> = all.flat_map(|commit| state(*commit).keys().copied()).collect();
        let (conflicts, result) = if is_fast_forward {
            (Vec::new(), state(source).clone())
        } else {
            states(&|key| self.known(&bases, key), state(source), state(target), &keys, choose)
        };
        Merge { bases: named, brings_nothing, is_fast_forward, conflicts, result }
    }
}
