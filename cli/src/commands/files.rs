//! Input files, `-` for standard input, and output files that appear whole or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::failure::CliError;

/// Whether a path means standard input.
fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How messages name an input.
pub(crate) fn input_name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// An opened input and, for a regular file, its size.
pub(crate) fn open_input(path: &Path) -> Result<(Box<dyn BufRead + Send>, Option<u64>), CliError> {
    if is_stdin(path) {
        return Ok((Box::new(BufReader::new(io::stdin())), None));
    }
    let unreadable = |source| CliError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let facts = file.metadata().map_err(unreadable)?;
    if facts.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let size = facts.is_file().then_some(facts.len());
    Ok((Box::new(BufReader::with_capacity(1 << 20, file)), size))
}

/// The whole text of an input, without a byte order mark.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let (mut input, _) = open_input(path)?;
    let mut bytes = Vec::new();
    input
        .read_to_end(&mut bytes)
        .map_err(|source| CliError::Unreadable { path: PathBuf::from(input_name(path)), source })?;
    let text = String::from_utf8(bytes).map_err(|_| CliError::NotUtf8 { path: PathBuf::from(input_name(path)) })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Output files that are not complete, by the names they have until then.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished(change: impl FnOnce(&mut BTreeSet<PathBuf>)) {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Removes what output files left: for an exit that does not wait until their writers are dropped.
pub(crate) fn remove_unfinished() {
    unfinished(|paths| {
        while let Some(path) = paths.pop_first() {
            // The file is incomplete; if it cannot be removed, its name still says so.
            let _ = fs::remove_file(path);
        }
    });
}

/// A file that gets its name when it is complete; dropped before, nothing of it remains. What is there and is not a
/// regular file (a device, a pipe) is written to directly.
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    path: PathBuf,
    partial: Option<PathBuf>,
}

impl OutputFile {
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        let unwritable = |source| CliError::Unwritable { path: path.to_owned(), source };
        if fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(unwritable)?;
            return Ok(Self { file, path: path.to_owned(), partial: None });
        }
        let name = path.file_name().ok_or_else(|| unwritable(io::ErrorKind::InvalidFilename.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(hidden);
        unfinished(|paths| {
            paths.insert(partial.clone());
        });
        let file = File::create(&partial).map_err(unwritable)?;
        Ok(Self { file, path: path.to_owned(), partial: Some(partial) })
    }

    /// Makes the content durable and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        if let Some(partial) = &self.partial {
            let done = self.file.sync_all().and_then(|()| fs::rename(partial, &self.path));
            done.map_err(|source| CliError::Unwritable { path: self.path.clone(), source })?;
            unfinished(|paths| {
                paths.remove(partial);
            });
            self.partial = None;
        }
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // The file is incomplete; if it cannot be removed, its name still says so.
            let _ = fs::remove_file(partial);
            unfinished(|paths| {
                paths.remove(partial);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        fs::write(&path, "former").unwrap();
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "former");
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_output_file_whose_writer_is_never_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let done = folder.path().join("done.jsonl");
        OutputFile::create(&done).unwrap().finish().unwrap();
        let path = folder.path().join("out.jsonl");
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        std::mem::forget(file);
        remove_unfinished();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, [done]);
    }

    #[test]
    fn a_device_is_written_to_directly() {
        let mut file = OutputFile::create(Path::new("/dev/null")).unwrap();
        file.write_all(b"gone").unwrap();
        file.finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn inputs_that_cannot_be_read_are_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(open_input(folder.path()), Err(CliError::Unreadable { .. })));
        assert!(matches!(open_input(&folder.path().join("nope")), Err(CliError::Unreadable { .. })));
        let path = folder.path().join("latin1");
        fs::write(&path, b"caf\xe9").unwrap();
        assert!(matches!(read_text(&path), Err(CliError::NotUtf8 { .. })));
    }
}
