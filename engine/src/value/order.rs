//! When two values are the same, and which of two comes first.

use std::cmp::Ordering;

use super::Value;

/// The one NaN that stands for all of them.
pub(super) const fn one_nan(value: f64) -> f64 {
    if value.is_nan() { f64::from_bits(0x7ff8_0000_0000_0000) } else { value }
}

/// As [`one_nan`], in 32 bits.
pub(super) const fn one_nan_32(value: f32) -> f32 {
    if value.is_nan() { f32::from_bits(0x7fc0_0000) } else { value }
}

impl Value {
    /// Whether both are the same value to the store: all NaNs are one, −0.0 is not 0.0, decimals are compared as numbers, JSON
    /// byte by byte. Agrees with [`encode`](super::canonical::encode): same value, same bytes.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.cmp_same_type(other).is_eq()
    }

    /// A total order of the values of one type: null, then false before true, numbers by size (−0.0 before 0.0, NaN last), text
    /// and bytes byte by byte, lists and vectors element by element. Values of different kinds are ordered by kind.
    pub(crate) fn cmp_same_type(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => one_nan(*a).total_cmp(&one_nan(*b)),
            (Self::Decimal { unscaled: a, scale: p }, Self::Decimal { unscaled: b, scale: q }) => {
                cmp_decimals((*a, *p), (*b, *q))
            }
            (Self::String(a), Self::String(b)) | (Self::Json(a), Self::Json(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) | (Self::Timestamp(a), Self::Timestamp(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.cmp(b),
            (Self::Blob(a), Self::Blob(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => lexicographic(a, b, Self::cmp_same_type),
            (Self::Vector(a), Self::Vector(b)) => lexicographic(a, b, |a, b| one_nan_32(*a).total_cmp(&one_nan_32(*b))),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Float(_) => 3,
            Self::Decimal { .. } => 4,
            Self::String(_) => 5,
            Self::Date(_) => 6,
            Self::Time(_) => 7,
            Self::Timestamp(_) => 8,
            Self::Uuid(_) => 9,
            Self::Blob(_) => 10,
            Self::Json(_) => 11,
            Self::List(_) => 12,
            Self::Vector(_) => 13,
        }
    }
}

fn lexicographic<T>(a: &[T], b: &[T], cmp: impl Fn(&T, &T) -> Ordering) -> Ordering {
    a.iter().zip(b).map(|(a, b)| cmp(a, b)).find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Compares whole parts, then fractions brought to one scale, which never overflows where a common scale of the wholes could.
fn cmp_decimals((a, p): (i128, u8), (b, q): (i128, u8)) -> Ordering {
    if p == q {
        return a.cmp(&b);
    }
    let (p, q) = (u32::from(p), u32::from(q));
    let split = |unscaled: i128, scale: u32| match 10_i128.checked_pow(scale) {
        Some(power) => (unscaled.div_euclid(power), unscaled.rem_euclid(power)),
        // Beyond every scale that the schema admits.
        None => (0, unscaled),
    };
    let widen = |fraction: i128, scale: u32| fraction.saturating_mul(10_i128.saturating_pow(p.max(q) - scale));
    let ((whole_a, fraction_a), (whole_b, fraction_b)) = (split(a, p), split(b, q));
    whole_a.cmp(&whole_b).then_with(|| widen(fraction_a, p).cmp(&widen(fraction_b, q)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::strategies::two_values;
    use proptest::prelude::*;

    fn decimal(unscaled: i128, scale: u8) -> Value {
        Value::Decimal { unscaled, scale }
    }

    #[test]
    fn floats_are_ordered_by_size_with_one_nan_at_the_end() {
        let ordered = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, f64::INFINITY, f64::NAN];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(Value::Float(*a).cmp_same_type(&Value::Float(*b)), i.cmp(&j), "{a} {b}");
            }
        }
        assert!(Value::Float(-f64::NAN).is_same(&Value::Float(f64::from_bits(0x7ff0_0000_0000_0001))));
        assert!(Value::Vector(vec![-f32::NAN]).is_same(&Value::Vector(vec![f32::NAN])));
        assert!(!Value::Vector(vec![0.0]).is_same(&Value::Vector(vec![-0.0])));
    }

    #[test]
    fn decimals_of_different_scales_are_compared_as_numbers() {
        assert!(decimal(10, 1).is_same(&decimal(100, 2)));
        assert!(decimal(-15, 1).is_same(&decimal(-1500, 3)));
        assert_eq!(decimal(-15, 1).cmp_same_type(&decimal(-149, 2)), Ordering::Less);
        assert_eq!(decimal(11, 1).cmp_same_type(&decimal(109, 2)), Ordering::Greater);
        let largest = 10_i128.pow(38) - 1;
        assert_eq!(decimal(largest, 0).cmp_same_type(&decimal(largest, 38)), Ordering::Greater);
        assert_eq!(decimal(-largest, 38).cmp_same_type(&decimal(-1, 0)), Ordering::Greater);
    }

    #[test]
    fn nulls_come_first_and_shorter_lists_before_longer() {
        let list = |items: &[Value]| Value::List(items.to_vec());
        assert_eq!(Value::Null.cmp_same_type(&Value::Int(i128::MIN)), Ordering::Less);
        assert_eq!(list(&[]).cmp_same_type(&list(&[Value::Null])), Ordering::Less);
        assert_eq!(list(&[Value::Null, Value::Int(9)]).cmp_same_type(&list(&[Value::Int(0)])), Ordering::Less);
    }

    proptest! {
        #[test]
        fn the_order_is_antisymmetric((_, a, b) in two_values()) {
            prop_assert_eq!(a.cmp_same_type(&b), b.cmp_same_type(&a).reverse());
            prop_assert!(a.is_same(&a));
        }
    }
}
