//! The ends of edges, as far as they are nodes that one side has and the other has not.

use std::collections::{BTreeMap, BTreeSet};

use futures::TryStreamExt as _;
use futures::future::try_join_all;

use super::cases::Cases;
use super::row::Side;
use super::rows::on_side;
use crate::error::Error;
use crate::ids::Digest;
use crate::write::shape::{Ends, Shapes, TableShape};

/// Compared tables by their index in the shapes.
pub(super) type Tables = BTreeMap<usize, Cases>;

/// An edge: its table's index and the number of its case; and the side whose form of it is meant.
type Edge = (usize, usize, Side);

/// The ends of edges that differ between the sides, at nodes that only one side has: nothing else of edges matters to nodes.
#[derive(Debug, Default)]
pub(super) struct EdgeEnds(BTreeMap<Edge, [Digest; 2]>);

impl EdgeEnds {
    /// Reads them: nothing where every node is on both sides.
    ///
    /// # Errors
    /// When edges cannot be read.
    pub(super) async fn read(shapes: &Shapes, tables: &Tables) -> Result<Self, Error> {
        let on_one_side: BTreeMap<usize, BTreeSet<Digest>> = tables
            .iter()
            .filter(|(index, _)| shapes.tables.get(**index).is_some_and(|shape| shape.ends.is_none()))
            .map(|(index, cases)| (*index, lone(cases)))
            .collect();
        let mut reading = Vec::new();
        for (index, cases) in tables {
            let Some(shape) = shapes.tables.get(*index) else { continue };
            let Some(ends) = shape.ends else { continue };
            let at = |node: usize| on_one_side.get(&node).filter(|nodes| !nodes.is_empty());
            let nodes = [at(ends.from.node), at(ends.to.node)];
            if nodes.iter().any(Option::is_some) {
                reading.push(of_table(shapes, shape, ends, cases, nodes));
            }
        }
        Ok(Self(try_join_all(reading).await?.into_iter().flatten().collect()))
    }

    /// The edges with their ends: by table, then by case.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Edge, [Digest; 2])> {
        self.0.iter().map(|(edge, ends)| (*edge, *ends))
    }
}

/// The keys that only one side has a row of.
fn lone(cases: &Cases) -> BTreeSet<Digest> {
    cases.all.iter().filter(|case| case.source.is_some() != case.target.is_some()).map(|case| case.key).collect()
}

async fn of_table(
    shapes: &Shapes,
    shape: &TableShape,
    ends: Ends,
    cases: &Cases,
    nodes: [Option<&BTreeSet<Digest>>; 2],
) -> Result<Vec<(Edge, [Digest; 2])>, Error> {
    let columns = [ends.from.space, ends.to.space].map(|space| shapes.columns_of(space)).concat();
    let of_side = |side| of_side(shapes, shape, ends, cases, nodes, &columns, side);
    let (mut found, target) = futures::try_join!(of_side(Side::Source), of_side(Side::Target))?;
    found.extend(target);
    Ok(found)
}

async fn of_side(
    shapes: &Shapes,
    shape: &TableShape,
    ends: Ends,
    cases: &Cases,
    nodes: [Option<&BTreeSet<Digest>>; 2],
    columns: &[usize],
    side: Side,
) -> Result<Vec<(Edge, [Digest; 2])>, Error> {
    let mut found = Vec::new();
    let Some(mut rows) = on_side(cases, shape, columns, side) else { return Ok(found) };
    while let Some(rows) = rows.try_next().await? {
        for (case, row) in rows {
            let digest = |space| row.digest(shapes, shape, space);
            let Some(ends) = digest(ends.from.space).zip(digest(ends.to.space)) else { continue };
            let ends: [Digest; 2] = ends.into();
            if ends.iter().zip(nodes).any(|(end, nodes)| nodes.is_some_and(|nodes| nodes.contains(end))) {
                found.push(((cases.index, case, side), ends));
            }
        }
    }
    Ok(found)
}
