//! Which names of a text mean what is there already: those that are the same, and those of which it says what they were.

use crate::syntax::{Finding, Span, suggest};

/// One name of a text.
pub(super) struct Asked<'a> {
    pub name: &'a str,
    /// What it is called now, if the text says so, and where.
    pub renamed: Option<&'a (String, Span)>,
}

/// For each of `asked`, the place in `known` of what it means, or none if it is new. `what` is what is named, for people.
///
/// A text may be applied again: `RENAMED FROM` says nothing once the old name is gone and the new one is there, or both are wanted.
pub(super) fn match_names(
    asked: &[Asked<'_>],
    known: &[&str],
    what: &str,
    findings: &mut Vec<Finding>,
) -> Vec<Option<usize>> {
    let place = |name: &str| known.iter().position(|known| *known == name);
    let is_wanted = |name: &str| asked.iter().any(|asked| asked.name == name);
    let mut taken: Vec<Option<&str>> = vec![None; known.len()];
    let mut found = vec![None; asked.len()];
    for (asked, found) in asked.iter().zip(&mut found) {
        let Some((from, span)) = asked.renamed else { continue };
        let refuse = |message: String, help: &str| Finding::new(*span, message).with_help(help);
        match (place(from), place(asked.name)) {
            (Some(old), None) => match taken.get_mut(old) {
                Some(taken @ None) => {
                    *taken = Some(asked.name);
                    *found = Some(old);
                }
                Some(Some(first)) => findings.push(refuse(
                    format!("{what} `{from}` is renamed twice, to `{first}` and to `{}`", asked.name),
                    "leave RENAMED FROM out of one of them: it is new",
                )),
                None => {}
            },
            (Some(_), Some(_)) if from != asked.name && !is_wanted(from) => findings.push(refuse(
                format!("there are both `{from}` and `{}`", asked.name),
                &format!(
                    "to drop `{from}`, leave RENAMED FROM out; to keep its values, drop or rename `{}` before",
                    asked.name
                ),
            )),
            (_, Some(_)) => {}
            (None, None) => {
                let finding = Finding::new(*span, format!("there is no {what} `{from}` that could be renamed"));
                findings.push(suggest(finding, from, known.iter().copied()));
            }
        }
    }
    for (asked, found) in asked.iter().zip(&mut found) {
        if found.is_none() {
            *found = place(asked.name).filter(|old| taken.get(*old).is_some_and(Option::is_none));
        }
    }
    found
}
