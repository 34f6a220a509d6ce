//! Folding: which small fragments the next write takes into its own file, so that a table's fragment count and read cost stay
//! flat over any number of small writes; and reading them before the write is decided, so that a fold costs no round of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use lance_table::format::{DataFile, Fragment};

use super::{BatchStream, Layout, Scan, Table, TableError};
use crate::ids::TableId;

/// Fragments of one tier that a write may leave behind.
pub(super) const FRAGMENTS_PER_TIER: usize = 16;

/// The upper bounds of the tiers, in bytes; a larger fragment is never folded.
const TIERS: [u64; 3] = [1 << 20, 8 << 20, LARGEST_FOLDED];

/// Bytes of the largest fragment that a write folds.
pub(super) const LARGEST_FOLDED: u64 = 64 << 20;

/// Bytes of data files that are read ahead at most: a full first tier. Larger folds are rare, and worth a round.
const AHEAD_BYTES: u64 = FRAGMENTS_PER_TIER as u64 * TIERS[0];

/// Bytes of the fragments that a fold reads at once: as many as a scan reads ahead.
const GROUP_BYTES: u64 = 64 << 20;

/// The rows of fragments that a write will probably fold, with their addresses.
pub(super) struct Ahead {
    layout: Arc<Layout>,
    fragments: BTreeSet<u64>,
    batches: Vec<RecordBatch>,
}

impl Ahead {
    /// Bytes it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.batches.iter().map(RecordBatch::get_array_memory_size).sum()
    }
}

impl Table {
    /// Reads what a write that inserts about `rows` rows would fold, if it folds. It is kept until a version is staged upon this
    /// one, or room is needed. A failure is not told: the write reads again what is missing.
    pub(crate) async fn read_ahead(&self, rows: u64) {
        let fragments = self.dataset.fragments();
        let sizes = fragments.iter().map(|fragment| FragmentSize::of(self.layout.table.id, fragment));
        let Ok(sizes) = sizes.collect::<Result<Vec<_>, _>>() else { return };
        let folded: BTreeSet<u64> = plan_fold(&sizes, estimate(&sizes, rows)).into_iter().collect();
        let bytes: u64 = sizes.iter().filter(|size| folded.contains(&size.id)).map(|size| size.bytes).sum();
        if folded.is_empty() || bytes > AHEAD_BYTES {
            return;
        }
        let wanted = fragments.iter().filter(|fragment| folded.contains(&fragment.id)).cloned().collect();
        let reading = async {
            let batches = self.whole_rows(wanted).try_collect().await?;
            Ok::<_, TableError>(Arc::new(Ahead { layout: self.layout.clone(), fragments: folded, batches }))
        };
        drop(self.tables.ahead().try_get_with(self.key(), reading).await);
    }

    /// The rows of `folded` fragments, and perhaps of others, with their addresses.
    pub(super) async fn rows_to_fold(&self, folded: &[Fragment]) -> BatchStream {
        if let Some(ahead) = self.tables.ahead().get(&self.key()).await
            // The same version may be read under another schema.
            && Arc::ptr_eq(&ahead.layout, &self.layout)
            && folded.iter().all(|fragment| ahead.fragments.contains(&fragment.id))
        {
            return stream::iter(ahead.batches.clone()).map(Ok).boxed();
        }
        self.whole_rows(folded.to_vec())
    }

    /// Lets go of what was read ahead.
    pub(super) async fn forget_ahead(&self) {
        self.tables.ahead().invalidate(&self.key()).await;
    }

    /// Reads fragments side by side as far as they are small, and one group of them after another: each that is being read holds pages of
    /// all its columns, beyond what the scan counts as read ahead.
    fn whole_rows(&self, fragments: Vec<Fragment>) -> BatchStream {
        let table = self.clone();
        let read = move |group| {
            let scan = Scan { columns: table.layout.all_columns(), addresses: true, ..Scan::default() };
            table.scan_fragments(scan, Some(group))
        };
        stream::iter(in_groups(fragments, data_bytes)).map(read).flatten().boxed()
    }

    fn key(&self) -> (TableId, u64) {
        (self.layout.table.id, self.version.version)
    }
}

/// Puts fragments into groups that have up to [`GROUP_BYTES`] together, or are one fragment.
fn in_groups<F>(fragments: Vec<F>, bytes_of: impl Fn(&F) -> u64) -> Vec<Vec<F>> {
    let (mut groups, mut together) = (Vec::<Vec<F>>::new(), 0);
    for fragment in fragments {
        let bytes = bytes_of(&fragment);
        together += bytes;
        match groups.last_mut() {
            Some(group) if together <= GROUP_BYTES => group.push(fragment),
            _ => {
                groups.push(vec![fragment]);
                together = bytes;
            }
        }
    }
    groups
}

