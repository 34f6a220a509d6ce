//! Processes at once on a real server, whose connections are slow, broken and down in turn: what was acknowledged is there once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kit::graphs::{assert_whole, by_kit, export, init_options};
use kit::rig::{Proxy, Rig};
use pleach::clock::Clock;
use pleach::store::{Store, StoreOptions};
use pleach::{ChangeOptions, Error, ErrorKind, Graph, MergeOptions, MergeOutcome, Params, Write};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{SCHEMA, person};

/// How long a worker goes on asking for one thing. Who publishes last is the first to know the head, so on a busy machine a writer
/// may be overtaken for a long while; it is not once the others are done.
const PATIENCE: Duration = Duration::from_mins(4);

/// What a worker process is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Job {
    name: String,
    /// Where it tells what was acknowledged.
    report: String,
    uri: String,
    endpoint: String,
    rounds: usize,
    task: Task,
}

impl Job {
    /// The same on another graph.
    pub(super) fn at(self, uri: String) -> Self {
        Self { uri, ..self }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Task {
    /// One row and commit a round, on this branch.
    Commit { branch: String },
    /// Each round two branches of its own: made, written to, one fast-forwarded into the other, deleted.
    Branches,
    /// Each round a branch of its own: made, written to in tables that all share, merged into `main`, deleted.
    Merges,
}

/// What a worker was told.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Report {
    /// The commit of each row of a branch that stays, or of the merge that brought it there.
    pub(super) acknowledged: BTreeMap<String, String>,
    /// How often a request had to be made again, by the error's code.
    pub(super) again: BTreeMap<String, u64>,
}

struct Worker {
    graph: Graph,
    report: Report,
}

impl Worker {
    /// Asks until it is answered. An answer that was lost is had by asking again for the same request id.
    async fn ask<T, F: Future<Output = Result<T, Error>>>(
        &mut self,
        request: &str,
        ask: impl Fn(Graph, ChangeOptions) -> F,
    ) -> T {
        let begun = Clock::system().instant();
        loop {
            let options = ChangeOptions { request_id: Some(request.to_owned()), ..by_kit() };
            match ask(self.graph.clone(), options).await {
                Ok(answer) => return answer,
                Err(error) => self.forgive(request, &error, begun.elapsed()),
            }
        }
    }

    fn forgive(&mut self, request: &str, error: &Error, waited: Duration) {
        let passing =
            [ErrorKind::Unavailable, ErrorKind::Contention, ErrorKind::OutcomeUnknown].contains(&error.kind());
        assert!(passing && waited < PATIENCE, "{request} after {waited:?}: {} {error}", error.code());
        *self.report.again.entry(error.code().to_owned()).or_default() += 1;
    }

    async fn commit(&mut self, branch: &str, row: &str) {
        let write = |graph: Graph, options| async move {
            graph.write(branch, Write::new().insert_json(person(row, 1)), options).await
        };
        let report = self.ask(row, write).await;
        let commit = report.commit.unwrap_or_else(|| panic!("{row}: an insert is a commit"));
        self.report.acknowledged.insert(row.to_owned(), commit.id.to_string());
    }

    /// A branch and another that is made from it, written to, and taken over by a fast-forward.
    async fn branches(&mut self, name: &str) {
        let next = format!("{name}/next");
        let rows = [format!("{name}-0"), format!("{name}-1")];
        self.create(name, "main").await;
        self.commit(name, &rows[0]).await;
        self.create(&next, name).await;
        self.commit(&next, &rows[1]).await;
        assert_eq!(self.own_rows(name).await, 1, "{name} has nothing of the other branch");
        self.fast_forward(&next, name).await;
        self.delete(&next).await;
        assert_eq!(self.own_rows(name).await, 2, "{name} has what was written to both");
        // Its beginning, the row of its own, and the fast-forward: nothing twice.
        let log = self.ask(name, |graph, _| async move { graph.log(name, 3).await }).await;
        let told: Vec<_> = log.iter().map(pleach::CommitInfo::reference).collect();
        assert_eq!(told, [2, 1, 0].map(|seq| format!("{name}@{seq}")));
        let parents: Vec<_> = log[0].parents.iter().map(|parent| parent.id.to_string()).collect();
        assert_eq!(parents, rows.map(|row| self.report.acknowledged[&row].clone()), "{log:#?}");
        self.delete(name).await;
        // They went with their branches.
        self.report.acknowledged.clear();
    }

