//! What a commit takes over from other branches besides table versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::path::Path;

use crate::clock::Timestamp;
use crate::ids::TableId;
use crate::record::{Extensions, Lineage, MergeCounts, Parent};
use crate::schema::{Catalog, SchemaHash};

/// What a commit takes over from other branches besides table versions.
#[derive(Debug, Clone)]
pub(crate) struct Absorbed {
    /// The commits that are merged in.
    pub(crate) parents: Vec<Parent>,
    /// The accounts of tables whose rows were brought together.
    pub(crate) merged: BTreeMap<TableId, MergeCounts>,
    /// The time of the latest of them. The new commit is later, so that ids and times order a commit after all that it contains,
    /// whatever other clocks said.
    pub(crate) after: Timestamp,
    /// What the head and those commits contain, within the bounds of a record. Holds for every head of the same lineage.
    pub(crate) lineage: Lineage,
    /// The objects that this lineage needs besides those it was made from; staged.
    pub(crate) files: Vec<Path>,
    /// Another schema than the head's, if the commit gets one. Tables that it lacks are gone.
    pub(crate) schema: Option<(SchemaHash, Arc<Catalog>)>,
    /// What other versions tell of the snapshot, if it is not the head's.
    pub(crate) extensions: Option<Extensions>,
}
