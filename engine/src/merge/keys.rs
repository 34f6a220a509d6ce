//! What the sides of a merge and their bases have of each key of one table: told by deltas, so that only what changed is looked at.

use std::sync::Arc;

use futures::future::{try_join, try_join_all};

use super::lens::{Lens, Lenses};
use super::origin::Origins;
use super::row::Side;
use crate::error::Error;
use crate::graph::Core;
use crate::ids::{Digest, TableId};
use crate::publish::Snapshot;
use crate::table::{Delta, Layout, Spot, Table, TableError};

/// One of the versions of a table that a merge looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    /// That of a side.
    Side(Side),
    /// That of one of the [`Origins`].
    Commit(usize),
}

/// Where a row lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// In which version.
    pub(super) of: Of,
    /// Where there, and its hash.
    pub(super) spot: Spot,
}

impl Place {
    /// Whether two states of a key are the same.
    pub(super) fn same(one: Option<Self>, other: Option<Self>) -> bool {
        one.map(|place| place.spot.hash) == other.map(|place| place.spot.hash)
    }
}

/// All versions of one table that matter to a merge, and what changed between them.
pub(super) struct Versions {
    table: TableId,
    /// None where the table is not there: it has no rows then.
    pub(super) source: Option<Table>,
    /// As the target has it.
    pub(super) target: Option<Table>,
    /// As each of the origins has it.
    commits: Vec<Option<Table>>,
    /// From each merge base to the source.
    to_source: Vec<Delta>,
    /// From each merge base to the target.
    to_target: Vec<Delta>,
    /// From each of the other origins to the source.
    deeper: Vec<Delta>,
    /// How the rows of each are read.
    pub(super) lenses: Lenses,
}

impl Versions {
    /// Opens all versions and compares them.
    ///
    /// # Errors
    /// When the store fails, or a version is damaged.
    pub(super) async fn compare(
        core: &Arc<Core>,
        layout: &Arc<Layout>,
        (source, target): (&Snapshot, &Snapshot),
        origins: &Origins,
        lenses: Lenses,
    ) -> Result<Self, Error> {
        let table = layout.table.id;
        let mut commits = Vec::with_capacity(origins.commits.len());
        for (at, lens) in origins.commits.iter().zip(&lenses.commits) {
            commits.push(open(core, layout, at, lens.as_deref()));
        }
        let sides = try_join(
            open(core, layout, source, lenses.source.as_deref()),
            open(core, layout, target, lenses.target.as_deref()),
        );
        let ((source, target), commits) = try_join(sides, try_join_all(commits)).await?;
        let (bases, others) = commits.split_at(origins.bases);
        let to_sides = try_join(deltas(bases, source.as_ref()), deltas(bases, target.as_ref()));
        let ((to_source, to_target), deeper) = try_join(to_sides, deltas(others, source.as_ref())).await?;
        Ok(Self { table, source, target, commits, to_source, to_target, deeper, lenses })
    }

    /// The table of a version.
    pub(super) fn table(&self, of: Of) -> Option<&Table> {
        match of {
            Of::Side(Side::Source) => self.source.as_ref(),
            Of::Side(Side::Target) => self.target.as_ref(),
            Of::Commit(commit) => self.commits.get(commit)?.as_ref(),
        }
    }

    /// The table of a version, and how its rows are read.
    pub(super) fn read(&self, of: Of) -> Option<(&Table, &Lens)> {
        let lens = match of {
            Of::Side(side) => self.lenses.of(side),
            Of::Commit(commit) => self.lenses.commits.get(commit)?.as_ref(),
        };
        self.table(of).zip(lens.map(AsRef::as_ref))
    }

    /// How many bases there are.
    pub(super) fn bases(&self) -> usize {
        self.to_source.len()
    }

    /// The keys that a side changed against one of the bases, in order.
    pub(super) fn changed_keys(&self) -> Vec<Digest> {
        let deltas = self.to_source.iter().chain(&self.to_target);
        let mut keys: Vec<Digest> = deltas.flat_map(|delta| delta.changes.iter().map(|change| change.key)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// What a side has of a key that was changed.
    ///
    /// # Errors
    /// If a row that did not change cannot be found.
    pub(super) fn on(&self, side: Side, key: Digest) -> Result<Option<Place>, TableError> {
        let (own, other) = match side {
            Side::Source => (&self.to_source, &self.to_target),
            Side::Target => (&self.to_target, &self.to_source),
        };
        let of = Of::Side(side);
        if let Some(change) = own.iter().find_map(|delta| delta.of(key)) {
            return Ok(change.after.map(|spot| Place { of, spot }));
        }
        // It has what the base has that the other side changed.
        for (own, other) in own.iter().zip(other) {
            let Some(change) = other.of(key) else { continue };
            let Some(before) = change.before else { return Ok(None) };
            let address = own.locate(before.address).ok_or_else(|| TableError::Damaged {
                table: self.table,
                problem: "a row that did not change is not where it was".to_owned(),
            })?;
            return Ok(Some(Place { of, spot: Spot { address, hash: before.hash } }));
        }
        Ok(None)
    }

    /// What one of the origins has of a key, given what the source has.
    pub(super) fn at(&self, commit: usize, key: Digest, source: Option<Place>) -> Option<Place> {
        let before = |delta: &Delta| delta.of(key).map(|change| change.before);
        let told = match commit.checked_sub(self.bases()) {
            None => {
                let base = |deltas: &[Delta]| deltas.get(commit).and_then(before);
                base(&self.to_source).or_else(|| base(&self.to_target))
            }
            Some(deeper) => self.deeper.get(deeper).and_then(before),
        };
        match told {
            Some(before) => before.map(|spot| Place { of: Of::Commit(commit), spot }),
            None => source,
        }
    }

    /// Rows that both sides have alike at different places: addresses on `side` and on the other.
    pub(super) fn twins(&self, side: Side) -> Vec<(u64, u64)> {
        match (self.to_target.as_slice(), self.to_source.as_slice(), side) {
            ([target, ..], [source, ..], Side::Target) => target.twins(source),
            ([target, ..], [source, ..], Side::Source) => source.twins(target),
            _ => Vec::new(),
        }
    }
}

/// A table as a commit has it, to be read through a lens.
async fn open(core: &Core, layout: &Arc<Layout>, at: &Snapshot, lens: Option<&Lens>) -> Result<Option<Table>, Error> {
    let version = lens.and_then(|lens| Some((lens, at.table_version(lens.table)?)));
    match version {
        Some((lens, version)) => core.open_version(lens.layout(layout), version).await.map(Some),
        None => Ok(None),
    }
}

/// What changed from each of `before` to `after`.
async fn deltas(before: &[Option<Table>], after: Option<&Table>) -> Result<Vec<Delta>, Error> {
    let mut comparing = Vec::with_capacity(before.len());
    for before in before {
        comparing.push(Table::delta(before.as_ref(), after));
    }
    Ok(try_join_all(comparing).await?)
}
