//! An input, read once: its rows spooled, and the facts about them that every evaluation starts from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, Read as _};
use std::sync::Arc;

use crate::ids::ChangeId;
use crate::write::WriteError;
use crate::write::chunk::{Chunk, Detached, Probes};
use crate::write::facts::{Bloom, Facts, PARTITIONS, What};
use crate::write::jsonl::{EdgeIds, LineParser};
use crate::write::pool::Pool;
use crate::write::shape::Shapes;
use crate::write::spool::{SpoolWriter, Spooled};
use crate::write::violation::{Violation, Violations};

/// Bytes of facts that are held in memory, whatever the number of tables.
const FACTS_IN_MEMORY: usize = 96 * 1024 * 1024;
/// Bytes of lines that are parsed at a time by one thread.
const CHUNK: u64 = 1024 * 1024;
/// The longest line that is read.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;
/// Threads that parse.
const MOST_THREADS: usize = 8;

/// What the lines of an input are to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Numbering {
    /// Lines or operations that the caller wrote, and can find by their number.
    #[default]
    Told,
    /// Operations that a statement came to: messages name rows by what they are.
    Statement,
}

/// All that an evaluation needs of an input; the same however often it is evaluated.
#[derive(Debug)]
pub(crate) struct Input {
    /// The tables the input was read for.
    pub shapes: Arc<Shapes>,
    /// The input, as its caller named it.
    pub source: Arc<str>,
    /// What its lines are.
    pub numbering: Numbering,
    /// The change that stands in the rows.
    pub change: ChangeId,
    /// Tables that lose all their former rows.
    pub overwrite: BTreeSet<usize>,
    /// Rows by table.
    pub read: BTreeMap<usize, u64>,
    /// Tables with an operation, whatever it comes to: that a deletion finds nothing depends on the table too.
    pub touched: BTreeSet<usize>,
    /// The rows.
    pub rows: BTreeMap<usize, Spooled>,
    /// Facts by space.
    pub facts: BTreeMap<usize, Facts>,
    /// The digests of those facts.
    pub blooms: BTreeMap<usize, Bloom>,
    /// What is to be looked up, by space.
    pub probes: BTreeMap<usize, Probes>,
    /// The keys of deleted nodes, by table, and their digests.
    pub deleted: BTreeMap<usize, (Probes, Bloom)>,
    /// Which of them go with their edges.
    pub detached: BTreeMap<usize, Detached>,
    /// The edges put before one of their ends is deleted with its edges: (table, line) → the line of the first such deletion.
    pub cuts: HashMap<(usize, u64), u64>,
    /// What is wrong with single lines.
    pub violations: Violations,
    /// Where facts are kept.
    pub pool: Arc<Pool>,
}

/// Gathers chunks into an input.
pub(crate) struct InputBuilder {
    shapes: Arc<Shapes>,
    source: Arc<str>,
    change: ChangeId,
    spool: SpoolWriter,
    pool: Arc<Pool>,
    facts: BTreeMap<usize, Facts>,
    probes: BTreeMap<usize, Probes>,
    deleted: BTreeMap<usize, Probes>,
    detached: BTreeMap<usize, Detached>,
    touched: BTreeSet<usize>,
    read: BTreeMap<usize, u64>,
    violations: Violations,
}

impl InputBuilder {
    /// An empty input.
    pub(crate) fn new(shapes: Arc<Shapes>, source: Arc<str>, change: ChangeId) -> Self {
        Self {
            shapes,
            source,
            change,
            spool: SpoolWriter::default(),
            pool: Pool::new(FACTS_IN_MEMORY),
            facts: BTreeMap::new(),
            probes: BTreeMap::new(),
            deleted: BTreeMap::new(),
            detached: BTreeMap::new(),
            touched: BTreeSet::new(),
            read: BTreeMap::new(),
            violations: Violations::default(),
        }
    }