    /// A branch with a row of its own and a property of its own of a row that all share, merged into `main`.
    async fn merges(&mut self, name: &str, round: usize) {
        self.create(name, "main").await;
        self.commit(name, name).await;
        let worker = name.split('-').next().unwrap_or(name);
        let statement = format!("MATCH (s:Shared {{id: 'all'}}) SET s.{worker} = {round}, s.n = s.n + 1");
        let set = |graph: Graph, options| {
            let statement = statement.clone();
            async move { graph.run(name, &statement, Params::new(), options).await }
        };
        self.ask(&format!("{name}-set"), set).await;
        let merge = |graph: Graph, change| async move {
            graph.merge(name, "main", MergeOptions { change, ..MergeOptions::default() }).await
        };
        let report = self.ask(&format!("{name}-merge"), merge).await;
        let commit = report.commit.unwrap_or_else(|| panic!("{name}: it brings something"));
        self.report.acknowledged.insert(name.to_owned(), commit.id.to_string());
        self.delete(name).await;
    }

    async fn create(&mut self, name: &str, from: &str) {
        let create = |graph: Graph, options| async move { graph.create_branch(name, from, options).await };
        self.ask(&format!("{name}-create"), create).await;
    }

    async fn delete(&mut self, name: &str) {
        let delete = |graph: Graph, options| async move { graph.delete_branch(name, options).await };
        self.ask(&format!("{name}-delete"), delete).await;
    }

    /// Whether the answer was had at once or by asking again, it tells of one fast-forward.
    async fn fast_forward(&mut self, source: &str, into: &str) {
        let merge = |graph: Graph, change| async move {
            graph.merge(source, into, MergeOptions { change, ..MergeOptions::default() }).await
        };
        let report = self.ask(&format!("{source}-merge"), merge).await;
        assert_eq!(report.outcome, MergeOutcome::FastForward, "{source} into {into}");
        let commit = report.commit.unwrap_or_else(|| panic!("{source}: a fast-forward is a commit"));
        assert_eq!(commit.reference(), format!("{into}@2"));
    }

