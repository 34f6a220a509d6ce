//! The types of properties, as they are written.

use super::ast::At;
use super::parser::{Parsed, Parser};
use crate::schema::Type;
use crate::syntax::suggest;
use crate::syntax::{Finding, Span, TokenKind, parse_integer};

/// Longer vectors are a mistake of units, and a row of them would burst a page.
const MAX_VECTOR: u32 = 65_536;

/// The types that stand alone, by name.
const PLAIN: [(&str, Type); 18] = [
    ("STRING", Type::String),
    ("BOOL", Type::Bool),
    ("INT8", Type::Int8),
    ("INT16", Type::Int16),
    ("INT32", Type::Int32),
    ("INT64", Type::Int64),
    ("UINT8", Type::UInt8),
    ("UINT16", Type::UInt16),
    ("UINT32", Type::UInt32),
    ("UINT64", Type::UInt64),
    ("FLOAT", Type::Float),
    ("DOUBLE", Type::Double),
    ("DATE", Type::Date),
    ("TIME", Type::Time),
    ("TIMESTAMP", Type::Timestamp),
    ("UUID", Type::Uuid),
    ("BLOB", Type::Blob),
    ("JSON", Type::Json),
];

/// What other databases call them.
const ELSEWHERE: [(&str, &str); 21] = [
    ("INT", "INT64"),
    ("INTEGER", "INT64"),
    ("BIGINT", "INT64"),
    ("SMALLINT", "INT16"),
    ("TINYINT", "INT8"),
    ("UINT", "UINT64"),
    ("INT128", "DECIMAL(38, 0)"),
    ("BOOLEAN", "BOOL"),
    ("TEXT", "STRING"),
    ("VARCHAR", "STRING"),
    ("CHAR", "STRING"),
    ("REAL", "FLOAT"),
    ("FLOAT32", "FLOAT"),
    ("FLOAT64", "DOUBLE"),
    ("NUMERIC", "DECIMAL"),
    ("DATETIME", "TIMESTAMP"),
    ("BYTES", "BLOB"),
    ("BYTEA", "BLOB"),
    ("MAP", "JSON"),
    ("STRUCT", "JSON"),
    ("VECTOR", "FLOAT[384]"),
];

