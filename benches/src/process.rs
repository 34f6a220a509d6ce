//! Figures of the running process, as the operating system tells them.

use std::{fs, io};

/// The most memory the process has held at once, in bytes; `None` where `/proc` does not tell.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    status("VmHWM:")
}

/// The memory that the process holds now, in bytes; `None` where `/proc` does not tell.
#[must_use]
pub fn memory() -> Option<u64> {
    status("VmRSS:")
}

fn status(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Lets [`peak_memory`] begin anew at what the process holds now, where the operating system knows how to.
///
/// # Errors
/// When it does not let the process do so.
pub fn forget_peak_memory() -> io::Result<()> {
    match fs::write("/proc/self/clear_refs", "5") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_that_is_forgotten_is_lower_afterwards() {
        let Some(before) = peak_memory() else { return };
        let held = vec![1_u8; 64 << 20];
        assert_eq!(held.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 64 << 20);
        drop(held);
        let peak = peak_memory().unwrap_or(0);
        assert!(peak >= before + (48 << 20), "{before} before, {peak} at most");
        forget_peak_memory().expect("a process may forget its own peak");
        assert!(peak_memory().is_some_and(|now| now < peak - (32 << 20)), "{peak} at most");
    }
}
