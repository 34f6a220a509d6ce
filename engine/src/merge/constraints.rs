//! What ties tables to one another, judged on the result: every edge that one side changed has its nodes, which the other changed.
//!
//! Each side keeps the rules by itself, so a result whose edges and nodes are both as one side has them needs no look. Where they come
//! from different sides, the edges that were the same on both sides before keep their nodes too: their side left them as they were,
//! and whoever removed a node had none of its edges. What is left are the edges in fragments that only one side has; their ends are
//! looked up among the nodes of the other. Nothing is to be done if the nodes lost nothing.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use datafusion::logical_expr::Expr;
use futures::TryStreamExt as _;
use futures::future::try_join_all;
use roaring::RoaringTreemap;

use super::plan::{Plan, Sides, is_same, table_name};
use super::table::{TableMerge, state};
use crate::error::{Conflict, ConflictKind, Error};
use crate::graph::Core;
use crate::ids::{Digest, TableId};
use crate::publish::Snapshot;
use crate::table::{BatchStream, Scan, Table, TableVersion};
use crate::value::Value;
use crate::write::WriteError;
use crate::write::facts::{Fact, Facts, What};
use crate::write::groups::for_each_unmet;
use crate::write::lookup::{addresses, tuples_filter};
use crate::write::pool::Pool;
use crate::write::row::Row;
use crate::write::shape::{End, Shapes, TableShape};

/// Bytes of facts that are held in memory, for each pair of tables.
const FACTS_IN_MEMORY: usize = 16 << 20;

/// Nodes up to which the keys are all read beside the edges: a round less than when the ends are known first.
const FEW_NODES: u64 = 100_000;

/// Ends that are looked up one by one; for more the keys of the nodes are all read.
const MOST_ENDS: usize = 2_000;

/// The conflicts between tables that the result takes from different sides.
///
/// # Errors
/// When a table cannot be read.
pub(super) async fn check(core: &Arc<Core>, sides: &Sides, plan: &Plan) -> Result<Vec<Conflict>, Error> {
    let pairs = pairs(sides, plan);
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let shapes = Arc::new(Shapes::new(plan.catalog(), |table| core.layout(&plan.schema, table))?);
    let checks = pairs.iter().map(|pair| pair.check(core, sides, plan, &shapes));
    let mut found: Vec<(String, String)> = try_join_all(checks).await?.into_iter().flatten().collect();
    // An edge may have lost both ends.
    found.sort_unstable();
    found.dedup();
    let dangling = |(table, key)| Conflict { kind: ConflictKind::DanglingEdge, table, key: Some(key) };
    Ok(found.into_iter().map(dangling).collect())
}

/// Opens what a check may have to look at, so that it costs no time later: edges and nodes that differ between the sides.
pub(super) async fn open_ahead(core: &Core, source: &Snapshot, target: &Snapshot) {
    let differ = |id: TableId| state(source, id) != state(target, id);
    let catalog = &target.catalog;
    let mut wanted = BTreeSet::new();
    for table in catalog.tables.iter().filter(|table| differ(table.id)) {
        let Some((from, to)) = table.ends() else { continue };
        let nodes: Vec<TableId> = [from, to].into_iter().filter(|node| differ(*node)).collect();
        if !nodes.is_empty() {
            wanted.extend(nodes);
            wanted.insert(table.id);
        }
    }
    let opening = wanted.iter().flat_map(|id| [(source, id), (target, id)]).filter_map(|(at, id)| {
        let table = at.catalog.table_by_id(*id)?;
        // Whatever is wrong is told when it is needed.
        Some(async move { drop(core.open_table(at, table).await) })
    });
    futures::future::join_all(opening).await;
}

/// Edges and the nodes at one end of them, in a result that takes them from different sides.
struct Pair {
    edges: TableId,
    /// 0: where they start, 1: where they end.
    side: u8,
    nodes: TableId,
    /// Whether the edges are the source's and the nodes the target's, or the other way round.
    edges_from_source: bool,
}