impl Parser<'_> {
    /// A type with its brackets; `None` if it is well formed but wrong, which has been reported.
    pub(super) fn column_type(&mut self) -> Parsed<Option<At<Type>>> {
        let start = self.here();
        let Some(token) = self.peek().filter(|token| token.kind == TokenKind::Word) else {
            return self.expected("a type");
        };
        self.next();
        let plain = PLAIN.iter().find(|(name, _)| name.eq_ignore_ascii_case(token.text)).map(|(_, ty)| ty.clone());
        let mut ty = if plain.is_some() {
            plain
        } else if token.text.eq_ignore_ascii_case("DECIMAL") {
            self.decimal(start)?
        } else if token.text.eq_ignore_ascii_case("ENUM") {
            self.labels(start)?
        } else {
            self.findings.push(unknown_type(token.text, token.span));
            if self.at_symbol("(") {
                self.skip_group();
            }
            None
        };
        while self.take_symbol("[") {
            let length = match self.peek() {
                Some(token) if token.kind == TokenKind::Integer => {
                    self.next();
                    Some(At { value: token.text, span: token.span })
                }
                _ => None,
            };
            self.expect_symbol("]", "`]`")?;
            let span = start.to(self.before());
            ty = match (ty, length) {
                (None, _) => None,
                (Some(Type::Float), Some(length)) => self.vector(&length),
                (Some(element), Some(length)) => {
                    let finding = Finding::new(span, format!("only FLOAT makes vectors, not {element}"));
                    self.findings
                        .push(finding.with_help(format!("write FLOAT[{}], or {element}[] for a list", length.value)));
                    None
                }
                (Some(element), None) => self.list(element, span),
            };
        }
        Ok(ty.map(|ty| At { value: ty, span: start.to(self.before()) }))
    }

    fn list(&mut self, element: Type, span: Span) -> Option<Type> {
        if matches!(element, Type::List(_) | Type::Vector(_) | Type::Json) {
            let finding = Finding::new(span, format!("a list cannot hold {element}: its elements must be scalar"));
            self.findings.push(finding.with_help("JSON holds documents of any shape"));
            return None;
        }
        Some(Type::List(Box::new(element)))
    }

    fn vector(&mut self, length: &At<&str>) -> Option<Type> {
        if let Some(length @ 1..=MAX_VECTOR) = parse_integer(length.value).and_then(|length| u32::try_from(length).ok())
        {
            return Some(Type::Vector(length));
        }
        let message = format!("a vector has 1 to {MAX_VECTOR} elements, not {}", length.value);
        self.findings.push(Finding::new(length.span, message));
        None
    }

    /// `(p, s)` after `DECIMAL`.
    fn decimal(&mut self, start: Span) -> Parsed<Option<Type>> {
        if !self.at_symbol("(") {
            return self.expected("`(` with precision and scale, such as DECIMAL(18, 2)");
        }
        self.next();
        let precision = self.number("the precision")?;
        let scale = if self.take_symbol(",") { self.number("the scale")? } else { At { value: 0, span: start } };
        self.expect_symbol(")", "`)`")?;
        if !(1..=38).contains(&precision.value) {
            let message = format!("the precision of a DECIMAL is 1 to 38, not {}", precision.value);
            self.findings.push(Finding::new(precision.span, message));
            return Ok(None);
        }
        if scale.value > precision.value {
            let message = format!("the scale {} is larger than the precision {}", scale.value, precision.value);
            self.findings.push(Finding::new(scale.span, message));
            return Ok(None);
        }
        let narrow = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        Ok(Some(Type::Decimal { precision: narrow(precision.value), scale: narrow(scale.value) }))
    }

    fn number(&mut self, what: &str) -> Parsed<At<u32>> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Integer => {
                self.next();
                let value = parse_integer(token.text).and_then(|value| u32::try_from(value).ok()).unwrap_or(u32::MAX);
                Ok(At { value, span: token.span })
            }
            _ => self.expected(what),
        }
    }

    /// `('a', 'b')` after `ENUM`.
    fn labels(&mut self, start: Span) -> Parsed<Option<Type>> {
        self.expect_symbol("(", "`(` and labels, such as ENUM('open', 'closed')")?;
        let mut labels: Vec<String> = Vec::new();
        let mut good = true;
        while !self.take_symbol(")") {
            let Some(token) = self.peek().filter(|token| token.kind == TokenKind::String) else {
                return self.expected("a label between quotes");
            };
            self.next();
            let label = token.value();
            if label.is_empty() {
                self.findings.push(Finding::new(token.span, "a label is empty"));
                good = false;
            } else if labels.contains(&label) {
                self.findings.push(Finding::new(token.span, format!("the label '{label}' is given twice")));
                good = false;
            } else {
                labels.push(label);
            }
            if !self.take_symbol(",") && !self.at_symbol(")") {
                return self.expected("`,` or `)`");
            }
        }
        if labels.is_empty() && good {
            self.findings.push(Finding::new(start.to(self.before()), "an ENUM needs at least one label"));
            good = false;
        }
        Ok(good.then_some(Type::Enum(labels)))
    }

    /// Moves behind the bracket that closes the one that comes next.
    fn skip_group(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.peek().filter(|token| token.text != ";") {
            match token.text {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.next();
            if depth == 0 {
                return;
            }
        }
    }
}

fn unknown_type(text: &str, span: Span) -> Finding {
    let finding = Finding::new(span, format!("there is no type `{text}`"));
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(text)) {
        return finding.with_help(format!("write {ours}"));
    }
    if text.eq_ignore_ascii_case("SERIAL") {
        return finding.with_help("keys are given by whoever writes the row: use INT64, STRING or UUID");
    }
    suggest(finding, text, PLAIN.iter().map(|(name, _)| *name).chain(["DECIMAL", "ENUM"]))
}
