//! From tokens to statements: a recursive descent that reports an error and goes on behind it.

use super::ast::{At, Name, Table};
use crate::syntax::{Finding, Span, Token, TokenKind, lex};
use crate::syntax::{nearest, normalized};

/// An error that has been reported: the caller goes on at the next place that it knows.
#[derive(Debug)]
pub(super) struct Reported;

pub(super) type Parsed<T> = Result<T, Reported>;

/// Reads tokens one by one and keeps what is wrong.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Token<'a>>,
    position: usize,
    pub(super) findings: Vec<Finding>,
}

/// The statements of `text`, and all that is wrong with its form.
pub(super) fn parse(text: &str) -> (Vec<Table>, Vec<Finding>) {
    let (tokens, findings) = lex(text);
    let mut parser = Parser { text, tokens, position: 0, findings };
    let mut tables = Vec::new();
    while parser.peek().is_some() {
        if parser.take_symbol(";") {
            continue;
        }
        match parser.statement() {
            Ok(table) => tables.push(table),
            Err(Reported) => parser.skip_statement(),
        }
    }
    (tables, parser.findings)
}

impl<'a> Parser<'a> {
    /// `CREATE NODE TABLE name (…)` up to and including its semicolon.
    fn statement(&mut self) -> Parsed<Table> {
        self.expect_word(&["CREATE"], "`CREATE NODE TABLE` or `CREATE REL TABLE`")?;
        let is_node = self.expect_word(&["NODE", "REL"], "`NODE` or `REL`")? == "NODE";
        self.expect_word(&["TABLE"], "`TABLE`")?;
        if self.at_word("IF") && self.nth(1).is_some_and(|token| is_word(token, "NOT")) {
            let span = self.here();
            return self.fail(
                Finding::new(span, "a schema has no `IF NOT EXISTS`")
                    .with_help("leave it out: a schema says what there is to be"),
            );
        }
        let name = self.name("the name of the table")?;
        let renamed =
            if self.take_word("RENAMED") { Some(self.renamed("the name that the table has now")?) } else { None };
        let mut table = Table {
            name,
            renamed,
            is_node,
            columns: Vec::new(),
            keys: Vec::new(),
            unique: Vec::new(),
            checks: Vec::new(),
            ends: Vec::new(),
            multi: Vec::new(),
            multiplicity: Vec::new(),
            on_merge: Vec::new(),
            incomplete: false,
        };
        self.expect_symbol("(", "`(`")?;
        if self.items(&mut table) && self.peek().is_some() && !self.take_symbol(";") {
            let _: Parsed<()> = self.expected("`;`");
            self.skip_statement();
        }
        Ok(table)
    }

    /// What stands between the brackets of a table, and the closing one; whether that was found.
    fn items(&mut self, table: &mut Table) -> bool {
        while !self.take_symbol(")") {
            let start = self.position;
            let read = self.item(table);
            if read.is_ok() && (self.take_symbol(",") || self.at_symbol(")")) {
                continue;
            }
            table.incomplete = true;
            if read.is_ok() {
                let _: Parsed<()> = self.expected("`,` or `)`");
            }
            self.skip_item(start);
            if !self.take_symbol(",") && !self.at_symbol(")") {
                self.skip_statement();
                return false;
            }
        }
        true
    }

    /// Moves behind the next semicolon, or before the next `CREATE NODE` or `CREATE REL`.
    fn skip_statement(&mut self) {
        while self.peek().is_some() && !self.at_statement_end() {
            self.position += 1;
        }
        self.take_symbol(";");
    }

