//! Random changes of schemas and rows on `main` and on branches of it, merged in both directions, against the model: rows, schemas and
//! refusals agree after each step.

use std::collections::BTreeMap;

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{Graph, SchemaOptions, Write};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::model::schema::{Change, Commit};
use super::{branch, options};

/// Sequences by default; the variable asks for another number, for a long run.
const CASES: u32 = 24;
const VARIABLE: &str = "PLEACH_SCHEMA_SEQUENCES";

#[derive(Debug, Clone)]
enum Step {
    /// On the branch of this number.
    Schema(u8, Change),
    /// Sets a value of a row, of those there are.
    Set(u8, u8, &'static str, i64),
    Insert(u8),
    Delete(u8, u8),
    Branch,
    /// Of a branch into `main`, or the other way.
    Merge(u8, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let change = prop_oneof![
        2 => proptest::strategy::Just(Change::AddProperty),
        1 => proptest::strategy::Just(Change::Drop),
        1 => proptest::strategy::Just(Change::DropAndReadd),
        2 => proptest::strategy::Just(Change::RenameProperty),
        2 => proptest::strategy::Just(Change::RenameTable),
        2 => proptest::strategy::Just(Change::WidenType),
        2 => proptest::strategy::Just(Change::ExtendEnum),
        2 => proptest::strategy::Just(Change::NewTable),
        2 => proptest::strategy::Just(Change::ConstraintAdded),
        1 => proptest::strategy::Just(Change::ConstraintDropped),
        1 => proptest::strategy::Just(Change::PolicyChanged),
    ];
    let what = prop_oneof![
        proptest::strategy::Just("p"),
        proptest::strategy::Just("n"),
        proptest::strategy::Just("q"),
        proptest::strategy::Just("e"),
        proptest::strategy::Just("again"),
    ];
    prop_oneof![
        5 => (any::<u8>(), change).prop_map(|(branch, change)| Step::Schema(branch, change)),
        5 => (any::<u8>(), any::<u8>(), what, 0..90_i64).prop_map(|(branch, row, what, to)| Step::Set(branch, row, what, to)),
        3 => any::<u8>().prop_map(Step::Insert),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(branch, row)| Step::Delete(branch, row)),
        1 => proptest::strategy::Just(Step::Branch),
        4 => (any::<u8>(), any::<bool>()).prop_map(|(branch, back)| Step::Merge(branch, back)),
    ]
}

struct World {
    graph: Graph,
    heads: BTreeMap<String, Commit>,
    /// What each branch and `main` last had in common.
    bases: BTreeMap<String, Commit>,
    next: i64,
}

impl World {
    async fn new() -> Self {
        let first = Commit::first();
        let graph = graph(&first.schema.ddl(&first.schema)).await;
        let rows = first.rows.iter();
        let write = rows.fold(Write::new(), |write, (id, row)| write.insert_json(first.schema.line(*id, row)));
        graph.write("main", write, by_kit()).await.unwrap();
        let heads = BTreeMap::from([("main".to_owned(), first)]);
        let mut world = Self { graph, heads, bases: BTreeMap::new(), next: 100 };
        world.step(&Step::Branch).await;
        world
    }

