//! What is wrong with an input: the first violations in full, all of them counted by reason.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use roaring::RoaringTreemap;

/// Violations kept in full.
const FULL: usize = 100;
/// Samples kept of each reason, besides.
const SAMPLES: usize = 3;
/// Reasons told apart; further ones are counted together.
const REASONS: usize = 1_000;
/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// One place of an input that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Stable, kebab-case: `wrong-type`, `unique`, `dangling-edge`, …
    pub code: &'static str,
    /// The input, as its caller named it.
    pub source: Arc<str>,
    /// The line of the input, or the number of the operation, counted from 1; `None` for a stored row.
    pub line: Option<u64>,
    /// The table, as far as it is known.
    pub table: Option<String>,
    /// The property, where one is to blame.
    pub property: Option<String>,
    /// The value that was found, shortened.
    pub found: Option<String>,
    /// What was expected, or what is wrong, in words.
    pub expected: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match (&self.table, &self.property) {
            (Some(table), Some(property)) => write!(f, ": {table}.{property}")?,
            (Some(table), None) => write!(f, ": {table}")?,
            (None, _) => {}
        }
        match &self.found {
            Some(found) => write!(f, ": found {found}, expected {}", self.expected),
            None => write!(f, ": {}", self.expected),
        }
    }
}

/// Why lines were refused: one kind of violation in one place of the schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// The code of its violations.
    pub code: &'static str,
    /// Their table.
    pub table: Option<String>,
    /// Their property.
    pub property: Option<String>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)?;
        match (&self.table, &self.property) {
            (Some(table), Some(property)) => write!(f, " in {table}.{property}"),
            (Some(table), None) => write!(f, " in {table}"),
            (None, _) => Ok(()),
        }
    }
}

/// Violations by line, then by the order they were found in.
type ByLine = BTreeMap<(u64, u64), Violation>;

/// All violations of one input, in bounded memory.
#[derive(Debug, Clone, Default)]
pub struct Violations {
    total: u64,
    order: u64,
    first: ByLine,
    reasons: BTreeMap<Reason, (u64, ByLine)>,
    lines: RoaringTreemap,
    /// Lines that gave no row at all: what they would have meant to other lines is not known.
    pub(crate) untyped: u64,
}

impl Violations {
    /// Takes one violation in.
    pub(crate) fn push(&mut self, violation: &Violation) {
        self.count(violation, 1);
        self.keep(violation);
    }

    /// Counts violations of one reason that are not kept themselves.
    pub(crate) fn count_more(&mut self, like: &Violation, lines: &RoaringTreemap, count: u64) {
        self.lines |= lines;
        self.count(like, count);
    }

    fn count(&mut self, violation: &Violation, by: u64) {
        self.total += by;
        self.lines.extend(violation.line);
        let reason = reason_of(violation);
        if self.reasons.len() < REASONS || self.reasons.contains_key(&reason) {
            self.reasons.entry(reason).or_default().0 += by;
        }
    }

    fn keep(&mut self, violation: &Violation) {
        let place = (violation.line.unwrap_or(u64::MAX), self.order);
        self.order += 1;
        if let Some((_, samples)) = self.reasons.get_mut(&reason_of(violation)) {
            keep_least(samples, SAMPLES, place, violation);
        }
        keep_least(&mut self.first, FULL, place, violation);
    }

    /// Takes all violations of `other` in, after those that are here.
    pub(crate) fn extend(&mut self, other: Self) {
        self.total += other.total;
        self.untyped += other.untyped;
        self.lines |= other.lines;
        for (reason, (count, samples)) in other.reasons {
            if self.reasons.len() < REASONS || self.reasons.contains_key(&reason) {
                let mine = self.reasons.entry(reason).or_default();
                mine.0 += count;
                for ((line, order), sample) in samples {
                    keep_least(&mut mine.1, SAMPLES, (line, self.order + order), &sample);
                }
            }
        }
        for ((line, order), violation) in other.first {
            keep_least(&mut self.first, FULL, (line, self.order + order), &violation);
        }
        self.order += other.order;
    }

