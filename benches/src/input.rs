//! Graphs of any size as JSON Lines, the same for the same seed.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

/// The schema of [`write_social`].
pub const SOCIAL_SCHEMA: &str = "
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING NOT NULL, age INT64 CHECK (age >= 0), city STRING);
CREATE REL TABLE Knows (FROM Person TO Person, since DATE, weight DOUBLE);
";

/// A small generator of numbers that look random; its quality matters little here, its repeatability much.
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// A sequence that is the same for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// The next number below `bound`, which must not be 0 (`SplitMix64`, reduced by a modulus).
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

/// Writes `nodes` persons and `edges` distinct edges between them.
///
/// Edges are a permutation-like walk, so that no (from, to) pair comes twice as long as `edges ≤ nodes · (nodes − 1)`.
///
/// # Errors
/// Those of `out`.
pub fn write_social(out: &mut impl Write, nodes: u64, edges: u64, seed: u64) -> io::Result<()> {
    let mut numbers = Numbers::new(seed);
    for i in 0..nodes {
        let (age, city) = (numbers.below(100), numbers.below(1_000));
        writeln!(
            out,
            r#"{{"table":"Person","data":{{"id":"p{i:08}","name":"Person number {i}","age":{age},"city":"City {city}"}}}}"#
        )?;
    }
    for i in 0..edges {
        let from = i % nodes;
        // Each round over the nodes takes another distance, so pairs repeat only after nodes − 1 rounds.
        let to = (from + 1 + (i / nodes) % (nodes - 1)) % nodes;
        let (year, day, weight) = (1990 + numbers.below(35), 1 + numbers.below(28), numbers.below(1_000));
        writeln!(
            out,
            r#"{{"table":"Knows","from":"p{from:08}","to":"p{to:08}","data":{{"since":"{year}-06-{day:02}","weight":0.{weight:03}}}}}"#
        )?;
    }
    Ok(())
}

/// The schema of [`chunk`].
pub const CHUNK_SCHEMA: &str =
    "CREATE NODE TABLE Chunk (id INT64 PRIMARY KEY, title STRING, note STRING, vector FLOAT[3072]);";

/// A row with a vector that follows from its id.
#[must_use]
pub fn chunk(id: u64, title: &str, note: &str) -> String {
    const FLOATS: usize = 3_072;
    let mut numbers = Numbers::new(id);
    let mut row = String::with_capacity(6 * FLOATS + 100);
    // A string takes all that is written to it.
    let _ = write!(row, r#"{{"table":"Chunk","data":{{"id":{id},"title":"{title}","note":"{note}","vector":["#);
    for at in 0..FLOATS {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(row, "{comma}0.{:03}", numbers.below(1_000));
    }
    row.push_str("]}}");
    row
}

/// Lines as something to read from, each made when it is asked for.
#[derive(Debug)]
pub struct Lines<I> {
    lines: I,
    /// What is left of the line that is being read.
    rest: io::Cursor<Vec<u8>>,
}

impl<I: Iterator<Item = String>> Lines<I> {
    /// Reads these lines, which have no ends yet.
    pub fn new(lines: I) -> Self {
        Self { lines, rest: io::Cursor::default() }
    }
}

impl<I: Iterator<Item = String>> Read for Lines<I> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.rest.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            let Some(mut line) = self.lines.next() else { return Ok(0) };
            line.push('\n');
            self.rest = io::Cursor::new(line.into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are() {
        let lines = ["one", "", "three"].map(str::to_owned);
        let mut read = String::new();
        Lines::new(lines.into_iter()).read_to_string(&mut read).expect("text");
        assert_eq!(read, "one\n\nthree\n");
        let row = chunk(3, "a", "b");
        assert_eq!((row.matches(",0.").count(), chunk(3, "a", "b")), (3_071, row.clone()));
        assert_ne!(row, chunk(4, "a", "b"));
    }

    #[test]
    fn the_same_seed_gives_the_same_lines_and_no_edge_twice() {
        let lines = |seed| {
            let mut out = Vec::new();
            write_social(&mut out, 20, 300, seed).expect("a vector takes all");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1), lines(2));
        let ends: Vec<String> = lines(1)
            .lines()
            .skip(20)
            .map(|l| l[..60.min(l.len())].split(",\"data\"").next().unwrap_or("").to_owned())
            .collect();
        let distinct: std::collections::BTreeSet<&String> = ends.iter().collect();
        assert_eq!((ends.len(), distinct.len()), (300, 300));
    }
}
