//! A progress bar on standard error, where that is a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for a load: over `bytes` where the input's size is known.
pub(crate) fn load_bar(bytes: Option<u64>, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{bar:30} {binary_bytes}/{binary_total_bytes} {msg} {eta}"),
        None => (ProgressBar::new_spinner(), "{spinner} {binary_bytes} {msg} {elapsed}"),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