    /// How many rows of the branches of this name a branch has.
    async fn own_rows(&mut self, name: &str) -> usize {
        let export = |graph: Graph, _| async move {
            let mut lines = Vec::new();
            graph.export(name, &[], &mut lines).await.map(|_| lines)
        };
        let seen = String::from_utf8(self.ask(name, export).await).expect("exports are UTF-8");
        seen.lines().filter(|line| line.contains(&format!("\"{name}-"))).count()
    }
}

/// Opens the graph, however often it takes.
async fn open(job: &Job, options: &StoreOptions) -> Graph {
    let begun = Clock::system().instant();
    loop {
        let store = Store::open(&job.uri, options).await.expect("usable settings");
        match Graph::open_on(store).await {
            Ok(graph) => return graph,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{}: {error}", job.name),
        }
    }
}

/// Not a test: what the worker processes of the tests below run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a process that other tests start"]
async fn worker() {
    let Ok(job) = std::env::var("PLEACH_TEST_JOB") else { return };
    let job: Job = serde_json::from_str(&job).expect("a job");
    let rig = Rig::find().expect("the environment of the rig");
    let graph = open(&job, &rig.options(&job.endpoint)).await;
    let mut worker = Worker { graph, report: Report::default() };
    for round in 0..job.rounds {
        let name = format!("{}-{round}", job.name);
        match &job.task {
            Task::Commit { branch } => worker.commit(branch, &name).await,
            Task::Branches => worker.branches(&name).await,
            Task::Merges => worker.merges(&name, round).await,
        }
    }
    std::fs::write(&job.report, serde_json::to_vec(&worker.report).expect("JSON")).expect("a report");
}

/// A worker under way; it does not outlive the test.
pub(super) struct Process {
    pub(super) job: Job,
    child: Child,
}

impl Process {
    pub(super) fn start(job: Job) -> Self {
        let child = Command::new(std::env::current_exe().expect("the test binary"))
            .args(["--exact", "s3::processes::worker", "--ignored", "--nocapture"])
            .env("PLEACH_TEST_JOB", serde_json::to_string(&job).expect("JSON"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("it starts");
        Self { job, child }
    }

    fn is_done(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    pub(super) fn finish(mut self) -> Report {
        let status = self.child.wait().expect("it is ours");
        assert!(status.success(), "{}: {status}", self.job.name);
        serde_json::from_slice(&std::fs::read(&self.job.report).expect("a report")).expect("JSON")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended needs nothing more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn job(folder: &Path, rig: &Rig, endpoint: &str, name: &str, rounds: usize, task: Task) -> Job {
    Job {
        name: name.to_owned(),
        report: folder.join(name).to_str().expect("a path in UTF-8").to_owned(),
        uri: rig.uri("graph"),
        endpoint: endpoint.to_owned(),
        rounds,
        task,
    }
}

/// Lets one trouble follow the other until all processes are done.
async fn trouble(proxy: &Proxy, processes: &mut [Process]) {
    let clock = Clock::system();
    for round in 0.. {
        match round % 6 {
            0 => proxy.add("reset_peer", "downstream", 0.3, json!({})).await,
            1 => proxy.enable(false).await,
            2 => proxy.add("timeout", "downstream", 0.3, json!({"timeout": 150})).await,
            3 => proxy.add("limit_data", "downstream", 0.5, json!({"bytes": 3_000})).await,
            4 => proxy.add("bandwidth", "upstream", 0.5, json!({"rate": 200})).await,
            _ => proxy.add("reset_peer", "upstream", 0.3, json!({"timeout": 20})).await,
        }
        clock.sleep(Duration::from_millis(150)).await;
        proxy.cure().await;
        proxy.enable(true).await;
        proxy.add("latency", "downstream", 1.0, json!({"latency": 10, "jitter": 8})).await;
        clock.sleep(Duration::from_millis(450)).await;
        if processes.iter_mut().all(Process::is_done) {
            return;
        }
    }
}

async fn new_graph(rig: &Rig) -> Graph {
    let store = rig.store("graph", &rig.direct()).await;
    Graph::init_on(store, SCHEMA, init_options()).await.expect("a new graph")
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_processes_and_a_bad_network_lose_and_double_nothing() {
    const WRITERS: usize = 8;
    const COMMITS: usize = 25;
    let Some(rig) = Rig::find() else { return };
    let graph = new_graph(&rig).await;
    let proxy = rig.proxy().await;
    let folder = tempfile::tempdir().expect("a folder");
    let start =
        |name: String, rounds, task| Process::start(job(folder.path(), &rig, &proxy.endpoint(), &name, rounds, task));
    let mut processes: Vec<Process> = (0..WRITERS)
        .map(|n| start(format!("w{n}"), COMMITS, Task::Commit { branch: "main".to_owned() }))
        .chain((0..4).map(|n| start(format!("b{n}"), 2, Task::Branches)))
        .collect();
    trouble(&proxy, &mut processes).await;

    let mut acknowledged = BTreeMap::new();
    let mut again: BTreeMap<String, u64> = BTreeMap::new();
    for process in processes {
        let report = process.finish();
        acknowledged.extend(report.acknowledged);
        for (code, times) in report.again {
            *again.entry(code).or_default() += times;
        }
    }
    println!("on {}: requests made again, by the error before: {again:?}", rig.server);
    assert_eq!(acknowledged.len(), WRITERS * COMMITS);
    let log = graph.log("main", usize::MAX).await.expect("a log");
    let ids: BTreeSet<String> = log.iter().map(|commit| commit.id.to_string()).collect();
    assert_eq!((log.len(), ids.len()), (WRITERS * COMMITS + 1, WRITERS * COMMITS + 1), "one commit for each row");
    let told: BTreeSet<&String> = acknowledged.values().collect();
    assert_eq!(told.len(), WRITERS * COMMITS, "no two rows were told of one commit");
    assert!(told.iter().all(|id| ids.contains(*id)), "every acknowledged commit is there");
    let rows = export(&graph, "main").await;
    assert_eq!(rows.lines().count(), WRITERS * COMMITS, "every row is there once");
    assert!(acknowledged.keys().all(|row| rows.contains(&format!("\"{row}\""))));
    let branches: Vec<_> = graph.branches().await.expect("branches").into_iter().map(|branch| branch.name).collect();
    assert_eq!(branches.len(), 1, "{branches:?}");
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_two_branches_commit_exactly_their_own_rows() {
    const ROUNDS: usize = 50;
    let Some(rig) = Rig::find() else { return };
    let graph = new_graph(&rig).await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut processes = Vec::new();
    for branch in ["b1", "b2"] {
        graph.create_branch(branch, "main", by_kit()).await.expect("a branch");
        let task = Task::Commit { branch: branch.to_owned() };
        processes.push(Process::start(job(folder.path(), &rig, &rig.direct(), branch, ROUNDS, task)));
    }
    for process in processes {
        let branch = process.job.name.clone();
        let report = process.finish();
        assert_eq!(report.acknowledged.len(), ROUNDS);
        for round in 0..ROUNDS {
            let row = format!("{branch}-{round}");
            let commit = graph.show(&format!("{branch}@{}", report.acknowledged[&row])).await.expect("its commit");
            assert_eq!(commit.rows.get("Person"), Some(&(round as u64 + 1)), "{row}");
            let key = [format!("\"{row}\"")];
            let at = |reference: String| {
                let (graph, key) = (graph.clone(), key.clone());
                async move { graph.get(&reference, "Person", &key).await.expect("a read").is_some() }
            };
            assert!(at(format!("{branch}@{}", commit.seq)).await, "{row}");
            assert!(!at(format!("{branch}@{}~1", commit.seq)).await, "{row}");
        }
    }
    assert_whole(&graph).await;
}
