//! Checks the tables of commits: each version once, however many commits have it, then what they promise one another.
//!
//! What the latest version of a table has for the others (keys of nodes, ends of edges) is kept for the next commit, so that
//! a walk along a log reads no version twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::fsck::problems::{Problems, with_causes};
use crate::fsck::rows::{Faults, Known, TableCheck, What};
use crate::graph::Core;
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::table::TableVersion;
use crate::write::WriteError;
use crate::write::groups::for_each_unmet;
use crate::write::shape::{End, Shapes, TableShape};

/// A table version, read under a schema.
type Version = ([u8; 32], TableId, u64);

/// The tables of a graph being checked.
pub(super) struct Contents<'a> {
    core: &'a Arc<Core>,
    /// Versions that were checked, and whether all their rows could be read.
    checked: BTreeMap<Version, bool>,
    /// Edges whose ends were looked for: their version, the side, the version of the nodes.
    joined: BTreeSet<(Version, usize, u64)>,
    /// Of every table, what its latest version has for others.
    known: BTreeMap<([u8; 32], TableId), (u64, Arc<Known>)>,
    /// Versions whose rows were read.
    pub(super) table_versions: u64,
    /// Rows that were read.
    pub(super) rows: u64,
}

impl<'a> Contents<'a> {
    pub(super) fn new(core: &'a Arc<Core>) -> Self {
        Self {
            core,
            checked: BTreeMap::new(),
            joined: BTreeSet::new(),
            known: BTreeMap::new(),
            table_versions: 0,
            rows: 0,
        }
    }

    /// Checks the tables of a commit.
    pub(super) async fn check(&mut self, at: &Snapshot, shapes: &Shapes, problems: &mut Problems) -> Result<(), Error> {
        self.strays(at, problems);
        for shape in &shapes.tables {
            let Some(version) = at.table_version(shape.table_id()) else {
                problems.add("missing-table", &place(at, shape), "the commit names no version of the table".into());
                continue;
            };
            if !self.checked.contains_key(&key(at, shape, version)) {
                self.table(at, shapes, shape, version, problems).await?;
            }
        }
        for shape in &shapes.tables {
            for (side, end) in shape.ends.iter().flat_map(|ends| [(0, ends.from), (1, ends.to)]) {
                self.ends(at, shapes, (shape, side, end), problems).await?;
            }
        }
        Ok(())
    }

    /// Tells of versions that nothing can read, since the schema does not say what is in them.
    fn strays(&mut self, at: &Snapshot, problems: &mut Problems) {
        for (id, version) in &at.record.tables {
            let known = at.catalog.table_by_id(*id).is_some();
            if !known && self.checked.insert((at.record.schema.0, *id, version.version), false).is_none() {
                let detail = format!("the commit names a version of table {id}, which its schema lacks");
                problems.add("unknown-table", &at.reference(), detail);
            }
        }
    }

    /// Checks one version by itself.
    async fn table(
        &mut self,
        at: &Snapshot,
        shapes: &Shapes,
        shape: &TableShape,
        version: &TableVersion,
        problems: &mut Problems,
    ) -> Result<(), Error> {
        let mut check = TableCheck::new(self.core, at, shapes, shape, What::Everything);
        let outcome = check.read(version.rows, problems).await;
        let whole = match outcome {
            Ok(whole) => whole,
            // Damage is what is looked for; anything else means that nothing can be said.
            Err(error) if error.kind() == ErrorKind::Data => {
                problems.add("table-unreadable", &place(at, shape), with_causes(&error));
                false
            }
            Err(error) => return Err(error),
        };
        check.judge().map_err(|source| WriteError::Temporary { source })?;
        check.tell(problems).await?;
        self.rows += check.rows;
        self.table_versions += u64::from(whole);
        self.checked.insert(key(at, shape, version), whole);
        let known = Arc::new(check.into_known());
        self.known.insert((at.record.schema.0, shape.table_id()), (version.version, known));
        Ok(())
    }

    /// What a version that was checked has for others; read again if another version was looked at since.
    async fn known(&mut self, at: &Snapshot, shapes: &Shapes, shape: &TableShape) -> Result<Option<Arc<Known>>, Error> {
        let Some(version) = at.table_version(shape.table_id()) else { return Ok(None) };
        let whole = self.checked.get(&key(at, shape, version)).copied().unwrap_or_default();
        let place = (at.record.schema.0, shape.table_id());
        if let Some((latest, known)) = self.known.get(&place)
            && *latest == version.version
        {
            // Edges are judged as far as they could be read. Edges into nodes whose keys are not fully known are not.
            return Ok((whole || shape.ends.is_some()).then(|| known.clone()));
        }
        if !whole {
            return Ok(None);
        }
        let mut check = TableCheck::new(self.core, at, shapes, shape, What::ForOthers);
        match check.read(version.rows, &mut Problems::default()).await {
            // It was whole when it was checked: what broke it in between is for the next check.
            Ok(false) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Data => return Ok(None),
            outcome => outcome?,
        };
        let known = Arc::new(check.into_known());
        self.known.insert(place, (version.version, known.clone()));
        Ok(Some(known))
    }

    /// Looks for the nodes at one end of the edges of a table.
    async fn ends(
        &mut self,
        at: &Snapshot,
        shapes: &Shapes,
        (shape, side, end): (&TableShape, usize, End),
        problems: &mut Problems,
    ) -> Result<(), Error> {
        let Some(nodes) = shapes.tables.get(end.node) else { return Ok(()) };
        let versions = (at.table_version(shape.table_id()), at.table_version(nodes.table_id()));
        let (Some(edge_version), Some(node_version)) = versions else { return Ok(()) };
        let pair = (key(at, shape, edge_version), side, node_version.version);
        if edge_version.rows == 0 || !self.joined.insert(pair) {
            return Ok(());
        }
        let (Some(edges), Some(known)) = (self.known(at, shapes, shape).await?, self.known(at, shapes, nodes).await?)
        else {
            return Ok(());
        };
        let mut faults = Faults::default();
        let which = if side == 0 { "start" } else { "end" };
        let detail = format!("its {which} node does not exist in {}", nodes.name());
        let sources = edges.needs.get(side).into_iter().chain(&known.keys);
        for_each_unmet(sources, |_| true, |edge| faults.add("dangling-edge", &detail, edge.at))
            .map_err(|source| WriteError::Temporary { source })?;
        faults.tell(edges.table.as_ref(), shapes, shape, &place(at, shape), problems).await
    }
}

fn key(at: &Snapshot, shape: &TableShape, version: &TableVersion) -> Version {
    (at.record.schema.0, shape.table_id(), version.version)
}

/// What problems of a table of a commit are told under.
pub(super) fn place(at: &Snapshot, shape: &TableShape) -> String {
    format!("{} {}", at.reference(), shape.name())
}
