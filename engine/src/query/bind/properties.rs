//! Maps of properties: in the brackets of patterns, and where they are assigned.

use super::{Binder, Place};
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::Kind;
use crate::syntax::{self, ExprKind, Name};

/// One property and its value.
pub(super) struct Entry {
    pub name: Name,
    pub value: Expr,
}

impl Binder<'_> {
    /// The entries of a map that is written out, or of any other that has known keys.
    pub(super) fn entries(&mut self, properties: &syntax::Expr, place: Place<'_>) -> Vec<Entry> {
        if let ExprKind::Map(entries) = &properties.kind {
            let mut seen: Vec<&str> = Vec::with_capacity(entries.len());
            let mut bound = Vec::with_capacity(entries.len());
            for (name, value) in entries {
                let value = self.expr(value, place);
                if seen.contains(&name.text.as_str()) {
                    self.report(name.span, format!("`{}` is given twice", name.text));
                } else {
                    bound.push(Entry { name: name.clone(), value });
                }
                seen.push(&name.text);
            }
            return bound;
        }
        let map = self.expr(properties, place);
        let Kind::Map(kinds) = &map.kind else {
            if let Err(finding) = self.expect(&map, "a pattern", "a map, such as {id: 1}", |_| false) {
                self.findings.push(finding);
            }
            return Vec::new();
        };
        let span = map.span;
        let field = |(name, kind): &(String, Kind)| Entry {
            name: Name { text: name.clone(), span },
            value: field_of(&map, name, kind.clone()),
        };
        kinds.iter().map(field).collect()
    }
}

/// One value of a map; of a constant, a constant.
fn field_of(map: &Expr, name: &str, kind: Kind) -> Expr {
    let node = match &map.node {
        ExprNode::Constant(crate::query::CypherValue::Map(entries)) => {
            ExprNode::Constant(entries.get(name).cloned().unwrap_or(crate::query::CypherValue::NULL))
        }
        _ => ExprNode::Field { of: Box::new(map.clone()), name: name.to_owned() },
    };
    Expr { node, kind, span: map.span }
}