/// Bytes of a fragment's data files.
fn data_bytes(fragment: &Fragment) -> u64 {
    fragment.files.iter().map(file_bytes).sum()
}

/// Bytes of a data file; every version that we write tells them.
pub(super) fn file_bytes(file: &DataFile) -> u64 {
    file.file_size_bytes.get().map_or(0, u64::from)
}

/// What the planner has to know of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FragmentSize {
    pub id: u64,
    /// Bytes of its data files.
    pub bytes: u64,
    /// Rows in its data files, removed ones included.
    pub rows: u64,
    /// Rows that are left.
    pub live: u64,
}

/// What a write adds, estimated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Incoming {
    pub rows: u64,
    pub bytes: u64,
}

impl FragmentSize {
    /// Reads the sizes from a manifest's entry.
    ///
    /// # Errors
    /// If the entry lacks a count that every version we write has, or counts more removed rows than rows.
    pub(super) fn of(table: TableId, fragment: &Fragment) -> Result<Self, TableError> {
        let damaged =
            |problem: &str| TableError::Damaged { table, problem: format!("fragment {} {problem}", fragment.id) };
        let rows = fragment.physical_rows.ok_or_else(|| damaged("has no row count"))? as u64;
        let removed = match &fragment.deletion_file {
            Some(file) => file.num_deleted_rows.ok_or_else(|| damaged("has no count of removed rows"))? as u64,
            None => 0,
        };
        let live = rows.checked_sub(removed).ok_or_else(|| damaged("has more removed rows than rows"))?;
        Ok(Self { id: fragment.id, bytes: data_bytes(fragment), rows, live })
    }

    /// Bytes that its live rows would have in a file of their own.
    pub(super) fn live_bytes(&self) -> u64 {
        let share = u128::from(self.bytes) * u128::from(self.live) / u128::from(self.rows.max(1));
        u64::try_from(share).unwrap_or(self.bytes)
    }

    /// The tier; a fragment most of whose rows are gone counts by those that are left.
    fn tier(&self) -> usize {
        tier_of(if self.live * 2 < self.rows { self.live_bytes() } else { self.bytes })
    }
}

fn tier_of(bytes: u64) -> usize {
    TIERS.iter().position(|bound| bytes <= *bound).unwrap_or(TIERS.len())
}

/// The fragments to take into the file that the write creates, given the fragments as the write leaves them.
///
/// A tier that would be left with more than [`FRAGMENTS_PER_TIER`] is folded whole. The result counts in the tier it lands
/// in, which may then be full in turn: all go into the one new file, at once.
pub(super) fn plan_fold(fragments: &[FragmentSize], incoming: Incoming) -> Vec<u64> {
    let mut folded = Vec::new();
    let mut file = (incoming.rows > 0).then_some(incoming.bytes);
    for tier in 0..TIERS.len() {
        let members: Vec<&FragmentSize> = fragments.iter().filter(|fragment| fragment.tier() == tier).collect();
        let with_file = members.len() + usize::from(file.is_some_and(|bytes| tier_of(bytes) == tier));
        if with_file > FRAGMENTS_PER_TIER {
            folded.extend(members.iter().map(|fragment| fragment.id));
            let bytes: u64 = members.iter().map(|fragment| fragment.live_bytes()).sum();
            file = Some(file.unwrap_or(0).saturating_add(bytes));
        }
    }
    folded
}

