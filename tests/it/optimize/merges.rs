//! Merges of branches that were optimized: they come to the same as without.

use kit::graphs::{assert_whole, by_kit, export};
use kit::world::World;
use pleach::{Graph, MergeOptions, MergeOutcome};

use super::{city, edge, optimize, person, prepared, put};

async fn merge(graph: &Graph, source: &str, into: &str) -> MergeOutcome {
    graph.merge(source, into, MergeOptions { change: by_kit() }).await.unwrap().outcome
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
