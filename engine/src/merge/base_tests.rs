//! Bases against an oracle that knows all ancestors of every commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt as _;
use proptest::prelude::*;
use roaring::RoaringBitmap;

use super::base::{Ancestry, bases};
use crate::branch::BranchName;
use crate::error::Error;
use crate::ids::{CommitId, IncarnationId, Seq};
use crate::record::lineage::{Chunk, ChunkHash, Entry};
use crate::record::{Lineage, Record};
use crate::testing;

/// How commit ids are drawn: rising as they do in fact, or in no order at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ids {
    Rising,
    Wild,
}

/// All commits ever made, with lineages made as publishing makes them, and all ancestors of each.
struct Dag {
    ids: Ids,
    commits: Vec<(Arc<Record>, RoaringBitmap)>,
    chunks: BTreeMap<ChunkHash, Chunk>,
    lives: u64,
    records_read: AtomicUsize,
    chunks_read: AtomicUsize,
}

impl Ancestry for Dag {
    async fn record(&self, commit: &Entry) -> Result<Arc<Record>, Error> {
        self.records_read.fetch_add(1, Ordering::Relaxed);
        let found = self.commits.iter().find(|(record, _)| record.commit == commit.commit).unwrap();
        assert_eq!((found.0.incarnation, found.0.seq), (commit.incarnation, commit.seq));
        Ok(found.0.clone())
    }

    async fn chunks(&self, hashes: Vec<ChunkHash>) -> Result<BTreeMap<ChunkHash, Chunk>, Error> {
        self.chunks_read.fetch_add(hashes.len(), Ordering::Relaxed);
        Ok(hashes.into_iter().map(|hash| (hash, self.chunks[&hash].clone())).collect())
    }
}

impl Dag {
    /// The first commit of `main` is number 0.
    fn new(ids: Ids) -> Self {
        let (records_read, chunks_read) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut dag = Self { ids, commits: Vec::new(), chunks: BTreeMap::new(), lives: 0, records_read, chunks_read };
        dag.create(None);
        dag
    }

    fn push(&mut self, mut record: Record, parents: &[usize]) -> usize {
        let number = self.commits.len();
        let mut ancestors: RoaringBitmap = parents
            .iter()
            .map(|parent| &self.commits[*parent].1)
            .fold(RoaringBitmap::new(), |all, parent| all | parent);
        ancestors.insert(u32::try_from(number).unwrap());
        record.commit = match self.ids {
            Ids::Rising => CommitId::from_bytes((number as u128).to_be_bytes()),
            Ids::Wild => CommitId::from_bytes(testing::digest(number as u64).0),
        };
        record.lineage = self.fold(&record.lineage);
        self.commits.push((Arc::new(record), ancestors));
        number
    }

    fn fold(&mut self, lineage: &Lineage) -> Lineage {
        let folded = lineage.fold(&self.chunks).unwrap();
        if let Some((hash, bytes)) = folded.chunk {
            self.chunks.insert(hash, Chunk::decode(hash, &bytes).unwrap());
        }
        folded.lineage
    }

    /// A new branch that begins at `from`.
    fn create(&mut self, from: Option<usize>) -> usize {
        self.lives += 1;
        let mut record = testing::record(0);
        record.branch = BranchName::parse(&format!("b{}", self.lives)).unwrap();
        record.incarnation = IncarnationId::from_bytes(u128::from(self.lives).to_be_bytes());
        record.lineage = from.map(|from| self.commits[from].0.contained()).unwrap_or_default();
        self.push(record, from.as_slice())
    }

    /// The commit after `head` that takes in `sources`, of which there may be none.
    fn commit(&mut self, head: usize, sources: &[usize]) -> usize {
        let mut record = Record::clone(&self.commits[head].0);
        record.seq = Seq(record.seq.0 + 1);
        for source in sources {
            let contained = self.commits[*source].0.contained();
            record.lineage = record.lineage.union(&contained).without(record.incarnation);
        }
        self.push(record, &[&[head], sources].concat())
    }

