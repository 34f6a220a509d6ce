//! What the rows of one table tell of a pattern's variables: a node of itself, an edge of itself and of the keys of its ends.

use std::sync::Arc;

use crate::ids::{PropertyId, TableId};
use crate::query::bound::{Expr, ExprNode, VarId};
use crate::query::plan::pushdown::{Resolved, Scope};
use crate::schema::TableDef;
use crate::table::{Layout, Role};

pub(super) struct PlaceScope<'a> {
    pub layout: &'a Arc<Layout>,
    /// The variable of the rows, and their table.
    pub own: (VarId, TableId),
    /// The nodes at the ends, their tables, and whether the edge starts there.
    pub ends: Vec<(VarId, &'a TableDef, bool)>,
}

impl PlaceScope<'_> {
    /// Whether an expression is this property of the rows' own variable.
    pub(super) fn is_own(&self, expr: &Expr, property: PropertyId) -> bool {
        let ExprNode::Property { of, choices } = &expr.node else { return false };
        matches!(of.node, ExprNode::Column(var) if var == self.own.0) && choices.contains(&(self.own.1, property))
    }
}

impl Scope for PlaceScope<'_> {
    fn layout(&self) -> &Layout {
        self.layout
    }

    fn table_of(&self, var: VarId) -> Option<TableId> {
        if var == self.own.0 {
            return Some(self.own.1);
        }
        self.ends.iter().find(|(end, ..)| *end == var).map(|(_, table, _)| table.id)
    }

    fn resolve(&self, var: VarId, choices: &[(TableId, PropertyId)]) -> Resolved {
        let property_of = |table: TableId| choices.iter().find(|(of, _)| *of == table).map(|(_, property)| *property);
        if var == self.own.0 {
            let Some(property) = property_of(self.own.1) else { return Resolved::Null };
            return self.layout.property(property).map_or(Resolved::Unknown, Resolved::Column);
        }
        let Some((_, table, starts)) = self.ends.iter().find(|(end, ..)| *end == var) else { return Resolved::Unknown };
        let Some(property) = property_of(table.id) else { return Resolved::Null };
        let Some(part) = table.key.iter().position(|key| *key == property) else { return Resolved::Unknown };
        let role = if *starts { Role::From(part) } else { Role::To(part) };
        self.layout.column(role).map_or(Resolved::Unknown, Resolved::Column)
    }
}
