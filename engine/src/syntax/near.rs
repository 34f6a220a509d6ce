//! When two names are the same, and what a misspelt one was meant to be.

use unicode_normalization::UnicodeNormalization;

use super::Finding;

/// Bytes of a name up to which the one that was meant is looked for: the search takes time by the square of the length.
const LONGEST_TYPO: usize = 200;

/// The form in which names are kept.
pub(crate) fn normalized(name: &str) -> String {
    name.nfc().collect()
}

/// What two names have in common if they may not stand side by side.
pub(crate) fn folded(name: &str) -> String {
    caseless::default_case_fold_str(&normalized(name)).nfc().collect()
}

/// The one of `known` that `text` was probably meant to be.
pub(crate) fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > LONGEST_TYPO {
        return None;
    }
    let wanted = folded(text);
    known
        .into_iter()
        .filter(|name| name.len() <= LONGEST_TYPO)
        .map(|name| (strsim::damerau_levenshtein(&wanted, &folded(name)), name))
        .filter(|(distance, _)| *distance <= (wanted.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `finding`, with the nearest of `known` as its help.
pub(crate) fn suggest<'a>(finding: Finding, text: &str, known: impl IntoIterator<Item = &'a str>) -> Finding {
    match nearest(text, known) {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_suggested_when_they_are_alike() {
        let names = ["Person", "Knows", "City"];
        assert_eq!(nearest("person", names), Some("Person"));
        assert_eq!(nearest("Persno", names), Some("Person"));
        assert_eq!(nearest("Zebra", names), None);
        let long = "x".repeat(LONGEST_TYPO);
        assert_eq!(nearest(&long, [long.as_str()]), Some(long.as_str()));
        let longer = "x".repeat(LONGEST_TYPO + 1);
        assert_eq!(nearest(&longer, [long.as_str(), &longer]), None);
        assert_eq!(nearest(&long, [longer.as_str()]), None);
    }
}