    fn found(&self, one: usize, other: usize) -> Vec<usize> {
        let (one, other) = (&self.commits[one].0, &self.commits[other].0);
        let found = bases(self, one, other).now_or_never().expect("nothing is waited for").unwrap();
        let number = |base: &Arc<Record>| self.commits.iter().position(|(record, _)| record.commit == base.commit);
        found.iter().map(|base| number(base).unwrap()).collect()
    }

    fn expected(&self, one: usize, other: usize) -> BTreeSet<usize> {
        let common = &self.commits[one].1 & &self.commits[other].1;
        let is_maximal = |commit: &u32| {
            let contains_it = |above: u32| above != *commit && self.commits[above as usize].1.contains(*commit);
            !common.iter().any(contains_it)
        };
        common.iter().filter(is_maximal).map(|commit| commit as usize).collect()
    }

    fn check(&self, one: usize, other: usize) {
        let found = self.found(one, other);
        let set: BTreeSet<usize> = found.iter().copied().collect();
        assert_eq!(set.len(), found.len(), "each base once");
        assert_eq!(set, self.expected(one, other), "bases of {one} and {other}");
    }
}

/// A short history: `main` goes on, a branch `f` from its first commit too.
fn forked() -> (Dag, usize, usize) {
    let mut dag = Dag::new(Ids::Rising);
    let f = dag.create(Some(0));
    let main = dag.commit(0, &[]);
    let f = dag.commit(f, &[]);
    (dag, main, f)
}

#[test]
fn a_branch_and_where_it_came_from_have_the_fork_as_their_base() {
    let (dag, main, f) = forked();
    assert_eq!(dag.found(main, f), [0]);
}

#[test]
fn of_two_commits_of_which_one_contains_the_other_that_is_the_base() {
    let (mut dag, main, f) = forked();
    let merged = dag.commit(main, &[f]);
    assert_eq!((dag.found(f, merged), dag.found(merged, f)), (vec![f], vec![f]));
    assert_eq!(dag.found(merged, main), [main]);
    assert_eq!(dag.records_read.load(Ordering::Relaxed), 0, "both are at hand");
}

#[test]
fn a_repeated_merge_begins_where_the_last_one_ended() {
    let (mut dag, main, f) = forked();
    let merged = dag.commit(main, &[f]);
    let (main, on) = (dag.commit(merged, &[]), dag.commit(f, &[]));
    assert_eq!(dag.found(on, main), [f]);
}

#[test]
fn a_merge_back_begins_at_what_was_merged_forth() {
    let (mut dag, main, f) = forked();
    let merged = dag.commit(main, &[f]);
    let on = dag.commit(f, &[]);
    let back = dag.commit(on, &[merged]);
    let main = dag.commit(merged, &[]);
    assert_eq!(dag.found(main, back), [merged]);
}

#[test]
fn a_criss_cross_has_two_bases() {
    let (mut dag, main, f) = forked();
    let (main_2, f_2) = (dag.commit(main, &[f]), dag.commit(f, &[main]));
    assert_eq!(dag.found(main_2, f_2), [f, main], "the latest first");
    let (main_3, f_3) = (dag.commit(main_2, &[f_2]), dag.commit(f_2, &[main_2]));
    assert_eq!(dag.found(main_3, f_3), [f_2, main_2]);
}

#[test]
fn siblings_that_took_the_same_branch_in_have_it_as_a_base_although_it_is_gone() {
    let (mut dag, main, x) = forked();
    let (s, t) = (dag.create(Some(main)), dag.create(Some(main)));
    let (s, t) = (dag.commit(s, &[x]), dag.commit(t, &[x]));
    assert_eq!(dag.found(s, t), [x, main]);
}

#[test]
fn an_octopus_merge_counts_for_each_of_its_sources() {
    let (mut dag, main, one) = forked();
    let two = dag.create(Some(0));
    let two = dag.commit(two, &[]);
    let all = dag.commit(main, &[one, two]);
    let (one_on, two_on) = (dag.commit(one, &[]), dag.commit(two, &[one]));
    assert_eq!(dag.found(one_on, all), [one]);
    assert_eq!(dag.found(two_on, all), [two, one]);
}

