//! Merges of branches that were optimized: they come to the same as without.

use kit::graphs::{assert_whole, by_kit, export};
use kit::world::World;
use pleach::{Error, Graph, MergeOptions, MergeOutcome, MergeReport, Write};

use super::{city, edge, optimize, person, prepared, put};

async fn try_merge(graph: &Graph, source: &str, into: &str) -> Result<MergeReport, Error> {
    graph.merge(source, into, MergeOptions { change: by_kit(), ..MergeOptions::default() }).await
}

async fn merge(graph: &Graph, source: &str, into: &str) -> MergeOutcome {
    try_merge(graph, source, into).await.unwrap().outcome
}

/// `f` changed persons and edges among them, `main` cities. Of base, source and target any may have been optimized, before or after its own
/// changes.
#[tokio::test]
async fn a_merge_comes_to_the_same_whoever_was_optimized() {
    let mut seen: Option<String> = None;
    for optimized in 0..8_u8 {
        let by = |bit: u8| optimized & 1 << bit != 0;
        let world = World::new();
        let graph = prepared(&world).await;
        if by(0) {
            optimize(&graph, "main", &[]).await;
        }
        graph.create_branch("f", "main", by_kit()).await.unwrap();
        put(&graph, "f", [person(0, "of f"), person(50, "of f"), edge("Knows", 50, 0)]).await;
        put(&graph, "main", [city(0, "of main"), city(50, "of main")]).await;
        if by(1) {
            optimize(&graph, "f", &["Person", "Knows"]).await;
        }
        if by(2) {
            optimize(&graph, "main", &["City", "Calls"]).await;
        }
        assert_eq!(merge(&graph, "f", "main").await, MergeOutcome::Merged);
        let merged = without_ids(&export(&world.open().await, "main").await);
        assert_eq!(&merged, seen.get_or_insert_with(|| merged.clone()), "{optimized:03b}");
        assert_eq!(merge(&graph, "f", "main").await, MergeOutcome::UpToDate);
        // The other way round, and on from there.
        assert_eq!(merge(&graph, "main", "f").await, MergeOutcome::FastForward);
        put(&graph, "f", [person(1, "of f")]).await;
        optimize(&graph, "f", &[]).await;
        assert_eq!(merge(&graph, "f", "main").await, MergeOutcome::FastForward);
        assert_whole(&world.open().await).await;
    }
}

/// Edges of a `MULTI` table get ids by chance, so graphs that were made apart differ in them.
fn without_ids(lines: &str) -> String {
    let text = |line: &str| match (line.contains("\"Calls\""), line.split_once("\"id\":")) {
        (true, Some((before, _))) => before.to_owned(),
        _ => line.to_owned(),
    };
    let mut lines: Vec<String> = lines.lines().map(text).collect();
    lines.sort();
    lines.join("\n")
}

#[tokio::test]
async fn an_optimized_branch_moves_another_one_forward() {
    let world = World::new();
    let graph = prepared(&world).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    let before = export(&graph, "main").await;
    optimize(&graph, "f", &[]).await;
    assert_eq!(merge(&graph, "f", "main").await, MergeOutcome::FastForward);
    assert_eq!(export(&graph, "main").await, before);
    assert!(optimize(&graph, "main", &[]).await.commit.is_none(), "the files of `f` are those of `main`");
    assert_whole(&graph).await;
}

