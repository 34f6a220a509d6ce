//! The one rule of a three-way merge of values that are taken whole.

/// Which side's value a merge takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// The target's: the source has the same, or what every base has.
    Keep,
    /// The source's: the target has what every base has.
    TakeSource,
    /// Neither as it is: both sides changed it, each otherwise.
    BothMoved,
}

/// Decides by what both sides and the bases have. Without a base everything counts as changed.
pub(super) fn choose<T: PartialEq>(source: &T, target: &T, bases: &[T]) -> Choice {
    if source == target || is_unmoved(source, bases) {
        Choice::Keep
    } else if is_unmoved(target, bases) {
        Choice::TakeSource
    } else {
        Choice::BothMoved
    }
}

/// Whether a side has what every base has.
pub(super) fn is_unmoved<T: PartialEq>(side: &T, bases: &[T]) -> bool {
    !bases.is_empty() && bases.iter().all(|base| base == side)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_equal_values_has_one_answer() {
        use Choice::{BothMoved, Keep, TakeSource};
        for (source, target, bases, choice) in [
            (1, 1, &[1][..], Keep),
            (1, 2, &[1], Keep),
            (2, 1, &[1], TakeSource),
            (2, 2, &[1], Keep),
            (2, 3, &[1], BothMoved),
            // After a criss-cross: a side that has what only one of the bases has did move, against the other.
            (1, 2, &[1, 2], BothMoved),
            (2, 1, &[1, 2], BothMoved),
            (1, 3, &[1, 1], Keep),
            (3, 1, &[1, 1], TakeSource),
            (3, 3, &[1, 2], Keep),
            (1, 1, &[], Keep),
            (1, 2, &[], BothMoved),
        ] {
            assert_eq!(choose(&source, &target, bases), choice, "{source} into {target} over {bases:?}");
        }
    }
}
