//! A process, and what it does: writes, merges, branches, deletions, optimizes, reads of old commits, deaths.

use std::time::Duration;

use pleach::{ChangeOptions, CommitInfo, Error, ErrorKind, Graph, MergeOptions, OptimizeOptions, Params};

use super::ledger::{Asked, Ledger, Told};
use super::weather::{Death, Numbers, Weather};

/// Branches besides `main`: few, so that processes get into each other's way.
pub(super) const NAMES: [&str; 4] = ["main", "f", "g", "h"];

/// How often a request is sent again by its id, as a program does that wants to know.
const AGAIN: usize = 4;

pub(super) struct Actor {
    process: u64,
    weather: Weather,
    ledger: Ledger,
    numbers: Numbers,
    alive: Option<(Graph, Death)>,
    step: u64,
}

/// What a request came to.
enum Came<T> {
    To(T),
    Refused(Error),
    Unknown,
}

impl Actor {
    pub(super) fn new(process: u64, weather: Weather, ledger: Ledger, numbers: Numbers) -> Self {
        Self { process, weather, ledger, numbers, alive: None, step: 0 }
    }

    pub(super) async fn act(mut self, steps: u64) {
        for step in 0..steps {
            self.step = step;
            let Some(graph) = self.graph().await else { continue };
            if self.numbers.one_in(12) {
                self.die(&graph).await;
                continue;
            }
            match self.numbers.below(20) {
                0..8 => self.write(&graph).await,
                8..10 => self.delete(&graph).await,
                10..14 => self.merge(&graph).await,
                14 | 15 => self.branch(&graph).await,
                16 => self.delete_branch(&graph).await,
                17 => self.optimize(&graph).await,
                _ => self.read(&graph).await,
            }
        }
    }

    /// The graph as this process has it open; none if it could not be opened.
    async fn graph(&mut self) -> Option<Graph> {
        if self.alive.is_none() {
            let (store, death) = self.weather.process(Numbers::new(self.numbers.below(u64::MAX)));
            let graph = Graph::open_on(store).await.ok()?;
            self.alive = Some((graph, death));
        }
        self.alive.as_ref().map(|(graph, _)| graph.clone())
    }

