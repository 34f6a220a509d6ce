//! Merging a source into a target: what both changed is settled row by row, what one changed is taken.

#[cfg_attr(not(test), expect(dead_code, unused_imports, reason = "only its tests merge rows so far"))]
pub(crate) mod row;
