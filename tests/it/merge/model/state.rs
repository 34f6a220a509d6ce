//! Rows of the model, and how they are spelled for the graph.

use std::collections::BTreeMap;

use serde_json::Value;

/// Nodes, edges known by their ends, and edges known by an id; in each two properties that merge by value and one that adds up.
pub(crate) const SCHEMA: &str = "
CREATE NODE TABLE N (id INT64 PRIMARY KEY, a INT64, b INT64, n INT64 NOT NULL DEFAULT 0 MERGE sum);
CREATE REL TABLE E (FROM N TO N, a INT64, b INT64, n INT64 NOT NULL DEFAULT 0 MERGE sum);
CREATE REL TABLE M (FROM N TO N, a INT64, b INT64, n INT64 NOT NULL DEFAULT 0 MERGE sum, MULTI);
";

/// The properties in the order of the schema; the last one adds up.
pub(crate) const PROPERTIES: [&str; 3] = ["a", "b", "n"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Table {
    N,
    E,
    M,
}

/// A row's key. The ends of a `MULTI` edge are told by its id: they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Node(i64),
    Edge(i64, i64),
    Multi(u16),
}

/// The values of a row, in the order of [`PROPERTIES`].
pub(crate) type Row = [Option<i64>; 3];

/// All rows of a commit.
pub(crate) type State = BTreeMap<Key, Row>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    BothChanged,
    ChangedAndDeleted,
    BothAdded,
    DanglingEdge,
}

/// A conflict: what is to be settled together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Conflict {
    pub(crate) key: Key,
    /// The index of a property; `None`: the row.
    pub(crate) property: Option<usize>,
    pub(crate) kind: Kind,
    /// Edges that are settled with a node.
    pub(crate) edges: Vec<Key>,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::BothChanged => "both-changed",
            Self::ChangedAndDeleted => "changed-and-deleted",
            Self::BothAdded => "both-added",
            Self::DanglingEdge => "dangling-edge",
        }
    }
}

impl Key {
    pub(crate) fn table(self) -> Table {
        match self {
            Self::Node(_) => Table::N,
            Self::Edge(..) => Table::E,
            Self::Multi(_) => Table::M,
        }
    }

    /// The nodes that an edge joins.
    pub(crate) fn ends(self) -> Option<[i64; 2]> {
        match self {
            Self::Node(_) => None,
            Self::Edge(from, to) => Some([from, to]),
            Self::Multi(id) if id < 1_000 => Some([i64::from(id % 3), i64::from((id / 2 + 1) % 4)]),
            Self::Multi(id) => Some([i64::from(id) + 3_000; 2]),
        }
    }

    fn id(id: u16) -> String {
        format!("01J000000000000000000{id:05}")
    }

    /// The key as conflicts spell it.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Node(id) => id.to_string(),
            Self::Edge(from, to) => format!("[{from},{to}]"),
            Self::Multi(id) => format!("\"{}\"", Self::id(id)),
        }
    }

    /// The key as deletions take it.
    pub(crate) fn parts(self) -> Vec<String> {
        match self {
            Self::Edge(from, to) => vec![from.to_string(), to.to_string()],
            Self::Node(_) | Self::Multi(_) => vec![self.text()],
        }
    }

    /// A row of this key as a line of a load.
    pub(crate) fn line(self, row: Row) -> String {
        let values = PROPERTIES.iter().zip(row).filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
        let mut values: Vec<String> = values.collect();
        if let Self::Node(id) = self {
            values.insert(0, format!("\"id\":{id}"));
        }
        let ends = self.ends().map(|[from, to]| format!(r#""from":{from},"to":{to},"#)).unwrap_or_default();
        let id = match self {
            Self::Multi(id) => format!(r#""id":"{}","#, Self::id(id)),
            _ => String::new(),
        };
        format!(r#"{{"table":"{:?}",{ends}{id}"data":{{{}}}}}"#, self.table(), values.join(","))
    }
}

/// Reads an export.
pub(crate) fn read(export: &str) -> State {
    let row = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let int = |value: &Value| value.as_i64().unwrap();
        let key = match line["table"].as_str().unwrap() {
            "N" => Key::Node(int(&line["data"]["id"])),
            "E" => Key::Edge(int(&line["from"]), int(&line["to"])),
            _ => Key::Multi(line["id"].as_str().unwrap()[21..].parse().unwrap()),
        };
        (key, PROPERTIES.map(|name| line["data"][name].as_i64()))
    };
    export.lines().map(row).collect()
}

/// The conflict as the graph tells it, in one line.
pub(crate) fn told(conflict: &Conflict) -> String {
    let Conflict { key, property, kind, edges } = conflict;
    let property = property.map(|property| format!(" {}", PROPERTIES[property])).unwrap_or_default();
    let mut edges: Vec<String> = edges.iter().map(|edge| format!("{:?} {}", edge.table(), edge.text())).collect();
    edges.sort();
    format!("{}: {:?} {}{property} {edges:?}", kind.as_str(), key.table(), key.text())
}

/// What the graph tells of a conflict, as [`told`] spells it.
pub(crate) fn told_by_graph(conflict: &pleach::Conflict) -> String {
    let property = conflict.property.as_ref().map(|property| format!(" {property}")).unwrap_or_default();
    let mut edges: Vec<String> = conflict.with.iter().map(|row| format!("{} {}", row.table, row.key)).collect();
    edges.sort();
    let key = conflict.key.clone().unwrap_or_default();
    format!("{}: {} {key}{property} {edges:?}", conflict.kind.as_str(), conflict.table)
}
