//! What this process knows of each branch: its head record, and by that its schema.
//!
//! Invariants
//! 1. Knowledge moves only forward: an older head never replaces a newer one, whoever learnt it when.
//! 2. A fresh answer comes from a search that began after it was asked for; an error is never remembered.
//! 3. Two records at one position, or two neighbours that do not follow one another, are an error and never taken.
//! 4. Nothing is locked while anything is awaited, and no branch waits for another.

use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::{Either, select};
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};
use tokio::pin;

use super::catalogs::Catalogs;
use super::flights::Flights;
use super::genesis::Genesis;
use super::{BranchError, BranchName};
use crate::error::Error;
use crate::ids::{GraphId, Seq};
use crate::log::Log;
use crate::publish::Snapshot;
use crate::record::{Record, RecordError};
use crate::store::{HeadSearch, Store};

/// The last record of a branch's log, be it alive or deleted; `None` while the name was never used.
pub(crate) type Head = Option<Arc<Record>>;

/// A head that a request is evaluated against.
#[derive(Debug, Clone)]
pub(crate) struct Capture {
    /// The head.
    pub(crate) head: Head,
    /// Whether it was found to be the head after the request had arrived. Otherwise it is only remembered.
    pub(crate) confirmed: bool,
}

/// What this process knows of all branches of one graph. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Authorities(Arc<Shared>);

struct Shared {
    /// Whose records are believed.
    graph: GraphId,
    store: Store,
    catalogs: Catalogs,
    /// By the folder of the log. Weighed in bytes: a record may have four thousand request ids.
    heads: Cache<String, Arc<Record>>,
    /// Where the log of `main` ended when the graph was opened: a place to look first.
    main_hint: Option<Seq>,
    flights: Flights<Result<Head, Error>>,
    /// The first record of `main`, for a log that its maker did not come to write.
    genesis: Genesis,
}

impl Authorities {
    /// Knows nothing yet, and remembers at most `cache_bytes` of heads.
    pub(crate) fn new(store: Store, genesis: Genesis, main_hint: Option<Seq>, cache_bytes: u64) -> Self {
        let weigh =
            |folder: &String, head: &Arc<Record>| u32::try_from(folder.len() + head.weight()).unwrap_or(u32::MAX);
        let heads = Cache::builder().max_capacity(cache_bytes).weigher(weigh).build();
        let catalogs = Catalogs::new(store.clone());
        Self(Arc::new(Shared {
            graph: genesis.graph(),
            store,
            catalogs,
            heads,
            main_hint,
            flights: Flights::new(),
            genesis,
        }))
    }

    /// The graph's catalogs.
    pub(crate) fn catalogs(&self) -> &Catalogs {
        &self.0.catalogs
    }

    /// Where it is all stored.
    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    /// The log of a branch.
    pub(crate) fn log(&self, name: &BranchName) -> Log {
        Log::new(self.0.store.clone(), name.log_folder())
    }

    /// The head that is remembered, without asking the store; else the fresh one.
    pub(crate) async fn capture(&self, name: &BranchName) -> Result<Capture, Error> {
        match self.0.heads.get(name.folder()).await {
            Some(head) => Ok(Capture { head: Some(head), confirmed: false }),
            None => Ok(Capture { head: self.fresh(name).await?, confirmed: true }),
        }
    }

    /// The head as the store has it now: one request while it is still the one that is remembered.
    pub(crate) async fn fresh(&self, name: &BranchName) -> Result<Head, Error> {
        let (shared, asked) = (self.0.clone(), name.clone());
        let search = move || async move { shared.search(&asked).await }.boxed();
        match self.0.flights.ask(name.folder(), search).await {
            Some(found) => found,
            None => Err(BranchError::Interrupted { name: name.clone() }.into()),
        }
    }

    /// Takes a head over unless a newer one is known.
    pub(crate) async fn advance(&self, head: &Arc<Record>) -> Result<(), Error> {
        self.0.advance(head.clone()).await.map(drop)
    }

    /// Forgets a head: after an unknown outcome the next request asks the store.
    pub(crate) async fn forget(&self, name: &BranchName) {
        self.0.heads.invalidate(name.folder()).await;
    }

    /// A record of a branch's log with its catalog.
    pub(crate) async fn snapshot_of(&self, record: Arc<Record>) -> Result<Snapshot, Error> {
        let catalog = self.0.catalogs.read(record.schema).await?;
        Ok(Snapshot { record, catalog })
    }

    /// The record at a position that must be written.
    pub(crate) async fn record_at(&self, name: &BranchName, seq: Seq) -> Result<Arc<Record>, Error> {
        let missing = || BranchError::RecordMissing { place: format!("{name}@{seq}") };
        let bytes = self.log(name).read(seq).await?.ok_or_else(missing)?;
        Ok(Arc::new(decode(self.0.graph, name, seq, &bytes)?))
    }