#[test]
fn a_thousand_merged_branches_cost_one_record_and_no_chunk() {
    let mut dag = Dag::new(Ids::Rising);
    let mut main = 0;
    for _ in 0..1_000 {
        let branch = dag.create(Some(main));
        let branch = dag.commit(branch, &[]);
        main = dag.commit(main, &[branch]);
    }
    let f = dag.create(Some(main));
    let (f, main_on) = (dag.commit(f, &[]), dag.commit(main, &[]));
    assert!(!dag.commits[main].0.lineage.chunks().is_empty());
    assert_eq!(dag.found(f, main_on), [main]);
    let read = (dag.records_read.load(Ordering::Relaxed), dag.chunks_read.load(Ordering::Relaxed));
    assert_eq!(read, (1, 0));
}

/// What happens to branches; numbers choose among those that there are.
#[derive(Debug, Clone)]
enum Step {
    Create(usize),
    Delete(usize),
    Commit(usize),
    Merge {
        source: usize,
        target: usize,
    },
    MergeOld {
        back: usize,
        target: usize,
    },
    Octopus {
        sources: [usize; 3],
        target: usize,
    },
    /// Many short-lived branches, so that lineages fold.
    Burst {
        target: usize,
        branches: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let any = || 0..1_000_usize;
    prop_oneof![
        3 => any().prop_map(Step::Create),
        1 => any().prop_map(Step::Delete),
        4 => any().prop_map(Step::Commit),
        6 => (any(), any()).prop_map(|(source, target)| Step::Merge { source, target }),
        1 => (any(), any()).prop_map(|(back, target)| Step::MergeOld { back, target }),
        1 => ([any(), any(), any()], any()).prop_map(|(sources, target)| Step::Octopus { sources, target }),
        1 => (any(), 1..80_usize).prop_map(|(target, branches)| Step::Burst { target, branches }),
    ]
}

fn run(dag: &mut Dag, heads: &mut Vec<usize>, step: &Step) {
    let at = |number: usize| number % heads.len();
    match *step {
        Step::Create(from) => {
            let from = heads[at(from)];
            heads.push(dag.create(Some(from)));
        }
        Step::Delete(branch) if heads.len() > 1 => drop(heads.remove(at(branch))),
        Step::Delete(_) => {}
        Step::Commit(branch) => {
            let branch = at(branch);
            heads[branch] = dag.commit(heads[branch], &[]);
        }
        Step::Merge { source, target } => {
            let (source, target) = (heads[at(source)], at(target));
            heads[target] = dag.commit(heads[target], &[source]);
        }
        Step::MergeOld { back, target } => {
            let target = at(target);
            heads[target] = dag.commit(heads[target], &[back % dag.commits.len()]);
        }
        Step::Octopus { sources, target } => {
            let (sources, target) = (sources.map(|source| heads[at(source)]), at(target));
            heads[target] = dag.commit(heads[target], &sources);
        }
        Step::Burst { target, branches } => {
            let target = at(target);
            for _ in 0..branches {
                let branch = dag.create(Some(heads[target]));
                let branch = dag.commit(branch, &[]);
                heads[target] = dag.commit(heads[target], &[branch]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn bases_are_those_of_the_whole_history(
        steps in prop::collection::vec(step(), 1..60),
        ids in prop_oneof![3 => Just(Ids::Rising), 1 => Just(Ids::Wild)],
        old in prop::collection::vec((0..10_000_usize, 0..10_000_usize), 8),
    ) {
        let mut dag = Dag::new(ids);
        let mut heads = vec![0];
        for step in &steps {
            run(&mut dag, &mut heads, step);
        }
        for one in &heads {
            for other in &heads {
                dag.check(*one, *other);
            }
        }
        let count = dag.commits.len();
        for (one, other) in old {
            dag.check(one % count, other % count);
        }
    }
}
