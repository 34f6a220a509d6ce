//! The places of a pattern: its nodes and edges, with what labels and earlier clauses say of each.

use std::collections::{BTreeMap, BTreeSet};

use super::Binder;
use super::infer::{EdgeTables, infer};
use super::scope::Scope;
use crate::ids::TableId;
use crate::query::bound::{Direction, EdgePattern, Form, NodePattern, VarId};
use crate::query::kind::Kind;
use crate::syntax::{self, BinaryOp, Expr, ExprKind, Labels, Name, Path, Span, Towards};

/// What a statement may weigh. Clauses and nodes become levels of the plan, over which later passes recurse, edges and unions several;
/// and the time to plan grows with the square of their number.
const MAX_WEIGHT: usize = 200;
/// What an edge and a union weigh; everything else weighs 1.
pub(super) const HEAVY: usize = 6;

/// One node or edge of a pattern.
pub(super) struct Part {
    pub var: VarId,
    /// Empty if it has none.
    pub name: String,
    /// Whether an earlier clause gives it.
    pub bound: bool,
    /// What its labels admit, of those that an earlier clause leaves.
    pub tables: BTreeSet<TableId>,
    /// Whether its labels could not be bound: then nothing is known of its properties either.
    pub wrong: bool,
    /// Where it is written first.
    pub span: Span,
}

/// The places of one `MATCH`.
#[derive(Default)]
pub(super) struct Places {
    pub nodes: Vec<Part>,
    pub edges: Vec<Part>,
    /// For each edge: the nodes on its left and its right, and where it points.
    joins: Vec<(usize, usize, Direction)>,
    /// In the order of the text, each once: whether it is an edge, and its index.
    order: Vec<(bool, usize)>,
    /// The variable of each node and edge that is written, in the order of the text.
    pub written: Vec<VarId>,
    names: BTreeMap<String, (bool, usize)>,
}

