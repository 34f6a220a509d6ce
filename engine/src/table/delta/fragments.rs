//! Which fragments two versions share: from their manifests alone.

use std::collections::BTreeMap;

use lance_table::format::Fragment;

use crate::ids::TableId;
use crate::table::TableError;
use crate::table::deletions::identity;

/// The fragments of two versions, matched.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// Those that only the version before has.
    pub gone: Vec<Fragment>,
    /// Those that only the version after has.
    pub come: Vec<Fragment>,
    /// Those that both have, perhaps under different numbers and with different deletions.
    pub shared: Vec<(Fragment, Fragment)>,
}

/// Matches fragments by their identity.
///
/// # Errors
/// If a version has one file twice, or a fragment without identity.
pub(super) fn compare(table: TableId, before: &[Fragment], after: &[Fragment]) -> Result<Compared, TableError> {
    let mut left = by_identity(table, before)?;
    let mut compared = Compared::default();
    for (path, fragment) in by_identity(table, after)? {
        match left.remove(path) {
            Some(before) => compared.shared.push((before.clone(), fragment.clone())),
            None => compared.come.push(fragment.clone()),
        }
    }
    compared.gone = left.into_values().cloned().collect();
    Ok(compared)
}

fn by_identity(table: TableId, fragments: &[Fragment]) -> Result<BTreeMap<&str, &Fragment>, TableError> {
    let mut map = BTreeMap::new();
    for fragment in fragments {
        let path = identity(table, fragment)?;
        if map.insert(path, fragment).is_some() {
            return Err(TableError::Damaged { table, problem: format!("a version has file {path} twice") });
        }
    }
    Ok(map)
}
