//! What several merge bases come to: a tree of commits, each key's base being the three-way merge along it.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::base::bases_between;
use super::row::{Base, Row};
use super::schema;
use crate::error::Error;
use crate::graph::Core;
use crate::ids::CommitId;
use crate::publish::Snapshot;
use crate::record::Record;

/// How often bases may have several bases in turn, and how many merges of bases there may be in all. Beyond that both sides count as changed: a
/// conflict rather than a guess, and rather than a search that doubles with each level.
const MOST_LEVELS: usize = 16;
const MOST_MERGES: usize = 64;

/// Commits that the bases of a merge go back to.
#[derive(Debug)]
pub(super) struct Origins {
    /// First the merge bases, the latest first, then what those go back to.
    pub(super) commits: Vec<Snapshot>,
    /// How many of them are merge bases.
    pub(super) bases: usize,
    tree: Origin,
}

/// What the base of a key is made of.
#[derive(Debug)]
enum Origin {
    /// What it is in this one of the commits.
    Commit(usize),
    /// It is not known.
    Gone,
    /// Two of them merged over a third.
    Merged { first: Box<Origin>, second: Box<Origin>, over: Box<Origin> },
}

impl Origins {
    /// Finds what `bases` go back to: nothing if there is only one.
    ///
    /// # Errors
    /// When a record cannot be read.
    pub(super) async fn find(core: &Arc<Core>, bases: &[Snapshot]) -> Result<Self, Error> {
        let mut commits = bases.to_vec();
        let records = bases.iter().rev().map(|base| base.record.clone()).collect();
        let tree = grow(core, records, &mut commits, &mut 0, 0).await?;
        Ok(Self { commits, bases: bases.len(), tree })
    }

    /// The schema that both sides come from.
    pub(super) fn schema(&self) -> schema::Base {
        schema_of(&self.tree, &self.commits)
    }

    /// The base of a key, by what each commit has of it.
    pub(super) fn base(&self, row: &impl Fn(usize) -> Option<Row>) -> Base {
        made_of(&self.tree, row)
    }
}

fn schema_of(origin: &Origin, commits: &[Snapshot]) -> schema::Base {
    match origin {
        Origin::Commit(commit) => {
            commits.get(*commit).map_or_else(schema::Base::gone, |at| schema::Base::one(&at.catalog))
        }
        Origin::Gone => schema::Base::gone(),
        Origin::Merged { first, second, over } => {
            let [first, second, over] = [first, second, over].map(|origin| schema_of(origin, commits));
            schema::Base::merged(&first, &second, &over)
        }
    }
}

fn made_of(origin: &Origin, row: &impl Fn(usize) -> Option<Row>) -> Base {
    match origin {
        Origin::Commit(commit) => Base::State(row(*commit)),
        Origin::Gone => Base::Gone,
        Origin::Merged { first, second, over } => Base::Merged {
            first: Box::new(made_of(first, row)),
            second: Box::new(made_of(second, row)),
            over: Box::new(made_of(over, row)),
            // They come in the order of their commits.
            second_is_later: true,
        },
    }
}

/// The tree of some commits, the earliest first: each is merged with those before it over what both contain.
fn grow<'a>(
    core: &'a Arc<Core>,
    records: Vec<Arc<Record>>,
    commits: &'a mut Vec<Snapshot>,
    merges: &'a mut usize,
    level: usize,
) -> BoxFuture<'a, Result<Origin, Error>> {
    async move {
        let mut tree: Option<Origin> = None;
        for (number, record) in records.iter().enumerate() {
            let second = Origin::Commit(place_of(core, record, commits).await?);
            let Some(first) = tree.take() else {
                tree = Some(second);
                continue;
            };
            *merges += 1;
            let over = if level < MOST_LEVELS && *merges <= MOST_MERGES {
                let mut over = bases_between(core, &records[..number], std::slice::from_ref(record)).await?;
                over.reverse();
                match merged_both_ways(core, &over).await? {
                    Some(merged) => both(merged, commits, core).await?,
                    None => grow(core, over, commits, merges, level + 1).await?,
                }
            } else {
                Origin::Gone
            };
            tree = Some(Origin::Merged { first: Box::new(first), second: Box::new(second), over: Box::new(over) });
        }
        Ok(tree.unwrap_or(Origin::Gone))
    }
    .boxed()
}

/// The two merges of two commits, where each was merged into the branch of the other right after it. What these agree on *is* the merge
/// of the two, whatever they go back to: so branches that take each other in again and again need not be followed to their beginning.
async fn merged_both_ways(core: &Core, records: &[Arc<Record>]) -> Result<Option<[Arc<Record>; 2]>, Error> {
    let [one, other] = records else { return Ok(None) };
    let after = futures::try_join!(core.authorities().after(one), core.authorities().after(other))?;
    let (Some(into_one), Some(into_other)) = after else { return Ok(None) };
    let of_both = |merge: &Record| {
        let parents: Vec<CommitId> = merge.parents.iter().map(|parent| parent.commit).collect();
        merge.tombstone.is_none()
            && parents.len() == 2
            && parents.contains(&one.commit)
            && parents.contains(&other.commit)
    };
    let mut merges = [into_one, into_other];
    merges.sort_by_key(|merge| merge.commit);
    Ok(merges.iter().all(|merge| of_both(merge)).then_some(merges))
}

/// What two merges of the same commits agree on. Where they do not, people settled it differently, and nothing is known.
async fn both(merges: [Arc<Record>; 2], commits: &mut Vec<Snapshot>, core: &Core) -> Result<Origin, Error> {
    let [first, second] = &merges;
    let first = Box::new(Origin::Commit(place_of(core, first, commits).await?));
    let second = Box::new(Origin::Commit(place_of(core, second, commits).await?));
    Ok(Origin::Merged { first, second, over: Box::new(Origin::Gone) })
}

async fn place_of(core: &Core, record: &Arc<Record>, commits: &mut Vec<Snapshot>) -> Result<usize, Error> {
    if let Some(place) = commits.iter().position(|known| known.record.commit == record.commit) {
        return Ok(place);
    }
    commits.push(core.authorities().snapshot_of(record.clone()).await?);
    Ok(commits.len() - 1)
}
