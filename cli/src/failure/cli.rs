//! What goes wrong on this side of the engine: its messages, codes and hints.

use std::io;
use std::path::PathBuf;

use pleach::ErrorKind;

use super::Class;

/// What goes wrong on this side of the engine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("no graph was named")]
    NoGraph,
    #[error("cannot read the settings in {}", path.display())]
    Config { path: PathBuf, source: toml::de::Error },
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("{} is not UTF-8 text", path.display())]
    NotUtf8 { path: PathBuf },
    #[error("no statement was given")]
    NoStatement,
    #[error("the parameter {name} is given twice")]
    ParameterTwice { name: String },
    #[error("the parameter {name} begins like JSON and is none")]
    ParameterNotJson { name: String },
    #[error("cannot write to standard output")]
    Output { source: io::Error },
    #[error("{table} has no row with the key {key} at {at}")]
    RowNotFound { table: String, key: String, at: String },
    #[error("no request of this id is known to have taken effect on `{branch}`")]
    RequestNotFound { branch: String },
    #[error("the key of {table} has {} ({}), {given} given", parts(expected.len()), expected.join(", "))]
    KeyParts { table: String, expected: Vec<String>, given: usize },
    #[error("{place}: {reason}")]
    ResolutionLine { place: String, reason: String },
    #[error("{file} does not fit this merge; the number of a resolution is that of its line")]
    Resolutions { file: String, source: pleach::Error },
    #[error("{file} is not the whole plan of a merge")]
    PlanDamaged { file: String, source: serde_json::Error },
    #[error("{file} is a plan of format {format}; this version reads format {known}")]
    PlanFormat { file: String, format: u32, known: u32 },
    #[error("{file} plans a merge in the graph {planned}, and this is {graph}")]
    PlanForeign { file: String, planned: String, graph: String },
    #[error("the merge would meet {}", if *count == 1 { "1 conflict".to_owned() } else { format!("{count} conflicts") })]
    PlannedConflicts { count: usize, can_be_settled: bool },
    #[error("{} found", if *count == 1 { "1 problem was".to_owned() } else { format!("{count} problems were") })]
    FsckProblems { count: usize },
    #[error("the store broke {}", if *broken == 1 { "a promise".to_owned() } else { format!("{broken} promises") })]
    UnsafeStore { broken: usize },
    #[error("PLEACH_LOG is not a log filter: {reason}")]
    LogFilter { reason: String },
    #[error("cannot start the runtime")]
    Runtime { source: io::Error },
    #[error("the command stopped at a fault of its own; its message stands above")]
    Panicked,
}

fn parts(count: usize) -> String {
    if count == 1 { "1 part".to_owned() } else { format!("{count} parts") }
}