    fn pick(&self, number: u8) -> String {
        let names: Vec<&String> = self.heads.keys().collect();
        names[usize::from(number) % names.len()].clone()
    }

    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    async fn put(&mut self, name: &str, id: i64) {
        let commit = &self.heads[name];
        let write = Write::new().upsert_json(commit.schema.line(id, &commit.rows[&id]));
        self.graph.write(name, write, by_kit()).await.unwrap();
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Branch if self.heads.len() < 3 => {
                let name = format!("b{}", self.number());
                branch(&self.graph, &name, "main").await;
                let main = self.heads["main"].clone();
                self.bases.insert(name.clone(), main.clone());
                self.heads.insert(name, main);
            }
            Step::Branch => {}
            Step::Schema(number, change) => {
                let name = self.pick(*number);
                // Names and labels that nobody has had.
                let side = format!("{}", self.number());
                let mut commit = self.heads[&name].clone();
                if commit.schema.p.is_none() && matches!(change, Change::DropAndReadd | Change::ConstraintAdded) {
                    return;
                }
                for schema in commit.schema.changed(*change, &side) {
                    let options = SchemaOptions { allow_data_loss: true, change: by_kit() };
                    self.graph.apply_schema(&name, &schema.ddl(&commit.schema), options).await.unwrap();
                    commit.schema = schema;
                    commit.forget();
                }
                self.heads.insert(name, commit);
            }
            Step::Set(number, row, what, to) => {
                let name = self.pick(*number);
                let commit = self.heads.get_mut(&name).unwrap();
                let ids: Vec<i64> = commit.rows.keys().copied().collect();
                let id = ids[usize::from(*row) % ids.len()];
                let value = match *what {
                    "e" => json!(commit.schema.labels.last().unwrap()),
                    "again" => json!(to.to_string()),
                    // Sums stay below what a condition allows.
                    "n" => json!(to % 5),
                    _ => json!(to),
                };
                commit.rows.get_mut(&id).unwrap().insert(what, value);
                commit.forget();
                self.put(&name, id).await;
            }
            Step::Insert(number) => {
                let (name, id) = (self.pick(*number), self.number());
                let commit = self.heads.get_mut(&name).unwrap();
                commit.rows.insert(id, [("e", json!("a")), ("n", json!(1))].into());
                self.put(&name, id).await;
            }
            Step::Delete(number, row) => {
                let name = self.pick(*number);
                let commit = self.heads.get_mut(&name).unwrap();
                let ids: Vec<i64> = commit.rows.keys().copied().filter(|id| *id > 1).collect();
                if ids.is_empty() {
                    return;
                }
                let id = ids[usize::from(*row) % ids.len()];
                commit.rows.remove(&id);
                let table = commit.schema.table.clone().unwrap();
                self.graph.write(&name, Write::new().delete(table, [id.to_string()]), by_kit()).await.unwrap();
            }
            Step::Merge(number, back) => {
                let names: Vec<String> = self.bases.keys().cloned().collect();
                if let Some(name) = names.get(usize::from(*number) % names.len().max(1)) {
                    self.merge(name, *back).await;
                }
            }
        }
    }

    async fn merge(&mut self, name: &str, back: bool) {
        let (from, into) = if back { ("main", name) } else { (name, "main") };
        let (source, target) = (self.heads[from].clone(), self.heads[into].clone());
        let expected = Commit::merged(&self.bases[name], &source, &target);
        let merged = self.graph.merge(from, into, options()).await;
        let Some(expected) = expected else {
            assert_eq!(
                merged.map(|report| report.outcome).unwrap_err().code(),
                "merge-conflicts",
                "{from} into {into}"
            );
            self.graph.delete_branch(name, by_kit()).await.unwrap();
            self.heads.remove(name);
            self.bases.remove(name);
            return;
        };
        let report = merged.unwrap_or_else(|error| panic!("{from} into {into}: {error}"));
        self.heads.insert(into.to_owned(), expected);
        // What brings nothing is contained all the same, or is what it was.
        self.bases.insert(name.to_owned(), if report.commit.is_some() { source } else { self.bases[name].clone() });
        self.compare(into).await;
    }

    async fn compare(&self, name: &str) {
        let commit = &self.heads[name];
        let text = export(&self.graph, name).await;
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let table = commit.schema.table.as_deref();
        let lines = lines.filter(|line| line["table"].as_str() == table).map(|mut line| {
            line["data"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
            line
        });
        assert_eq!(lines.collect::<Vec<_>>(), commit.told(), "{name}");
        let plan = self.graph.plan_schema(name, &commit.schema.ddl(&commit.schema)).await.unwrap();
        let steps: Vec<String> = plan.steps.iter().map(ToString::to_string).collect();
        assert!(steps.iter().all(|step| step.contains("change the order")), "{name}: {steps:?}");
    }
}

#[test]
fn merges_of_schemas_agree_with_the_model() {
    let cases = std::env::var(VARIABLE).ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ran = TestRunner::new(config).run(&vec(step(), 6..30), |steps| {
        runtime.block_on(async {
            let mut world = World::new().await;
            for step in &steps {
                world.step(step).await;
            }
            let names: Vec<String> = world.heads.keys().cloned().collect();
            for name in names {
                world.compare(&name).await;
            }
            assert_whole(&world.graph).await;
        });
        Ok(())
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
}
