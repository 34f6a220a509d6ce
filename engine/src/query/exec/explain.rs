//! A plan for people: its operators, with the names that the statement gave to its variables.

use datafusion::physical_plan::displayable;

use super::QueryContext;
use crate::error::Error;
use crate::query::bound::{Body, Effect};
use crate::syntax::locate_all;

/// What a statement would do, line by line.
pub(crate) async fn explain(cx: &QueryContext) -> Result<Vec<String>, Error> {
    let (plan, effects) = match &cx.statement.body {
        Body::Read(output) => (&output.plan, Vec::new()),
        Body::Update(update) => (&update.read, update.effects.iter().map(effect).collect()),
    };
    let (physical, _) = cx.physical(plan).await?;
    let text = displayable(physical.as_ref()).indent(false).to_string();
    let named =
        text.lines().map(|line| named(line, |number| cx.statement.vars.get(number).map(|var| var.name.as_str())));
    let warnings = locate_all(&cx.text, cx.statement.warnings.clone());
    let warnings = warnings
        .iter()
        .map(|warning| format!("Warning: line {}, column {}: {}", warning.line, warning.column, warning.message));
    Ok(warnings.chain(effects).chain(named).collect())
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Create(creations) => format!("Create: {} for each row", creations.len()),
        Effect::Merge { .. } => "Merge: by key, for each row".to_owned(),
        Effect::Set(assignments) => format!("Set: {} properties for each row", assignments.len()),
        Effect::Delete { detach: true, .. } => "Delete: with edges, for each row".to_owned(),
        Effect::Delete { detach: false, .. } => "Delete: for each row".to_owned(),
    }
}

/// Puts names in the place of `v0`, `v1`, … where they stand as words outside of quotes.
fn named<'a>(line: &str, name: impl Fn(usize) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut word, mut quote) = (String::new(), None);
    for c in line.chars().chain([' ']) {
        if quote.is_none() && (c.is_alphanumeric() || c == '_') {
            word.push(c);
            continue;
        }
        let number = word.strip_prefix('v').and_then(|digits| digits.parse().ok());
        out.push_str(number.and_then(&name).filter(|name| !name.is_empty()).unwrap_or(&word));
        word.clear();
        quote = match (quote, c) {
            (None, '"' | '\'') => Some(c),
            (Some(open), c) if open == c => None,
            (quote, _) => quote,
        };
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_their_names_but_texts_stay() {
        let names = ["n", ""];
        let shown = named(r#"  Filter: v0@0 = "v0" AND v1 < v2, xv0"#, |number| names.get(number).copied());
        assert_eq!(shown, r#"  Filter: n@0 = "v0" AND v1 < v2, xv0"#);
    }
}