/// A row with its own tag, or the one that all begin with.
fn tagged(id: i64, name: &str, tag: &str) -> String {
    format!(r#"{{"table":"Person","data":{{"id":{id},"name":"{name}","tags":["{tag}"]}}}}"#)
}

fn since(from: i64, to: i64, year: i64) -> String {
    format!(r#"{{"table":"Knows","from":{from},"to":{to},"data":{{"since":{year}}}}}"#)
}

/// Who was optimized: the base, the source between its changes and after them, the target between its changes and after them.
const MOMENTS: u8 = 5;

/// Both sides change persons and who knows whom, row by row: apart, one row together, deletes and inserts; `f` in conflict with `main`,
/// if that is asked for.
async fn both_changed(optimized: u8, contested: bool) -> (World, Graph) {
    let by = |bit: u8| optimized & 1 << bit != 0;
    let world = World::new();
    let graph = prepared(&world).await;
    put(&graph, "main", (5..9).map(|id| tagged(id, "old", "old"))).await;
    put(&graph, "main", (9..10).map(|id| tagged(id, "old", "old"))).await;
    if by(0) {
        optimize(&graph, "main", &[]).await;
    }
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    let write = async |branch: &str, write: Write| {
        graph.write(branch, write, by_kit()).await.unwrap().commit.unwrap();
    };
    let theirs =
        [tagged(5, "of f", "old"), tagged(7, "of f", "old"), person(50, "of f"), since(50, 0, 1), since(2, 10, 2)];
    let theirs = theirs.into_iter().fold(Write::new(), Write::upsert_json);
    write("f", theirs.delete("Knows", ["12", "2"]).delete_detach("Person", ["13"])).await;
    if by(1) {
        optimize(&graph, "f", &[]).await;
    }
    put(&graph, "f", [person(51, "of f"), tagged(8, "of both", "both"), since(51, 50, 3)]).await;
    if contested {
        write("f", Write::new().upsert_json(tagged(9, "of f", "of f")).delete("Person", ["6"])).await;
    }
    if by(2) {
        optimize(&graph, "f", &["Knows", "Person"]).await;
    }
    let ours = [tagged(5, "old", "of main"), person(60, "of main"), since(60, 1, 4), since(3, 10, 5)];
    let ours = ours.into_iter().fold(Write::new(), Write::upsert_json);
    write("main", ours.delete("Knows", ["14", "4"]).delete_detach("Person", ["11"])).await;
    if by(3) {
        optimize(&graph, "main", &[]).await;
    }
    put(&graph, "main", [person(61, "of main"), tagged(8, "of both", "both"), since(61, 60, 6)]).await;
    if contested {
        let ours = [tagged(9, "of main", "of main"), tagged(6, "of main", "old")];
        write("main", ours.into_iter().fold(Write::new(), Write::upsert_json)).await;
    }
    if by(4) {
        optimize(&graph, "main", &["Knows", "Person"]).await;
    }
    (world, graph)
}

#[tokio::test]
async fn rows_that_both_sides_changed_come_to_the_same_whoever_was_optimized() {
    let mut seen: Option<(String, [String; 2])> = None;
    for optimized in (0..1_u8 << MOMENTS).step_by(3) {
        let (world, graph) = both_changed(optimized, false).await;
        let report = try_merge(&graph, "f", "main").await.unwrap();
        assert_eq!((report.outcome, report.tables["Person"].rewritten), (MergeOutcome::Merged, 1), "{optimized:05b}");
        let counts = ["Knows", "Person"].map(|name| format!("{:?}", report.tables[name].counts));
        let merged = (without_ids(&export(&world.open().await, "main").await), counts);
        assert_eq!(&merged, seen.get_or_insert_with(|| merged.clone()), "{optimized:05b}");
        for row in [tagged(5, "of f", "of main"), tagged(7, "of f", "old"), since(51, 50, 3), since(60, 1, 4)] {
            assert!(merged.0.contains(&row), "{optimized:05b}: {row} in {}", merged.0);
        }
        for gone in [r#""id":13"#, r#""id":11"#, r#""from":12,"#, r#""from":14,"to":4"#] {
            assert!(!persons_and_knows(&merged.0).contains(gone), "{optimized:05b}: {gone} in {}", merged.0);
        }
        assert_eq!(merge(&graph, "f", "main").await, MergeOutcome::UpToDate);
        // And after the merge, there and back.
        optimize(&graph, "main", &[]).await;
        assert_eq!(merge(&graph, "main", "f").await, MergeOutcome::FastForward);
        assert_eq!(export(&graph, "f").await, export(&graph, "main").await);
        assert_whole(&world.open().await).await;
    }
}

/// The lines of the two tables that both sides changed.
fn persons_and_knows(lines: &str) -> String {
    let of_both = |line: &&str| line.contains(r#""Person""#) || line.contains(r#""Knows""#);
    lines.lines().filter(of_both).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn conflicts_are_the_same_whoever_was_optimized() {
    let mut seen: Option<Vec<String>> = None;
    for optimized in (0..1_u8 << MOMENTS).step_by(3) {
        let (world, graph) = both_changed(optimized, true).await;
        let before = export(&graph, "main").await;
        let error = try_merge(&graph, "f", "main").await.unwrap_err();
        let conflicts: Vec<String> = error.conflicts().iter().map(|conflict| format!("{conflict:?}")).collect();
        assert_eq!(conflicts.len(), 3, "of 6, and of two properties of 9: {conflicts:?}");
        assert_eq!(&conflicts, seen.get_or_insert_with(|| conflicts.clone()), "{optimized:05b}");
        assert_eq!(export(&world.open().await, "main").await, before);
        // Once they are settled it is merged.
        put(&graph, "f", [tagged(9, "of main", "of main"), tagged(6, "of main", "old")]).await;
        optimize(&graph, "f", &[]).await;
        assert_eq!(merge(&graph, "f", "main").await, MergeOutcome::Merged, "{optimized:05b}");
        assert_whole(&world.open().await).await;
    }
}
