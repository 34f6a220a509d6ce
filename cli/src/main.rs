//! `pleach`, the command line of the Pleach graph store: parses, runs one command, and turns its outcome into an exit code.

#![allow(clippy::doc_markdown, reason = "the comments on arguments are the help, which is plain text")]

mod args;
mod author;
mod commands;
mod config;
mod conflict;
mod context;
mod failure;
mod key;
mod output;
mod progress;
mod rows;
mod shape;
mod trace;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::args::Cli;
use crate::failure::{CliError, Failure};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let (json, outcome) = match Cli::try_parse_from(&arguments) {
        Ok(cli) => (cli.global.json, execute(cli)),
        Err(answer) if !answer.use_stderr() => (false, print_help(&answer)),
        Err(error) => (failure::asks_for_json(&arguments), Err(Failure::Usage(error))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(json);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Prints what `--help` and `--version` ask for.
fn print_help(answer: &clap::Error) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    write!(out, "{}", answer.render().ansi())?;
    out.flush()?;
    Ok(())
}

/// Runs the command on a runtime of its own, until it ends or the user interrupts it.
fn execute(cli: Cli) -> Result<(), Failure> {
    trace::install(cli.global.verbose)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Plans of deep expressions recurse; the default of 2 MiB is too little for them.
        .thread_stack_size(8 << 20)
        .build()
        .map_err(|source| CliError::Runtime { source })?;
    let outcome = runtime.block_on(async {
        // The command gets a task of its own: an interrupt must be heard even while the command computes without a pause.
        let command = async {
            let task = tokio::spawn(commands::run(cli));
            let _stop = AbortOnDrop(task.abort_handle());
            task.await
        };
        tokio::select! {
            // In this order, so that the handler stands before the command begins.
            biased;
            Ok(()) = interrupt() => Err(Failure::Interrupted),
            ended = command => ended.unwrap_or_else(|_| Err(CliError::Panicked.into())),
        }
    });
    // A thread that waits for standard input cannot be told to stop; it must not hold up the exit.
    runtime.shutdown_timeout(Duration::from_millis(200));
    // A command that computes without a pause is still at it, and will not get to tidy up.
    commands::remove_unfinished();
    outcome
}

/// Waits until the user interrupts the command.
async fn interrupt() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await?;
    // Tasks are cut off from now on. Lance panics over those it waits for, which is no fault that the user should hear of.
    std::panic::set_hook(Box::new(|_| {}));
    Ok(())
}

/// Ends a task when its waiter is gone.
struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
