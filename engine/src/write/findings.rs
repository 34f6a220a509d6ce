//! Rules between rows that are broken: found as lines and addresses, told with keys and values.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::error::Error;
use crate::graph::Core;
use crate::publish::Snapshot;
use crate::write::WriteError;
use crate::write::input::{Input, Numbering};
use crate::write::lookup::{Lookup, rows_at};
use crate::write::row::Row;
use crate::write::shape::TableShape;
use crate::write::spool::split_lines;
use crate::write::violation::{Violation, Violations, shorten};

/// Findings of one reason that are told in full.
const FULL: usize = 100;

/// A row, by where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Of the input.
    Line(u64),
    /// Stored, at this address.
    Stored(u64),
}

impl Place {
    fn line(self) -> Option<u64> {
        match self {
            Self::Line(line) => Some(line),
            Self::Stored(_) => None,
        }
    }
}

/// One broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Two lines have one key.
    DuplicateKey { table: usize, first: u64, line: u64 },
    /// A row to be new has the key of a stored one.
    KeyExists { table: usize, line: u64 },
    /// A row has the values of another where that is not allowed.
    Unique { table: usize, rule: usize, line: u64, other: Place },
    /// A node has a second edge where it may have one.
    Cardinality { table: usize, side: u8, line: u64, other: Place },
    /// An edge has an end that does not exist.
    Dangling { table: usize, side: u8, node: usize, place: Place },
}

impl Finding {
    /// Findings of one reason have equal ones.
    fn reason(&self) -> (u8, usize, usize) {
        match *self {
            Self::DuplicateKey { table, .. } => (0, table, 0),
            Self::KeyExists { table, .. } => (1, table, 0),
            Self::Unique { table, rule, .. } => (2, table, rule),
            Self::Cardinality { table, side, .. } => (3, table, side.into()),
            Self::Dangling { table, side, .. } => (4, table, side.into()),
        }
    }

    fn table(&self) -> usize {
        self.reason().1
    }

    fn place(&self) -> Place {
        match *self {
            Self::DuplicateKey { line, .. }
            | Self::KeyExists { line, .. }
            | Self::Unique { line, .. }
            | Self::Cardinality { line, .. } => Place::Line(line),
            Self::Dangling { place, .. } => place,
        }
    }

    /// The rows whose values the message tells.
    fn places(&self) -> impl Iterator<Item = Place> {
        let other = match *self {
            Self::Unique { other, .. } | Self::Cardinality { other, .. } => Some(other),
            _ => None,
        };
        std::iter::once(self.place()).chain(other)
    }
}

/// Findings in bounded memory: of each reason those of the lowest lines, all counted.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    reasons: BTreeMap<(u8, usize, usize), OfReason>,
}

#[derive(Debug, Default)]
struct OfReason {
    count: u64,
    lines: RoaringTreemap,
    first: BTreeMap<Place, Finding>,
}

