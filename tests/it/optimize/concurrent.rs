//! Optimizing beside other work, in one process and in several: nothing that came first is lost. Requests are held at the store, never
//! timed; on one thread and a store in memory, whoever is let run again and again has come to its end or waits for something.

use futures::TryStreamExt as _;
use kit::graphs::{assert_whole, by_kit, export, load};
use kit::world::World;
use object_store::ObjectStore as _;
use pleach::store::{Hold, RequestKind, When};
use pleach::{Error, Graph, LoadMode, OptimizeReport, Write};
use tokio::task::JoinHandle;

use super::{city, edge, optimize, person, prepared, put, try_optimize};

/// An optimize of the persons on `main` that is held when all is staged and only the record is to be put.
struct Held {
    world: World,
    graph: Graph,
    /// Another process.
    other: Graph,
    optimizing: JoinHandle<Result<OptimizeReport, Error>>,
    hold: Hold,
    files: usize,
}

async fn data_files(world: &World) -> usize {
    let objects: Vec<_> = world.objects().list(None).try_collect().await.unwrap();
    objects.iter().filter(|object| object.location.as_ref().contains("/data/")).count()
}

impl Held {
    async fn new() -> Self {
        let world = World::new();
        let (graph, other) = (prepared(&world).await, world.open().await);
        let files = data_files(&world).await;
        let hold = world.faults.hold(When::kind(RequestKind::Create).path("branches/main/"));
        let handle = graph.clone();
        let optimizing = tokio::spawn(async move { try_optimize(&handle, "main", &["Person"]).await });
        hold.reached().await;
        Self { world, graph, other, optimizing, hold, files }
    }

    /// Lets it go on; tells as well what another process sees, and how many data files have come since the beginning.
    async fn go_on(self) -> (OptimizeReport, String, usize) {
        self.hold.release();
        let report = self.optimizing.await.unwrap().unwrap();
        let seen = self.world.open().await;
        assert_whole(&seen).await;
        (report, export(&seen, "main").await, data_files(&self.world).await - self.files)
    }
}

/// Lets everything run that can.
async fn settle() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_write_to_the_table_that_came_first_is_kept() {
    let held = Held::new().await;
    put(&held.other, "main", [person(0, "came first"), person(90, "came first")]).await;
    let detached = Write::new().delete_detach("Person", ["14"]);
    held.other.write("main", detached, by_kit()).await.unwrap();
    let first = export(&held.other, "main").await;
    let (report, seen, new) = held.go_on().await;
    assert_eq!(seen, first);
    assert_eq!(report.commit.unwrap().reference(), "main@9");
    assert_eq!((report.tables["Person"].fragments, report.tables["Person"].rows), (1, 10));
    assert_eq!(new, 3, "of the write, and of the compaction twice");
}

#[tokio::test]
async fn a_write_to_another_table_that_came_first_costs_nothing_anew() {
    let held = Held::new().await;
    put(&held.other, "main", [city(0, "came first"), edge("Knows", 3, 4)]).await;
    let first = export(&held.other, "main").await;
    let (report, seen, new) = held.go_on().await;
    assert_eq!(seen, first);
    assert_eq!(report.commit.unwrap().reference(), "main@8");
    assert_eq!(new, 3, "two of the write, one of the compaction: its version was put on the new head");
}

#[tokio::test]
async fn of_two_processes_that_optimize_the_second_finds_nothing_left_to_gain() {
    let held = Held::new().await;
    let first = optimize(&held.other, "main", &[]).await;
    let lines = export(&held.other, "main").await;
    let (report, seen, _) = held.go_on().await;
    assert!(report.commit.is_none() && report.tables.is_empty(), "{report:?}");
    assert_eq!((first.commit.unwrap().reference().as_str(), seen), ("main@7", lines));
}

#[tokio::test]
async fn two_processes_that_optimize_different_tables_both_succeed() {
    let held = Held::new().await;
    optimize(&held.other, "main", &["City", "Knows"]).await;
    let lines = export(&held.other, "main").await;
    let (report, seen, _) = held.go_on().await;
    assert_eq!((report.commit.unwrap().reference().as_str(), seen), ("main@8", lines));
}

#[tokio::test]
async fn in_one_process_what_rewrites_the_same_table_waits_and_what_does_not_goes_on() {
    let Held { world, graph, optimizing, hold, .. } = Held::new().await;
    let start = |tables: &'static [&'static str]| {
        let graph = graph.clone();
        tokio::spawn(async move { try_optimize(&graph, "main", tables).await })
    };
    let again = start(&["City", "Person"]);
    settle().await;
    assert!(!again.is_finished(), "it would only do the work twice");
    // The hold is for one request: that of another table is not held. Nor does a small load wait, whose rows cost less to write than to wait.
    let elsewhere = optimize(&graph, "main", &["Calls"]).await;
    assert_eq!(elsewhere.commit.unwrap().reference(), "main@7");
    let loaded = load(&graph, LoadMode::Append, &person(95, "loaded")).await.unwrap();
    assert_eq!(loaded.commit.unwrap().reference(), "main@8");
    hold.release();
    assert_eq!(optimizing.await.unwrap().unwrap().commit.unwrap().reference(), "main@9");
    let again = again.await.unwrap().unwrap();
    assert_eq!(again.tables.keys().collect::<Vec<_>>(), ["City"]);
    assert!(export(&graph, "main").await.contains("loaded"));
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn an_optimize_whose_caller_went_away_is_carried_on() {
    let Held { world, other, optimizing, hold, .. } = Held::new().await;
    let before = export(&other, "main").await;
    optimizing.abort();
    assert!(optimizing.await.is_err_and(|error| error.is_cancelled()));
    hold.release();
    // Whichever of the two comes first, the other finds nothing left to gain.
    optimize(&other, "main", &["Person"]).await;
    assert_eq!(export(&other, "main").await, before);
    assert_eq!(other.show("main").await.unwrap().seq.0, 7);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_branch_is_deleted_only_after_it_was_optimized() {
    let world = World::new();
    let graph = prepared(&world).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    let hold = world.faults.hold(When::kind(RequestKind::Create).path("branches/f/"));
    let optimizing = tokio::spawn({
        let graph = graph.clone();
        async move { optimize(&graph, "f", &[]).await }
    });
    hold.reached().await;
    let deleting = tokio::spawn({
        let graph = graph.clone();
        async move { graph.delete_branch("f", by_kit()).await }
    });
    settle().await;
    assert!(!deleting.is_finished());
    hold.release();
    let commit = optimizing.await.unwrap().commit.unwrap();
    assert_eq!(deleting.await.unwrap().unwrap().id, commit.id);
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_and_optimizes_at_once_lose_nothing() {
    let world = World::new();
    let graph = prepared(&world).await;
    let writers = (0..3).map(|writer| {
        let world = &world;
        async move {
            let graph = world.open().await;
            for n in 0..8 {
                put(&graph, "main", [person(1_000 + 100 * writer + n, "written"), edge("Calls", n % 5, 10)]).await;
            }
        }
    });
    let optimizes = (0..2).map(|_| async {
        let graph = world.open().await;
        for _ in 0..3 {
            optimize(&graph, "main", &[]).await;
        }
    });
    futures::join!(futures::future::join_all(writers), futures::future::join_all(optimizes));
    optimize(&graph, "main", &[]).await;
    let rows = graph.show("main").await.unwrap().rows;
    assert_eq!((rows["Person"], rows["Calls"], rows["Knows"]), (10 + 24, 10 + 24, 9));
    assert_whole(&world.open().await).await;
}
