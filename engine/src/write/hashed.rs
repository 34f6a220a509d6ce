//! An input whose bytes are hashed as they are read.

use std::io::{BufRead, Read, Result};

use crate::publish::{Fingerprint, Fingerprinter};

/// Reads what `input` has and, if asked to, takes it into a fingerprint.
pub(super) struct Hashed<R> {
    input: R,
    print: Option<Fingerprinter>,
}

impl<R: BufRead> Hashed<R> {
    /// Without a `print` nothing is hashed.
    pub(super) fn new(input: R, print: Option<Fingerprinter>) -> Self {
        Self { input, print }
    }

    /// The fingerprint of all that was read.
    pub(super) fn finish(self) -> Option<Fingerprint> {
        self.print.map(|print| print.finish())
    }
}

impl<R: BufRead> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.input.read(buffer)?;
        if let (Some(print), Some(bytes)) = (&mut self.print, buffer.get(..read)) {
            print.bytes(bytes);
        }
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Hashed<R> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // What is consumed has been read into the buffer before, so that nothing is read here and nothing fails.
        if let (Some(print), Ok(buffer)) = (&mut self.print, self.input.fill_buf()) {
            print.bytes(buffer.get(..amount).unwrap_or(buffer));
        }
        self.input.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn bytes_count_and_not_the_steps_they_are_read_in() {
        let bytes = b"one\ntwo\nthree".repeat(100);
        let print = |capacity: usize, lines: bool| {
            let mut input = Hashed::new(BufReader::with_capacity(capacity, &bytes[..]), Some(Fingerprinter::new("x")));
            let mut all = Vec::new();
            if lines {
                while input.read_until(b'\n', &mut all).unwrap() > 0 {}
            } else {
                input.read_to_end(&mut all).unwrap();
            }
            assert_eq!(all, bytes);
            input.finish().unwrap()
        };
        assert_eq!(print(7, true), print(4096, true));
        assert_eq!(print(7, true), print(64, false));
        let mut shorter = Hashed::new(&bytes[1..], Some(Fingerprinter::new("x")));
        shorter.read_to_end(&mut Vec::new()).unwrap();
        assert_ne!(shorter.finish().unwrap(), print(7, true));
    }
}