    /// Moves before the comma or bracket that ends the item which began at `start`.
    fn skip_item(&mut self, start: usize) {
        let read = self.tokens.get(start..self.position).unwrap_or_default();
        let mut depth = read.iter().fold(0_usize, |depth, token| match token.text {
            "(" | "[" | "{" => depth + 1,
            ")" | "]" | "}" => depth.saturating_sub(1),
            _ => depth,
        });
        while let Some(token) = self.peek() {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                "," | ")" if depth == 0 => return,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ if self.at_statement_end() => return,
                _ => {}
            }
            self.position += 1;
        }
    }

    fn at_statement_end(&self) -> bool {
        self.at_symbol(";")
            || self.at_word("CREATE")
                && self.nth(1).is_some_and(|token| is_word(token, "NODE") || is_word(token, "REL"))
                && self.nth(2).is_some_and(|token| is_word(token, "TABLE"))
    }

    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.nth(0)
    }

    /// The token `ahead` places from here.
    pub(super) fn nth(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.position + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.position += usize::from(token.is_some());
        token
    }

    /// Where the next token stands, or the end of the text.
    pub(super) fn here(&self) -> Span {
        let end = self.text.trim_end().len();
        self.peek().map_or(Span::new(end, end + 1), |token| token.span)
    }

    /// Where the last token that was read stands.
    pub(super) fn before(&self) -> Span {
        self.position.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::new(0, 0), |token| token.span)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| is_word(token, word))
    }

    pub(super) fn at_symbol(&self, symbol: &str) -> bool {
        self.peek().is_some_and(|token| is_symbol(token, symbol))
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.position += usize::from(found);
        found
    }

    pub(super) fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.at_symbol(symbol);
        self.position += usize::from(found);
        found
    }

    pub(super) fn expect_symbol(&mut self, symbol: &str, what: &str) -> Parsed<()> {
        if self.take_symbol(symbol) { Ok(()) } else { self.expected(what) }
    }

    /// One of `words`, as it is spelt there.
    pub(super) fn expect_word<'w>(&mut self, words: &[&'w str], what: &str) -> Parsed<&'w str> {
        if let Some(found) = words.iter().find(|word| self.at_word(word)) {
            self.position += 1;
            return Ok(found);
        }
        let near = self.peek().and_then(|token| nearest(token.text, words.iter().copied()));
        self.expected_but(what, near.map(|near| format!("did you mean `{near}`?")))
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            Some(token) if matches!(token.kind, TokenKind::Word | TokenKind::QuotedName) => {
                self.position += 1;
                Ok(At { value: normalized(&token.value()), span: token.span })
            }
            _ => self.expected(what),
        }
    }

    /// `FROM name`, behind `RENAMED`.
    pub(super) fn renamed(&mut self, what: &str) -> Parsed<Name> {
        self.expect_word(&["FROM"], "`FROM` after `RENAMED`")?;
        self.name(what)
    }

    /// `(a, b)`: at least one name.
    pub(super) fn names(&mut self) -> Parsed<Vec<Name>> {
        self.expect_symbol("(", "`(` and the names of properties")?;
        let mut names = vec![self.name("the name of a property")?];
        while self.take_symbol(",") {
            names.push(self.name("the name of a property")?);
        }
        self.expect_symbol(")", "`,` or `)`")?;
        Ok(names)
    }

    /// Reports that something else than the next token was expected.
    pub(super) fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        self.expected_but(what, None)
    }

    fn expected_but<T>(&mut self, what: &str, help: Option<String>) -> Parsed<T> {
        let found = match self.peek() {
            // It has been reported as what it is.
            Some(token) if token.kind == TokenKind::Invalid => return Err(Reported),
            Some(token) => format!("`{}`", token.text),
            None => "the end of the text".to_owned(),
        };
        let finding = Finding { help, ..Finding::new(self.here(), format!("expected {what}, found {found}")) };
        self.fail(finding)
    }

    pub(super) fn fail<T>(&mut self, finding: Finding) -> Parsed<T> {
        self.findings.push(finding);
        Err(Reported)
    }
}

fn is_word(token: Token<'_>, word: &str) -> bool {
    token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(word)
}

fn is_symbol(token: Token<'_>, symbol: &str) -> bool {
    token.kind == TokenKind::Symbol && token.text == symbol
}
