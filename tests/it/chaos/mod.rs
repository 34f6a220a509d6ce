//! Several processes on one graph, in a simulated time, with requests that are slow, fail, lose their answers or land late, and with processes
//! that die: whatever happens, what was acknowledged is there exactly once, what was refused is not, and nothing is damaged.
//!
//! A run is told by its seed, which decides what each process does and what becomes of each request. (Lance computes on threads of its
//! own, so two runs of one seed may differ in what overtakes what.)
//!
//! `PLEACH_CHAOS_RUNS` asks for more runs than the usual ones, `PLEACH_CHAOS_SEED` for one that is to be seen again.

mod actor;
mod audit;
mod ledger;
mod weather;

use std::sync::Arc;
use std::time::Duration;

use kit::graphs::{by_kit, init_options};
use object_store::memory::InMemory;
use pleach::Graph;
use pleach::clock::{Clock, Timestamp};

use self::actor::Actor;
use self::ledger::Ledger;
use self::weather::{Numbers, Weather};

/// Runs in every test run, in so many tests that they run side by side.
const RUNS: u64 = 24;
const SHARES: u64 = 4;

/// Processes of one run, and what each of them does.
const PROCESSES: u64 = 3;
const STEPS: u64 = 14;

/// What is stored in: rows that tell which request put them there, and a sum over all requests.
const SCHEMA: &str = "
CREATE NODE TABLE Item (id STRING PRIMARY KEY, op STRING NOT NULL);
CREATE NODE TABLE Total (id INT64 PRIMARY KEY, n INT64 MERGE sum);
CREATE REL TABLE Of (FROM Item TO Item, op STRING);
";

/// Lets time go by whenever everything has had its turns.
async fn time(clock: Clock, mut numbers: Numbers) {
    loop {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        // Now and then somebody's machine stands still for longer than anything is waited for.
        let millis = if numbers.one_in(400) { 90_000 } else { 1 + numbers.below(20) };
        clock.advance(Duration::from_millis(millis));
    }
}

/// What a run came to.
#[derive(Debug, Default)]
struct Sums {
    acknowledged: usize,
    refused: usize,
    unknown: usize,
    merges: usize,
    deaths: usize,
}

async fn run(seed: u64) -> Sums {
    let objects = Arc::new(InMemory::new());
    let clock = Clock::simulated(Timestamp(1_800_000_000_000_000), seed);
    let weather = Weather::new(objects, clock.clone());
    let graph = Graph::init_on(weather.calm(), SCHEMA, init_options()).await.expect("a new graph");
    for name in &actor::NAMES[1..] {
        graph.create_branch(name, "main", by_kit()).await.expect("a new branch");
    }
    let ledger = Ledger::default();
    let ticking = tokio::spawn(time(clock, Numbers::new(seed ^ 0xA5A5)));
    let mut acting = Vec::new();
    for process in 0..PROCESSES {
        let numbers = Numbers::new(seed.wrapping_mul(PROCESSES).wrapping_add(process));
        let actor = Actor::new(process, weather.clone(), ledger.clone(), numbers);
        acting.push(actor.act(STEPS));
    }
    futures::future::join_all(acting).await;
    let sums = audit::audit(&weather, &ledger).await.unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
    ticking.abort();
    sums
}

#[allow(clippy::print_stdout, reason = "what long runs came to")]
fn runs(share: u64) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let seeds: Vec<u64> = match number("PLEACH_CHAOS_SEED") {
        Some(seed) => (seed % SHARES == share).then_some(seed).into_iter().collect(),
        None => (0..number("PLEACH_CHAOS_RUNS").unwrap_or(RUNS)).filter(|seed| seed % SHARES == share).collect(),
    };
    let mut all = Sums::default();
    for seed in &seeds {
        let Sums { acknowledged, refused, unknown, merges, deaths } = runtime.block_on(run(*seed));
        all.acknowledged += acknowledged;
        all.refused += refused;
        all.unknown += unknown;
        all.merges += merges;
        all.deaths += deaths;
    }
    println!("{} runs: {all:?}", seeds.len());
    if seeds.len() >= 10 {
        assert!(all.acknowledged > 5 * seeds.len() && all.merges > 0 && all.deaths > 0, "{all:?}");
    }
}

#[test]
fn what_was_acknowledged_is_there_once_one() {
    runs(0);
}

#[test]
fn what_was_acknowledged_is_there_once_two() {
    runs(1);
}

#[test]
fn what_was_acknowledged_is_there_once_three() {
    runs(2);
}

#[test]
fn what_was_acknowledged_is_there_once_four() {
    runs(3);
}
