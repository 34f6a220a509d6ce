//! What goes into one commit, in which order, and how its changes are told.

use kit::graphs::{assert_whole, by_kit, export, write};
use kit::world::World;
use pleach::{ChangeOptions, Error, ErrorKind, Graph, LoadMode, Params, Write, WriteReport};

use super::{DDL, Task, insert, m, n, open, start_together, together, writing};

fn place(outcome: &Result<WriteReport, Error>) -> (u64, usize) {
    let report = outcome.as_ref().expect("a write");
    (report.commit.as_ref().expect("a commit").seq.0, report.change)
}

/// Waits until so many batches are counted: that is when all of a batch was told.
async fn counted(graph: &Graph, batches: u64) {
    while graph.stats().lanes.batches < batches {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn independent_requests_share_a_commit_in_the_order_they_came() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let message = |number: i64| ChangeOptions { message: format!("number {number}"), ..by_kit() };
    let tasks = (0..5).map(|number| {
        let graph = graph.clone();
        let task: Task<_> = Box::pin(async move { graph.write("main", insert(number), message(number)).await });
        task
    });
    let done = together(&world, &graph, tasks.collect()).await;
    let places: Vec<_> = done.iter().map(place).collect();
    assert_eq!(places, (0..5).map(|number| (2, number)).collect::<Vec<_>>());
    let commit = graph.show("main").await.unwrap();
    let messages: Vec<_> = commit.changes.iter().map(|change| change.message.clone()).collect();
    assert_eq!(messages, (0..5).map(|number| format!("number {number}")).collect::<Vec<_>>());
    assert!(done.into_iter().all(|report| report.unwrap().commit == Some(commit.clone())), "all are told the same");
    assert_eq!(graph.log("main", 10).await.unwrap().len(), 3);
    assert_eq!(graph.show("main@2#3").await.unwrap(), commit, "a change is named within its commit");
    let missing = graph.show("main@2#5").await.unwrap_err();
    assert_eq!((missing.kind(), missing.code()), (ErrorKind::NotFound, "change-not-found"), "{missing}");
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_depends_on_one_before_it_closes_the_batch() {
    let world = World::new();
    let graph = world.init(DDL).await;
    write(&graph, Write::new().insert_json(n(1, 0)).insert_json(n(2, 0)).insert_json(m(1))).await.unwrap();
    let edge = |from: i64, to: i64| format!(r#"{{"table":"E","from":{from},"to":{to},"data":{{"w":0}}}}"#);
    let named = |id: i64, u: &str| format!(r#"{{"table":"N","data":{{"id":{id},"v":0,"u":"{u}"}}}}"#);
    let new = Write::new;
    // What comes first; what comes then; whether they share a commit.
    let cases = [
        (new().insert_json(n(10, 0)), new().insert_json(n(11, 0)), true),
        (new().upsert_json(n(12, 0)), new().upsert_json(n(12, 1)), false),
        (new().insert_json(edge(1, 1)), new().insert_json(edge(1, 2)), true),
        (new().insert_json(n(13, 0)), new().insert_json(edge(13, 1)), false),
        (new().delete_detach("N", ["13"]), new().insert_json(edge(2, 2)), true),
        (new().insert_json(edge(2, 1)), new().delete_detach("N", ["1"]), false),
        (new().insert_json(named(20, "x")), new().insert_json(named(21, "y")), true),
        // A value that becomes free.
        (new().upsert_json(named(20, "z")), new().insert_json(named(22, "x")), false),
        (new().delete("N", ["21"]), new().insert_json(named(23, "y")), false),
        // An edge that keeps its node.
        (new().delete("E", ["2", "2"]), new().delete("N", ["2"]), false),
        // At most one edge.
        (new().insert_json(n(30, 0)), new().insert_json(n(31, 0)), true),
        (
            new().insert_json(r#"{"table":"F","from":30,"to":1}"#),
            new().upsert_json(r#"{"table":"F","from":31,"to":1}"#),
            true,
        ),
        (new().delete("F", ["30", "1"]), new().delete("N", ["30"]), false),
    ];
    for (case, (first, then, shared)) in cases.into_iter().enumerate() {
        let tasks = vec![writing(&graph, first), writing(&graph, then)];
        let done = together(&world, &graph, tasks).await;
        let (one, other) = (place(&done[0]), place(&done[1]));
        assert_eq!(one.0 == other.0, shared, "case {case}: {one:?} {other:?}");
        assert_eq!(other, if shared { (one.0, 1) } else { (one.0 + 1, 0) }, "case {case}");
    }
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_share_a_commit_where_they_name_different_keys() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let stored = (0..4).fold(Write::new(), |write, id| write.insert_json(n(id, 0)));
    write(&graph, stored).await.unwrap();
    let increment = |id: i64| format!("MATCH (n:N {{id: {id}}}) SET n.v = n.v + 1 RETURN n.v");
    let all = "MATCH (n:N) WITH sum(n.v) AS v CREATE (:M {id: v})".to_owned();
    let statements = [increment(0), increment(1), increment(2), increment(0), increment(1), all, increment(3)];
    let tasks = statements.into_iter().map(|statement| {
        let graph = graph.clone();
        let task: Task<_> = Box::pin(async move {
            let report = graph.run("main", &statement, Params::new(), by_kit()).await.unwrap();
            (report.commit.unwrap().seq.0, report.change)
        });
        task
    });
    let places = together(&world, &graph, tasks.collect()).await;
    // The sum of all comes after what changes them; what changes one afterwards may go beside it.
    assert_eq!(places, [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (5, 0), (5, 1)]);
    assert!(export(&graph, "main").await.contains(r#"{"table":"M","data":{"id":5}}"#));
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_refused_or_does_nothing_concerns_no_other() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let stored = Write::new().insert_json(n(1, 0)).insert_json(n(4, 0)).insert_json(n(5, 0));
    write(&graph, stored).await.unwrap();
    let tasks = vec![
        writing(&graph, insert(2)),
        writing(&graph, insert(1)),
        writing(&graph, Write::new().upsert_json(n(4, 0))),
        writing(&graph, Write::new().insert_json("{}")),
        writing(&graph, Write::new().insert_json(r#"{"table":"E","from":5,"to":77}"#)),
        writing(&graph, insert(3)),
    ];
    let done = together(&world, &graph, tasks).await;
    assert_eq!((place(&done[0]), place(&done[5])), ((3, 0), (3, 1)));
    let refused = |number: usize| done[number].as_ref().unwrap_err().to_string();
    assert!(refused(1).contains("a row with the key 1 exists"), "{}", refused(1));
    assert!(done[2].as_ref().unwrap().commit.is_none());
    assert!(refused(3).contains("\"table\" is missing"), "{}", refused(3));
    assert!(refused(4).contains("77"), "{}", refused(4));
    counted(&graph, 3).await;
    let lanes = graph.stats().lanes;
    assert_eq!((lanes.largest_batch, lanes.put_back), (6, 0), "{lanes:?}");
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_cut_by_requests_rows_and_bytes() {
    let world = World::new();
    world.init(DDL).await;
    let two = |id: i64| Write::new().insert_json(n(id, 0)).insert_json(n(id + 1, 0));
    let builders = [
        (Graph::builder().coalesce_requests(3), vec![3, 3, 1]),
        (Graph::builder().coalesce_rows(4), vec![2, 2, 2, 1]),
        (Graph::builder().coalesce_bytes(2 * n(1_000, 0).len() as u64 * 4), vec![4, 3]),
        (Graph::builder().coalesce_requests(1), vec![1; 7]),
    ];
    for (number, (builder, expected)) in (1..).zip(builders) {
        let graph = open(&world, builder).await;
        let tasks = (0..7).map(|task| writing(&graph, two(1_000 * number + 2 * task))).collect();
        let done = together(&world, &graph, tasks).await;
        let mut sizes: Vec<(u64, usize)> = Vec::new();
        for (seq, _) in done.iter().map(place) {
            match sizes.last_mut() {
                Some((last, size)) if *last == seq => *size += 1,
                _ => sizes.push((seq, 1)),
            }
        }
        assert_eq!(sizes.iter().map(|(_, size)| *size).collect::<Vec<_>>(), expected);
    }
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn small_loads_share_commits_and_large_ones_go_another_way() {
    let world = World::new();
    world.init(DDL).await;
    let graph = open(&world, Graph::builder().coalesce_rows(10)).await;
    let load = |from: i64, rows: i64, mode: LoadMode| {
        let graph = graph.clone();
        let lines: Vec<String> = (from..from + rows).map(|id| n(id, 0)).collect();
        let task: Task<_> = Box::pin(async move {
            let input = std::io::Cursor::new(lines.join("\n").into_bytes());
            let report = graph.load("main", "in", input, mode, by_kit(), &|_, _| {}).await.unwrap();
            (report.commit.unwrap().seq.0, report.change)
        });
        task
    };
    let tasks = vec![load(0, 4, LoadMode::Append), load(10, 4, LoadMode::Upsert)];
    assert_eq!(together(&world, &graph, tasks).await, [(2, 0), (2, 1)]);
    counted(&graph, 2).await;
    let before = graph.stats().lanes.requests;
    load(100, 11, LoadMode::Append).await;
    load(200, 2, LoadMode::Overwrite).await;
    assert_eq!(graph.stats().lanes.requests, before, "neither went through the lane");
    assert_eq!(export(&graph, "main").await.lines().filter(|line| line.contains("\"N\"")).count(), 2);
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_id_is_answered_from_its_own_change() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let request = |graph: &Graph, id: &'static str, row: i64| {
        let graph = graph.clone();
        let task: Task<_> = Box::pin(async move {
            let options = ChangeOptions { request_id: Some(id.to_owned()), ..by_kit() };
            graph.write("main", insert(row), options).await
        });
        task
    };
    let tasks = vec![
        request(&graph, "a", 1),
        request(&graph, "b", 2),
        request(&graph, "b", 2),
        request(&graph, "c", 3),
        request(&graph, "a", 7),
    ];
    let done = together(&world, &graph, tasks).await;
    assert_eq!((place(&done[0]), place(&done[1]), place(&done[3])), ((2, 0), (2, 1), (3, 0)));
    let again = done[2].as_ref().unwrap();
    assert!(again.repeated && place(&done[2]) == (2, 1) && again.tables["N"].inserted == 1, "{again:?}");
    assert_eq!(done[4].as_ref().unwrap_err().code(), "request-id-reused");
    for graph in [&graph, &world.open().await] {
        let again = request(graph, "b", 2).await;
        assert!(again.as_ref().unwrap().repeated && place(&again) == (2, 1));
        let outcome = graph.outcome("main", "c").await.unwrap().unwrap();
        assert_eq!((outcome.commit.reference(), outcome.change), ("main@3".to_owned(), 0));
        assert!(graph.outcome("main", "d").await.unwrap().is_none());
    }
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_names_a_head_shares_no_commit() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let pinned = |head: &'static str, row: i64| {
        let graph = graph.clone();
        let task: Task<_> = Box::pin(async move {
            let options = ChangeOptions { if_head: Some(head.to_owned()), ..by_kit() };
            graph.write("main", insert(row), options).await
        });
        task
    };
    let tasks = vec![
        writing(&graph, insert(1)),
        pinned("main@1", 2),
        writing(&graph, insert(3)),
        pinned("main@3", 4),
        writing(&graph, insert(5)),
    ];
    let done = together(&world, &graph, tasks).await;
    assert_eq!(done[1].as_ref().unwrap_err().code(), "head-moved");
    let places: Vec<_> = [0, 2, 3, 4].map(|number: usize| place(&done[number])).into();
    assert_eq!(places, [(2, 0), (3, 0), (4, 0), (5, 0)]);
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_and_working_are_told_apart() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let tasks = (0..3).map(|number| writing(&graph, insert(number))).collect();
    let started = start_together(&world, &graph, tasks).await;
    for task in started {
        task.await.unwrap().unwrap();
    }
    counted(&graph, 2).await;
    let lanes = graph.stats().lanes;
    assert_eq!((lanes.batches, lanes.requests, lanes.largest_batch, lanes.waiting), (2, 4, 3, 0), "{lanes:?}");
    assert!(!lanes.waited.is_zero() && !lanes.worked.is_zero(), "{lanes:?}");
}
