//! The log on standard error.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::failure::CliError;

/// The environment variable that holds a filter such as `pleach=debug,lance=info`.
const VARIABLE: &str = "PLEACH_LOG";

/// Turns the log on, as verbose as `-v` says or by the filter in the environment.
pub(crate) fn install(verbose: u8) -> Result<(), CliError> {
    let filter = match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => {
            EnvFilter::try_new(&text).map_err(|error| CliError::LogFilter { reason: error.to_string() })?
        }
        _ => EnvFilter::new(match verbose {
            0 => "pleach=warn",
            1 => "pleach=info",
            2 => "pleach=debug,lance=info",
            _ => "pleach=trace,lance=debug,object_store=debug",
        }),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Only a second call could fail, and then the first log stays.
    let _ = log.try_init();
    Ok(())
}
