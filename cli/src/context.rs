//! What every command gets besides its own arguments.

use std::path::PathBuf;

use pleach::{ChangeOptions, Graph};

use crate::args::Global;
use crate::author::author;
use crate::config;
use crate::failure::{CliError, Failure};

/// The shared options of one run.
#[derive(Debug)]
pub(crate) struct Context {
    global: Global,
}

impl Context {
    pub(crate) const fn new(global: Global) -> Self {
        Self { global }
    }

    /// Whether results are printed as JSON.
    pub(crate) const fn json(&self) -> bool {
        self.global.json
    }

    /// The URI of the graph that the command works on.
    pub(crate) fn graph_uri(&self) -> Result<String, CliError> {
        let folder =
            std::env::current_dir().map_err(|source| CliError::Unreadable { path: PathBuf::from("."), source })?;
        config::graph_uri(self.global.graph.as_deref(), &folder)
    }

    /// Opens that graph.
    pub(crate) async fn graph(&self) -> Result<Graph, Failure> {
        Ok(Graph::open(&self.graph_uri()?).await?)
    }

    pub(crate) fn author(&self) -> String {
        author(self.global.author.as_deref())
    }

    /// How a change with this message is recorded.
    pub(crate) fn change(&self, message: Option<String>) -> ChangeOptions {
        ChangeOptions {
            author: self.author(),
            message: message.unwrap_or_default(),
            author_time: self.global.date,
            ..ChangeOptions::default()
        }
    }
}
