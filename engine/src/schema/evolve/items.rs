//! When two conditions, or two sets of properties, are one.

use std::collections::BTreeSet;

use crate::ids::PropertyId;
use crate::schema::ddl::with_current_names;
use crate::schema::{CheckDef, TableDef};
use crate::syntax::lex;

/// Whether two conditions on rows of `table` say the same about the same properties; how they are spaced does not matter.
pub(super) fn same_check(table: &TableDef, one: &CheckDef, other: &CheckDef) -> bool {
    one.properties == other.properties && tokens(table, one) == tokens(table, other)
}

/// The words of a condition, with the names that its properties have in `table`.
pub(crate) fn tokens(table: &TableDef, check: &CheckDef) -> Vec<String> {
    let text = with_current_names(table, check);
    // A string's quotes tell it from a name; of a quoted name they say nothing.
    lex(&text)
        .0
        .iter()
        .map(|token| if token.text.starts_with('`') { token.value() } else { token.text.to_owned() })
        .collect()
}

/// Whether both have the same properties.
pub(super) fn same_set(one: &[PropertyId], other: &[PropertyId]) -> bool {
    one.iter().collect::<BTreeSet<_>>() == other.iter().collect::<BTreeSet<_>>()
}
