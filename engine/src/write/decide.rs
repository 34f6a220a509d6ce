//! What becomes of every row of an input: the keys of a table decide which rows are new, replace others, or say nothing new.

use std::collections::{BTreeMap, HashMap};
use std::io;

use roaring::RoaringTreemap;

use crate::graph::TableCounts;
use crate::write::facts::{Fact, What};
use crate::write::findings::{Finding, Findings, Place};
use crate::write::groups::{Group, for_each_group, for_each_unmet};
use crate::write::input::Input;
use crate::write::lookup::Stored;

/// What becomes of a table.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Lines whose rows are written.
    pub keep: RoaringTreemap,
    /// Addresses of stored rows that go.
    pub remove: RoaringTreemap,
    /// All stored rows go.
    pub remove_all: bool,
    /// For the report.
    pub counts: TableCounts,
}

impl Outcome {
    /// Whether anything is to be written.
    pub(crate) fn changes(&self) -> bool {
        !self.keep.is_empty() || !self.remove.is_empty() || self.remove_all
    }
}

/// What becomes of all tables.
pub(crate) type Outcomes = BTreeMap<usize, Outcome>;

/// Decides the keys of all tables of the input. `rows` gives the live rows of a table.
pub(crate) fn decide(
    input: &Input,
    stored: &Stored,
    rows: impl Fn(usize) -> u64,
    findings: &mut Findings,
) -> io::Result<Outcomes> {
    let mut outcomes = Outcomes::new();
    for (table, shape) in input.shapes.tables.iter().enumerate() {
        let mut outcome = Outcome::default();
        outcome.counts.read = input.read.get(&table).copied().unwrap_or_default();
        if input.overwrite.contains(&table) {
            outcome.remove_all = rows(table) > 0;
            outcome.counts.removed = rows(table);
        }
        let cuts = Cuts { table, stored: &stored.cuts, put: &input.cuts };
        let sources = input.facts.get(&shape.key).into_iter().chain(stored.facts.get(&shape.key).into_iter().flatten());
        for_each_group(sources, |group| decide_key(group, &cuts, &mut outcome, findings))?;
        if let Some(detached) = stored.detached.get(&table) {
            outcome.counts.removed += detached.len();
            outcome.remove |= detached;
        }
        if outcome.changes() || outcome.counts.read > 0 {
            outcomes.insert(table, outcome);
        }
    }
    Ok(outcomes)
}

/// When edges of a table go because an end is deleted with all its edges.
struct Cuts<'a> {
    table: usize,
    /// By address.
    stored: &'a HashMap<(usize, u64), u64>,
    /// By the line they are put on.
    put: &'a HashMap<(usize, u64), u64>,
}

impl Cuts<'_> {
    /// The line on which a row goes with an end of it; `None`: never.
    fn line(&self, row: &Fact) -> Option<u64> {
        let cuts = if row.what == What::Stored { self.stored } else { self.put };
        cuts.get(&(self.table, row.at)).copied()
    }
}

/// The row of one key at a line of the input.
#[derive(Clone, Copy)]
enum Now {
    /// There is none.
    Nothing,
    /// The stored one, until this line.
    Stored(Option<u64>),
    /// The one put here.
    Put(Fact),
}

/// Decides one key, whose facts are `group`: the operations take effect in the order of their lines.
fn decide_key(group: &mut Group<'_>, cuts: &Cuts<'_>, outcome: &mut Outcome, findings: &mut Findings) {
    let table = cuts.table;
    // More than one only where the graph is damaged.
    let mut stored: Vec<Fact> = Vec::new();
    let mut now = Now::Nothing;
    let at = |now: &mut Now, line: u64, outcome: &mut Outcome| match now {
        Now::Stored(Some(cut)) if *cut <= line => *now = Now::Nothing,
        Now::Put(row) if cuts.line(row).is_some_and(|cut| cut <= line) => {
            outcome.counts.duplicates += 1;
            *now = Now::Nothing;
        }
        _ => {}
    };
    for fact in group {
        if fact.what != What::Stored {
            at(&mut now, fact.at, outcome);
        }
        match fact.what {
            What::Stored => {
                stored.push(fact);
                now = Now::Stored(stored.iter().filter_map(|row| cuts.line(row)).min());
            }
            What::Insert => match now {
                Now::Put(first) => findings.push(Finding::DuplicateKey { table, first: first.at, line: fact.at }),
                Now::Stored(_) => findings.push(Finding::KeyExists { table, line: fact.at }),
                Now::Nothing => now = Now::Put(fact),
            },
            What::Upsert | What::Delete | What::DeleteDetach => {
                outcome.counts.duplicates += u64::from(matches!(now, Now::Put(_)));
                now = if fact.what == What::Upsert { Now::Put(fact) } else { Now::Nothing };
            }
            What::InputNeeds | What::StoredNeeds => {}
        }
    }
    at(&mut now, u64::MAX, outcome);
    let addresses = stored.iter().map(|row| row.at);
    match now {
        Now::Stored(_) => {}
        Now::Nothing => {
            outcome.counts.removed += stored.len() as u64;
            outcome.remove.extend(addresses);
        }
        Now::Put(row) => match stored.as_slice() {
            // One that went with an end is not the one that is put later, whatever it says.
            [same] if same.hash == row.hash && cuts.line(same).is_none() => outcome.counts.unchanged += 1,
            [] => {
                outcome.keep.insert(row.at);
                outcome.counts.inserted += 1;
            }
            _ => {
                outcome.keep.insert(row.at);
                outcome.counts.updated += 1;
                outcome.remove.extend(addresses);
            }
        },
    }
}

