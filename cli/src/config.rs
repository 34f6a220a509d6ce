//! Which graph a command works on: an argument, the environment, or the nearest `pleach.toml`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::CliError;

/// The file's name.
const FILE: &str = "pleach.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    graph: Option<String>,
}

/// The graph's URI: `named` (an argument or the environment), else what the nearest settings file from `folder` upwards
/// says. A file without a graph does not end the search.
pub(crate) fn graph_uri(named: Option<&str>, folder: &Path) -> Result<String, CliError> {
    if let Some(uri) = named.filter(|uri| !uri.is_empty()) {
        return Ok(uri.to_owned());
    }
    for folder in folder.ancestors() {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(CliError::Unreadable { path, source }),
        };
        let settings: Settings = toml::from_str(&text).map_err(|source| CliError::Config { path, source })?;
        if let Some(uri) = settings.graph {
            return Ok(resolve(uri, folder));
        }
    }
    Err(CliError::NoGraph)
}

/// Takes a relative path as one from the folder of the file that names it.
fn resolve(uri: String, folder: &Path) -> String {
    if uri.contains("://") {
        return uri;
    }
    let path: PathBuf = folder.join(&uri);
    path.into_os_string().into_string().unwrap_or(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_wins_and_an_empty_one_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "graph = \"s3://bucket/g\"").unwrap();
        assert_eq!(graph_uri(Some("here"), folder.path()).unwrap(), "here");
        assert_eq!(graph_uri(Some(""), folder.path()).unwrap(), "s3://bucket/g");
        assert_eq!(graph_uri(None, folder.path()).unwrap(), "s3://bucket/g");
    }

    #[test]
    fn the_nearest_file_with_a_graph_counts_and_paths_start_at_it() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(folder.path().join(FILE), "graph = \"data/g\"").unwrap();
        let expected = folder.path().join("data/g");
        assert_eq!(graph_uri(None, &inner).unwrap(), expected.to_str().unwrap());
        fs::write(inner.join(FILE), "# nothing here\n").unwrap();
        assert_eq!(graph_uri(None, &inner).unwrap(), expected.to_str().unwrap());
        fs::write(inner.join(FILE), "graph = \"/elsewhere\"").unwrap();
        assert_eq!(graph_uri(None, &inner).unwrap(), "/elsewhere");
    }

    #[test]
    fn unknown_settings_and_broken_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["grpah = \"g\"", "graph = 3", "graph ="] {
            fs::write(folder.path().join(FILE), text).unwrap();
            assert!(matches!(graph_uri(None, folder.path()), Err(CliError::Config { .. })), "{text}");
        }
    }
}
