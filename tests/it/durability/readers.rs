//! One who writes and many who only look.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kit::graphs::{assert_whole, write};
use kit::world::World;
use pleach::clock::Clock;
use pleach::store::IoStats;
use pleach::{Graph, Params, Write};

/// Commits: enough that readers are overtaken again and again, or as many as `PLEACH_READER_COMMITS` says.
fn commits() -> usize {
    match std::env::var("PLEACH_READER_COMMITS") {
        Ok(commits) => commits.parse().expect("a number"),
        Err(_) => 50,
    }
}

/// Asks for the head, the history and a number until told to stop. Gives how often it asked, and its requests.
async fn watch(graph: Graph, done: Arc<AtomicBool>) -> (usize, IoStats) {
    let (mut seen, mut rounds) = (0, 0);
    while !done.load(Ordering::Relaxed) {
        let head = graph.branch("main").await.expect("a head").head;
        assert!(head.seq.0 >= seen, "a head goes forward");
        seen = head.seq.0;
        assert_eq!(head.rows["N"], seen, "each commit has one row more");
        let log = graph.log("main", 3).await.expect("a history");
        assert!(log[0].seq >= head.seq && log.windows(2).all(|pair| pair[0].seq.0 == pair[1].seq.0 + 1));
        let count =
            graph.query(&head.reference(), "MATCH (n:N) RETURN count(n)", Params::new()).await.expect("a query");
        let count = count.collect_rows().await.expect("rows");
        assert_eq!(count[0][0].to_json(), seen.to_string());
        rounds += 1;
        Clock::system().sleep(Duration::from_millis(200)).await;
    }
    (rounds, graph.take_io())
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_neither_disturb_a_writer_nor_leave_anything_behind() {
    let world = World::new();
    let graph = world.init("CREATE NODE TABLE N (id INT64 PRIMARY KEY);").await;
    let done = Arc::new(AtomicBool::new(false));
    let commits = commits();
    let mut readers = Vec::new();
    for _ in 0..4 {
        readers.push(tokio::spawn(watch(world.open().await, done.clone())));
    }
    for id in 0..commits {
        let row = format!(r#"{{"table":"N","data":{{"id":{id}}}}}"#);
        write(&graph, Write::new().insert_json(row)).await.expect("nobody else writes");
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        let (rounds, io) = reader.await.expect("a reader");
        assert!(rounds > 0);
        println!("a reader asked {rounds} times: {io:?}");
        assert_eq!((io.puts, io.deletes, io.copies), (0, 0, 0), "who reads writes nothing: {io:?}");
    }
    let head = graph.branch("main").await.expect("a head").head;
    assert_eq!((head.seq.0, head.rows["N"]), (commits as u64, commits as u64));
    assert_whole(&graph).await;
}
