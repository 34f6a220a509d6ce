//! Tokens: the lexical rules of openCypher, with comments and white space left out.

use open_cypher::TokenKind as Theirs;

use super::{Finding, Span};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a keyword: which of them, its place decides.
    Word,
    /// A name between backquotes, never a keyword.
    QuotedName,
    String,
    Integer,
    Float,
    /// An operator, a bracket or another mark.
    Symbol,
    /// Text that no token begins with; it has been reported.
    Invalid,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub span: Span,
}

impl Token<'_> {
    /// The value of a string, or the name of a word or between backquotes.
    pub(crate) fn value(&self) -> String {
        match self.kind {
            TokenKind::String | TokenKind::QuotedName => unquote(self.text),
            _ => self.text.to_owned(),
        }
    }
}

/// The tokens of `text`, and what could not be read as one.
pub(crate) fn lex(text: &str) -> (Vec<Token<'_>>, Vec<Finding>) {
    let lexed = open_cypher::lex(text);
    let tokens = lexed.tokens.iter().filter(|token| !token.is_trivia()).map(|token| {
        let kind = match token.kind {
            Theirs::Keyword(_) | Theirs::Identifier => TokenKind::Word,
            Theirs::EscapedIdentifier => TokenKind::QuotedName,
            Theirs::String => TokenKind::String,
            Theirs::Integer | Theirs::HexInteger | Theirs::OctalInteger => TokenKind::Integer,
            Theirs::Float => TokenKind::Float,
            Theirs::Invalid => TokenKind::Invalid,
            _ => TokenKind::Symbol,
        };
        Token { kind, text: token.text(text).unwrap_or_default(), span: Span::new(token.span.start, token.span.end) }
    });
    (tokens.collect(), lexed.diagnostics.iter().map(|diagnostic| finding(text, diagnostic)).collect())
}

/// A lexical error in our words; what is unterminated is pointed at where it opens, not in all its length.
fn finding(text: &str, diagnostic: &open_cypher::Diagnostic) -> Finding {
    use open_cypher::DiagnosticCode as Code;
    let (start, end) = (diagnostic.primary_span.start, diagnostic.primary_span.end);
    let opening = |length: usize| Span::new(start, (start + length).min(end));
    match diagnostic.code {
        Code::UnterminatedString => Finding::new(opening(1), "the string that opens here is never closed"),
        Code::UnterminatedIdentifier => Finding::new(opening(1), "the backquote that opens here is never closed"),
        Code::UnterminatedComment => Finding::new(opening(2), "the comment that opens here is never closed"),
        Code::InvalidEscape => Finding::new(Span::new(start, end), "the text has an unknown escape sequence")
            .with_help(r"known are \\ \' \f \n \r \t \b \uXXXX and \UXXXXXX"),
        _ => {
            let bad = text.get(start..end).unwrap_or_default();
            Finding::new(Span::new(start, end), format!("unexpected `{bad}`"))
        }
    }
}

/// The text between quotes of any kind, with escape sequences and doubled quotes put right.
fn unquote(quoted: &str) -> String {
    let mut inner = quoted.chars();
    let Some(quote) = inner.next() else { return String::new() };
    inner.next_back();
    let mut out = String::with_capacity(quoted.len());
    while let Some(character) = inner.next() {
        if character == quote {
            inner.next();
            out.push(quote);
        } else if character == '\\' {
            match inner.next() {
                Some('t') => out.push('\t'),
                Some('b') => out.push('\u{8}'),
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('f') => out.push('\u{c}'),
                Some(length @ ('u' | 'U')) => {
                    let digits: String = inner.by_ref().take(if length == 'u' { 4 } else { 6 }).collect();
                    out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some(other) => out.push(other),
                None => {}
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Writes a string so that [`lex`] reads it back.
pub(crate) fn quote_string(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('\'');
    for character in value.chars() {
        match character {
            '\\' => out.push_str(r"\\"),
            '\'' => out.push_str(r"\'"),
            '\n' => out.push_str(r"\n"),
            '\r' => out.push_str(r"\r"),
            '\t' => out.push_str(r"\t"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// The words that mean something in a table's definition; a property called so is written between backquotes.
const WORDS_OF_DDL: [&str; 12] = [
    "PRIMARY",
    "KEY",
    "UNIQUE",
    "CHECK",
    "FROM",
    "TO",
    "MULTI",
    "MANY_MANY",
    "MANY_ONE",
    "ONE_MANY",
    "ONE_ONE",
    "DEFAULT",
];

/// Writes a name so that it is read back as a name wherever it stands.
pub(crate) fn quote_name(name: &str) -> String {
    let plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        && open_cypher::Keyword::from_ascii_case_insensitive(name).is_none()
        && !WORDS_OF_DDL.iter().any(|word| word.eq_ignore_ascii_case(name));
    if plain { name.to_owned() } else { format!("`{}`", name.replace('\\', r"\\").replace('`', "``")) }
}
