//! Figures of the running process, as the operating system tells them.

use std::fs;

/// The most memory the process has held at once, in bytes; `None` where `/proc` does not tell.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