/// Estimates the bytes of `rows` new rows from what the table's rows take now.
pub(super) fn estimate(fragments: &[FragmentSize], rows: u64) -> Incoming {
    let stored_rows: u64 = fragments.iter().map(|fragment| fragment.rows).sum();
    let stored_bytes: u64 = fragments.iter().map(|fragment| fragment.bytes).sum();
    let bytes = u128::from(stored_bytes) * u128::from(rows) / u128::from(stored_rows.max(1));
    Incoming { rows, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    #[test]
    fn many_small_fragments_are_read_at_once_and_few_large_ones() {
        let grouped = |sizes: &[u64]| -> Vec<usize> {
            in_groups(sizes.to_vec(), |size| size * MIB).iter().map(Vec::len).collect()
        };
        assert_eq!(grouped(&[1; 48]), [48], "all at once: no round more than one scan takes");
        assert_eq!(grouped(&[1; 130]), [64, 64, 2]);
        assert_eq!(grouped(&[64, 1, 63, 256, 1, 1]), [1, 2, 1, 2]);
        assert_eq!(grouped(&[]), Vec::<usize>::new());
    }

    /// What a file of `rows` rows of 100 bytes takes; the overhead is that of a real one-row file.
    fn file_bytes(rows: u64) -> u64 {
        4 * KIB + rows * 100
    }

    /// Applies one write to a table, as `stage` does; returns the bytes that folding rewrote.
    fn write(table: &mut Vec<FragmentSize>, next_id: &mut u64, rows: u64) -> u64 {
        let folded = plan_fold(table, estimate(table, rows));
        let (gone, kept): (Vec<FragmentSize>, Vec<FragmentSize>) =
            table.iter().partition(|fragment| folded.contains(&fragment.id));
        *table = kept;
        let live: u64 = rows + gone.iter().map(|fragment| fragment.live).sum::<u64>();
        if live > 0 {
            table.push(FragmentSize { id: *next_id, bytes: file_bytes(live), rows: live, live });
            *next_id += 1;
        }
        gone.iter().map(|fragment| fragment.bytes).sum()
    }

    fn tiers(table: &[FragmentSize]) -> [usize; 4] {
        let mut counts = [0; 4];
        for fragment in table {
            counts[fragment.tier()] += 1;
        }
        counts
    }

    #[test]
    fn three_thousand_one_row_writes_keep_few_fragments_and_rewrite_little() {
        let (mut table, mut next_id, mut rewritten, mut most) = (Vec::new(), 0, 0, 0);
        for _ in 0..3000 {
            rewritten += write(&mut table, &mut next_id, 1);
            most = most.max(table.len());
        }
        assert_eq!(table.iter().map(|fragment| fragment.live).sum::<u64>(), 3000);
        assert!(most <= FRAGMENTS_PER_TIER, "{most} fragments");
        assert!(rewritten / 3000 < 32 * KIB, "{} bytes rewritten per write", rewritten / 3000);
    }

    #[test]
    fn full_tiers_cascade_into_one_file() {
        let fragment = |id, bytes| FragmentSize { id, bytes, rows: 1000, live: 1000 };
        let mut table: Vec<FragmentSize> = (0..16).map(|id| fragment(id, MIB)).collect();
        table.extend((16..32).map(|id| fragment(id, 2 * MIB)));
        table.push(fragment(32, 100 * MIB));
        // The first tier folds to 16 MiB, which is in the third: the second is left alone.
        assert_eq!(plan_fold(&table, Incoming { rows: 1, bytes: 1 }), (0..16).collect::<Vec<_>>());
        // A larger write that lands in the second tier folds that one only.
        assert_eq!(plan_fold(&table, Incoming { rows: 1, bytes: 2 * MIB }), (16..32).collect::<Vec<_>>());
        // Small members: the first tier's result lands in the second and fills it.
        for fragment in &mut table[..16] {
            fragment.bytes = MIB / 8;
        }
        assert_eq!(plan_fold(&table, Incoming { rows: 1, bytes: 1 }), (0..32).collect::<Vec<_>>());
    }

    #[test]
    fn large_fragments_stay_unless_most_of_their_rows_are_gone() {
        let mut table: Vec<FragmentSize> =
            (0..40).map(|id| FragmentSize { id, bytes: 100 * MIB, rows: 1000, live: 1000 }).collect();
        assert_eq!(plan_fold(&table, Incoming { rows: 1, bytes: 100 }), Vec::<u64>::new());
        for fragment in &mut table[..17] {
            fragment.live = 5;
        }
        assert_eq!(plan_fold(&table, Incoming::default()), (0..17).collect::<Vec<_>>(), "even when nothing is added");
    }

    proptest! {
        /// Whatever is written and removed, no tier keeps more than its bound, and nothing is folded that needs not be.
        #[test]
        fn tiers_stay_bounded(steps in prop::collection::vec((0u64..40_000, 0usize..8, 0u64..100), 1..300)) {
            let (mut table, mut next_id) = (Vec::<FragmentSize>::new(), 0);
            for (rows, victim, percent) in steps {
                // Some rows of some fragment go; an emptied fragment vanishes.
                if let Some(fragment) = table.get_mut(victim) {
                    fragment.live -= fragment.live * percent / 100;
                }
                table.retain(|fragment| fragment.live > 0);
                let before: u64 = table.iter().map(|fragment| fragment.live).sum();
                let counts = tiers(&table);
                let rewritten = write(&mut table, &mut next_id, rows);
                prop_assert_eq!(table.iter().map(|fragment| fragment.live).sum::<u64>(), before + rows);
                if counts.iter().take(3).all(|count| *count < FRAGMENTS_PER_TIER) {
                    prop_assert_eq!(rewritten, 0, "folded although no tier was full");
                }
                // A file may turn out smaller than estimated and land one tier lower: that tier has one more until the next write.
                for count in tiers(&table).iter().take(3) {
                    prop_assert!(*count <= FRAGMENTS_PER_TIER + 1, "{:?}", tiers(&table));
                }
                prop_assert!(table.len() < 64 || tiers(&table)[3] > 12);
            }
        }
    }
}
