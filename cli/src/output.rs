//! Results on standard output: JSON for programs, plain tables and text for people.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// Prints one JSON object on one line.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    write_all(&text)
}

/// Prints text for people; a missing last line break is added.
pub(crate) fn text(text: &str) -> io::Result<()> {
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    write_all(format!("{text}{end}").as_bytes())
}

fn write_all(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// A message beside the result, on standard error.
pub(crate) fn note(text: &str) {
    // A message that nobody can read is not a failure of the command.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Lays out a table without lines; columns whose header starts with `#` are numbers and stand to the right.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.map(|name| name.trim_start_matches('#').to_owned()));
    for row in rows {
        table.add_row(row.map(|cell| printable(&cell)));
    }
    for (index, name) in header.iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            column.set_padding((0, 2));
            if name.starts_with('#') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table.trim_fmt()
}

/// Lays out the rows of a query: a line under the names, every cell on one line.
pub(crate) fn any_table(names: &[String], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(names.iter().map(|name| printable(name)));
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)));
    }
    for index in 0..names.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_padding((0, 2));
        }
    }
    table.trim_fmt()
}

/// Text that came from somewhere else, without what would steer a terminal or break a table's rows.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// A writer that remembers the error it met: a caller that gets an error of the engine can tell what really happened.
#[derive(Debug)]
pub(crate) struct Watched<W> {
    inner: W,
    error: Arc<Mutex<Option<io::Error>>>,
}

/// The other end of a [`Watched`].
#[derive(Debug, Clone)]
pub(crate) struct Watch(Arc<Mutex<Option<io::Error>>>);

impl<W> Watched<W> {
    pub(crate) fn new(inner: W) -> (Self, Watch) {
        let error = Arc::new(Mutex::new(None));
        (Self { inner, error: error.clone() }, Watch(error))
    }

    /// Flushes and gives the inner writer back.
    pub(crate) fn into_inner(mut self) -> io::Result<W>
    where
        W: Write,
    {
        self.inner.flush()?;
        Ok(self.inner)
    }

    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            let copy = error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(copy);
        }
        result
    }
}

impl Watch {
    /// The last error of the writer.
    pub(crate) fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.noted(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.noted(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_no_lines_and_numbers_to_the_right() {
        let rows = [["Person".to_owned(), "5".to_owned()], ["Knows".to_owned(), "1234".to_owned()]];
        assert_eq!(table(["table", "#rows"], rows), "table   rows\nPerson     5\nKnows   1234");
    }

    #[test]
    fn text_from_elsewhere_cannot_steer_the_terminal() {
        assert_eq!(printable("a\nb\u{1b}[31m é🌿"), "a\\nb\\u{1b}[31m é🌿");
    }

    #[test]
    fn a_watched_writer_remembers_what_went_wrong() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (mut out, watch) = Watched::new(Broken);
        assert!(watch.take().is_none());
        assert!(out.write_all(b"x").is_err());
        assert_eq!(watch.take().map(|error| error.kind()), Some(io::ErrorKind::BrokenPipe));
    }
}