/// Finds edges that would lack an end. Those that go with an end are gone already.
pub(crate) fn check_ends(
    input: &Input,
    stored: &Stored,
    outcomes: &Outcomes,
    findings: &mut Findings,
) -> io::Result<()> {
    for (node, shape) in input.shapes.tables.iter().enumerate() {
        if shape.ends.is_some() {
            continue;
        }
        let sources = input.facts.get(&shape.key).into_iter().chain(stored.facts.get(&shape.key).into_iter().flatten());
        let outcome = outcomes.get(&node);
        // A row that says nothing new is not kept, but what it says is stored.
        let is_there = |group: &mut Group<'_>| {
            group.any(|fact| match fact.what {
                What::Stored => outcome.is_none_or(|outcome| !outcome.remove.contains(fact.at)),
                What::Insert | What::Upsert => outcome.is_some_and(|outcome| outcome.keep.contains(fact.at)),
                _ => false,
            })
        };
        for_each_unmet(sources, is_there, |need| {
            let table = usize::from(need.table);
            let edges = outcomes.get(&table);
            let (place, stands) = match need.what {
                What::InputNeeds => (Place::Line(need.at), edges.is_some_and(|edges| edges.keep.contains(need.at))),
                _ => (
                    Place::Stored(need.at),
                    edges.is_none_or(|edges| !edges.remove_all && !edges.remove.contains(need.at)),
                ),
            };
            if stands {
                findings.push(Finding::Dangling { table, side: need.side, node, place });
            }
        })?;
    }
    Ok(())
}

/// Finds tuples that would occur twice where they may occur once: `UNIQUE`, and edges per node.
pub(crate) fn check_tuples(
    input: &Input,
    stored: &Stored,
    outcomes: &Outcomes,
    findings: &mut Findings,
) -> io::Result<()> {
    for (table, shape) in input.shapes.tables.iter().enumerate() {
        let Some(outcome) = outcomes.get(&table) else { continue };
        let unique = shape.unique.iter().enumerate().map(|(rule, space)| (*space, Rule::Unique(rule)));
        let limited = shape.ends.iter().flat_map(|ends| [(0, ends.from), (1, ends.to)]);
        let limited = limited.filter(|(_, end)| end.at_most_one).map(|(side, end)| (end.space, Rule::AtMostOne(side)));
        for (space, rule) in unique.chain(limited) {
            let Some(facts) = input.facts.get(&space) else { continue };
            let sources = std::iter::once(facts).chain(stored.facts.get(&space).into_iter().flatten());
            for_each_group(sources, |group| check_tuple(group, table, rule, outcome, findings))?;
        }
    }
    Ok(())
}

/// What a tuple may break by occurring twice.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// The `UNIQUE` of this number.
    Unique(usize),
    /// The multiplicity on this side.
    AtMostOne(u8),
}

fn check_tuple(group: &mut Group<'_>, table: usize, rule: Rule, outcome: &Outcome, findings: &mut Findings) {
    // Stored rows come first.
    let mut first = None;
    for fact in group {
        let (place, stands) = match fact.what {
            What::Stored => (Place::Stored(fact.at), !outcome.remove.contains(fact.at)),
            _ => (Place::Line(fact.at), fact.what.is_input_row() && outcome.keep.contains(fact.at)),
        };
        if !stands {
            continue;
        }
        match (first, place) {
            (None, place) => first = Some(place),
            (Some(other), Place::Line(line)) => findings.push(match rule {
                Rule::Unique(rule) => Finding::Unique { table, rule, line, other },
                Rule::AtMostOne(side) => Finding::Cardinality { table, side, line, other },
            }),
            (Some(_), Place::Stored(_)) => {}
        }
    }
}