    /// The tables the input is read for.
    pub(crate) fn shapes(&self) -> &Arc<Shapes> {
        &self.shapes
    }

    /// Takes a chunk in. Chunks come in the order of their lines.
    pub(crate) fn add(&mut self, mut chunk: Chunk) -> Result<(), WriteError> {
        for (table, batch) in chunk.take_batches(&self.shapes)? {
            self.spool.push(table, batch)?;
        }
        for (space, fact) in &chunk.facts {
            let facts = self.facts.entry(*space).or_insert_with(|| Facts::new(&self.pool));
            facts.push(fact).map_err(|source| WriteError::Temporary { source })?;
        }
        chunk.probes.into_iter().for_each(|(space, probes)| self.probes.entry(space).or_default().extend(probes));
        chunk.deleted.into_iter().for_each(|(table, keys)| self.deleted.entry(table).or_default().extend(keys));
        for (table, keys) in chunk.detached {
            let all = self.detached.entry(table).or_default();
            for (digest, lines) in keys {
                all.entry(digest).or_default().extend(lines);
            }
        }
        self.touched.extend(chunk.touched);
        chunk.read.into_iter().for_each(|(table, rows)| *self.read.entry(table).or_default() += rows);
        self.violations.extend(chunk.violations);
        Ok(())
    }

    /// Ends the reading. With `overwrite`, every table that has rows here loses its former ones.
    pub(crate) fn finish(self, overwrite: bool) -> Result<Input, WriteError> {
        self.finish_numbered(overwrite, Numbering::default())
    }

    /// As [`Self::finish`], of an input whose lines are something else than lines.
    pub(crate) fn finish_numbered(self, overwrite: bool, numbering: Numbering) -> Result<Input, WriteError> {
        let io = |source| WriteError::Temporary { source };
        let mut blooms = BTreeMap::new();
        for (space, facts) in &self.facts {
            blooms.insert(*space, facts.bloom(|_| true).map_err(io)?);
        }
        let cuts = self.cuts().map_err(io)?;
        let mut deleted = BTreeMap::new();
        for (table, probes) in self.deleted {
            let space = self.shapes.tables.get(table).map_or(usize::MAX, |shape| shape.key);
            if let Some(facts) = self.facts.get(&space) {
                deleted.insert(table, (probes, facts.bloom(|fact| fact.what.is_delete()).map_err(io)?));
            }
        }
        Ok(Input {
            overwrite: if overwrite { self.read.keys().copied().collect() } else { BTreeSet::new() },
            rows: self.spool.finish()?,
            blooms,
            deleted,
            detached: self.detached,
            cuts,
            touched: self.touched,
            shapes: self.shapes,
            source: self.source,
            numbering,
            change: self.change,
            read: self.read,
            facts: self.facts,
            probes: self.probes,
            violations: self.violations,
            pool: self.pool,
        })
    }
}