impl CliError {
    pub(super) fn class(&self) -> Class {
        match self {
            Self::NoGraph
            | Self::LogFilter { .. }
            | Self::NoStatement
            | Self::ParameterTwice { .. }
            | Self::ParameterNotJson { .. } => Class::Usage,
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Class::Engine(ErrorKind::NotFound)
            }
            Self::RowNotFound { .. } | Self::RequestNotFound { .. } => Class::Engine(ErrorKind::NotFound),
            Self::Config { .. }
            | Self::Unreadable { .. }
            | Self::NotUtf8 { .. }
            | Self::KeyParts { .. }
            | Self::ResolutionLine { .. }
            | Self::Resolutions { .. }
            | Self::PlanDamaged { .. }
            | Self::PlanFormat { .. }
            | Self::PlanForeign { .. }
            | Self::UnsafeStore { .. } => Class::Engine(ErrorKind::Invalid),
            Self::Unwritable { .. } | Self::Output { .. } => Class::Engine(ErrorKind::Unavailable),
            Self::PlannedConflicts { .. } => Class::Engine(ErrorKind::Conflict),
            Self::FsckProblems { .. } => Class::Engine(ErrorKind::Data),
            Self::Runtime { .. } | Self::Panicked => Class::Engine(ErrorKind::Internal),
        }
    }

    /// Stable, kebab-case; listed in `docs/errors.md`.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NoGraph => "no-graph",
            Self::Config { .. } => "config-invalid",
            Self::Unreadable { .. } => "file-unreadable",
            Self::Unwritable { .. } => "file-unwritable",
            Self::NotUtf8 { .. } => "file-not-utf8",
            Self::NoStatement => "no-statement",
            Self::ParameterTwice { .. } => "parameter-twice",
            Self::ParameterNotJson { .. } => "parameter-not-json",
            Self::Output { .. } => "output-failed",
            Self::RowNotFound { .. } => "row-not-found",
            Self::RequestNotFound { .. } => "request-not-found",
            Self::KeyParts { .. } => "wrong-key",
            Self::ResolutionLine { .. } | Self::Resolutions { .. } => "resolution-invalid",
            Self::PlanDamaged { .. } | Self::PlanFormat { .. } => "plan-invalid",
            Self::PlanForeign { .. } => "plan-foreign",
            Self::PlannedConflicts { .. } => "merge-conflicts",
            Self::FsckProblems { .. } => "fsck-problems",
            Self::UnsafeStore { .. } => "store-unsafe",
            Self::LogFilter { .. } => "log-filter-invalid",
            Self::Runtime { .. } => "runtime-failed",
            Self::Panicked => "panicked",
        }
    }

    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoGraph => {
                Some("name it with --graph URI, with PLEACH_GRAPH, or as `graph = \"URI\"` in a pleach.toml")
            }
            Self::NoStatement => Some("write it as an argument between quotes, name a file with -f, or pipe it in"),
            Self::ParameterNotJson { .. } => {
                Some("write it as JSON; a text with such a beginning is given as a JSON string")
            }
            Self::Config { .. } => Some("the file has one setting: graph = \"URI\""),
            Self::RequestNotFound { .. } => Some(
                "a branch remembers its last 4,096 requests with an id; if it was sent a moment ago, it may still take effect",
            ),
            Self::RowNotFound { .. } => {
                Some("a key is read as plain text by the key's type; `pleach schema show` tells the types")
            }
            Self::KeyParts { .. } => {
                Some("an edge's key is the key of its start, then that of its end, then its own if it has one")
            }
            Self::ResolutionLine { .. } => Some(
                "a resolution is {\"table\":…,\"key\":…,\"property\":…,\"choice\":\"source\"} or \"target\", or with a \"value\" in place of the choice; of the schema it has no key, and \"keep\" and \"drop\" are choices too",
            ),
            Self::Resolutions { .. } => Some("`--dry-run` lists all conflicts; keys are written as it shows them"),
            Self::PlanDamaged { .. } => {
                Some("make it anew with --plan; only its `resolutions` and `strategies` are meant to be edited")
            }
            Self::PlanFormat { .. } => Some("make it anew with --plan"),
            Self::PlanForeign { .. } => Some("name the graph that it was made for, or make it anew with --plan"),
            Self::PlannedConflicts { can_be_settled: true, .. } => Some(
                "decide single ones by --resolve FILE with lines such as {\"table\":\"Person\",\"key\":1,\"property\":\"name\",\"choice\":\"source\"} (of the schema without a key), or let a side win by --strategy source, TABLE=target or TABLE.PROPERTY=source",
            ),
            Self::PlannedConflicts { can_be_settled: false, .. } => {
                Some("change the schema of one side, then merge again: that is nothing to be decided by a merge")
            }
            Self::FsckProblems { .. } => {
                Some("nothing was changed; an older commit of the branch may be sound: `pleach log`")
            }
            Self::UnsafeStore { .. } => {
                Some("writers at the same time could overwrite each other's commits here; use another store")
            }
            Self::Panicked => Some("please report this; a change of the command took effect whole or not at all"),
            _ => None,
        }
    }
}
