//! What may be pushed into the tables of a pattern's places, and how many rows that leaves, about.

use std::collections::BTreeSet;

use datafusion::error::DataFusionError;
use datafusion::logical_expr::Expr as Logical;

use super::Matcher;
use super::order::{EdgeEstimate, Needs, NodeEstimate, Place};
use super::scope::PlaceScope;
use super::ways::Way;
use crate::ids::TableId;
use crate::query::bound::{Expr, ExprNode, NodePattern, VarId};
use crate::query::compile::Compiler;
use crate::query::kind::Kind;
use crate::query::plan::pushdown::{filter_for, keys_named, share_left};
use crate::syntax::CompareOp;

impl<'a> Matcher<'a> {
    fn node_scope(&self, var: VarId, table: TableId) -> Result<PlaceScope<'a>, DataFusionError> {
        Ok(PlaceScope { layout: self.planner.layout(table)?, own: (var, table), ends: Vec::new() })
    }

    fn edge_scope(&self, edge: usize, way: &Way) -> Result<PlaceScope<'a>, DataFusionError> {
        let mut ends = Vec::new();
        for place in [Place::Left, Place::Right] {
            let node = self.planner.layout(way.node(place))?;
            ends.push((self.node_at(edge, place).var, &node.table, way.is_start(place)));
        }
        let own = (self.pattern.edges[edge].var, way.table);
        Ok(PlaceScope { layout: self.planner.layout(way.table)?, own, ends })
    }

    pub(super) fn node_filter(&self, node: &NodePattern, table: TableId) -> Result<Option<Logical>, DataFusionError> {
        Ok(filter_for(&self.pattern.conditions, &self.node_scope(node.var, table)?))
    }

    pub(super) fn edge_filter(&self, edge: usize, way: &Way) -> Result<Option<Logical>, DataFusionError> {
        Ok(filter_for(&self.pattern.conditions, &self.edge_scope(edge, way)?))
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn node_estimate(&self, node: &NodePattern) -> Result<NodeEstimate, DataFusionError> {
        let mut estimate = NodeEstimate::default();
        let conditions = &self.pattern.conditions;
        for table in &node.tables {
            let scope = self.node_scope(node.var, *table)?;
            let rows = self.planner.reader.rows(*table) as f64;
            estimate.all += rows;
            estimate.left += match keys_named(conditions, &scope) {
                Some(keys) => keys.min(rows),
                None => rows * share_left(conditions, &scope),
            };
        }
        let layouts = node.tables.iter().map(|table| self.planner.layout(*table)).collect::<Result<Vec<_>, _>>()?;
        estimate.only_key = self.planner.uses.only_key(node.var, |table, property| {
            layouts.iter().all(|layout| layout.table.id != table || layout.table.key.contains(&property))
        });
        let index = self.pattern.nodes.iter().position(|other| other.var == node.var);
        if let Some(keys) = index.map(|index| self.lookup_keys(index)).transpose()?.flatten() {
            let used = keys.into_iter().flat_map(Expr::columns).collect::<BTreeSet<_>>();
            let places = |of: &mut dyn Iterator<Item = VarId>| {
                of.enumerate().filter(|(_, var)| used.contains(var)).map(|(i, _)| i).collect()
            };
            estimate.lookup = Some(Needs {
                nodes: places(&mut self.pattern.nodes.iter().map(|node| node.var)),
                edges: places(&mut self.pattern.edges.iter().map(|edge| edge.var)),
            });
        }
        Ok(estimate)
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn edge_estimate(&self, edge: usize) -> Result<EdgeEstimate, DataFusionError> {
        let mut left = 0.0;
        for way in self.ways[edge].iter().filter(|way| !way.again) {
            let rows = self.planner.reader.rows(way.table) as f64;
            left += rows * share_left(&self.pattern.conditions, &self.edge_scope(edge, way)?);
        }
        Ok(EdgeEstimate { left })
    }

    /// The expressions that give a node's whole key from other variables, in key order.
    pub(super) fn lookup_keys(&self, node: usize) -> Result<Option<Vec<&'a Expr>>, DataFusionError> {
        let pattern = &self.pattern.nodes[node];
        let [table] = pattern.tables.as_slice() else { return Ok(None) };
        let scope = self.node_scope(pattern.var, *table)?;
        let layout = self.planner.layout(*table)?;
        let mut keys = Vec::new();
        for id in &layout.table.key {
            let Some(ty) = layout.table.property_by_id(*id).map(|property| Kind::of(&property.ty)) else {
                return Ok(None);
            };
            let found = self.pattern.conditions.iter().find_map(|condition| {
                let ExprNode::Compare(first, rest) = &condition.node else { return None };
                let [(CompareOp::Equal, second)] = rest.as_slice() else { return None };
                [(&**first, second), (second, &**first)].into_iter().find_map(|(place, value)| {
                    let fits = value.kind == ty || matches!((&value.kind, &ty), (Kind::Integer, Kind::Unsigned));
                    (scope.is_own(place, *id)
                        && fits
                        && !value.columns().contains(&pattern.var)
                        && Compiler::is_plain(value))
                    .then_some(value)
                })
            });
            match found {
                Some(value) => keys.push(value),
                None => return Ok(None),
            }
        }
        // Constants alone are a filter of a scan: no row is needed for it.
        Ok(keys.iter().any(|key| !key.columns().is_empty()).then_some(keys))
    }
}
