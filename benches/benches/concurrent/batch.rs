//! One batch of merges begun at the same moment, and one merge like them before and after it.

use std::time::{Duration, Instant};

use kit::graphs::by_kit;
use measure::place::Place;
use measure::process::{forget_peak_memory, memory, peak_memory};
use pleach::store::IoStats;
use pleach::{Error, Graph, MergeOptions, MergeOutcome, MergeReport};

use super::graph::Measured;

/// How the merges of a batch lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Each has a source and a target of its own, and both went on.
    Independent,
    /// The same, and the targets did not go on.
    FastForward,
    /// One source into many targets.
    OneSource,
    /// Many sources into one target.
    OneTarget,
}

impl Shape {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::FastForward => "fast-forward",
            Self::OneSource => "one-source",
            Self::OneTarget => "one-target",
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) shape: Shape,
    pub(super) merges: usize,
    pub(super) tables: usize,
    /// Commits of `main` before.
    pub(super) depth: u64,
    /// Branches that have nothing to do with it.
    pub(super) branches: usize,
}

/// What was measured.
#[derive(Debug)]
pub(super) struct Figures {
    /// One merge alone, before and after the batch, on the same graph.
    pub(super) alone: [Duration; 2],
    /// Requests of the one before.
    pub(super) io: IoStats,
    /// When each merge of the batch was done, from the moment they were all begun, in order.
    pub(super) done: Vec<Duration>,
    /// How long each waited at gates.
    pub(super) queued: Vec<Duration>,
    /// How long each took besides.
    pub(super) worked: Vec<Duration>,
    /// Requests of the whole batch.
    pub(super) batch_io: IoStats,
    /// Resident memory before the batch and at its peak, in bytes, where the operating system tells.
    pub(super) memory: [Option<u64>; 2],
}

impl Case {
    /// Source and target of the `n`-th merge; two more than there are merges in the batch.
    fn pair(&self, n: usize) -> (String, String) {
        let alone = n >= self.merges;
        let source = if self.shape == Shape::OneSource && !alone { 0 } else { n };
        let target = if self.shape == Shape::OneTarget && !alone { 0 } else { n };
        (format!("source-{source}"), format!("target-{target}"))
    }

    /// Measures once, and checks every result.
    pub(super) async fn run(&self, place: &Place, delay: Duration) -> Result<Figures, Box<dyn std::error::Error>> {
        let mut measured = Measured::new(place.store().await, self.tables, self.depth, self.branches).await?;
        let pairs: Vec<(String, String)> = (0..self.merges + 2).map(|n| self.pair(n)).collect();
        let mut made = std::collections::BTreeSet::new();
        for (n, (source, target)) in pairs.iter().enumerate() {
            // A branch has a commit of its own from the beginning: what is to be moved forward to has to come from it.
            let forward = self.shape == Shape::FastForward;
            if made.insert(target.clone()) {
                measured.branch(target, "main").await?;
                if !forward {
                    // Other rows than those that its source changed.
                    measured.change(target, n as u64 + 3, false).await?;
                }
            }
            if made.insert(source.clone()) {
                measured.branch(source, if forward { target } else { "main" }).await?;
                measured.change(source, n as u64, true).await?;
            }
        }
        place.slow(delay).await;
        let (batch, alone) = pairs.split_at(self.merges);
        let [before, after] = alone else { return Err("there are two beside the batch".into()) };
        let _ = measured.graph.take_io();
        let (first, io) = (one(&measured.graph, before).await?, measured.graph.take_io());
        forget_peak_memory()?;
        let idle = memory();
        let (done, reports) = all(&measured.graph, batch).await?;
        let (batch_io, peak) = (measured.graph.take_io(), peak_memory());
        let last = one(&measured.graph, after).await?;
        place.fast().await;

        let expected = if self.shape == Shape::FastForward { MergeOutcome::FastForward } else { MergeOutcome::Merged };
        let mut commits = std::collections::BTreeSet::new();
        for ((source, target), report) in batch.iter().zip(&reports) {
            let commit = report.commit.as_ref().ok_or("a merge published nothing")?;
            if report.outcome != expected || !commits.insert(commit.id) {
                return Err(format!("{source} into {target}: {:?} as {}", report.outcome, commit.id).into());
            }
            measured.merged(source, target);
        }
        for target in batch.iter().map(|(_, target)| target).collect::<std::collections::BTreeSet<_>>() {
            measured.verify(target).await?;
        }
        let queued: Vec<Duration> = reports.iter().map(|report| report.timings.queued).collect();
        let worked = reports.iter().map(|report| {
            let timings = report.timings;
            timings.captured + timings.planned + timings.staged + timings.published
        });
        Ok(Figures { alone: [first, last], io, done, queued, worked: worked.collect(), batch_io, memory: [idle, peak] })
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn one(graph: &Graph, (source, target): &(String, String)) -> Result<Duration, Error> {
    let started = Instant::now();
    graph.merge(source, target, MergeOptions { change: by_kit(), ..MergeOptions::default() }).await?;
    Ok(started.elapsed())
}

/// All at once: when each was done, in order, and their reports.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn all(
    graph: &Graph,
    pairs: &[(String, String)],
) -> Result<(Vec<Duration>, Vec<MergeReport>), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let merges: Vec<_> = pairs
        .iter()
        .cloned()
        .map(|(source, target)| {
            let graph = graph.clone();
            tokio::spawn(async move {
                let options = MergeOptions { change: by_kit(), ..MergeOptions::default() };
                let report = graph.merge(&source, &target, options).await;
                (started.elapsed(), report)
            })
        })
        .collect();
    let (mut done, mut reports) = (Vec::new(), Vec::new());
    for merge in merges {
        let (when, report) = merge.await?;
        done.push(when);
        reports.push(report?);
    }
    done.sort_unstable();
    Ok((done, reports))
}
