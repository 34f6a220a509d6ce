//! What becomes of each fragment when a version takes rows of another one: decided before anything is written.

use std::collections::BTreeMap;
use std::ops::Range;

use futures::{StreamExt, TryStreamExt, stream};
use lance_table::format::Fragment;
use roaring::{RoaringBitmap, RoaringTreemap};

use super::{every_row, next_number};
use crate::table::deletions::{identity, physical_rows, removed_rows};
use crate::table::{Table, TableError};

/// Deletion vectors read at once.
const PARALLEL_DELETIONS: usize = 64;

/// What becomes of the fragments that do not stay as they are.
pub(super) struct Plan {
    pub fragments: Vec<Change>,
    /// Rows that come alive, of adopted fragments and of the target's own.
    pub gained: u64,
    /// Rows of the target that go.
    pub lost: u64,
}

/// What becomes of one fragment.
pub(super) struct Change {
    pub outcome: Outcome,
    /// The number that its deletion file has in its name.
    pub number: u64,
    /// The rows that are gone from it; `None`: its deletion file is right as it is.
    pub removed: Option<RoaringBitmap>,
}

/// The fragment itself.
pub(super) enum Outcome {
    /// The target's of this number goes.
    Gone(u64),
    /// The target's, with other deletions.
    Updated(Fragment),
    /// The source's.
    Adopted(Fragment),
}

/// A fragment of the target, and the source's form of it.
struct Pair<'a> {
    target: &'a Fragment,
    source: Option<&'a Fragment>,
    /// Offsets of rows that come alive.
    revive: RoaringBitmap,
    /// Offsets of rows that go.
    remove: RoaringBitmap,
}

/// Plans to have the rows `take` of `source` and not to have the rows `remove` of `target`.
pub(super) async fn plan(
    target: &Table,
    source: &Table,
    (mut take, mut remove): (RoaringTreemap, RoaringTreemap),
    twins: &[(u64, u64)],
) -> Result<Plan, TableError> {
    let table = target.layout.table.id;
    let mut in_source = BTreeMap::new();
    for fragment in source.dataset.fragments().iter() {
        in_source.insert(identity(table, fragment)?, fragment);
    }
    prefer_source(target, &in_source, twins, &mut take, &mut remove).await?;

    let mut taken = by_fragment(source, &take)?;
    let mut removed = by_fragment(target, &remove)?;
    let mut pairs = Vec::new();
    for fragment in target.dataset.fragments().iter() {
        let same = in_source.get(identity(table, fragment)?).copied();
        let revive = same.and_then(|same| taken.remove(&same.id)).unwrap_or_default();
        let remove = removed.remove(&fragment.id).unwrap_or_default();
        if !revive.is_empty() || !remove.is_empty() {
            pairs.push(Pair { target: fragment, source: same, revive, remove });
        }
    }
    let adopted =
        source.dataset.fragments().iter().filter_map(|fragment| Some((fragment, taken.remove(&fragment.id)?)));
    let adopted: Vec<(&Fragment, RoaringBitmap)> = adopted.collect();

    let mut plan = Plan { fragments: Vec::with_capacity(pairs.len() + adopted.len()), gained: 0, lost: 0 };
    let changing: Vec<_> = pairs.into_iter().map(|pair| update(target, source, pair)).collect();
    let mut changed = stream::iter(changing).buffered(PARALLEL_DELETIONS);
    while let Some((change, gained, lost)) = changed.try_next().await? {
        plan.fragments.extend(change);
        plan.gained += gained;
        plan.lost += lost;
    }
    let adopting: Vec<_> = (next_number(&target.dataset)..)
        .zip(adopted)
        .map(|(number, (fragment, wanted))| adopt(source, fragment, wanted, number))
        .collect();
    let mut adopting = stream::iter(adopting).buffered(PARALLEL_DELETIONS);
    while let Some((change, gained)) = adopting.try_next().await? {
        plan.fragments.push(change);
        plan.gained += gained;
    }
    Ok(plan)
}

/// Where all rows that are left of a target's fragment lie alike in files that only the source has, takes them from there.
async fn prefer_source(
    target: &Table,
    in_source: &BTreeMap<&str, &Fragment>,
    twins: &[(u64, u64)],
    take: &mut RoaringTreemap,
    remove: &mut RoaringTreemap,
) -> Result<(), TableError> {
    let table = target.layout.table.id;
    for fragment in target.dataset.fragments().iter() {
        let twins = &twins[addresses_of(fragment.id, twins)];
        if twins.is_empty() || in_source.contains_key(identity(table, fragment)?) {
            continue;
        }
        let mut left = every_row(physical_rows(table, fragment)?);
        left -= removed_rows(table, &target.dataset, fragment).await?;
        let at = |offset: u32| fragment.id << 32 | u64::from(offset);
        let left: RoaringTreemap = left.iter().map(at).filter(|address| !remove.contains(*address)).collect();
        let found: Vec<u64> = twins.iter().filter(|(here, _)| left.contains(*here)).map(|(_, there)| *there).collect();
        if found.len() as u64 == left.len() {
            remove.extend(left);
            take.extend(found);
        }
    }
    Ok(())
}

