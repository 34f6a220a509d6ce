//! Random statements against a model that does the same the simple way; every run ends with a check of the whole graph.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use kit::graphs::{assert_whole, export, graph, run};
use proptest::collection::vec;
use proptest::prelude::{Strategy, prop_oneof};
use proptest::test_runner::{Config, TestRunner};

const DDL: &str = "
    CREATE NODE TABLE N (id INT64 PRIMARY KEY, v INT64 DEFAULT 0);
    CREATE REL TABLE E (FROM N TO N, w INT64 DEFAULT 0);
";

/// What a statement does for each row; rows have `a`, `x` and, if edges are matched, `e` and `b`.
#[derive(Debug, Clone, Copy)]
enum Clause {
    Add(i64),
    SetEdge(i64),
    CreateNode(i64),
    MergeNode(i64),
    CreateEdge,
    MergeEdge,
    DeleteEdge,
    DeleteNode,
    DetachDeleteNode,
}

/// `MATCH (x), (a)` or `MATCH (x), (a)-[e]->(b)`, in an order, then clauses.
#[derive(Debug, Clone)]
struct Statement {
    x: i64,
    least: i64,
    edges: bool,
    clauses: Vec<Clause>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    a: i64,
    edge: Option<(i64, i64)>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Model {
    nodes: BTreeMap<i64, i64>,
    edges: BTreeMap<(i64, i64), i64>,
}

impl Statement {
    fn text(&self) -> String {
        let Self { x, least, edges, .. } = self;
        let pattern = if *edges { "(a:N)-[e:E]->(b:N)" } else { "(a:N)" };
        let (more, order) = if *edges { (", e, b", ", b.id") } else { ("", "") };
        let mut text =
            format!("MATCH (x:N {{id: {x}}}), {pattern} WHERE a.id >= {least} WITH x, a{more} ORDER BY a.id{order}");
        for (number, clause) in self.clauses.iter().enumerate() {
            let clause = match clause {
                Clause::Add(by) => format!("SET a.v = a.v + {by}"),
                Clause::SetEdge(w) => format!("SET e.w = e.w * 2 + {w}"),
                Clause::CreateNode(by) => format!("CREATE (:N {{id: a.id + {by}, v: a.v}})"),
                Clause::MergeNode(by) => format!(
                    "MERGE (m{number}:N {{id: a.id + {by}}}) ON CREATE SET m{number}.v = 100 ON MATCH SET m{number}.v = m{number}.v + 1"
                ),
                Clause::CreateEdge => "CREATE (a)-[:E {w: a.v}]->(x)".to_owned(),
                Clause::MergeEdge => format!(
                    "MERGE (a)-[f{number}:E]->(x) ON CREATE SET f{number}.w = 50 ON MATCH SET f{number}.w = f{number}.w + 1"
                ),
                Clause::DeleteEdge => "DELETE e".to_owned(),
                Clause::DeleteNode => "DELETE a".to_owned(),
                Clause::DetachDeleteNode => "DETACH DELETE a".to_owned(),
            };
            write!(text, " {clause}").unwrap();
        }
        text
    }
}

impl Model {
    fn rows(&self, statement: &Statement) -> Vec<Row> {
        if !self.nodes.contains_key(&statement.x) {
            return Vec::new();
        }
        if statement.edges {
            let edges = self.edges.keys().filter(|(a, _)| *a >= statement.least);
            return edges.map(|edge| Row { a: edge.0, edge: Some(*edge) }).collect();
        }
        self.nodes.keys().filter(|a| **a >= statement.least).map(|a| Row { a: *a, edge: None }).collect()
    }

    /// What the statement leaves; `None` if it is refused.
    fn after(&self, statement: &Statement) -> Option<Self> {
        let mut now = self.clone();
        let rows = self.rows(statement);
        for clause in &statement.clauses {
            rows.iter().try_for_each(|row| now.apply(*clause, *row, statement.x))?;
        }
        let whole = |edge: &(i64, i64)| now.nodes.contains_key(&edge.0) && now.nodes.contains_key(&edge.1);
        now.edges.keys().all(whole).then_some(now)
    }

