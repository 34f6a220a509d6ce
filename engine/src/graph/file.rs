//! `graph.json`: the root object of a graph, whose appearance makes it one.

use bytes::Bytes;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::GraphError;
use crate::branch::{BranchName, Genesis, decode};
use crate::error::Error;
use crate::ids::{GraphId, Seq};
use crate::record::{Extensions, Record, RecordError, decode_json};
use crate::store::ProbeReport;

/// The name of the root object.
pub(crate) const GRAPH_FILE: &str = "graph.json";

/// The format of the root object; those of other objects are counted apart.
const FORMAT: u32 = 1;

/// What never changes about a graph.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphFile {
    /// Always [`FORMAT`]; checked before anything else is read.
    format: u32,
    /// What whoever opens the graph must understand beyond the format.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    features: Vec<String>,
    /// The graph's identity, whatever its address.
    pub(crate) graph: GraphId,
    /// Times that all processes must agree on.
    pub(crate) limits: Limits,
    /// What the probe found when the graph was made; absent where none is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) probe: Option<Probed>,
    /// What another version told of the graph when it made it, which may be ignored.
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    extensions: Extensions,
    /// The first record of `main`, byte by byte: whoever finds that log empty writes it.
    genesis: Box<RawValue>,
}

/// Times that all processes must agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// How old a file must be that no record names before `gc` may delete it, in seconds.
    pub(crate) grace_seconds: u64,
    /// How old a head may be that is published upon, in seconds: half of it, so that what was staged lives.
    pub(crate) capture_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { grace_seconds: 86_400, capture_seconds: 43_200 }
    }
}

/// What the probe found when the graph was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probed {
    /// Whether every promise was kept.
    pub(crate) safe: bool,
    /// The promises that were broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) broken: Vec<String>,
    /// Clients that raced.
    pub(crate) clients: u64,
    /// Keys they raced for.
    pub(crate) keys: u64,
}

impl Probed {
    pub(crate) fn of(report: &ProbeReport) -> Self {
        Self {
            safe: report.safe,
            broken: report.broken().map(|check| check.name.to_owned()).collect(),
            clients: report.clients as u64,
            keys: report.keys as u64,
        }
    }
}

impl GraphFile {
    /// A new graph whose `main` begins with `genesis`.
    pub(crate) fn new(probe: Option<Probed>, genesis: &Record) -> Result<Self, RecordError> {
        let graph = genesis.graph;
        let bytes = genesis.encode()?;
        let genesis = serde_json::from_slice(&bytes).map_err(RecordError::Unwritable)?;
        Ok(Self {
            format: FORMAT,
            features: Vec::new(),
            graph,
            limits: Limits::default(),
            probe,
            extensions: Extensions::default(),
            genesis,
        })
    }

    /// The stored form.
    pub(crate) fn encode(&self) -> Result<Bytes, RecordError> {
        serde_json::to_vec(self).map(Bytes::from).map_err(RecordError::Unwritable)
    }

    /// Reads what [`Self::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8], uri: &str) -> Result<Self, Error> {
        let file: Self = decode_json(bytes, GRAPH_FILE, FORMAT)?;
        let genesis = decode(file.graph, &BranchName::main(), Seq::FIRST, file.genesis.get().as_bytes())?;
        if genesis.previous.is_some() || genesis.deleted {
            return Err(
                GraphError::Damaged { uri: uri.to_owned(), problem: "its first commit is not a first commit" }.into()
            );
        }
        Ok(file)
    }

    /// The first record of `main`, for whoever finds that log empty.
    pub(crate) fn first_record(&self) -> Genesis {
        Genesis::new(Path::from(GRAPH_FILE), self.graph, self.genesis())
    }

    /// The bytes of the first record of `main`.
    pub(crate) fn genesis(&self) -> Bytes {
        Bytes::copy_from_slice(self.genesis.get().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn the_root_is_read_back_and_keeps_what_it_need_not_understand() {
        let genesis = record(0);
        let bytes = GraphFile::new(None, &genesis).unwrap().encode().unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(
            text.starts_with(r#"{"format":1,"graph":"00000000000000000000000000","limits":{"grace_seconds":86400,"#)
        );
        let extended = text.replacen("\"genesis\"", "\"extensions\":{\"x\":{\"b\": 1.0,\"a\":2}},\"genesis\"", 1);
        for text in [&text, &extended] {
            let file = GraphFile::decode(text.as_bytes(), "here").unwrap();
            assert_eq!(file.encode().unwrap(), text.as_bytes());
            assert_eq!(file.genesis(), genesis.encode().unwrap());
        }
    }

    #[test]
    fn a_root_that_is_newer_unknown_or_begins_with_the_record_of_another_graph_is_refused() {
        let text = String::from_utf8(GraphFile::new(None, &record(0)).unwrap().encode().unwrap().to_vec()).unwrap();
        let edit = |from: &str, to: &str| text.replacen(from, to, 1);
        for (wrong, code) in [
            (edit("\"format\":1", "\"format\":2"), "record-format"),
            (edit("\"graph\"", "\"features\":[\"novel\"],\"novel\":1,\"graph\""), "record-format"),
            (edit("\"graph\"", "\"novel\":1,\"graph\""), "record-unreadable"),
            (edit("\"graph\":\"0", "\"graph\":\"1"), "record-foreign"),
        ] {
            assert_eq!(GraphFile::decode(wrong.as_bytes(), "here").unwrap_err().code(), code, "{wrong}");
        }
    }
}