    /// The same violations with other lines: what `line_of` makes of them.
    pub(crate) fn with_lines(mut self, line_of: impl Fn(u64) -> Option<u64>) -> Self {
        let samples = self.reasons.values_mut().flat_map(|(_, samples)| samples.values_mut());
        for violation in self.first.values_mut().chain(samples) {
            violation.line = violation.line.and_then(&line_of);
        }
        self.lines = self.lines.iter().filter_map(line_of).collect();
        self
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many lines break some rule.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines.len()
    }

    /// The first hundred, by line.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.first.values()
    }

    /// Reasons with their counts and up to three samples each: the most frequent first, then by line.
    #[must_use]
    pub fn reasons(&self) -> Vec<(&Reason, u64, Vec<&Violation>)> {
        let mut all: Vec<_> = self
            .reasons
            .iter()
            .map(|(reason, (count, samples))| (reason, *count, samples.values().collect()))
            .collect();
        let first_line = |samples: &[&Violation]| samples.first().and_then(|sample| sample.line);
        all.sort_by_key(|(_, count, samples): &(_, u64, Vec<_>)| (std::cmp::Reverse(*count), first_line(samples)));
        all
    }
}

/// Up to three violations in full; of more, the most frequent reason with three samples, and how many others there are.
impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = self.reasons();
        let Some((reason, count, samples)) = reasons.first() else { return f.write_str("nothing is wrong") };
        let few = SAMPLES as u64;
        if self.total == 1 {
            return samples.iter().try_for_each(|sample| write!(f, "{sample}"));
        }
        if self.total <= few {
            write!(f, "{} violations:", self.total)?;
            return self.iter().try_for_each(|violation| write!(f, "\n  {violation}"));
        }
        write!(f, "{reason}: {}", thousands(*count))?;
        for sample in samples {
            write!(f, "\n  {sample}")?;
        }
        if self.total > *count {
            write!(f, "\n  and {} violations of other rules", thousands(self.total - count))?;
        }
        Ok(())
    }
}

fn reason_of(violation: &Violation) -> Reason {
    Reason { code: violation.code, table: violation.table.clone(), property: violation.property.clone() }
}

fn keep_least(kept: &mut ByLine, limit: usize, place: (u64, u64), violation: &Violation) {
    if kept.len() >= limit && kept.last_key_value().is_some_and(|(last, _)| *last < place) {
        return;
    }
    kept.insert(place, violation.clone());
    if kept.len() > limit {
        kept.pop_last();
    }
}

/// `12,345`, for people.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `text`, cut to what fits a message.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(line: u64, code: &'static str) -> Violation {
        Violation {
            code,
            source: "in".into(),
            line: Some(line),
            table: Some("T".into()),
            property: None,
            found: Some(line.to_string()),
            expected: "less".into(),
        }
    }

    #[test]
    fn the_first_hundred_by_line_are_kept_and_all_are_counted() {
        let mut all = Violations::default();
        for line in (1..=1_000).rev() {
            all.push(&violation(line, "a"));
        }
        assert_eq!((all.total(), all.lines()), (1_000, 1_000));
        let kept: Vec<_> = all.iter().filter_map(|v| v.line).collect();
        assert_eq!(kept, (1..=100).collect::<Vec<_>>());
    }

    #[test]
    fn the_top_reason_comes_with_three_samples_even_if_it_came_late() {
        let mut all = Violations::default();
        let mut late = Violations::default();
        (1..=200).for_each(|line| all.push(&violation(line, "a")));
        (201..=600).for_each(|line| late.push(&violation(line, "b")));
        all.extend(late);
        assert_eq!(
            all.to_string(),
            "b in T: 400\n  in:201: T: found 201, expected less\n  in:202: T: found 202, expected less\n  in:203: T: found 203, \
             expected less\n  and 200 violations of other rules"
        );
    }

    #[test]
    fn one_violation_is_told_without_ado() {
        let mut all = Violations::default();
        all.push(&violation(7, "a"));
        assert_eq!(all.to_string(), "in:7: T: found 7, expected less");
    }

    #[test]
    fn numbers_and_values_are_readable() {
        assert_eq!(
            (thousands(0), thousands(999), thousands(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!(shorten(&"ä".repeat(200)).chars().count(), 81);
    }
}
