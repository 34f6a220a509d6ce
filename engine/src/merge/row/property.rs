//! The three-way merge of one value.

use super::Side;
use super::policy::apply;
use super::rules::PlaceRule;
use crate::value::Value;

/// What the base has at a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum BaseValue<'a> {
    /// It has no such row: both sides added it.
    NoRow,
    /// Merge bases contradict each other.
    Unknown,
    /// This.
    Is(&'a Value),
}

/// What a value comes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Merged {
    /// That of a side.
    Of(Side),
    /// A new one, by a policy.
    New(Value),
}

/// Merges the values of one place; `None` is a conflict. `later` is the side with the later head.
pub(super) fn merge_value(
    rule: &PlaceRule<'_>,
    base: BaseValue<'_>,
    source: &Value,
    target: &Value,
    later: Side,
) -> Option<Merged> {
    if let BaseValue::Is(base) = base {
        if source.is_same(base) {
            return Some(Merged::Of(Side::Target));
        }
        if target.is_same(base) {
            return Some(Merged::Of(Side::Source));
        }
    }
    match rule.policy {
        Some((policy, ty)) => apply(policy, ty, base, source, target, later),
        None => source.is_same(target).then_some(Merged::Of(Side::Target)),
    }
}