impl Binder<'_> {
    /// Counts a clause, a node or an edge; refuses a statement that has too many, once.
    pub(super) fn count_part(&mut self, weight: usize, span: Span) {
        let before = self.parts;
        self.parts += weight;
        if before <= MAX_WEIGHT && self.parts > MAX_WEIGHT {
            let message = format!(
                "the statement is too long to be planned: it may have {MAX_WEIGHT} clauses and nodes, where an edge or a \
                 UNION counts for {HEAVY}"
            );
            self.report(span, message);
        }
    }

    /// The places of `paths`; what is wrong with them is noted.
    pub(super) fn places(&mut self, paths: &[Path], scope: &Scope) -> Places {
        let mut places = Places::default();
        for path in paths {
            let mut left = self.node_place(&mut places, &path.first, scope);
            for (edge, node) in &path.steps {
                self.edge_place(&mut places, edge, scope);
                let right = self.node_place(&mut places, node, scope);
                let direction = match edge.towards {
                    Towards::Right => Direction::Out,
                    Towards::Left => Direction::In,
                    Towards::Either => Direction::Either,
                };
                places.joins.push((left, right, direction));
                left = right;
            }
        }
        places
    }

    fn node_place(&mut self, places: &mut Places, pattern: &syntax::NodePattern, scope: &Scope) -> usize {
        self.count_part(1, pattern.span);
        let known = pattern.name.as_ref().and_then(|name| places.names.get(&name.text).copied());
        if let (Some((true, _)), Some(name)) = (known, &pattern.name) {
            self.report(name.span, format!("`{}` is an edge, and a node is meant here", name.text));
        }
        if let Some((false, index)) = known {
            let admitted = self.admitted(pattern.labels.as_ref(), Form::Node);
            if let Some(part) = places.nodes.get_mut(index) {
                part.wrong |= admitted.is_none();
                part.tables.retain(|table| admitted.as_ref().is_none_or(|admitted| admitted.contains(table)));
                places.written.push(part.var);
            }
            return index;
        }
        let part = self.part(pattern.name.as_ref(), pattern.labels.as_ref(), Form::Node, pattern.span, scope);
        places.add(part, false)
    }

    fn edge_place(&mut self, places: &mut Places, pattern: &syntax::EdgePattern, scope: &Scope) {
        self.count_part(HEAVY, pattern.span);
        if let Some(name) = pattern.name.as_ref().filter(|name| places.names.contains_key(&name.text)) {
            let message = match places.names.get(&name.text) {
                Some((true, _)) => {
                    format!("`{}` stands for two edges of one pattern, which are never the same", name.text)
                }
                _ => format!("`{}` is a node, and an edge is meant here", name.text),
            };
            self.report(name.span, message);
        }
        let part = self.part(pattern.name.as_ref(), pattern.labels.as_ref(), Form::Edge, pattern.span, scope);
        places.add(part, true);
    }

    fn part(&mut self, name: Option<&Name>, labels: Option<&Labels>, form: Form, span: Span, scope: &Scope) -> Part {
        let admitted = self.admitted(labels, form);
        let wrong = admitted.is_none();
        let mut tables = admitted.unwrap_or_else(|| self.all_tables(form));
        let text = name.map(|name| name.text.clone()).unwrap_or_default();
        let Some((name, var)) = name.and_then(|name| Some((name, scope.get(&name.text)?))) else {
            return Part { var: self.var(text.clone(), Kind::Null), name: text, bound: false, tables, wrong, span };
        };
        let column = self.column(var, name.span);
        match column.kind {
            Kind::Entity(id) if self.entities.form(id) == form => {
                let before = self.tables_of(&column);
                tables.retain(|table| before.contains(table));
            }
            // Null stands for what could not be bound as well, which was said.
            Kind::Null if !self.findings.is_empty() => {}
            _ => {
                let meant = if form == Form::Node { "a node" } else { "an edge" };
                let found = self.says(&column.kind);
                self.report(name.span, format!("`{}` is {found}, and {meant} is meant here", name.text));
            }
        }
        Part { var, name: text, bound: true, tables, wrong, span }
    }

    /// The tables that labels admit; none if the labels are wrong, which is noted.
    fn admitted(&mut self, labels: Option<&Labels>, form: Form) -> Option<BTreeSet<TableId>> {
        match labels.map(|labels| self.labelled(labels, form)) {
            Some(Ok(tables)) => Some(tables),
            Some(Err(finding)) => {
                self.findings.push(finding);
                None
            }
            None => Some(self.all_tables(form)),
        }
    }

    /// Takes into account the labels that a condition asks for: `WHERE n:Person AND …`.
    pub(super) fn narrow_by(&self, places: &mut Places, condition: &Expr) {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                self.narrow_by(places, left);
                self.narrow_by(places, right);
            }
            ExprKind::HasLabels { of, labels } => {
                let ExprKind::Name(name) = &of.kind else { return };
                let Some(&(is_edge, index)) = places.names.get(name) else { return };
                let form = if is_edge { Form::Edge } else { Form::Node };
                let parts = if is_edge { &mut places.edges } else { &mut places.nodes };
                // What is wrong with the labels is said where the condition is bound.
                if let (Some(part), Ok(tables)) = (parts.get_mut(index), self.labelled(labels, form)) {
                    part.tables.retain(|table| tables.contains(table));
                }
            }
            _ => {}
        }
    }

    /// Fixes the tables of all places, and makes the variables that are new. Gives the pattern without its conditions.
    pub(super) fn settle_places(
        &mut self,
        places: &Places,
        scope: &mut Scope,
        optional: bool,
    ) -> (Vec<NodePattern>, Vec<EdgePattern>) {
        let mut nodes: Vec<BTreeSet<TableId>> = places.nodes.iter().map(|part| part.tables.clone()).collect();
        let mut edges: Vec<EdgeTables> = places
            .edges
            .iter()
            .zip(&places.joins)
            .map(|(part, &(left, right, direction))| EdgeTables { tables: part.tables.clone(), left, right, direction })
            .collect();
        self.warn_of_no_match(places, &nodes, &edges);
        infer(self.catalog, &mut nodes, &mut edges);
        for &(is_edge, index) in &places.order {
            let (part, tables, form) = if is_edge {
                (places.edges.get(index), edges.get(index).map(|edge| &edge.tables), Form::Edge)
            } else {
                (places.nodes.get(index), nodes.get(index), Form::Node)
            };
            if let (Some(part), Some(tables)) = (part, tables) {
                self.settle_part(part, tables, form, scope, optional);
            }
        }
        let nodes = places.nodes.iter().zip(nodes).map(|(part, tables)| NodePattern {
            var: part.var,
            tables: tables.into_iter().collect(),
            bound: part.bound,
        });
        let edges = places.edges.iter().zip(edges).map(|(part, edge)| EdgePattern {
            var: part.var,
            tables: edge.tables.into_iter().collect(),
            bound: part.bound,
            left: edge.left,
            right: edge.right,
            direction: edge.direction,
        });
        (nodes.collect(), edges.collect())
    }

    fn settle_part(&mut self, part: &Part, fitting: &BTreeSet<TableId>, form: Form, scope: &mut Scope, optional: bool) {
        // What no table fits has no rows; its properties are still checked against what it was meant to be.
        let tables = [fitting, &part.tables].into_iter().find(|tables| !tables.is_empty()).cloned();
        if part.bound {
            // After an optional match, the variable is what it was before.
            if let (false, Some(tables), Kind::Entity(_)) = (optional, tables, self.kind_of(part.var)) {
                self.tables.insert(part.var, tables);
            }
            return;
        }
        if !part.wrong {
            let tables = tables.unwrap_or_else(|| self.all_tables(form));
            let id = self.entities.add(form, tables.clone());
            self.set_kind(part.var, Kind::Entity(id));
            self.tables.insert(part.var, tables);
        }
        if !part.name.is_empty() {
            scope.set(&part.name, part.var);
        }
    }
}

impl Places {
    fn add(&mut self, part: Part, is_edge: bool) -> usize {
        let parts = if is_edge { &mut self.edges } else { &mut self.nodes };
        let index = parts.len();
        if !part.name.is_empty() {
            self.names.entry(part.name.clone()).or_insert((is_edge, index));
        }
        self.written.push(part.var);
        parts.push(part);
        self.order.push((is_edge, index));
        index
    }
}