impl InputBuilder {
    /// Finds the edges of the input that later deletions take with them.
    fn cuts(&self) -> std::io::Result<HashMap<(usize, u64), u64>> {
        let mut cuts = HashMap::new();
        for (table, keys) in &self.detached {
            let space = self.shapes.tables.get(*table).map_or(usize::MAX, |shape| shape.key);
            let Some(facts) = self.facts.get(&space) else { continue };
            for partition in 0..PARTITIONS {
                facts.needs(partition, |need| {
                    let lines = keys.get(&need.digest).into_iter().flatten();
                    if let Some(line) = lines.copied().find(|line| *line > need.at) {
                        let first = cuts.entry((usize::from(need.table), need.at)).or_insert(line);
                        *first = line.min(*first);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(cuts)
    }
}

/// Reads JSON Lines to the end, parsing on several threads. `progress` is told the bytes and lines read so far and says whether to
/// go on.
pub(crate) fn read_lines(
    builder: &mut InputBuilder,
    input: impl BufRead,
    what: What,
    ids: EdgeIds,
    mut progress: impl FnMut(u64, u64) -> bool,
) -> Result<(), WriteError> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MOST_THREADS);
    let (shapes, source, change) = (builder.shapes.clone(), builder.source.clone(), builder.change);
    let parser = LineParser { shapes: &shapes, source: &source, ids };
    let mut parts = Parts { input, lines: 0, bytes: 0 };
    loop {
        let mut wave = Vec::with_capacity(threads);
        while wave.len() < threads {
            let line = parts.lines;
            let fault = |e| WriteError::Input { source_name: source.to_string(), line, source: e };
            match parts.next().map_err(fault)? {
                Some(part) => wave.push(part),
                None => break,
            }
        }
        let last = wave.len() < threads;
        let chunks: Vec<Chunk> = if wave.len() == 1 {
            wave.iter().map(|part| part.parse(&parser, what, change)).collect()
        } else {
            std::thread::scope(|scope| {
                let parser = &parser;
                let running: Vec<_> =
                    wave.iter().map(|part| scope.spawn(move || part.parse(parser, what, change))).collect();
                running.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Result<_, _>>()
            })
            .map_err(|_| WriteError::BrokenOff { source_name: source.to_string(), reason: "a parser died".into() })?
        };
        chunks.into_iter().try_for_each(|chunk| builder.add(chunk))?;
        if !progress(parts.bytes, parts.lines) {
            return Err(WriteError::BrokenOff {
                source_name: source.to_string(),
                reason: "nobody waits for it".into(),
            });
        }
        if last {
            return Ok(());
        }
    }
}

/// Cuts an input into runs of whole lines.
struct Parts<R> {
    input: R,
    lines: u64,
    bytes: u64,
}

/// A run of whole lines.
struct Part {
    first_line: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Parts<R> {
    fn next(&mut self) -> std::io::Result<Option<Part>> {
        let mut bytes = Vec::with_capacity(usize::try_from(CHUNK).unwrap_or_default() + 1024);
        (&mut self.input).take(CHUNK).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == CHUNK && bytes.last() != Some(&b'\n') {
            let rest = (&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut bytes)?;
            if rest as u64 == LONGEST_LINE && bytes.last() != Some(&b'\n') {
                return Err(std::io::Error::other("a line is longer than 64 MiB"));
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let first_line = self.lines + 1;
        let ended = bytes.split(|byte| *byte == b'\n').count() as u64 - 1;
        self.lines += ended + u64::from(bytes.last() != Some(&b'\n'));
        self.bytes += bytes.len() as u64;
        Ok(Some(Part { first_line, bytes }))
    }
}

impl Part {
    fn parse(&self, parser: &LineParser<'_>, what: What, change: ChangeId) -> Chunk {
        let mut chunk = Chunk::default();
        let bytes = match self.bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if self.first_line == 1 => rest,
            _ => &self.bytes,
        };
        for (line, number) in bytes.split(|byte| *byte == b'\n').zip(self.first_line..) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Some(parsed) = parser.parse(number, line, &mut chunk.violations) {
                chunk.add(parser.shapes, number, what, &parsed, change);
            }
        }
        chunk
    }
}

impl Input {
    /// An error naming these violations and those of single lines.
    pub(crate) fn refuse(&self, found: Violations) -> WriteError {
        let mut violations = self.violations.clone();
        violations.extend(found);
        let read = self.read.values().sum::<u64>() + violations.untyped;
        let accepted = read.saturating_sub(violations.lines());
        WriteError::Refused { source_name: self.source.to_string(), read, accepted, violations: Box::new(violations) }
    }

    /// A violation of this input.
    pub(crate) fn violation(&self, code: &'static str, line: Option<u64>, table: usize, expected: String) -> Violation {
        Violation {
            code,
            source: self.source.clone(),
            line,
            table: self.shapes.tables.get(table).map(|shape| shape.name().to_owned()),
            property: None,
            found: None,
            expected,
        }
    }
}
