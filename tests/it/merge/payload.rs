//! What merges read of rows that are heavy: nothing of those that one side alone changed, and of contested ones no more than they are.
//! Bytes are counted on a store, never timed.

use std::fmt::Write as _;

use futures::TryStreamExt as _;
use kit::graphs::{assert_whole, load_into};
use kit::world::World;
use object_store::ObjectStore as _;
use pleach::store::IoStats;
use pleach::{Graph, LoadMode, MergedTable, Write};

use super::{branch, merge, rows, write};

const SCHEMA: &str = "CREATE NODE TABLE Chunk (id INT64 PRIMARY KEY, title STRING, note STRING, vector FLOAT[3072]);";
const FLOATS: usize = 3_072;
const ROWS: i64 = 2_000;
/// Rows that each side changes.
const CHANGED: i64 = 50;

/// The bytes of one vector.
const VECTOR: u64 = 4 * FLOATS as u64;

/// A row whose vector follows from its id.
fn chunk(id: i64, title: &str, note: &str) -> String {
    let mut vector = String::with_capacity(5 * FLOATS);
    let mut state = u64::try_from(id).unwrap().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for at in 0..FLOATS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let comma = if at == 0 { "" } else { "," };
        write!(vector, "{comma}.{:03}", (state >> 33) % 1_000).unwrap();
    }
    // JSON has no number that begins with its point.
    let vector = vector.replace(",.", ",0.");
    format!(r#"{{"table":"Chunk","data":{{"id":{id},"title":"{title}","note":"{note}","vector":[0{vector}]}}}}"#)
}

/// The bytes of all data files, by which nothing else is counted.
async fn data_bytes(world: &World) -> u64 {
    let objects: Vec<_> = world.objects().list(None).try_collect().await.unwrap();
    objects.iter().filter(|object| object.location.as_ref().contains("/data/")).map(|object| object.size).sum()
}

/// A graph of so many rows in one load, and the bytes they take.
async fn loaded(world: &World) -> (Graph, u64) {
    let graph = world.init(SCHEMA).await;
    let lines: Vec<String> = (0..ROWS).map(|id| chunk(id, "old", "old")).collect();
    load_into(&graph, "main", LoadMode::Append, &lines.join("\n")).await.unwrap();
    let bytes = data_bytes(world).await;
    assert!(bytes > VECTOR * ROWS.unsigned_abs() * 9 / 10, "vectors that look random take their room: {bytes} bytes");
    (graph, bytes)
}

/// Each side gives titles or notes to rows of its own, spread over the table; `contested` rows get a title there and a note here.
async fn change(graph: &Graph, source: &str, contested: &[i64]) {
    branch(graph, source, "main").await;
    let own = |first: i64| (0..CHANGED).map(move |n| first + n * (ROWS / CHANGED));
    let theirs = own(3).map(|id| chunk(id, source, "old")).chain(contested.iter().map(|id| chunk(*id, source, "old")));
    write(graph, source, theirs.fold(Write::new(), Write::upsert_json)).await;
    let ours = own(5).map(|id| chunk(id, "old", source)).chain(contested.iter().map(|id| chunk(*id, "old", source)));
    write(graph, "main", ours.fold(Write::new(), Write::upsert_json)).await;
}

/// Merges by somebody who opens the graph, and so has nothing of it in memory.
async fn merge_cold(world: &World, source: &str) -> (MergedTable, IoStats) {
    let store = world.store();
    let graph = Graph::open_on(store.clone()).await.unwrap();
    let report = merge(&graph, source, "main").await;
    (report.tables["Chunk"], store.io().take())
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_rows_that_one_side_changed_are_not_read() {
    let world = World::new();
    let (graph, bytes) = loaded(&world).await;
    change(&graph, "f", &[]).await;
    let before = data_bytes(&world).await;
    let (table, io) = merge_cold(&world, "f").await;
    println!("{} of {bytes} bytes were read, {} written: {io:?}", io.bytes_read, io.bytes_written);
    // A table of few rows is read in blocks of a mebibyte, for fewer requests: so the files of changed rows are read whole, and no others.
    let changed = 2 * CHANGED.unsigned_abs() * VECTOR;
    assert!(io.bytes_read < 3 * changed && io.bytes_read < bytes / 8, "{} of {bytes} bytes were read", io.bytes_read);
    assert!(io.bytes_written < bytes / 100, "{} bytes were written", io.bytes_written);
    assert_eq!((table.rewritten, table.rows), (0, Some(ROWS.unsigned_abs())));
    assert!(table.adopted >= 1, "{table:?}");
    let counts = table.counts.unwrap();
    assert_eq!((counts.source.updated, counts.target.updated), (CHANGED.unsigned_abs(), CHANGED.unsigned_abs()));
    assert_eq!(data_bytes(&world).await, before, "no data file was written");
    assert_eq!(rows(&graph, "main", r#""title":"f""#).await.len(), 50);
    assert_eq!(rows(&graph, "main", r#""note":"f""#).await.len(), 50);
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_contested_rows_each_version_is_read_once() {
    const CONTESTED: [i64; 5] = [10, 410, 811, 1_212, 1_990];
    let world = World::new();
    let (graph, bytes) = loaded(&world).await;
    change(&graph, "f", &CONTESTED).await;
    let (table, io) = merge_cold(&world, "f").await;
    println!("{} of {bytes} bytes were read, {} written: {io:?}", io.bytes_read, io.bytes_written);
    let contested = CONTESTED.len() as u64;
    let versions = 3 * contested * VECTOR;
    let changed = 2 * (CHANGED.unsigned_abs() + contested) * VECTOR;
    assert!(io.bytes_read < versions + 4 * changed, "{} bytes were read, not {versions} and {changed}", io.bytes_read);
    assert!(io.bytes_written < contested * VECTOR + bytes / 100, "{} bytes were written", io.bytes_written);
    assert_eq!((table.rewritten, table.rows), (contested, Some(ROWS.unsigned_abs())));
    assert!(table.adopted >= 1, "{table:?}");
    let found = rows(&graph, "main", r#""title":"f","note":"f""#).await;
    assert_eq!(found.len(), CONTESTED.len());
    // The vectors are what they were.
    for (row, id) in found.iter().zip(CONTESTED) {
        let vector = |line: &str| -> Vec<f64> {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["data"]["vector"].as_array().unwrap().iter().map(|float| float.as_f64().unwrap()).collect()
        };
        let (found, expected) = (vector(row), vector(&chunk(id, "f", "f")));
        assert!(found.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-6), "{id}");
    }
    assert_whole(&world.open().await).await;
}