    fn name(&mut self) -> &'static str {
        NAMES[usize::try_from(self.numbers.below(NAMES.len() as u64)).expect("a small number")]
    }

    /// A name that no other request has.
    fn request(&self) -> String {
        format!("p{}s{}", self.process, self.step)
    }

    fn change(&self, request: &str) -> ChangeOptions {
        ChangeOptions {
            author: format!("process {}", self.process),
            message: request.to_owned(),
            request_id: Some(request.to_owned()),
            ..ChangeOptions::default()
        }
    }

    /// Sends a request until it is certain what became of it, or for so long.
    async fn certain<T>(&self, mut send: impl AsyncFnMut() -> Result<T, Error>) -> Came<T> {
        let mut unknown = false;
        for _ in 0..AGAIN {
            match send().await {
                Ok(done) => return Came::To(done),
                Err(error) => match error.kind() {
                    ErrorKind::OutcomeUnknown => unknown = true,
                    ErrorKind::Contention | ErrorKind::Unavailable => {}
                    ErrorKind::Internal | ErrorKind::Data => {
                        self.ledger.problem(format!("{}: {error}", self.request()));
                        return Came::Unknown;
                    }
                    // What was sent before may have taken effect, for example on a branch that is gone now.
                    _ if unknown => return Came::Unknown,
                    _ => return Came::Refused(error),
                },
            }
            self.weather.clock().sleep(Duration::from_millis(50)).await;
        }
        // Even what always failed in a way that promises no effect is not taken for certain here: it may land late.
        Came::Unknown
    }

    fn note(&self, request: &str, came: &Came<Option<CommitInfo>>) {
        let told = match came {
            Came::To(Some(commit)) => Told::Done(self.ledger.commit(commit)),
            Came::To(None) | Came::Refused(_) => Told::Refused,
            Came::Unknown => Told::Unknown,
        };
        self.ledger.told(request, told);
    }

    fn statement(request: &str) -> String {
        format!(
            "MERGE (t:Total {{id: 1}}) ON CREATE SET t.n = 1 ON MATCH SET t.n = t.n + 1 \
             CREATE (:Item {{id: '{request}a', op: '{request}'}})-[:Of {{op: '{request}'}}]->(:Item {{id: '{request}b', op: '{request}'}})"
        )
    }

    async fn write(&mut self, graph: &Graph) {
        let (request, branch) = (self.request(), self.name());
        self.ledger.asks(&request, Asked::Write);
        let (statement, change) = (Self::statement(&request), self.change(&request));
        let came =
            self.certain(async || Ok(graph.run(branch, &statement, Params::new(), change.clone()).await?.commit)).await;
        self.note(&request, &came);
    }

    async fn delete(&mut self, graph: &Graph) {
        let (request, branch) = (self.request(), self.name());
        let writes: Vec<String> = {
            let book = self.ledger.book();
            let writes = book.requests.iter().filter(|(_, request)| request.asked == Asked::Write);
            writes.map(|(name, _)| name.clone()).collect()
        };
        if writes.is_empty() {
            return;
        }
        let of = writes[usize::try_from(self.numbers.below(writes.len() as u64)).expect("an index")].clone();
        self.ledger.asks(&request, Asked::Delete(of.clone()));
        let (statement, change) = (format!("MATCH (i:Item {{id: '{of}b'}}) DETACH DELETE i"), self.change(&request));
        let came =
            self.certain(async || Ok(graph.run(branch, &statement, Params::new(), change.clone()).await?.commit)).await;
        self.note(&request, &came);
    }

    async fn merge(&mut self, graph: &Graph) {
        let (source, target) = (self.name(), self.name());
        if source == target {
            return;
        }
        let options = MergeOptions { change: self.change(&self.request()), ..MergeOptions::default() };
        match self.certain(async || Ok(graph.merge(source, target, options.clone()).await?.commit)).await {
            Came::To(Some(commit)) => {
                self.ledger.commit(&commit);
                self.ledger.book().merges += 1;
            }
            // Nobody changes what another one changes, but by a sum.
            Came::Refused(error) if error.kind() == ErrorKind::Conflict => {
                self.ledger.problem(format!("{source} into {target}: {error}: {error:?}"));
            }
            Came::To(None) | Came::Refused(_) | Came::Unknown => {}
        }
    }

    async fn branch(&mut self, graph: &Graph) {
        let (name, from, change) = (self.name(), self.name(), self.change(&self.request()));
        if let Came::To(made) = self.certain(async || graph.create_branch(name, from, change.clone()).await).await {
            self.ledger.commit(&made.head);
        }
    }

    async fn delete_branch(&mut self, graph: &Graph) {
        let (name, change) = (self.name(), self.change(&self.request()));
        let _ = self.certain(async || graph.delete_branch(name, change.clone()).await).await;
    }

    async fn optimize(&mut self, graph: &Graph) {
        let (name, change) = (self.name(), self.change(&self.request()));
        let options = OptimizeOptions { change, ..OptimizeOptions::default() };
        if let Came::To(Some(commit)) =
            self.certain(async || Ok(graph.optimize(name, options.clone()).await?.commit)).await
        {
            self.ledger.commit(&commit);
        }
    }

    /// Reads a commit that somebody was told of. It must be there, and be what it always was.
    async fn read(&mut self, graph: &Graph) {
        let commits = self.ledger.book().commits.clone();
        if commits.is_empty() {
            return;
        }
        let (reference, id) = &commits[usize::try_from(self.numbers.below(commits.len() as u64)).expect("an index")];
        let mut out = Vec::new();
        match graph.export(reference, &[], &mut out).await {
            Ok(_) => {
                let found = String::from_utf8(out).expect("exports are UTF-8");
                let before = self.ledger.book().seen.entry(id.clone()).or_insert_with(|| found.clone()).clone();
                if before != found {
                    self.ledger.problem(format!("{reference} was\n{before}and is\n{found}"));
                }
            }
            Err(error) if error.kind() == ErrorKind::Unavailable => {}
            Err(error) => self.ledger.problem(format!("{reference} cannot be read: {error}")),
        }
    }

    /// Dies in the middle of a write, with all that this process remembers.
    async fn die(&mut self, graph: &Graph) {
        let (request, branch) = (self.request(), self.name());
        self.ledger.asks(&request, Asked::Write);
        let (graph, statement, change) = (graph.clone(), Self::statement(&request), self.change(&request));
        let writing = tokio::spawn(async move { graph.run(branch, &statement, Params::new(), change).await });
        for _ in 0..self.numbers.below(600) {
            tokio::task::yield_now().await;
        }
        let Some((_, death)) = self.alive.take() else { return };
        death.strike();
        self.ledger.book().deaths += 1;
        if writing.is_finished() {
            if let Ok(Ok(report)) = writing.await {
                self.note(&request, &Came::To(report.commit));
            }
        } else {
            writing.abort();
        }
    }
}