    /// The record after `record` in its log, if there is one.
    ///
    /// # Errors
    /// If the store fails, or the records do not chain.
    pub(crate) async fn after(&self, record: &Record) -> Result<Option<Arc<Record>>, Error> {
        let (name, at) = (&record.branch, record.seq.next());
        let Some(bytes) = self.log(name).read(at).await? else { return Ok(None) };
        let next = decode(self.0.graph, name, at, &bytes)?;
        if !next.follows(record) {
            return Err(BranchError::Replaced { place: format!("{name}@{}", record.seq) }.into());
        }
        Ok(Some(Arc::new(next)))
    }
}

impl Shared {
    async fn search(&self, name: &BranchName) -> Result<Head, Error> {
        let log = Log::new(self.store.clone(), name.log_folder());
        let Some(known) = self.heads.get(name.folder()).await else {
            return match self.main_hint.filter(|_| name.is_main()) {
                Some(hint) => self.search_from(name, &log, hint).await,
                None => self.search_anew(name, &log).await,
            };
        };
        let at = known.seq.next();
        let Some(bytes) = log.read(at).await? else {
            return Ok(Some(known));
        };
        let next = decode(self.graph, name, at, &bytes)?;
        if !next.follows(&known) {
            return Err(BranchError::Replaced { place: format!("{name}@{}", known.seq) }.into());
        }
        let next = self.advance(Arc::new(next)).await?;
        self.search_beyond(name, &log, next).await
    }

    /// The head, given where it was a while ago: two requests side by side while it is there still.
    async fn search_from(&self, name: &BranchName, log: &Log, hint: Seq) -> Result<Head, Error> {
        match futures::try_join!(log.read(hint), log.read(hint.next()))? {
            (Some(bytes), None) => self.take(name, Some((hint, bytes)), None).await,
            _ => self.search_anew(name, log).await,
        }
    }

    /// The head, given that `known` is at least its predecessor's successor: the log moved on. Mostly by one record, so the next
    /// position is asked for first; where a LIST finds the head, it runs beside that.
    async fn search_beyond(&self, name: &BranchName, log: &Log, known: Arc<Record>) -> Result<Head, Error> {
        let beyond = log.read(known.seq.next());
        let found = if self.store.head_search() == HeadSearch::List {
            let head = log.head();
            pin!(beyond, head);
            match select(beyond, head).await {
                Either::Left((nothing, head)) => match nothing? {
                    None => return Ok(Some(known)),
                    Some(_) => head.await?,
                },
                Either::Right((head, _)) => head?,
            }
        } else if beyond.await?.is_none() {
            return Ok(Some(known));
        } else {
            log.head().await?
        };
        self.take(name, found, Some(&known)).await
    }

    async fn search_anew(&self, name: &BranchName, log: &Log) -> Result<Head, Error> {
        let mut found = log.head().await?;
        if found.is_none() && name.is_main() {
            // Whoever made the graph stopped before it wrote this. All write the same bytes.
            found = self.genesis.begin(&self.store, log).await?;
        }
        self.take(name, found, None).await
    }

    async fn take(
        &self,
        name: &BranchName,
        found: Option<(Seq, Bytes)>,
        known: Option<&Record>,
    ) -> Result<Head, Error> {
        let shortened = |known: &Record, found| BranchError::Shortened { name: name.clone(), known: known.seq, found };
        let Some((seq, bytes)) = found else {
            return known.map_or(Ok(None), |known| Err(shortened(known, Seq::FIRST).into()));
        };
        if let Some(known) = known.filter(|known| known.seq > seq) {
            return Err(shortened(known, seq).into());
        }
        self.advance(Arc::new(decode(self.graph, name, seq, &bytes)?)).await.map(Some)
    }

    /// Remembers `head` unless a newer one is; answers the newer.
    async fn advance(&self, head: Arc<Record>) -> Result<Arc<Record>, Error> {
        let decide = |known: Option<moka::Entry<String, Arc<Record>>>| {
            std::future::ready(match known.map(moka::Entry::into_value) {
                Some(known) if known.seq > head.seq => Ok(Op::Nop),
                Some(known) if known.seq == head.seq && known.commit == head.commit => Ok(Op::Nop),
                Some(known) if known.seq == head.seq => Err(()),
                _ => Ok(Op::Put(head.clone())),
            })
        };
        match self.heads.entry(head.branch.folder().to_owned()).and_try_compute_with(decide).await {
            Ok(CompResult::Unchanged(entry)) => Ok(entry.into_value()),
            Ok(_) => Ok(head),
            Err(()) => Err(BranchError::Replaced { place: format!("{}@{}", head.branch, head.seq) }.into()),
        }
    }
}

/// Reads the record at `seq`, which must say that it stands there, in that graph.
pub(crate) fn decode(graph: GraphId, name: &BranchName, seq: Seq, bytes: &[u8]) -> Result<Record, RecordError> {
    let place = format!("{name}@{seq}");
    let record = Record::decode(bytes, &place)?;
    if record.graph != graph {
        return Err(RecordError::Foreign { place, found: record.graph, expected: graph });
    }
    if record.branch != *name || record.seq != seq {
        return Err(RecordError::Misplaced { place, found: format!("{}@{}", record.branch, record.seq) });
    }
    Ok(record)
}
