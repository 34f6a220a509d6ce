//! What the tests of this crate share: processes over one in-memory store with faults, and work that writes made-up versions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use object_store::memory::InMemory;
use object_store::path::Path;

use crate::branch::BranchName;
use crate::clock::{Clock, Timestamp};
use crate::error::Error;
use crate::graph::{ChangeInfo, ChangeOptions, CommitInfo, Graph, GraphBuilder, InitOptions};
use crate::ids::{ChangeId, CommitId, Digest, GraphId, IncarnationId, Seq, TableId};
use crate::publish::{Evaluation, Snapshot, Work};
use crate::record::{ChangeKind, Extensions, FORMAT, Lineage, Record, RequestRing, TableCounts};
use crate::schema::{Catalog, SchemaHash};
use crate::store::{Backend, Faults, Store, StoreKind, StoreOptions};
use crate::table::{StagedVersion, TableVersion};

/// One store that several processes share: each has a graph, and so a cache, of its own.
pub(crate) struct Rig {
    pub(crate) faults: Faults,
    pub(crate) clock: Clock,
}

impl Rig {
    /// A store with a graph without tables.
    pub(crate) async fn new() -> Self {
        let rig = Self::empty();
        rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap();
        rig
    }

    /// A store with nothing in it. Its clock stands still.
    pub(crate) fn empty() -> Self {
        Self {
            faults: Faults::new(Arc::new(InMemory::new())),
            clock: Clock::manual(Timestamp(1_700_000_000_000_000), 7),
        }
    }

    pub(crate) fn builder(&self) -> GraphBuilder {
        Graph::builder().with_clock(self.clock.clone())
    }

    pub(crate) fn store(&self) -> Store {
        // A doubt that a test never ends must not last.
        let options = StoreOptions {
            commit_within: Duration::from_millis(500),
            connect_within: Duration::from_millis(500),
            ..StoreOptions::default()
        };
        let backend = Backend::new(StoreKind::Memory, "memory://rig", Arc::new(self.faults.clone()));
        Store::from_backend(backend, &options)
    }

    /// Another process that opens the graph.
    pub(crate) async fn process(&self) -> Graph {
        self.builder().open_on(self.store()).await.unwrap()
    }

    /// Another process, which knows the head of `main` already.
    pub(crate) async fn warm(&self) -> Graph {
        let graph = self.process().await;
        graph.branch("main").await.unwrap();
        graph
    }

    /// Moves the clock on by whole milliseconds.
    pub(crate) fn advance(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }
}

type Hook = Arc<dyn Fn(usize, Snapshot) -> BoxFuture<'static, ()> + Send + Sync>;

type Answer = dyn FnMut(&Snapshot) -> Option<Result<(), Error>> + Send;

/// Work that gives one table a new version.
#[derive(Clone)]
pub(crate) struct Set {
    table: TableId,
    reads: BTreeSet<TableId>,
    evaluations: Arc<AtomicUsize>,
    hook: Option<Hook>,
    answer: Option<Arc<Mutex<Answer>>>,
}

impl Set {
    pub(crate) fn table(number: u8) -> Self {
        Self { table: table(number), reads: BTreeSet::new(), evaluations: Arc::default(), hook: None, answer: None }
    }

    /// The outcome depends on another table as well.
    pub(crate) fn reading(mut self, number: u8) -> Self {
        self.reads.insert(table(number));
        self
    }

    /// Runs `hook` during each evaluation, with its number from 1.
    pub(crate) fn meanwhile(
        mut self,
        hook: impl Fn(usize, Snapshot) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Where `answer` says so, publishes nothing and reports, or refuses.
    pub(crate) fn answering(
        mut self,
        answer: impl FnMut(&Snapshot) -> Option<Result<(), Error>> + Send + 'static,
    ) -> Self {
        self.answer = Some(Arc::new(Mutex::new(answer)));
        self
    }

    pub(crate) fn evaluations(&self) -> usize {
        self.evaluations.load(Ordering::SeqCst)
    }

    /// Publishes to a branch.
    pub(crate) async fn publish(&self, graph: &Graph, branch: &str) -> Result<CommitInfo, Error> {
        self.publish_as(graph, branch, &ChangeOptions::default()).await
    }

    pub(crate) async fn publish_as(
        &self,
        graph: &Graph,
        branch: &str,
        options: &ChangeOptions,
    ) -> Result<CommitInfo, Error> {
        let (commit, _) = graph.core().publish(branch, self.clone(), options).await?;
        Ok(commit.expect("something to publish"))
    }
}

/// What [`Set`] reports.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Done,
    Before,
}

