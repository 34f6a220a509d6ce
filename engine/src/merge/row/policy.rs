//! The policies that a schema may declare for a property that both sides changed.
//!
//! | policy | both added the row | one side is null | base unknown |
//! |---|---|---|---|
//! | `sum` | sum of both, as if the base were 0 | conflict if the base had a number; null if both are | conflict |
//! | `max`, `min` | the larger, the smaller | the other side's value | as ever: no base is needed |
//! | `union` | elements of both | a null list has no elements; null if both are | agreed if equal, else conflict |
//! | `last_writer` | the later head's | the later head's | as ever |
//!
//! A null base counts as 0 for `sum` and as an empty list for `union`. `sum` is a conflict where the result does not fit the type;
//! numbers are never clipped, and what is no finite number (NaN, infinity) is not added up. A side that cleared a number is a conflict
//! against one that added to it, since the sum of "no number" and a difference is either a loss or a guess.
//!
//! All but `last_writer` are independent of the order in which branches are merged, as far as no merge on the way is a conflict (`sum` of floats
//! up to rounding; `union` up to the order of elements, and to whether a list without any is empty or null).

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::Side;
use super::property::{BaseValue, Merged};
use crate::schema::{MergePolicy, Type};
use crate::value::{Value, rescale};

/// Settles a value that both sides changed, equal ones included; `None` is a conflict.
pub(super) fn apply(
    policy: MergePolicy,
    ty: &Type,
    base: BaseValue<'_>,
    source: &Value,
    target: &Value,
    later: Side,
) -> Option<Merged> {
    match policy {
        MergePolicy::Sum => sum(ty, base, source, target),
        MergePolicy::Max => Some(extreme(source, target, |source, target| source.cmp_same_type(target).is_gt())),
        MergePolicy::Min => Some(extreme(source, target, |source, target| source.cmp_same_type(target).is_lt())),
        MergePolicy::Union => union(base, source, target),
        MergePolicy::LastWriter => Some(Merged::Of(later)),
    }
}

fn extreme(source: &Value, target: &Value, better: impl Fn(&Value, &Value) -> bool) -> Merged {
    let takes_source = target.is_null() || (!source.is_null() && better(source, target));
    Merged::Of(if takes_source { Side::Source } else { Side::Target })
}

/// base + (source − base) + (target − base).
fn sum(ty: &Type, base: BaseValue<'_>, source: &Value, target: &Value) -> Option<Merged> {
    if source.is_null() && target.is_null() {
        return Some(Merged::Of(Side::Target));
    }
    let base = match base {
        BaseValue::Unknown => return None,
        BaseValue::NoRow => &Value::Null,
        BaseValue::Is(base) => base,
    };
    if base.is_null() {
        // Where the base has nothing, a side without a number has added none.
        if source.is_null() {
            return Some(Merged::Of(Side::Target));
        }
        if target.is_null() {
            return Some(Merged::Of(Side::Source));
        }
    } else if source.is_null() || target.is_null() {
        return None;
    }
    let total = match ty {
        Type::Decimal { precision, scale } => {
            let limit = 10_i128.checked_pow(u32::from(*precision))?;
            let unscaled = add(decimal(base, *scale)?, decimal(source, *scale)?, decimal(target, *scale)?)?;
            (-limit < unscaled && unscaled < limit).then_some(Value::Decimal { unscaled, scale: *scale })?
        }
        Type::Float | Type::Double => {
            let (base, source, target) = (float(base)?, float(source)?, float(target)?);
            // Symmetric: the differences are added first, and the sum of two floats does not depend on their order.
            let total = base + ((source - base) + (target - base));
            let total = if *ty == Type::Float { to_single(total) } else { total };
            total.is_finite().then_some(Value::Float(total))?
        }
        _ => {
            let (least, greatest) = ty.integer_range()?;
            let total = add(integer(base)?, integer(source)?, integer(target)?)?;
            (least..=greatest).contains(&total).then_some(Value::Int(total))?
        }
    };
    Some(Merged::New(total))
}

/// source + target − base. Numbers of 38 digits may overflow on the way to a sum that does not: in one of these orders they do not.
fn add(base: i128, source: i128, target: i128) -> Option<i128> {
    let source_first = source.checked_sub(base).and_then(|difference| difference.checked_add(target));
    let target_first = || target.checked_sub(base).and_then(|difference| difference.checked_add(source));
    let base_last = || source.checked_add(target).and_then(|sum| sum.checked_sub(base));
    source_first.or_else(target_first).or_else(base_last)
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Null => Some(0),
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(0.0),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// The number in units of `10^(−to)`, if it is a whole number of them.
fn decimal(value: &Value, to: u8) -> Option<i128> {
    match value {
        Value::Null => Some(0),
        Value::Decimal { unscaled, scale } => rescale(*unscaled, *scale, to),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to the type's precision is meant")]
fn to_single(value: f64) -> f64 {
    f64::from(value as f32)
}

/// The base's elements that neither side removed, in their order, then what either side added, in the order of values.
fn union(base: BaseValue<'_>, source: &Value, target: &Value) -> Option<Merged> {
    if source.is_same(target) {
        return Some(Merged::Of(Side::Target));
    }
    let base = match base {
        BaseValue::Unknown => return None,
        BaseValue::NoRow => &[],
        BaseValue::Is(base) => elements(base)?,
    };
    let (source, target) = (set(elements(source)?), set(elements(target)?));
    let in_base = set(base);
    let mut left: BTreeSet<Ordered<'_>> = source.intersection(&target).copied().collect();
    let kept = base.iter().filter(|element| left.remove(&Ordered(element)));
    let mut result: Vec<Value> = kept.cloned().collect();
    let added = source.union(&target).filter(|element| !in_base.contains(element));
    result.extend(added.map(|element| element.0.clone()));
    Some(Merged::New(Value::List(result)))
}

fn set(elements: &[Value]) -> BTreeSet<Ordered<'_>> {
    elements.iter().map(Ordered).collect()
}

fn elements(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Null => Some(&[]),
        Value::List(elements) => Some(elements),
        _ => None,
    }
}

/// A value in the order of values.
#[derive(Clone, Copy)]
struct Ordered<'a>(&'a Value);

impl Ord for Ordered<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp_same_type(other.0)
    }
}

impl PartialOrd for Ordered<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered<'_> {}
