//! Small random graphs with all that makes patterns hard: loops, parallel edges, several tables between the same nodes, nulls.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::value::Val;

/// The schema of all small graphs.
pub const DDL: &str = "
    CREATE NODE TABLE A (id INT64 PRIMARY KEY, n INT64, s STRING, f DOUBLE, b BOOL, l INT64[]);
    CREATE NODE TABLE B (id INT64 PRIMARY KEY, n INT64, s STRING);
    CREATE REL TABLE R (FROM A TO A, w INT64, MULTI);
    CREATE REL TABLE S (FROM A TO B, w INT64);
    CREATE REL TABLE T (FROM B TO A, w INT64, k STRING KEY);
    CREATE REL TABLE U (FROM A TO A, w INT64);
";

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its label.
    pub table: &'static str,
    /// Its properties, nulls included.
    pub properties: Vec<(&'static str, Val)>,
}

/// An edge.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Its type.
    pub table: &'static str,
    /// Index of its start node.
    pub from: usize,
    /// Index of its end node.
    pub to: usize,
    /// Its properties, nulls included.
    pub properties: Vec<(&'static str, Val)>,
}

/// A graph.
#[derive(Debug, Clone, Default)]
pub struct SmallGraph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

impl SmallGraph {
    /// A graph of a few nodes and edges.
    #[must_use]
    pub fn random(dice: &mut Dice) -> Self {
        let mut graph = Self::default();
        for (table, most) in [("A", 6), ("B", 4)] {
            for id in 0..=dice.below(most) {
                graph.nodes.push(node(table, id, dice));
            }
        }
        for (table, from, to) in [("R", "A", "A"), ("S", "A", "B"), ("T", "B", "A"), ("U", "A", "A")] {
            for _ in 0..dice.below(7) {
                let ends = [from, to].map(|label| {
                    let of: Vec<usize> = (0..graph.nodes.len()).filter(|i| graph.nodes[*i].table == label).collect();
                    *dice.pick(&of)
                });
                let mut properties = vec![("w", maybe(dice, |dice| Val::Int(small(dice))))];
                if table == "T" {
                    properties.push(("k", Val::Str((*dice.pick(&["x", "y"])).to_owned())));
                }
                let edge = Edge { table, from: ends[0], to: ends[1], properties };
                let same = |other: &Edge| {
                    other.table == table
                        && (other.from, other.to) == (edge.from, edge.to)
                        && other.property("k") == edge.property("k")
                };
                if table == "R" || !graph.edges.iter().any(same) {
                    graph.edges.push(edge);
                }
            }
        }
        graph
    }

    /// As lines for a load.
    #[must_use]
    pub fn lines(&self) -> String {
        let mut out = String::new();
        let nodes = (0..self.nodes.len()).map(|i| self.json(&Val::Node(i)));
        for line in nodes.chain((0..self.edges.len()).map(|i| self.json(&Val::Edge(i)))) {
            // Writing to a text cannot fail.
            let _ = writeln!(out, "{line}");
        }
        out
    }

    /// A value as a result spells it. The hidden id of an edge is not known here.
    #[must_use]
    pub fn json(&self, value: &Val) -> Value {
        match value {
            Val::Null => Value::Null,
            Val::Bool(b) => json!(b),
            Val::Int(n) => json!(n),
            Val::Float(f) if f.is_nan() => json!("NaN"),
            Val::Float(f) => json!(f),
            Val::Str(s) => json!(s),
            Val::List(items) => items.iter().map(|item| self.json(item)).collect(),
            Val::Node(i) => {
                let node = &self.nodes[*i];
                json!({ "table": node.table, "data": self.data(&node.properties) })
            }
            Val::Edge(i) => {
                let edge = &self.edges[*i];
                let [from, to] = [edge.from, edge.to].map(|end| self.json(self.nodes[end].property("id")));
                json!({ "table": edge.table, "from": from, "to": to, "data": self.data(&edge.properties) })
            }
        }
    }

    fn data(&self, properties: &[(&str, Val)]) -> Value {
        let present = properties.iter().filter(|(_, value)| !value.is_null());
        Value::Object(present.map(|(name, value)| ((*name).to_owned(), self.json(value))).collect::<Map<_, _>>())
    }
}

impl Node {
    /// The value of a property, null if there is none.
    #[must_use]
    pub fn property(&self, name: &str) -> &Val {
        property(&self.properties, name)
    }
}

impl Edge {
    /// The value of a property, null if there is none.
    #[must_use]
    pub fn property(&self, name: &str) -> &Val {
        property(&self.properties, name)
    }
}

fn property<'a>(properties: &'a [(&'static str, Val)], name: &str) -> &'a Val {
    properties.iter().find(|(known, _)| *known == name).map_or(&Val::Null, |(_, value)| value)
}

fn maybe(dice: &mut Dice, value: impl FnOnce(&mut Dice) -> Val) -> Val {
    if dice.chance(25) { Val::Null } else { value(dice) }
}

fn small(dice: &mut Dice) -> i64 {
    i64::try_from(dice.below(5)).unwrap_or_default() - 2
}

fn node(table: &'static str, id: usize, dice: &mut Dice) -> Node {
    let mut properties = vec![
        ("id", Val::Int(i64::try_from(id).unwrap_or_default())),
        ("n", maybe(dice, |dice| Val::Int(small(dice)))),
        ("s", maybe(dice, |dice| Val::Str((*dice.pick(&["", "a", "ab", "b", "é"])).to_owned()))),
    ];
    if table == "A" {
        properties.push(("f", maybe(dice, |dice| Val::Float(*dice.pick(&[0.5, -2.0, 1.5, f64::NAN])))));
        properties.push(("b", maybe(dice, |dice| Val::Bool(dice.chance(50)))));
        let list = |dice: &mut Dice| {
            Val::List((0..dice.below(4)).map(|_| maybe(dice, |dice| Val::Int(small(dice)))).collect())
        };
        properties.push(("l", maybe(dice, list)));
    }
    Node { table, properties }
}
