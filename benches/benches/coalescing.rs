//! Many writers on one branch, each inserting five new rows at a time: with commits that they share, and with one commit for each request.
//!
//! Writers are closed loops: each sends its next request when it was told of the one before. A run ends after a fixed time; requests that
//! wait then are counted by how long they waited, so that long queues do not flatter a figure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use object_store::memory::InMemory;
use pleach::store::{Backend, Faults, Store, StoreKind, StoreOptions};
use pleach::{ChangeOptions, Graph, GraphBuilder, InitOptions, Params, Write};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::load::size;

const SCHEMA: &str = "
CREATE NODE TABLE Event (id INT64 PRIMARY KEY, writer INT64, text STRING);
CREATE NODE TABLE Counter (id INT64 PRIMARY KEY, n INT64);
";

/// Rows of one request.
const ROWS: u64 = 5;

/// What a request to the store takes.
const ROUND_TRIP: Duration = Duration::from_millis(30);

/// Writers from which on a run takes [`LONG`].
const MANY: u64 = 1_024;
const LONG: u64 = 60;

/// Writers that increment one counter.
const HOT: u64 = 64;

/// Where the graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Folder,
    Memory,
}

/// What the writers do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Insert,
    Increment,
}

/// What one run came to.
struct Figures {
    commits: u64,
    publishes: u64,
    seconds: f64,
    p50: Duration,
    p99: Duration,
}

pub(crate) async fn run() -> Outcome {
    let most = size("PLEACH_BENCH_WRITERS", 16_384)?;
    let short = size("PLEACH_BENCH_SECONDS", 10)?;
    println!("coalescing: writers of {ROWS} new rows on one branch");
    for place in [Place::Folder, Place::Memory] {
        let name = match place {
            Place::Folder => "local folder".to_owned(),
            Place::Memory => format!("memory at +{} ms", ROUND_TRIP.as_millis()),
        };
        println!("  {name}\n    writers  requests a batch   commits/s       p50       p99  requests a publish");
        for writers in [1, 8, 64, MANY, 4_096, 16_384].into_iter().filter(|writers| *writers <= most) {
            let seconds = if writers >= MANY { short.max(LONG.min(6 * short)) } else { short };
            for batch in [256, 1] {
                let figures = measure(place, Load::Insert, writers, batch, seconds).await?;
                figures.print(&format!("{writers:>11}  {batch:>16}"));
            }
        }
        for batch in [256, 1] {
            let figures = measure(place, Load::Increment, HOT.min(most), batch, short).await?;
            figures.print(&format!("{:>11}  {batch:>16}", format!("{} hot", HOT.min(most))));
        }
    }
    Ok(())
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
    fn print(&self, label: &str) {
        println!(
            "{label}  {:>10.2}  {:>7} ms  {:>7} ms  {:>18.1}",
            self.commits as f64 / self.seconds,
            self.p50.as_millis(),
            self.p99.as_millis(),
            self.commits as f64 / self.publishes.max(1) as f64,
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn measure(
    place: Place,
    load: Load,
    writers: u64,
    batch: usize,
    seconds: u64,
) -> Result<Figures, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let builder = Graph::builder().coalesce_requests(batch);
    let graph = match place {
        Place::Folder => {
            let uri = folder.path().join("graph");
            let uri = uri.to_str().ok_or("the temporary folder's name is not UTF-8")?;
            builder.init(uri, SCHEMA, InitOptions::default()).await?
        }
        Place::Memory => in_memory(&builder).await?,
    };
    let counter = Write::new().insert_json(r#"{"table":"Counter","data":{"id":1,"n":0}}"#);
    graph.write("main", counter, ChangeOptions::default()).await?;
    let before = graph.show("main").await?.seq.0;
    let (stop, stopped) = watch::channel(false);
    let next = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    let begun = Instant::now();
    for writer in 0..writers {
        tasks.spawn(write(graph.clone(), load, writer, next.clone(), stopped.clone()));
    }
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let elapsed = begun.elapsed();
    let publishes = graph.show("main").await?.seq.0 - before;
    stop.send(true)?;
    let (mut done, mut waited) = (Vec::new(), Vec::new());
    while let Some(task) = tasks.join_next().await {
        let (times, waits) = task??;
        done.extend(times);
        waited.push(waits);
    }
    let commits = done.len() as u64;
    // A request that was being waited for took at least as long.
    done.extend(waited);
    done.sort_unstable();
    let quantile = |share: usize| done.get((done.len() * share / 100).min(done.len().saturating_sub(1))).copied();
    Ok(Figures {
        commits,
        publishes,
        seconds: elapsed.as_secs_f64(),
        p50: quantile(50).unwrap_or_default(),
        p99: quantile(99).unwrap_or_default(),
    })
}

/// A graph on a store in memory, each request to which takes a while.
async fn in_memory(builder: &GraphBuilder) -> Result<Graph, pleach::Error> {
    let faults = Faults::new(Arc::new(InMemory::new()));
    let backend = Backend::new(StoreKind::Memory, "memory://coalescing", Arc::new(faults.clone()));
    let store = Store::from_backend(backend, &StoreOptions::default());
    let graph = builder.init_on(store, SCHEMA, InitOptions::default()).await?;
    faults.delay_all(ROUND_TRIP);
    Ok(graph)
}

/// One writer: how long each of its requests took, and how long it has waited for the one that it does not wait for any more.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn write(
    graph: Graph,
    load: Load,
    writer: u64,
    next: Arc<AtomicU64>,
    mut stopped: watch::Receiver<bool>,
) -> Result<(Vec<Duration>, Duration), pleach::Error> {
    let mut times = Vec::new();
    loop {
        let begun = Instant::now();
        let request = async {
            match load {
                Load::Insert => {
                    let first = next.fetch_add(ROWS, Ordering::Relaxed);
                    let row = |id: u64| {
                        format!(r#"{{"table":"Event","data":{{"id":{id},"writer":{writer},"text":"event {id}"}}}}"#)
                    };
                    let write = (first..first + ROWS).map(row).fold(Write::new(), Write::insert_json);
                    graph.write("main", write, ChangeOptions::default()).await.map(drop)
                }
                Load::Increment => {
                    let increment = "MATCH (c:Counter {id: 1}) SET c.n = c.n + 1";
                    graph.run("main", increment, Params::new(), ChangeOptions::default()).await.map(drop)
                }
            }
        };
        tokio::select! {
            biased;
            _ = stopped.changed() => return Ok((times, begun.elapsed())),
            done = request => done?,
        }
        times.push(begun.elapsed());
    }
}