#[async_trait]
impl Work for Set {
    type Report = Told;

    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<Told>, Error> {
        let number = self.evaluations.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(hook) = &self.hook {
            hook(number, at.clone()).await;
        }
        if let Some(answer) = &self.answer
            && let Some(answer) = (answer.lock().unwrap())(at)
        {
            return answer.map(|()| Evaluation::Nothing(Told::Done));
        }
        let counts = BTreeMap::from([(self.table, TableCounts { inserted: 1, ..TableCounts::default() })]);
        Ok(evaluation(vec![staged(self.table)], self.reads.clone(), counts, Told::Done))
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Write
    }

    fn replay(&self, commit: &CommitInfo, change: &ChangeInfo) -> Told {
        assert!(commit.changes.contains(change));
        Told::Before
    }
}

/// What made-up work comes to: a write that gives `tables` their versions and depends on `reads` as well.
pub(crate) fn evaluation<R>(
    tables: Vec<StagedVersion>,
    reads: BTreeSet<TableId>,
    counts: BTreeMap<TableId, TableCounts>,
    report: R,
) -> Evaluation<R> {
    Evaluation::Staged {
        tables,
        reads,
        kind: ChangeKind::Write,
        change: ChangeId::from_bytes([7; 16]),
        counts,
        absorbed: None,
        report,
    }
}

/// A version nobody else has, without a file.
fn staged(table: TableId) -> StagedVersion {
    static NEXT: AtomicU64 = AtomicU64::new(1000);
    StagedVersion { table, version: version(NEXT.fetch_add(1, Ordering::SeqCst)), files: Vec::new(), adopted: 0 }
}

/// Work that stages one file of its own.
pub(crate) struct WithFile(pub(crate) Store, pub(crate) Path);

#[async_trait]
impl Work for WithFile {
    type Report = ();

    async fn evaluate(&self, _at: &Snapshot) -> Result<Evaluation<()>, Error> {
        self.0.staging().put(&self.1, Bytes::from_static(b"rows"));
        let tables = vec![StagedVersion { files: vec![self.1.clone()], ..staged(table(1)) }];
        Ok(evaluation(tables, BTreeSet::new(), BTreeMap::new(), ()))
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Write
    }

    fn replay(&self, _commit: &CommitInfo, _change: &ChangeInfo) {}
}

pub(crate) fn table(number: u8) -> TableId {
    TableId::from_bytes([number; 16])
}

pub(crate) fn version(number: u64) -> TableVersion {
    TableVersion { version: (1 << 63) + number, size: 100, e_tag: "made-up".to_owned(), rows: number }
}

/// Some digest for each number.
pub(crate) fn digest(number: u64) -> Digest {
    Digest(std::array::from_fn(|i| blake3::hash(&number.to_le_bytes()).as_bytes()[i]))
}

/// A record of `main` at a position.
pub(crate) fn record(seq: u64) -> Record {
    Record {
        format: FORMAT,
        features: Vec::new(),
        graph: GraphId::from_bytes([0; 16]),
        branch: BranchName::main(),
        incarnation: IncarnationId::from_bytes([1; 16]),
        seq: Seq(seq),
        commit: CommitId::from_bytes(u128::from(seq).to_be_bytes()),
        time: Timestamp(i64::try_from(seq).unwrap()),
        previous: None,
        parents: Vec::new(),
        schema: SchemaHash([1; 32]),
        tables: BTreeMap::new(),
        lineage: Lineage::default(),
        requests: RequestRing::default(),
        changes: Vec::new(),
        spill: None,
        deleted: false,
        tombstone: None,
        extensions: Extensions::default(),
    }
}

/// Options with a request id.
pub(crate) fn request(id: &str) -> ChangeOptions {
    ChangeOptions { request_id: Some(id.to_owned()), ..ChangeOptions::default() }
}

/// Options with a pinned head.
pub(crate) fn if_head(reference: &str) -> ChangeOptions {
    ChangeOptions { if_head: Some(reference.to_owned()), ..ChangeOptions::default() }
}