/// Finds the pairs whose tables both differ between the sides.
fn pairs(sides: &Sides, plan: &Plan) -> Vec<Pair> {
    let from_source = |id: TableId| match plan.tables.get(&id)? {
        TableMerge::Keep { .. } => Some(false),
        TableMerge::TakeSource(_) => Some(true),
        TableMerge::BothMoved(_) => None,
    };
    let mut pairs = Vec::new();
    for table in &plan.catalog().tables {
        let Some((from, to)) = table.ends() else { continue };
        for (side, nodes) in [(0, from), (1, to)] {
            let edges = table.id;
            let (Some(edges_from_source), Some(nodes_from_source)) = (from_source(edges), from_source(nodes)) else {
                // A table that both changed is a conflict already.
                continue;
            };
            if edges_from_source != nodes_from_source && !is_same(sides, edges) && !is_same(sides, nodes) {
                pairs.push(Pair { edges, side, nodes, edges_from_source });
            }
        }
    }
    pairs
}

impl Pair {
    /// The edges that would be left without a node at this end: table and key.
    async fn check(
        &self,
        core: &Arc<Core>,
        sides: &Sides,
        plan: &Plan,
        shapes: &Arc<Shapes>,
    ) -> Result<Vec<(String, String)>, Error> {
        let Some((edges, nodes, end)) = self.shapes(shapes) else {
            let table = table_name(plan.catalog(), self.edges);
            return Err(WriteError::Catalog { table, reason: "one of its ends is no table".to_owned() }.into());
        };
        let (theirs, ours) =
            if self.edges_from_source { (&sides.source, &sides.target) } else { (&sides.target, &sides.source) };
        let open = |at: &Snapshot, shape: &TableShape| {
            let version = at.table_version(shape.table_id()).cloned();
            let layout = shape.layout.clone();
            async move {
                match version {
                    Some(version) => core.open_version(&layout, &version).await.map(Some),
                    None => Ok(None),
                }
            }
        };
        let tables =
            futures::try_join!(open(theirs, edges), open(ours, edges), open(ours, nodes), open(theirs, nodes))?;
        let (Some(their_edges), our_edges, our_nodes, their_nodes) = tables else { return Ok(Vec::new()) };
        if let (Some(ours), Some(theirs)) = (&our_nodes, &their_nodes)
            && ours.has_all_of(theirs)
        {
            return Ok(Vec::new());
        }
        let looked_at = Ends { shapes: shapes.clone(), edges, nodes, end, table: their_edges, before: our_edges };
        let unmet = looked_at.unmet(our_nodes.as_ref(), ours.table_version(self.nodes)).await?;
        looked_at.keys(&unmet).await
    }

    fn shapes<'a>(&self, shapes: &'a Shapes) -> Option<(&'a TableShape, &'a TableShape, End)> {
        let find = |id| shapes.tables.iter().find(|shape| shape.table_id() == id);
        let (edges, nodes) = (find(self.edges)?, find(self.nodes)?);
        let ends = edges.ends?;
        Some((edges, nodes, if self.side == 0 { ends.from } else { ends.to }))
    }
}

/// The ends of the edges that one side changed.
struct Ends<'a> {
    shapes: Arc<Shapes>,
    edges: &'a TableShape,
    nodes: &'a TableShape,
    end: End,
    /// The edges of the result.
    table: Table,
    /// The edges as the other side has them.
    before: Option<Table>,
}

/// Ends that were read.
struct Needs {
    facts: Facts,
    /// The distinct keys, unless there are too many to be looked up one by one.
    few: Option<HashMap<Digest, Vec<Value>>>,
}

