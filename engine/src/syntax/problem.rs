//! Something wrong in a text, shown where it is wrong.

use std::fmt::{self, Write as _};

use super::Finding;

/// A longer line is shown in part.
const MAX_LINE: usize = 160;
/// At most this many findings of one text are shown; what follows is mostly their echo.
const MAX_SHOWN: usize = 50;
/// How much of a long line is shown before the place in question.
const LEAD: usize = 60;

/// One thing that is wrong in a text, with the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be said.
    pub help: Option<String>,
    excerpt: String,
    /// Characters of the excerpt before the caret, and carets.
    caret: (usize, usize),
}

/// Line, column and message; then the line of the text with carets under the place.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let margin = " ".repeat(self.line.to_string().len());
        writeln!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        writeln!(f, "{} | {}", self.line, self.excerpt)?;
        write!(f, "{margin} | {}{}", " ".repeat(self.caret.0), "^".repeat(self.caret.1))?;
        match &self.help {
            Some(help) => write!(f, "\n{margin} = help: {help}"),
            None => Ok(()),
        }
    }
}

impl Problem {
    pub(crate) fn locate(text: &str, finding: Finding) -> Self {
        let Finding { span, message, help } = finding;
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_text = text[line_start..].split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let before = text[line_start..start].chars().count();
        let end = floor_char_boundary(text, span.end).clamp(start, (line_start + line_text.len()).max(start));
        let carets = text[start..end].chars().count().max(1);
        let (excerpt, caret) = excerpt(line_text, before, carets);
        Self { line: text[..line_start].matches('\n').count() + 1, column: before + 1, message, help, excerpt, caret }
    }
}

/// Everything that is wrong with `text`, in its order; the same at the same place is said once.
pub(crate) fn locate_all(text: &str, mut findings: Vec<Finding>) -> Vec<Problem> {
    findings.sort_by_key(|finding| finding.span);
    findings.dedup_by(|later, earlier| later.span == earlier.span && later.message == earlier.message);
    findings.into_iter().map(|finding| Problem::locate(text, finding)).collect()
}

/// A headline, and the problems below it.
pub(crate) fn render(headline: &str, problems: &[Problem]) -> String {
    let mut out = headline.to_owned();
    for problem in problems.iter().take(MAX_SHOWN) {
        let _ = write!(out, "\n\n{problem}");
    }
    if problems.len() > MAX_SHOWN {
        let _ = write!(out, "\n\nand {} more", problems.len() - MAX_SHOWN);
    }
    out
}

/// The part of a line around the place in question, one column for each character.
fn excerpt(line: &str, before: usize, carets: usize) -> (String, (usize, usize)) {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    let length = line.chars().count();
    if length <= MAX_LINE {
        return (line.chars().map(plain).collect(), (before, carets));
    }
    let skipped = before.saturating_sub(LEAD);
    let shown: String = line.chars().skip(skipped).take(MAX_LINE).map(plain).collect();
    let (left, right) = (if skipped > 0 { "…" } else { "" }, if skipped + MAX_LINE < length { "…" } else { "" });
    let indent = before - skipped + usize::from(skipped > 0);
    (format!("{left}{shown}{right}"), (indent, carets.min(MAX_LINE + skipped - before)))
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
