//! Rows that no write would have let in are found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch};
use async_trait::async_trait;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use roaring::RoaringTreemap;

use crate::branch::Catalogs;
use crate::error::Error;
use crate::fsck::problems::{FsckProblem, Problems};
use crate::fsck::rows::{TableCheck, What};
use crate::graph::{ChangeInfo, ChangeOptions, CommitInfo, Core, Graph, InitOptions};
use crate::ids::ChangeId;
use crate::publish::{Evaluation, Snapshot, Work};
use crate::record::ChangeKind;
use crate::schema::SchemaHash;
use crate::table::TableWrite;
use crate::testing::Rig;
use crate::write::Write;
use crate::write::forge::rows;
use crate::write::shape::Shapes;

const DDL: &str = "
    CREATE NODE TABLE P (id INT64 PRIMARY KEY, name STRING NOT NULL, mail STRING, age INT64 CHECK (age >= 0), UNIQUE (mail));
    CREATE REL TABLE E (FROM P TO P);
    CREATE REL TABLE One (FROM P TO P, MANY_ONE);
";

/// Puts rows into a table without asking any rule.
struct Forge {
    core: Arc<Core>,
    table: &'static str,
    lines: &'static str,
    edit: fn(&RecordBatch) -> RecordBatch,
    remove_all: bool,
    lie: u64,
}

#[async_trait]
impl Work for Forge {
    type Report = ();

    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<()>, Error> {
        let shapes = Shapes::new(&at.catalog, |table| self.core.layout(at, table))?;
        let index = shapes.by_name(self.table).unwrap();
        let shape = &shapes.tables[index];
        let change = ChangeId::new(self.core.clock().ulid());
        let batches: Vec<_> = rows(&shapes, self.lines, change).iter().map(self.edit).collect();
        let write = TableWrite {
            remove: RoaringTreemap::new(),
            remove_all: self.remove_all,
            insert_rows: batches.iter().map(|batch| batch.num_rows() as u64).sum(),
            insert: futures::stream::iter(batches.into_iter().map(Ok)).boxed(),
        };
        let mut staged = self.core.open_table(at, &shape.layout.table).await?.stage(write).await?;
        staged.version.rows += self.lie;
        Ok(Evaluation::Staged {
            tables: vec![staged],
            reads: BTreeSet::new(),
            kind: ChangeKind::Write,
            change,
            counts: BTreeMap::new(),
            absorbed: None,
            report: (),
        })
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Write
    }

    fn replay(&self, _: &CommitInfo, _: &ChangeInfo) {}
}

