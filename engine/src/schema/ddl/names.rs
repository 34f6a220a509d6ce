//! Which names are allowed, and when two are the same.

use super::ast::Name;
use crate::syntax::Finding;
use crate::syntax::folded;

/// The longest name, in bytes.
const MAX_NAME: usize = 200;

/// Refuses a name that no table or property may have.
pub(super) fn check_name(name: &Name, what: &str) -> Option<Finding> {
    let text = &name.value;
    let finding = |message: String| Some(Finding::new(name.span, message));
    if text.is_empty() {
        return finding(format!("the name of a {what} is empty"));
    }
    if text.starts_with('_') {
        return finding(format!("the name `{text}` begins with `_`, which is kept for hidden columns"));
    }
    if text.len() > MAX_NAME {
        return finding(format!("the name of a {what} is longer than {MAX_NAME} bytes"));
    }
    if let Some(bad) = text.chars().find(|character| character.is_control() || matches!(character, '.' | '`')) {
        return finding(format!("the name of a {what} cannot hold {bad:?}"));
    }
    None
}

/// Reports each name that another one before it resembles too much.
pub(super) fn check_distinct<'a>(names: impl Iterator<Item = &'a Name>, what: &str, findings: &mut Vec<Finding>) {
    let mut seen: std::collections::HashMap<String, &str> = std::collections::HashMap::new();
    for name in names {
        match seen.get(&folded(&name.value)) {
            Some(first) if *first == name.value => {
                findings.push(Finding::new(name.span, format!("there are two {what} called `{first}`")));
            }
            Some(first) => findings.push(
                Finding::new(name.span, format!("`{}` and `{first}` differ only in case", name.value))
                    .with_help(format!("rename one of the two {what}")),
            ),
            None => {
                seen.insert(folded(&name.value), &name.value);
            }
        }
    }
}