/// The part of sorted pairs whose first address is in a fragment.
fn addresses_of(fragment: u64, pairs: &[(u64, u64)]) -> Range<usize> {
    let start = pairs.partition_point(|(address, _)| address >> 32 < fragment);
    start..pairs.partition_point(|(address, _)| address >> 32 <= fragment)
}

/// Offsets by fragment.
fn by_fragment(version: &Table, addresses: &RoaringTreemap) -> Result<BTreeMap<u64, RoaringBitmap>, TableError> {
    let fragments: BTreeMap<u64, &Fragment> =
        version.dataset.fragments().iter().map(|fragment| (fragment.id, fragment)).collect();
    let mut offsets = BTreeMap::new();
    for (high, rows) in addresses.bitmaps() {
        let id = u64::from(high);
        let highest = rows.max().unwrap_or_default();
        let known = fragments.get(&id).map(|fragment| physical_rows(version.layout.table.id, fragment)).transpose()?;
        if known.is_none_or(|known| highest >= known) {
            return Err(no_such_row(version, id, highest));
        }
        offsets.insert(id, rows.clone());
    }
    Ok(offsets)
}

fn no_such_row(version: &Table, fragment: u64, offset: u32) -> TableError {
    TableError::NoSuchRow {
        table: version.layout.table.id,
        version: version.version.version,
        address: fragment << 32 | u64::from(offset),
    }
}

/// Fails unless the source has all of these rows alive; returns those it has not.
async fn check_alive(source: &Table, fragment: &Fragment, wanted: &RoaringBitmap) -> Result<RoaringBitmap, TableError> {
    let gone = removed_rows(source.layout.table.id, &source.dataset, fragment).await?;
    match (wanted & &gone).min() {
        Some(offset) => Err(no_such_row(source, fragment.id, offset)),
        None => Ok(gone),
    }
}

/// A fragment of the target, and how many rows it gains and loses.
async fn update(target: &Table, source: &Table, pair: Pair<'_>) -> Result<(Option<Change>, u64, u64), TableError> {
    let table = target.layout.table.id;
    let was = removed_rows(table, &target.dataset, pair.target).await?;
    let there = match pair.source {
        Some(fragment) => Some((fragment, check_alive(source, fragment, &pair.revive).await?)),
        None => None,
    };
    let removed = (&was | &pair.remove) - &pair.revive;
    let (gained, lost) = ((&was - &removed).len(), (&removed - &was).len());
    if removed == was {
        return Ok((None, 0, 0));
    }
    let id = pair.target.id;
    if removed.len() == u64::from(physical_rows(table, pair.target)?) {
        return Ok((Some(Change { outcome: Outcome::Gone(id), number: id, removed: None }), gained, lost));
    }
    // The source has just these rows, under this number: its deletion file will do.
    if let Some((fragment, gone)) = there
        && fragment.id == id
        && gone == removed
    {
        let outcome =
            Outcome::Updated(Fragment { deletion_file: fragment.deletion_file.clone(), ..pair.target.clone() });
        return Ok((Some(Change { outcome, number: id, removed: None }), gained, lost));
    }
    let outcome = Outcome::Updated(pair.target.clone());
    Ok((Some(Change { outcome, number: id, removed: Some(removed) }), gained, lost))
}

/// A fragment of the source under the target's `number`, and how many rows it brings.
async fn adopt(
    source: &Table,
    fragment: &Fragment,
    wanted: RoaringBitmap,
    number: u64,
) -> Result<(Change, u64), TableError> {
    check_alive(source, fragment, &wanted).await?;
    let removed = every_row(physical_rows(source.layout.table.id, fragment)?) - &wanted;
    let outcome = Outcome::Adopted(Fragment {
        id: number,
        deletion_file: None,
        // All of these name versions and rows of the source's line.
        row_id_meta: None,
        created_at_version_meta: None,
        last_updated_at_version_meta: None,
        ..fragment.clone()
    });
    Ok((Change { outcome, number, removed: Some(removed) }, wanted.len()))
}