    fn apply(&mut self, clause: Clause, row: Row, x: i64) -> Option<()> {
        match clause {
            Clause::Add(by) => *self.nodes.get_mut(&row.a)? += by,
            Clause::SetEdge(w) => {
                let old = self.edges.get_mut(&row.edge?)?;
                *old = *old * 2 + w;
            }
            Clause::CreateNode(by) => {
                let v = *self.nodes.get(&row.a)?;
                if self.nodes.insert(row.a + by, v).is_some() {
                    return None;
                }
            }
            Clause::MergeNode(by) => {
                self.nodes.get(&row.a)?;
                self.nodes.entry(row.a + by).and_modify(|v| *v += 1).or_insert(100);
            }
            Clause::CreateEdge => {
                let v = *self.nodes.get(&row.a)?;
                self.nodes.get(&x)?;
                if self.edges.insert((row.a, x), v).is_some() {
                    return None;
                }
            }
            Clause::MergeEdge => {
                self.nodes.get(&row.a)?;
                self.nodes.get(&x)?;
                self.edges.entry((row.a, x)).and_modify(|w| *w += 1).or_insert(50);
            }
            Clause::DeleteEdge => drop(self.edges.remove(&row.edge?)),
            Clause::DeleteNode => drop(self.nodes.remove(&row.a)),
            Clause::DetachDeleteNode => {
                if self.nodes.remove(&row.a).is_some() {
                    self.edges.retain(|(from, to), _| *from != row.a && *to != row.a);
                }
            }
        }
        Some(())
    }

    fn text(&self) -> String {
        let nodes =
            self.nodes.iter().map(|(id, v)| format!("{{\"table\":\"N\",\"data\":{{\"id\":{id},\"v\":{v}}}}}\n"));
        let edges = self
            .edges
            .iter()
            .map(|((from, to), w)| format!("{{\"table\":\"E\",\"from\":{from},\"to\":{to},\"data\":{{\"w\":{w}}}}}\n"));
        nodes.chain(edges).collect()
    }
}

fn clause(edges: bool) -> impl Strategy<Value = Clause> {
    let of_edges = u32::from(edges) * 3;
    prop_oneof![
        3 => (-5..5_i64).prop_map(Clause::Add),
        of_edges => (0..5_i64).prop_map(Clause::SetEdge),
        2 => (1..6_i64).prop_map(Clause::CreateNode),
        3 => (0..4_i64).prop_map(Clause::MergeNode),
        2 => (0..1_i64).prop_map(|_| Clause::CreateEdge),
        3 => (0..1_i64).prop_map(|_| Clause::MergeEdge),
        of_edges => (0..1_i64).prop_map(|_| Clause::DeleteEdge),
        1 => (0..1_i64).prop_map(|_| Clause::DeleteNode),
        1 => (0..1_i64).prop_map(|_| Clause::DetachDeleteNode),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    use proptest::prelude::{Just, any};
    (0..5_i64, 0..6_i64, any::<bool>()).prop_flat_map(|(x, least, edges)| {
        (Just(x), Just(least), Just(edges), vec(clause(edges), 1..4)).prop_map(|(x, least, edges, clauses)| Statement {
            x,
            least,
            edges,
            clauses,
        })
    })
}

#[test]
fn statements_do_what_a_simple_model_does() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
    let done = Cell::new((0, 0));
    TestRunner::new(config)
        .run(&vec(statement(), 1..14), |statements| {
            runtime.block_on(async {
                let graph = graph(DDL).await;
                let mut model = Model::default();
                run(&graph, "UNWIND range(0, 4) AS id CREATE (:N {id: id})").await.unwrap();
                model.nodes.extend((0..5).map(|id| (id, 0)));
                for statement in &statements {
                    let text = statement.text();
                    let outcome = run(&graph, &text).await;
                    let wanted = model.after(statement);
                    assert_eq!(outcome.is_ok(), wanted.is_some(), "{text}\non {model:?}\n{outcome:?}");
                    let (accepted, refused) = done.get();
                    done.set(if outcome.is_ok() { (accepted + 1, refused) } else { (accepted, refused + 1) });
                    model = wanted.unwrap_or(model);
                    assert_eq!(export(&graph, "main").await, model.text(), "after {text}");
                }
                assert_whole(&graph).await;
            });
            Ok(())
        })
        .unwrap();
    let (accepted, refused) = done.get();
    assert!(accepted > 20 && refused > 20, "{accepted} were accepted, {refused} refused");
}