impl Ends<'_> {
    /// The addresses of those edges whose node at this end is not among `nodes`.
    async fn unmet(&self, nodes: Option<&Table>, version: Option<&TableVersion>) -> Result<RoaringTreemap, Error> {
        let pool = Pool::new(FACTS_IN_MEMORY);
        let (needs, keys) = if version.is_none_or(|version| version.rows <= FEW_NODES) {
            let (needs, keys) = futures::join!(self.needs(&pool), self.node_keys(nodes, None, &pool));
            (needs?, keys?)
        } else {
            let needs = self.needs(&pool).await?;
            let filter = match &needs.few {
                Some(few) => {
                    let tuples: Vec<&[Value]> = few.values().map(Vec::as_slice).collect();
                    tuples_filter(self.nodes, self.shapes.columns_of(self.nodes.key), &tuples)?
                }
                None => None,
            };
            let keys = self.node_keys(nodes, filter, &pool).await?;
            (needs, keys)
        };
        let judged = tokio::task::spawn_blocking(move || {
            let mut unmet = RoaringTreemap::new();
            let is_there = |group: &mut crate::write::groups::Group<'_>| group.any(|fact| fact.what == What::Stored);
            for_each_unmet([&needs.facts, &keys], is_there, |need| {
                unmet.insert(need.at);
            })?;
            Ok(unmet)
        });
        let died = |error: tokio::task::JoinError| WriteError::BrokenOff {
            source_name: "the edges".to_owned(),
            reason: error.to_string(),
        };
        Ok(judged.await.map_err(died)?.map_err(|source| WriteError::Temporary { source })?)
    }

    fn changed_edges(&self, columns: Vec<usize>) -> BatchStream {
        self.table.scan_beyond(Scan { columns, filter: None, limit: None, addresses: true }, self.before.as_ref())
    }

    async fn needs(&self, pool: &Arc<Pool>) -> Result<Needs, Error> {
        let columns = self.shapes.columns_of(self.end.space).to_vec();
        let mut needs = Needs { facts: Facts::new(pool), few: Some(HashMap::new()) };
        for_each_row(self.changed_edges(columns.clone()), |batch, at, address| {
            let row = Row::read(self.edges, &columns, batch, at);
            let Some(digest) = row.digest(&self.shapes, self.edges, self.end.space) else { return Ok(()) };
            if let Some(few) = &mut needs.few {
                few.entry(digest).or_insert_with(|| row.tuple(&self.shapes, self.edges, self.end.space));
                if few.len() > MOST_ENDS {
                    needs.few = None;
                }
            }
            needs.facts.push(&Fact::new(digest, What::StoredNeeds, 0, address))
        })
        .await?;
        Ok(needs)
    }

    /// The keys of those `nodes` that pass `filter`.
    async fn node_keys(&self, nodes: Option<&Table>, filter: Option<Expr>, pool: &Arc<Pool>) -> Result<Facts, Error> {
        let mut facts = Facts::new(pool);
        let Some(nodes) = nodes else { return Ok(facts) };
        let columns = self.shapes.columns_of(self.nodes.key).to_vec();
        let batches = nodes.scan(Scan { columns: columns.clone(), filter, limit: None, addresses: true });
        for_each_row(batches, |batch, at, address| {
            let row = Row::read(self.nodes, &columns, batch, at);
            let digest = row.digest(&self.shapes, self.nodes, self.nodes.key);
            digest.map_or(Ok(()), |digest| facts.push(&Fact::new(digest, What::Stored, 0, address)))
        })
        .await?;
        Ok(facts)
    }

    /// The table and the keys of the edges at these addresses.
    async fn keys(&self, wanted: &RoaringTreemap) -> Result<Vec<(String, String)>, Error> {
        let mut keys = Vec::new();
        if wanted.is_empty() {
            return Ok(keys);
        }
        let columns = self.shapes.columns_of(self.edges.key).to_vec();
        for_each_row(self.changed_edges(columns.clone()), |batch, at, address| {
            if wanted.contains(address) {
                let row = Row::read(self.edges, &columns, batch, at);
                let key = row.text(&self.shapes, self.edges, self.edges.key);
                keys.push((self.edges.name().to_owned(), key));
            }
            Ok(())
        })
        .await?;
        Ok(keys)
    }
}

/// Visits the rows of a scan that gives addresses: the batch and the place in it where a row is, and the row's address.
async fn for_each_row(
    mut batches: BatchStream,
    mut visit: impl FnMut(&RecordBatch, usize, u64) -> io::Result<()> + Send,
) -> Result<(), Error> {
    while let Some(batch) = batches.try_next().await? {
        let Some(addresses) = addresses(&batch) else { continue };
        for (at, address) in addresses.values().iter().enumerate() {
            visit(&batch, at, *address).map_err(|source| WriteError::Temporary { source })?;
        }
    }
    Ok(())
}