impl Findings {
    /// Takes a finding in.
    pub(crate) fn push(&mut self, finding: Finding) {
        let of = self.reasons.entry(finding.reason()).or_default();
        of.count += 1;
        let place = finding.place();
        of.lines.extend(place.line());
        if of.first.len() < FULL || of.first.last_key_value().is_some_and(|(last, _)| *last > place) {
            of.first.insert(place, finding);
            if of.first.len() > FULL {
                of.first.pop_last();
            }
        }
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Puts the findings into words.
    pub(crate) async fn describe(
        &self,
        core: &Arc<Core>,
        at: &Snapshot,
        input: &Input,
        lookups: &[Lookup],
    ) -> Result<Violations, Error> {
        let rows = self.rows(core, at, input, lookups).await?;
        let mut violations = Violations::default();
        for of in self.reasons.values() {
            let mut last = None;
            for finding in of.first.values() {
                if let Some(violation) = put(finding, input, &rows) {
                    violations.push(&violation);
                    last = Some(violation);
                }
            }
            if let Some(like) = last {
                violations.count_more(&like, &of.lines, of.count.saturating_sub(of.first.len() as u64));
            }
        }
        Ok(violations)
    }

    /// The rows that messages tell of, by table.
    async fn rows(
        &self,
        core: &Arc<Core>,
        at: &Snapshot,
        input: &Input,
        lookups: &[Lookup],
    ) -> Result<BTreeMap<(usize, Place), Row>, Error> {
        let mut wanted: BTreeMap<usize, (RoaringTreemap, RoaringTreemap)> = BTreeMap::new();
        for finding in self.reasons.values().flat_map(|of| of.first.values()) {
            let (lines, addresses) = wanted.entry(finding.table()).or_default();
            for place in finding.places() {
                match place {
                    Place::Line(line) => lines.insert(line),
                    Place::Stored(address) => addresses.insert(address),
                };
            }
        }
        let mut rows = BTreeMap::new();
        for (table, (lines, addresses)) in wanted {
            let Some(shape) = input.shapes.tables.get(table) else { continue };
            for (line, row) in spooled_rows(input, table, shape, &lines)? {
                rows.insert((table, Place::Line(line)), row);
            }
            let lookup = lookups.iter().find(|lookup| lookup.table == table);
            if let (false, Some(lookup)) = (addresses.is_empty(), lookup) {
                let open = core.open_table(at, &shape.layout.table).await?;
                let columns = shape.checked_columns(&input.shapes.spaces);
                let stored = rows_at(&open, shape, lookup.filter.clone(), columns, &addresses).await?;
                rows.extend(stored.into_iter().map(|(address, row)| ((table, Place::Stored(address)), row)));
            }
        }
        Ok(rows)
    }
}

fn spooled_rows(
    input: &Input,
    table: usize,
    shape: &TableShape,
    wanted: &RoaringTreemap,
) -> Result<Vec<(u64, Row)>, WriteError> {
    let Some(spooled) = input.rows.get(&table).filter(|_| !wanted.is_empty()) else { return Ok(Vec::new()) };
    let columns: Vec<_> = (0..shape.layout.columns.len()).collect();
    let mut rows = Vec::new();
    for batch in spooled.batches()? {
        let fault = |source| WriteError::Columns { table: shape.name().to_owned(), source };
        let (batch, lines) = split_lines(&batch?, &shape.layout.arrow).map_err(fault)?;
        for (at, line) in lines.values().iter().enumerate() {
            if wanted.contains(*line) {
                rows.push((*line, Row::read(shape, &columns, &batch, at)));
            }
        }
    }
    Ok(rows)
}

fn put(finding: &Finding, input: &Input, rows: &BTreeMap<(usize, Place), Row>) -> Option<Violation> {
    let shapes = &input.shapes;
    let table = finding.table();
    let shape = shapes.tables.get(table)?;
    let row = rows.get(&(table, finding.place()));
    let text = |space: usize| row.map(|row| shorten(&row.text(shapes, shape, space)));
    let key = || text(shape.key).unwrap_or_else(|| "?".into());
    let other = |place: Place| match place {
        Place::Line(line) => match input.numbering {
            Numbering::Told => format!("line {line}"),
            Numbering::Statement => match rows.get(&(table, place)) {
                Some(row) => format!("the row {} of the statement", shorten(&row.text(shapes, shape, shape.key))),
                None => "another row of the statement".into(),
            },
        },
        place @ Place::Stored(_) => match rows.get(&(table, place)) {
            Some(row) => format!("the stored row {}", shorten(&row.text(shapes, shape, shape.key))),
            None => "a stored row".into(),
        },
    };
    let violation = |code, property: Option<String>, found, expected| Violation {
        property,
        found,
        ..input.violation(code, finding.place().line(), table, expected)
    };
    Some(match *finding {
        Finding::DuplicateKey { first, line, .. } => {
            let expected = match input.numbering {
                Numbering::Told => format!("the key {} is on lines {first} and {line}", key()),
                Numbering::Statement => format!("the statement makes more than one row with the key {}", key()),
            };
            violation("duplicate-key", None, None, expected)
        }
        Finding::KeyExists { .. } => {
            violation("key-exists", None, None, format!("a row with the key {} exists", key()))
        }
        Finding::Unique { rule, other: place, .. } => {
            let space = shape.unique.get(rule).copied()?;
            let columns = shapes.columns_of(space).iter();
            let names: Vec<_> = columns.filter_map(|column| shape.property_at(*column)).collect();
            let expected = format!("a value that no other row has (UNIQUE): {} has it", other(place));
            violation("unique", Some(names.join(", ")), text(space), expected)
        }
        Finding::Cardinality { side, other: place, .. } => {
            let ends = shape.ends?;
            let (end, word) = if side == 0 { (ends.from, "start") } else { (ends.to, "end") };
            let expected = format!("at most one edge per {word} node: {} is one", other(place));
            violation("cardinality", Some(side_name(side).into()), text(end.space), expected)
        }
        Finding::Dangling { side, node, place, .. } => {
            let ends = shape.ends?;
            let end = if side == 0 { ends.from } else { ends.to };
            let node = shapes.tables.get(node).map_or("node", TableShape::name);
            let edge = match place {
                Place::Line(_) => String::new(),
                Place::Stored(_) => format!(" of the stored edge {}", key()),
            };
            violation(
                "dangling-edge",
                Some(side_name(side).into()),
                text(end.space),
                format!("the key of a {node}{edge}"),
            )
        }
    })
}

fn side_name(side: u8) -> &'static str {
    if side == 0 { "from" } else { "to" }
}