fn p(id: i64, rest: &str) -> String {
    format!(r#"{{"table":"P","data":{{"id":{id},"name":"x"{rest}}}}}"#)
}

async fn graph() -> Graph {
    rig().await.1
}

async fn rig() -> (Rig, Graph) {
    let rig = Rig::empty();
    let graph = rig.builder().init_on(rig.store(), DDL, InitOptions::default()).await.unwrap();
    let rows = Write::new()
        .insert_json(p(1, r#","mail":"a""#))
        .insert_json(p(2, ""))
        .insert_json(r#"{"table":"E","from":1,"to":2}"#)
        .insert_json(r#"{"table":"One","from":1,"to":2}"#);
    graph.write("main", rows, ChangeOptions::default()).await.unwrap();
    (rig, graph)
}

/// Publishes a forgery.
async fn forge(graph: &Graph, table: &'static str, lines: &'static str, change: impl FnOnce(&mut Forge)) {
    let core = graph.core().clone();
    let mut forge = Forge { core, table, lines, edit: RecordBatch::clone, remove_all: false, lie: 0 };
    change(&mut forge);
    graph.core().publish("main", forge, &ChangeOptions::default()).boxed().await.unwrap();
}

fn texts(problems: Vec<FsckProblem>) -> Vec<(&'static str, String)> {
    problems.into_iter().map(|problem| (problem.code, format!("{}: {}", problem.place, problem.detail))).collect()
}

/// What `fsck` says after a forgery.
async fn found(
    table: &'static str,
    lines: &'static str,
    change: impl FnOnce(&mut Forge),
) -> Vec<(&'static str, String)> {
    let graph = graph().await;
    assert!(graph.fsck(&[]).await.unwrap().problems.is_empty());
    forge(&graph, table, lines, change).await;
    texts(graph.fsck(&[]).await.unwrap().problems)
}

fn no_hash(batch: &RecordBatch) -> RecordBatch {
    let mut columns = batch.columns().to_vec();
    let zeros = FixedSizeBinaryArray::try_from_iter(std::iter::repeat_n([0_u8; 16], batch.num_rows())).unwrap();
    columns[0] = Arc::new(zeros) as ArrayRef;
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

#[tokio::test]
async fn rows_that_break_a_rule_are_named() {
    let cases: [(&str, &str, &str, &str); 7] = [
        (
            "P",
            r#"{"table":"P","data":{"id":1,"name":"y"}}"#,
            "duplicate-key",
            "main@2 P: 1: another row has the same key",
        ),
        ("P", r#"{"table":"P","data":{"id":3,"name":"y","mail":"a"}}"#, "unique", "main@2 P: "),
        (
            "P",
            r#"{"table":"P","data":{"id":3,"name":"y","age":-1}}"#,
            "check",
            "main@2 P: 3: CHECK (age >= 0) is broken",
        ),
        ("P", r#"{"table":"P","data":{"id":3,"name":null}}"#, "null-not-allowed", "main@2 P: 3: name is null"),
        ("E", r#"{"table":"E","from":1,"to":9}"#, "dangling-edge", "main@2 E: [1,9]: its end node does not exist in P"),
        (
            "E",
            r#"{"table":"E","from":9,"to":1}"#,
            "dangling-edge",
            "main@2 E: [9,1]: its start node does not exist in P",
        ),
        ("One", r#"{"table":"One","from":1,"to":1}"#, "cardinality", "main@2 One: "),
    ];
    for (table, lines, code, text) in cases {
        let found = found(table, lines, |_| {}).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, code);
        assert!(found[0].1.contains(text), "{found:?}");
    }
}

#[tokio::test]
async fn a_hash_that_does_not_agree_is_found() {
    let found = found("P", r#"{"table":"P","data":{"id":3,"name":"y"}}"#, |forge| forge.edit = no_hash).await;
    assert_eq!(found, [("hash-mismatch", "main@2 P: 3: _hash does not agree with the values".to_owned())]);
}

#[tokio::test]
async fn nodes_that_vanished_leave_their_edges_dangling() {
    let found = found("P", "", |forge| forge.remove_all = true).await;
    let codes: Vec<_> = found.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ["dangling-edge"; 4]);
}

#[tokio::test]
async fn a_count_that_does_not_agree_is_found() {
    let found = found("P", r#"{"table":"P","data":{"id":3,"name":"y"}}"#, |forge| forge.lie = 2).await;
    assert!(
        found.iter().any(|(code, text)| *code == "table-unreadable" && text.contains("3 rows, the record says 5")),
        "{found:?}"
    );
}

/// A dangling edge that was removed again.
async fn mended() -> Graph {
    let graph = graph().await;
    forge(&graph, "E", r#"{"table":"E","from":1,"to":9}"#, |_| {}).await;
    forge(&graph, "E", "", |forge| forge.remove_all = true).await;
    graph
}

#[tokio::test]
async fn a_deep_check_finds_what_a_later_commit_mended() {
    let graph = mended().await;
    assert_eq!(texts(graph.fsck(&[]).await.unwrap().problems), []);
    let deep = graph.fsck_deep(&[]).await.unwrap();
    assert_eq!(
        texts(deep.problems),
        [("dangling-edge", "main@2 E: [1,9]: its end node does not exist in P".to_owned())]
    );
}

#[tokio::test]
async fn a_deep_check_reads_each_table_version_once() {
    let graph = mended().await;
    graph.create_branch("side", "main@1", ChangeOptions::default()).await.unwrap();
    graph.write("side", Write::new().delete("One", ["1", "2"]), ChangeOptions::default()).await.unwrap();
    let deep = graph.fsck_deep(&[]).await.unwrap();
    // P, E and One: empty, and with their first rows; two forgeries of E; One without its row.
    assert_eq!(deep.table_versions, 6 + 2 + 1);
    assert_eq!(deep.rows, (2 + 1 + 1) + 2);
    // A dangling edge is looked for again wherever its nodes are others, and told once.
    assert_eq!(deep.problems.len(), 1);
}

#[tokio::test]
async fn rows_at_fault_are_told_even_if_reading_breaks_off() {
    let graph = graph().await;
    forge(&graph, "P", r#"{"table":"P","data":{"id":3,"name":"y"}}"#, |forge| forge.edit = no_hash).await;
    let at = graph.core().snapshot("main").await.unwrap();
    let shapes = Shapes::new(&at.catalog, |table| graph.core().layout(&at, table)).unwrap();
    let shape = &shapes.tables[shapes.by_name("P").unwrap()];
    let mut problems = Problems::default();
    let mut check = TableCheck::new(graph.core(), &at, &shapes, shape, What::Everything);
    assert!(check.read(3, &mut problems).await.unwrap());
    let objects = graph.core().store().objects();
    let tables = Path::from("tables");
    let paths: Vec<Path> = objects.list(Some(&tables)).map_ok(|meta| meta.location).try_collect().await.unwrap();
    for path in paths.iter().filter(|path| path.as_ref().contains("/data/")) {
        objects.delete(path).await.unwrap();
    }
    graph.core().store().staging().forget_small();
    check.judge().unwrap();
    check.tell(&mut problems).await.unwrap();
    assert_eq!(
        texts(problems.finish()),
        [("hash-mismatch", "main@2 P: 1 row: _hash does not agree with the values".to_owned())]
    );
}

#[tokio::test]
async fn a_schema_that_cannot_be_compiled_is_told_and_the_rest_is_checked() {
    let (rig, graph) = rig().await;
    graph.create_branch("side", "main", ChangeOptions::default()).await.unwrap();
    let schema = graph.core().snapshot("main").await.unwrap().record.schema;
    let objects = graph.core().store().objects();
    let read = async |path: &Path| {
        let bytes = objects.get(path).await.unwrap().bytes().await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    let broken = read(&Catalogs::path(schema)).await.replace("age >= 0", "age >= nope");
    let hash = SchemaHash::of(broken.as_bytes());
    objects.put(&Catalogs::path(hash), broken.into()).await.unwrap();
    let record = Path::from(format!("branches/side/{:016x}.json", u64::MAX));
    let edited = read(&record).await.replace(&schema.to_string(), &hash.to_string());
    objects.put(&record, edited.into()).await.unwrap();

    let report = rig.process().await.fsck(&[]).await.unwrap();
    let codes: Vec<_> = report.problems.iter().map(|problem| (problem.code, problem.place.as_str())).collect();
    assert_eq!(codes, [("schema-damaged", "side@0")]);
    assert!(report.problems[0].detail.contains("age >= nope"), "{:?}", report.problems);
    assert_eq!((report.branches, report.rows), (2, 4));
}
