//! What stands between the brackets of a table: properties, keys, conditions and the ends of edges.

use super::ast::{At, Column, Literal, LiteralKind, Name, Table};
use super::parser::{Parsed, Parser, Reported};
use crate::schema::{MergePolicy, Multiplicity, OnMerge};
use crate::syntax::nearest;
use crate::syntax::{Finding, Span, TokenKind, parse_integer, plain_float};

const MULTIPLICITIES: [(&str, Multiplicity); 4] = [
    ("MANY_MANY", Multiplicity::ManyMany),
    ("MANY_ONE", Multiplicity::ManyOne),
    ("ONE_MANY", Multiplicity::OneMany),
    ("ONE_ONE", Multiplicity::OneOne),
];

const POLICIES: [(&str, MergePolicy); 5] = [
    ("sum", MergePolicy::Sum),
    ("max", MergePolicy::Max),
    ("min", MergePolicy::Min),
    ("union", MergePolicy::Union),
    ("last_writer", MergePolicy::LastWriter),
];

const OPTIONS: [&str; 8] = ["NOT NULL", "DEFAULT", "PRIMARY KEY", "KEY", "UNIQUE", "CHECK", "MERGE", "RENAMED FROM"];

impl Parser<'_> {
    /// One item of a table. Every word here is a name elsewhere: what follows it decides.
    pub(super) fn item(&mut self, table: &mut Table) -> Parsed<()> {
        let start = self.here();
        let opens = |parser: &Self, ahead| parser.nth(ahead).is_some_and(|token| token.text == "(");
        let ends = |parser: &Self| parser.nth(1).is_none_or(|token| matches!(token.text, "," | ")" | ";"));
        if self.at_word("FROM") && self.nth(2).is_some_and(|token| token.text.eq_ignore_ascii_case("TO")) {
            self.next();
            let from = self.name("the name of a node table")?;
            self.next();
            let to = self.name("the name of a node table")?;
            table.ends.push(At { value: (from, to), span: start.to(self.before()) });
        } else if self.at_word("PRIMARY") && self.nth(1).is_some_and(|token| token.text.eq_ignore_ascii_case("KEY")) {
            self.next();
            self.next();
            let value = self.names()?;
            table.keys.push(At { value, span: start.to(self.before()) });
        } else if self.at_word("KEY") && opens(self, 1) {
            self.next();
            let value = self.names()?;
            table.keys.push(At { value, span: start.to(self.before()) });
        } else if self.at_word("UNIQUE") && opens(self, 1) {
            self.next();
            let value = self.names()?;
            table.unique.push(At { value, span: start.to(self.before()) });
        } else if self.at_word("CHECK") && opens(self, 1) {
            self.next();
            let check = self.condition()?;
            table.checks.push(check);
        } else if self.at_word("ON") && self.nth(1).is_some_and(|token| token.text.eq_ignore_ascii_case("MERGE")) {
            self.next();
            self.next();
            let word = self.expect_word(&["CASCADE", "KEEP"], "`CASCADE` or `KEEP` after `ON MERGE`")?;
            let value = if word == "KEEP" { OnMerge::Keep } else { OnMerge::Cascade };
            table.on_merge.push(At { value, span: start.to(self.before()) });
        } else if self.at_word("MULTI") && ends(self) {
            self.next();
            table.multi.push(start);
        } else if let Some((_, value)) = MULTIPLICITIES.iter().find(|(word, _)| self.at_word(word) && ends(self)) {
            self.next();
            table.multiplicity.push(At { value: *value, span: start });
        } else {
            self.column(table)?;
        }
        Ok(())
    }

    /// `name TYPE option…`.
    fn column(&mut self, table: &mut Table) -> Parsed<()> {
        let name = self.name("a property, a key or a condition")?;
        if !table.is_node && matches!(self.peek().map(|token| token.text), Some("," | ")")) {
            let words = MULTIPLICITIES.iter().map(|(word, _)| *word).chain(["MULTI"]);
            if let Some(near) = nearest(&name.value, words) {
                let finding = Finding::new(name.span, format!("expected a property, found `{}`", name.value));
                return self.fail(finding.with_help(format!("did you mean `{near}`?")));
            }
        }
        let ty = self.column_type()?;
        let mut column = Column { name, ty, not_null: None, default: None, merge: None, renamed: None };
        let options = self.options(&mut column, table);
        table.columns.push(column);
        options
    }

    fn options(&mut self, column: &mut Column, table: &mut Table) -> Parsed<()> {
        while let Some(token) = self.peek().filter(|token| !matches!(token.text, "," | ")" | ";")) {
            let start = token.span;
            if self.take_word("NOT") {
                self.expect_word(&["NULL"], "`NULL` after `NOT`")?;
                self.once(column.not_null.replace(start), start, "NOT NULL");
            } else if self.take_word("DEFAULT") {
                let value = self.literal()?;
                let earlier = column.default.replace(value).map(|literal| literal.span);
                self.once(earlier, start, "DEFAULT");
            } else if self.take_word("MERGE") {
                let policy = self.policy()?;
                let earlier = column.merge.replace(policy).map(|policy| policy.span);
                self.once(earlier, start, "MERGE");
            } else if self.take_word("RENAMED") {
                let name = self.renamed("the name that the property has now")?;
                let earlier = column.renamed.replace(name).map(|name| name.span);
                self.once(earlier, start, "RENAMED FROM");
            } else if self.take_word("PRIMARY") {
                self.expect_word(&["KEY"], "`KEY` after `PRIMARY`")?;
                table.keys.push(At { value: vec![column.name.clone()], span: start.to(self.before()) });
            } else if self.take_word("KEY") {
                table.keys.push(At { value: vec![column.name.clone()], span: start });
            } else if self.take_word("UNIQUE") {
                table.unique.push(At { value: vec![column.name.clone()], span: start });
            } else if self.take_word("CHECK") {
                let check = self.condition()?;
                table.checks.push(check);
            } else if token.kind == TokenKind::Invalid {
                return Err(Reported);
            } else {
                let help = nearest(token.text, OPTIONS).map(|near| format!("did you mean `{near}`?"));
                let found = token.text;
                let finding =
                    Finding::new(start, format!("expected `,`, `)` or an option of the property, found `{found}`"));
                return self.fail(Finding { help, ..finding });
            }
        }
        Ok(())
    }

    fn once(&mut self, earlier: Option<Span>, span: Span, what: &str) {
        if earlier.is_some() {
            self.findings.push(Finding::new(span, format!("{what} is given twice")));
        }
    }

    fn policy(&mut self) -> Parsed<At<MergePolicy>> {
        let words: Vec<&str> = POLICIES.iter().map(|(word, _)| *word).collect();
        let word = self.expect_word(&words, "`sum`, `max`, `min`, `union` or `last_writer`")?;
        let policy =
            POLICIES.iter().find(|(known, _)| *known == word).map_or(MergePolicy::LastWriter, |(_, policy)| *policy);
        Ok(At { value: policy, span: self.before() })
    }

    /// `(…)`: the text between the brackets, whatever it is.
    fn condition(&mut self) -> Parsed<At<String>> {
        self.expect_symbol("(", "`(` and a condition")?;
        let start = self.before().end;
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match token.map(|token| token.text) {
                Some("(" | "[" | "{") => depth += 1,
                Some(")") if depth == 0 => break,
                Some(")" | "]" | "}") => depth = depth.saturating_sub(1),
                Some(";") | None => return self.expected("`)` at the end of the condition"),
                Some(_) => {}
            }
            self.next();
        }
        let end = self.here().start;
        self.next();
        let inner = self.text.get(start..end).unwrap_or_default();
        let lead = inner.len() - inner.trim_start().len();
        let span = Span::new(start + lead, start + lead + inner.trim().len());
        Ok(At { value: inner.trim().to_owned(), span })
    }

    /// A value after `DEFAULT`.
    fn literal(&mut self) -> Parsed<Literal> {
        let start = self.here();
        let kind = if self.take_symbol("[") {
            let mut items = Vec::new();
            while !self.take_symbol("]") {
                items.push(self.literal_item()?);
                if !self.take_symbol(",") && !self.at_symbol("]") {
                    return self.expected("`,` or `]`");
                }
            }
            LiteralKind::List(items)
        } else {
            return self.literal_item();
        };
        Ok(At { value: kind, span: start.to(self.before()) })
    }

    /// A value that is no list: a list of lists has no type.
    fn literal_item(&mut self) -> Parsed<Literal> {
        let start = self.here();
        let minus = self.take_symbol("-");
        let plus = !minus && self.take_symbol("+");
        let Some(token) = self.peek() else { return self.expected("a value") };
        let sign = if minus { "-" } else { "" };
        let word = token.text.to_ascii_lowercase();
        let kind = match token.kind {
            TokenKind::Integer => match parse_integer(token.text) {
                Some(value) => LiteralKind::Integer(if minus { -value } else { value }),
                None => return self.fail(Finding::new(token.span, "the number is too large")),
            },
            TokenKind::Float => LiteralKind::Float(format!("{sign}{}", plain_float(token.text))),
            TokenKind::Word if matches!(word.as_str(), "inf" | "infinity") => {
                LiteralKind::Float(format!("{sign}Infinity"))
            }
            TokenKind::Word if word == "nan" => LiteralKind::Float("NaN".to_owned()),
            _ if minus || plus => return self.expected("a number"),
            TokenKind::String => LiteralKind::String(token.value()),
            TokenKind::Word if word == "null" => LiteralKind::Null,
            TokenKind::Word if matches!(word.as_str(), "true" | "false") => LiteralKind::Bool(word == "true"),
            TokenKind::Word if self.nth(1).is_some_and(|next| next.text == "(") => return self.literal_call(),
            _ => return self.expected("a value"),
        };
        self.next();
        Ok(At { value: kind, span: start.to(self.before()) })
    }

    /// `date('…')`.
    fn literal_call(&mut self) -> Parsed<Literal> {
        let name: Name = self.name("a function")?;
        self.expect_symbol("(", "`(`")?;
        let Some(argument) = self.peek().filter(|token| token.kind == TokenKind::String) else {
            return self.expected("a string");
        };
        self.next();
        self.expect_symbol(")", "`)`")?;
        let span = name.span.to(self.before());
        Ok(At { value: LiteralKind::Call(name, argument.value()), span })
    }
}
