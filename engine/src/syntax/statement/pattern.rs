//! From the parser's patterns to ours.

use open_cypher::ast;

use super::convert::Reading;
use super::{EdgePattern, NodePattern, Path, Towards};
use crate::syntax::{Finding, Labels};

/// The paths of a pattern.
pub(super) fn paths(reading: &mut Reading<'_>, pattern: &ast::Pattern) -> Option<Vec<Path>> {
    reading.all(&pattern.parts, path)
}

/// One path: nodes and edges by turns.
pub(super) fn path(reading: &mut Reading<'_>, part: &ast::PatternPart) -> Option<Path> {
    if let Some(name) = &part.kind.binding {
        reading.refuse(name.span, "a variable for a path");
    }
    if let Some(selector) = &part.kind.selector {
        reading.refuse(selector.span, "a choice among paths");
    }
    let span = reading.converter.span(part.span);
    let mut first = None;
    let mut steps = Vec::new();
    let mut edge: Option<EdgePattern> = None;
    let mut whole = true;
    for factor in &part.kind.path.kind.factors {
        match (&factor.kind, edge.take()) {
            (ast::PathFactorKind::Node(pattern), before) => {
                let node = node(reading, pattern, factor.span);
                match (before, &first) {
                    (Some(before), _) => steps.push((before, node)),
                    (None, None) => first = Some(node),
                    // The edge before it was refused, or there was none.
                    (None, Some(_)) if !whole => {}
                    (None, Some(_)) => {
                        reading.refuse(factor.span, "a node beside a node");
                        whole = false;
                    }
                }
            }
            (ast::PathFactorKind::Relationship(pattern), None) => {
                edge = Some(self::edge(reading, pattern, factor.span));
            }
            (other, _) => {
                reading.refuse(factor.span, name_of(other));
                whole = false;
            }
        }
    }
    match first {
        Some(first) if whole && edge.is_none() => Some(Path { first, steps, span }),
        None if whole => {
            reading.findings.push(Finding::new(span, "a pattern begins with a node, such as (n)"));
            None
        }
        _ => None,
    }
}

fn node(reading: &mut Reading<'_>, pattern: &ast::NodePattern, span: open_cypher::Span) -> NodePattern {
    let labels = labels(reading, pattern.labels.as_ref());
    let properties = reading.optional(pattern.properties.as_deref());
    let condition = reading.optional(pattern.where_clause.as_deref());
    NodePattern {
        name: pattern.variable.as_ref().map(|name| reading.converter.name(name)),
        labels,
        properties,
        condition,
        span: reading.converter.span(span),
    }
}

fn edge(reading: &mut Reading<'_>, pattern: &ast::RelationshipPattern, span: open_cypher::Span) -> EdgePattern {
    let repeated = pattern.legacy_quantifier.as_ref().or(pattern.graph_quantifier.as_ref());
    if let Some(quantifier) = repeated {
        reading.refuse(quantifier.span, "a path of variable length");
    }
    let labels = labels(reading, pattern.labels.as_ref());
    let properties = reading.optional(pattern.properties.as_deref());
    let condition = reading.optional(pattern.where_clause.as_deref());
    EdgePattern {
        name: pattern.variable.as_ref().map(|name| reading.converter.name(name)),
        labels,
        properties,
        condition,
        towards: match pattern.direction.kind {
            ast::RelationshipDirection::Left => Towards::Left,
            ast::RelationshipDirection::Right => Towards::Right,
            _ => Towards::Either,
        },
        span: reading.converter.span(span),
    }
}

fn labels(reading: &mut Reading<'_>, labels: Option<&ast::LabelExpression>) -> Option<Labels> {
    let converted = reading.converter.labels(labels?, 0);
    reading.note(converted)
}

/// What the user would call a part of a pattern that we have no tree for.
const fn name_of(kind: &ast::PathFactorKind) -> &'static str {
    match kind {
        ast::PathFactorKind::QuantifiedNode { .. } | ast::PathFactorKind::Parenthesized { .. } => "a repeated path",
        ast::PathFactorKind::Subpath { .. } => "a variable for a path",
        ast::PathFactorKind::LegacyShortest { .. } => "a shortest path",
        ast::PathFactorKind::Relationship(_) => "an edge without a node",
        _ => "this pattern",
    }
}
