//! Properties of nodes and edges, keys of maps, and labels.

use std::collections::BTreeSet;

use super::update::unknown_property;
use super::{Binder, null};
use crate::ids::{PropertyId, TableId};
use crate::query::CypherValue;
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::{EntityId, Kind};
use crate::syntax::{Finding, Labels, Name, Span};
use crate::value::Value;

impl Binder<'_> {
    /// The tables that the nodes or edges of `expr` may come from.
    pub(super) fn tables_of(&self, expr: &Expr) -> BTreeSet<TableId> {
        let known = match &expr.node {
            ExprNode::Column(var) => self.tables.get(var).cloned(),
            _ => None,
        };
        match (known, &expr.kind) {
            (Some(tables), _) => tables,
            (None, Kind::Entity(id)) => self.entities.tables(*id),
            _ => BTreeSet::new(),
        }
    }

    /// `of.name`.
    pub(super) fn property(&mut self, of: Expr, name: &Name, span: Span) -> Result<Expr, Finding> {
        match of.kind.clone() {
            Kind::Null => Ok(null(span)),
            Kind::Map(entries) => Ok(match entries.into_iter().find(|(known, _)| *known == name.text) {
                Some((_, kind)) => {
                    Expr { node: ExprNode::Field { of: Box::new(of), name: name.text.clone() }, kind, span }
                }
                // As openCypher has it: rows of a parameter may all lack a key.
                None => null(span),
            }),
            Kind::Entity(id) => {
                let tables = self.tables_of(&of);
                let (choices, kind) = self.choices(&tables, name)?;
                for (table, property) in &choices {
                    self.entities.need(id, *table, *property);
                }
                Ok(Expr { node: ExprNode::Property { of: Box::new(of), choices }, kind, span })
            }
            Kind::Date | Kind::Time | Kind::Timestamp => {
                Err(Finding::new(name.span, format!("a part of {} is not supported yet", of.kind)))
            }
            Kind::Json => Err(Finding::new(name.span, "reading from a JSON document is not supported yet")),
            _ => Err(self.unfit("`.`", "a node, an edge or a map", &of)),
        }
    }

    /// Which property is meant in each of `tables`, and the kind that holds all of them.
    pub(super) fn choices(
        &mut self,
        tables: &BTreeSet<TableId>,
        name: &Name,
    ) -> Result<(Vec<(TableId, PropertyId)>, Kind), Finding> {
        let catalog = self.catalog;
        let tables: Vec<_> = tables.iter().filter_map(|id| catalog.table_by_id(*id)).collect();
        let mut choices = Vec::new();
        let mut kind = Kind::Null;
        let mut first = None;
        for table in &tables {
            let Some(property) = table.property(&name.text) else { continue };
            let own = Kind::of(&property.ty);
            let Some(united) = self.unite(&kind, &own) else {
                let other = first.unwrap_or_default();
                let message = format!("`{}` is {kind} in `{other}` and {own} in `{}`", name.text, table.name);
                return Err(Finding::new(name.span, message).with_help("say which label is meant"));
            };
            kind = united;
            first.get_or_insert(table.name.as_str());
            choices.push((table.id, property.id));
        }
        if !choices.is_empty() || tables.is_empty() {
            return Ok((choices, kind));
        }
        Err(unknown_property(&tables, name))
    }

    /// `of['name']`.
    pub(super) fn computed_property(&mut self, of: Expr, index: &Expr, span: Span) -> Result<Expr, Finding> {
        match &index.node {
            ExprNode::Constant(CypherValue::Scalar(Value::String(text))) => {
                self.property(of, &Name { text: text.clone(), span: index.span }, span)
            }
            ExprNode::Constant(value) if value.is_null() => Ok(null(span)),
            _ => Err(Finding::new(index.span, "a property whose name is computed is not supported yet")
                .with_help("write the name, or pass it as a parameter")),
        }
    }

    /// `of:Label`.
    pub(super) fn has_labels(&mut self, of: Expr, labels: &Labels, span: Span) -> Result<Expr, Finding> {
        let Kind::Entity(id) = of.kind else {
            self.expect(&of, "a label", "a node or an edge", |_| false)?;
            return Ok(Expr { kind: Kind::Bool, ..null(span) });
        };
        let asked = self.labelled(labels, self.entities.form(id))?;
        let tables = self.tables_of(&of).intersection(&asked).copied().collect();
        Ok(Expr { node: ExprNode::IsOf { operand: Box::new(of), tables }, kind: Kind::Bool, span })
    }

    /// Asks for all properties of every node and edge that values of this kind hold.
    pub(super) fn need_all(&mut self, kind: &Kind) {
        let mut ids = Vec::new();
        entities_in(kind, &mut ids);
        for id in ids {
            self.entities.need_all(id);
        }
    }
}

fn entities_in(kind: &Kind, ids: &mut Vec<EntityId>) {
    match kind {
        Kind::Entity(id) => ids.push(*id),
        Kind::List(element) => entities_in(element, ids),
        Kind::Map(entries) => entries.iter().for_each(|(_, kind)| entities_in(kind, ids)),
        _ => {}
    }
}
