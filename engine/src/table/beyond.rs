//! What one version of a table has beyond another, as far as the lists of fragments tell without reading any row.

use std::collections::HashMap;

use lance_table::format::Fragment;

use super::{BatchStream, Scan, Table};

impl Table {
    /// Reads the rows of those fragments that `other` has not just so. All rows that `other` lacks are among them, and perhaps more:
    /// those that share a fragment with one that changed.
    pub(crate) fn scan_beyond(&self, scan: Scan, other: Option<&Self>) -> BatchStream {
        let Some(other) = other else { return self.scan(scan) };
        let known = by_id(other);
        let fragments = self.dataset.fragments().iter().filter(|fragment| !is_same(known.get(&fragment.id), fragment));
        self.scan_fragments(scan, Some(fragments.cloned().collect()))
    }

    /// Whether this version has every fragment of `other`, with the same rows; so it has all its rows. `false` does not say that it
    /// lacks one.
    pub(crate) fn has_all_of(&self, other: &Self) -> bool {
        let ours = by_id(self);
        other.dataset.fragments().iter().all(|fragment| is_same(ours.get(&fragment.id), fragment))
    }
}

fn by_id(table: &Table) -> HashMap<u64, &Fragment> {
    table.dataset.fragments().iter().map(|fragment| (fragment.id, fragment)).collect()
}

/// Whether a fragment of another version has the same rows: the same files, and the same of them deleted. Files never change.
fn is_same(known: Option<&&Fragment>, fragment: &Fragment) -> bool {
    let paths = |fragment: &Fragment| -> Vec<String> { fragment.files.iter().map(|file| file.path.clone()).collect() };
    known.is_some_and(|known| {
        paths(known) == paths(fragment)
            && known.overlays == fragment.overlays
            && known.deletion_file == fragment.deletion_file
    })
}
