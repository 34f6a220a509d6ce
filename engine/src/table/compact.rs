//! Compaction: the fragments of a version that are small, or have lost many rows, become few large ones; the rows stay as they are.
//!
//! Only which fragments is decided here. Rewriting them is a write that removes and inserts nothing and folds just these (`stage`): so rows keep
//! `_hash`, `_change` and hidden ids, removed ones are gone, a column that a file is older than is written as the null that it reads as,
//! and a version with another number of rows is an error.

use std::collections::{BTreeMap, BTreeSet};

use super::fold::{FragmentSize, LARGEST_FOLDED, file_bytes};
use super::stage::Removal;
use super::{StagedVersion, Table, TableError, TableWrite};

/// Bytes of live rows up to which a fragment is small. Above it writes fold nothing either: larger files are read no faster, and to
/// rewrite them again and again would cost more than their number does.
const SMALL: u64 = LARGEST_FOLDED;

/// A fragment that has lost more than one row in this many is rewritten, whatever its size: every scan reads its removed rows too, and
/// its deletion file. Below that, rewriting a file costs at least nine times what it saves.
const LOST_ONE_IN: u64 = 10;

/// Which fragments of a version a compaction rewrites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompactionPlan {
    fragments: BTreeSet<u64>,
    /// Bytes of their data files.
    pub bytes: u64,
}

/// What a compaction made of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compaction {
    /// Fragments before.
    pub fragments_before: u64,
    /// Fragments afterwards.
    pub fragments: u64,
    /// Live rows, before as afterwards.
    pub rows: u64,
    /// Bytes of the data files that are no longer needed.
    pub rewritten_bytes: u64,
    /// Bytes of the data files that stand for them.
    pub written_bytes: u64,
}

impl Table {
    /// What a compaction would rewrite, from the manifest alone; none if there is nothing to be gained.
    ///
    /// # Errors
    /// If the manifest lacks a count that every version we write has.
    pub(crate) fn plan_compaction(&self) -> Result<Option<CompactionPlan>, TableError> {
        let fragments = self.dataset.fragments();
        let sizes = fragments.iter().map(|fragment| FragmentSize::of(self.layout.table.id, fragment));
        Ok(plan(&sizes.collect::<Result<Vec<_>, _>>()?))
    }

    /// Writes one new version upon this one that has the same rows, those of the planned fragments in few new ones. Rows are
    /// streamed; nothing is published.
    ///
    /// # Errors
    /// If rows cannot be read, come to another number, or cannot be written. Files may be left behind that no record names.
    pub(crate) async fn compact(&self, plan: &CompactionPlan) -> Result<StagedVersion, TableError> {
        let folded = self.dataset.fragments().iter().filter(|fragment| plan.fragments.contains(&fragment.id));
        let removal = Removal {
            gone: plan.fragments.iter().copied().collect(),
            thinned: BTreeMap::new(),
            folded: folded.cloned().collect(),
        };
        Box::pin(self.carry_out(removal, TableWrite::nothing())).await
    }

    /// What became of this version's fragments in `after`, which was compacted from it: from both manifests alone.
    pub(crate) fn compaction_to(&self, after: &Self) -> Compaction {
        let (ours, theirs) = (self.data_files(), after.data_files());
        let only = |here: &BTreeMap<String, u64>, there: &BTreeMap<String, u64>| {
            here.iter().filter(|(path, _)| !there.contains_key(*path)).map(|(_, bytes)| bytes).sum()
        };
        Compaction {
            fragments_before: self.dataset.fragments().len() as u64,
            fragments: after.dataset.fragments().len() as u64,
            rows: after.version.rows,
            rewritten_bytes: only(&ours, &theirs),
            written_bytes: only(&theirs, &ours),
        }
    }

    /// The data files and their bytes.
    fn data_files(&self) -> BTreeMap<String, u64> {
        let files = self.dataset.fragments().iter().flat_map(|fragment| &fragment.files);
        files.map(|file| (file.path.clone(), file_bytes(file))).collect()
    }
}

/// The fragments to rewrite. A single small one is left alone: rewritten it would be what it is. Files are begun anew at four times the size
/// that is small, so that what a compaction leaves is never found worth another one.
fn plan(sizes: &[FragmentSize]) -> Option<CompactionPlan> {
    let thinned = |size: &FragmentSize| (size.rows - size.live).saturating_mul(LOST_ONE_IN) > size.rows;
    let chosen: Vec<&FragmentSize> = sizes.iter().filter(|size| thinned(size) || size.live_bytes() <= SMALL).collect();
    if chosen.len() < 2 && !chosen.iter().any(|size| thinned(size)) {
        return None;
    }
    let bytes = chosen.iter().map(|size| size.bytes).sum();
    Some(CompactionPlan { fragments: chosen.iter().map(|size| size.id).collect(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn fragment(id: u64, mebibytes: u64, live: u64) -> FragmentSize {
        FragmentSize { id, bytes: mebibytes * MIB, rows: 1000, live }
    }

    fn planned(sizes: &[FragmentSize]) -> Vec<u64> {
        plan(sizes).map(|plan| plan.fragments.into_iter().collect()).unwrap_or_default()
    }

    #[test]
    fn small_fragments_are_joined_and_large_ones_left() {
        let large = [fragment(0, 65, 1000), fragment(1, 256, 1000)];
        assert_eq!(planned(&large), Vec::<u64>::new());
        let one = [fragment(0, 65, 1000), fragment(3, 1, 1000)];
        assert_eq!(planned(&one), Vec::<u64>::new(), "one small fragment would become one small fragment");
        let two = [fragment(0, 65, 1000), fragment(3, 64, 1000), fragment(4, 1, 1000)];
        assert_eq!(planned(&two), [3, 4]);
        assert_eq!(plan(&two).unwrap().bytes, 65 * MIB);
        assert_eq!(planned(&[]), Vec::<u64>::new());
    }

    #[test]
    fn fragments_that_lost_more_than_a_tenth_are_rewritten_even_alone() {
        assert_eq!(planned(&[fragment(0, 200, 900)]), Vec::<u64>::new(), "just a tenth");
        assert_eq!(planned(&[fragment(0, 200, 899)]), [0]);
        assert_eq!(planned(&[fragment(0, 1, 899)]), [0]);
        assert_eq!(planned(&[fragment(0, 200, 899), fragment(1, 1, 1000), fragment(2, 200, 950)]), [0, 1]);
        // Few of its rows are left, so that it counts as small as well.
        assert_eq!(planned(&[fragment(0, 200, 10)]), [0]);
    }
}
