//! Counts requests and bytes, and finds how many of them had to wait for one another.
//!
//! *Serial depth* is the longest run of requests of which each began after the one before had ended: the number of round
//! trips that an operation cannot do with fewer of, whatever the bandwidth. It is found on the way, without a log: a request
//! begins at one more than the deepest request that has ended so far.
//!
//! A GET whose body is a stream lasts until the body has been read or dropped, since what comes next usually needs the body.
//! A GET that is answered with an open file ends at once. A listing is one request per 1,000 keys, the page size of S3,
//! wherever it runs. Deletes count keys, not the batches they are sent in.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{BoxStream, Stream, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use super::request::RequestKind;

/// Keys that one LIST request of S3 answers.
const PAGE: u64 = 1000;

/// What [`IoCounter::take`] and [`IoScope::finish`] tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IoStats {
    /// Objects or ranges read.
    pub gets: u64,
    /// Objects asked about.
    pub heads: u64,
    /// Pages listed.
    pub lists: u64,
    /// Writes of all kinds, parts of multipart uploads included.
    pub puts: u64,
    /// Objects deleted.
    pub deletes: u64,
    /// Objects copied.
    pub copies: u64,
    /// Bytes of bodies received.
    pub bytes_read: u64,
    /// Bytes of bodies sent.
    pub bytes_written: u64,
    /// Longest run of requests of which each began after the one before had ended.
    pub serial_depth: u64,
}

impl IoStats {
    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.gets + self.heads + self.lists + self.puts + self.deletes + self.copies
    }
}

/// Requests, bytes and serial depth since it was made or last taken.
#[derive(Debug, Default)]
pub struct IoCounter(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    stats: IoStats,
    /// Requests that began before the last `take` must not speak for the time after it.
    epoch: u64,
    /// What was counted within each open scope.
    scopes: BTreeMap<u64, IoStats>,
    next_scope: u64,
}

impl IoStats {
    fn begin(&mut self, kind: RequestKind) {
        match kind {
            RequestKind::Get => self.gets += 1,
            RequestKind::Head => self.heads += 1,
            RequestKind::List => self.lists += 1,
            RequestKind::Put | RequestKind::Create | RequestKind::Part => self.puts += 1,
            RequestKind::Delete => self.deletes += 1,
            RequestKind::Copy => self.copies += 1,
            RequestKind::Sync => {}
        }
    }
}

impl IoCounter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was counted so far; counting starts anew. A request under way belongs to the time it began in.
    pub fn take(&self) -> IoStats {
        let mut state = self.state();
        state.epoch += 1;
        std::mem::take(&mut state.stats)
    }

    /// What was counted so far; counting goes on.
    pub fn peek(&self) -> IoStats {
        self.state().stats.clone()
    }

    /// Begins a request, which lasts until the ticket is dropped.
    pub fn begin(self: &Arc<Self>, kind: RequestKind) -> Ticket {
        let mut state = self.state();
        state.stats.begin(kind);
        let scopes = state.scopes.iter_mut().map(|(scope, stats)| {
            stats.begin(kind);
            (*scope, stats.serial_depth + 1)
        });
        let scopes = scopes.collect();
        Ticket { counter: self.clone(), depth: state.stats.serial_depth + 1, epoch: state.epoch, scopes }
    }

    /// Begins to count for somebody apart: neither `take` nor another scope disturbs it. What others request meanwhile is counted
    /// as well, since nothing tells whom a request is for.
    pub fn scope(self: &Arc<Self>) -> IoScope {
        let mut state = self.state();
        let id = state.next_scope;
        state.next_scope += 1;
        state.scopes.insert(id, IoStats::default());
        drop(state);
        IoScope { counter: self.clone(), id }
    }
}

/// A time in which requests are counted. A request belongs to it if it begins in it.
#[derive(Debug)]
pub struct IoScope {
    counter: Arc<IoCounter>,
    id: u64,
}

impl IoScope {
    /// Ends it and tells what was counted.
    pub fn finish(self) -> IoStats {
        self.counter.state().scopes.remove(&self.id).unwrap_or_default()
    }
}

impl Drop for IoScope {
    fn drop(&mut self) {
        self.counter.state().scopes.remove(&self.id);
    }
}

/// One request under way.
#[derive(Debug)]
pub struct Ticket {
    counter: Arc<IoCounter>,
    depth: u64,
    epoch: u64,
    /// The scopes that it began in, with its depth in each.
    scopes: Vec<(u64, u64)>,
}

impl Ticket {
    /// Notes something, told its depth, wherever it is counted.
    fn add(&self, note: impl Fn(&mut IoStats, u64)) {
        let mut state = self.counter.state();
        if state.epoch == self.epoch {
            note(&mut state.stats, self.depth);
        }
        for (scope, depth) in &self.scopes {
            if let Some(stats) = state.scopes.get_mut(scope) {
                note(stats, *depth);
            }
        }
    }

    /// Notes bytes of a body received.
    pub fn received(&self, bytes: u64) {
        self.add(|stats, _| stats.bytes_read += bytes);
    }

    /// Notes bytes of a body sent.
    pub fn sent(&self, bytes: u64) {
        self.add(|stats, _| stats.bytes_written += bytes);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.add(|stats, depth| stats.serial_depth = stats.serial_depth.max(depth));
    }
}

/// An object store whose requests are counted.
#[derive(Debug)]
pub struct Counting {
    inner: Arc<dyn ObjectStore>,
    counter: Arc<IoCounter>,
}

impl Counting {
    /// Counts what goes to `inner`; several stores may share a counter.
    pub fn new(inner: Arc<dyn ObjectStore>, counter: Arc<IoCounter>) -> Self {
        Self { inner, counter }
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counting({})", self.inner)
    }
}

/// A body that keeps its request's ticket until it has been read.
struct Body {
    inner: BoxStream<'static, Result<Bytes>>,
    ticket: Option<Ticket>,
}

impl Stream for Body {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.inner.poll_next_unpin(context);
        match (&polled, &self.ticket) {
            (Poll::Ready(Some(Ok(bytes))), Some(ticket)) => ticket.received(bytes.len() as u64),
            (Poll::Ready(_), _) => self.ticket = None,
            (Poll::Pending, _) => {}
        }
        polled
    }
}

/// A listing that begins another request after each full page.
struct Pages {
    inner: BoxStream<'static, Result<ObjectMeta>>,
    counter: Arc<IoCounter>,
    ticket: Option<Ticket>,
    seen: u64,
}

impl Stream for Pages {
    type Item = Result<ObjectMeta>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.seen == 0 && self.ticket.is_none() {
            self.ticket = Some(self.counter.begin(RequestKind::List));
        }
        let polled = self.inner.poll_next_unpin(context);
        match &polled {
            Poll::Ready(Some(Ok(_))) => {
                if self.seen > 0 && self.seen.is_multiple_of(PAGE) {
                    self.ticket = None;
                    self.ticket = Some(self.counter.begin(RequestKind::List));
                }
                self.seen += 1;
            }
            Poll::Ready(_) => {
                self.seen += 1;
                self.ticket = None;
            }
            Poll::Pending => {}
        }
        polled
    }
}

#[derive(Debug)]
struct CountedUpload {
    inner: Box<dyn MultipartUpload>,
    counter: Arc<IoCounter>,
}

#[async_trait]
impl MultipartUpload for CountedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let length = data.content_length() as u64;
        let part = self.inner.put_part(data);
        let counter = self.counter.clone();
        Box::pin(async move {
            let ticket = counter.begin(RequestKind::Part);
            part.await?;
            ticket.sent(length);
            Ok(())
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let _ticket = self.counter.begin(RequestKind::Part);
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        let _ticket = self.counter.begin(RequestKind::Delete);
        self.inner.abort().await
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

#[async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let ticket = self.counter.begin(RequestKind::of_put(&opts));
        ticket.sent(payload.content_length() as u64);
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let _ticket = self.counter.begin(RequestKind::Part);
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(CountedUpload { inner, counter: self.counter.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let kind = RequestKind::of_get(&options);
        let ticket = self.counter.begin(kind);
        let mut result = self.inner.get_opts(location, options).await?;
        if kind == RequestKind::Head {
            return Ok(result);
        }
        result.payload = match result.payload {
            GetResultPayload::Stream(inner) => GetResultPayload::Stream(Body { inner, ticket: Some(ticket) }.boxed()),
            file @ GetResultPayload::File(..) => {
                ticket.received(length(&result.range));
                file
            }
        };
        Ok(result)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let counter = self.counter.clone();
        // The tickets of keys on their way, oldest first: answers come in the order of the keys.
        let under_way = Arc::new(Mutex::new(std::collections::VecDeque::new()));
        let entering = under_way.clone();
        let counted = locations.inspect(move |location| {
            if location.is_ok() {
                let ticket = counter.begin(RequestKind::Delete);
                entering.lock().unwrap_or_else(PoisonError::into_inner).push_back(ticket);
            }
        });
        self.inner
            .delete_stream(counted.boxed())
            .inspect(move |_| drop(under_way.lock().unwrap_or_else(PoisonError::into_inner).pop_front()))
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        Pages { inner: self.inner.list(prefix), counter: self.counter.clone(), ticket: None, seen: 0 }.boxed()
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        let inner = self.inner.list_with_offset(prefix, offset);
        Pages { inner, counter: self.counter.clone(), ticket: None, seen: 0 }.boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut ticket = self.counter.begin(RequestKind::List);
        let result = self.inner.list_with_delimiter(prefix).await?;
        let keys = (result.objects.len() + result.common_prefixes.len()) as u64;
        for _ in 1..keys.div_ceil(PAGE) {
            drop(ticket);
            ticket = self.counter.begin(RequestKind::List);
        }
        Ok(result)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let _ticket = self.counter.begin(RequestKind::Copy);
        self.inner.copy_opts(from, to, options).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(counter: &IoCounter) -> u64 {
        counter.peek().serial_depth
    }

    #[test]
    fn requests_one_after_another_add_up() {
        let counter = Arc::new(IoCounter::default());
        for n in 1..=5 {
            drop(counter.begin(RequestKind::Get));
            assert_eq!(depth(&counter), n);
        }
    }

    #[test]
    fn requests_side_by_side_count_once() {
        let counter = Arc::new(IoCounter::default());
        let all: Vec<_> = (0..8).map(|_| counter.begin(RequestKind::Put)).collect();
        drop(all);
        assert_eq!((depth(&counter), counter.peek().puts), (1, 8));
    }

    #[test]
    fn a_long_request_beside_a_chain_does_not_lengthen_it() {
        let counter = Arc::new(IoCounter::default());
        let long = counter.begin(RequestKind::Get);
        drop(counter.begin(RequestKind::Head));
        drop(counter.begin(RequestKind::Head));
        drop(long);
        assert_eq!(depth(&counter), 2);
        drop(counter.begin(RequestKind::Get));
        assert_eq!(depth(&counter), 3);
    }

    #[test]
    fn overlapping_requests_form_the_longest_chain() {
        // a: 1..3, b: 2..5, c: 4..6 (after a), d: 7..8 (after all)
        let counter = Arc::new(IoCounter::default());
        let a = counter.begin(RequestKind::Get);
        let b = counter.begin(RequestKind::Get);
        drop(a);
        let c = counter.begin(RequestKind::Get);
        drop(b);
        drop(c);
        drop(counter.begin(RequestKind::Get));
        assert_eq!(depth(&counter), 3);
    }

    #[test]
    fn scopes_count_for_themselves() {
        let counter = Arc::new(IoCounter::default());
        let before = counter.begin(RequestKind::Get);
        let long = counter.scope();
        drop(counter.begin(RequestKind::Put));
        let short = counter.scope();
        assert_eq!(counter.take().puts, 1);
        let ticket = counter.begin(RequestKind::Get);
        ticket.received(10);
        drop(ticket);
        drop(before);
        let late = counter.begin(RequestKind::Head);
        let short = short.finish();
        assert_eq!((short.gets, short.heads, short.puts, short.bytes_read, short.serial_depth), (1, 1, 0, 10, 1));
        late.received(5);
        drop(late);
        let long = long.finish();
        assert_eq!((long.gets, long.heads, long.puts, long.bytes_read, long.serial_depth), (1, 1, 1, 15, 3));
        assert_eq!(counter.peek().requests(), 2);
        drop(counter.scope());
        assert!(counter.state().scopes.is_empty());
    }

    #[test]
    fn taking_starts_anew_and_forgets_requests_under_way() {
        let counter = Arc::new(IoCounter::default());
        drop(counter.begin(RequestKind::Get));
        drop(counter.begin(RequestKind::Get));
        let late = counter.begin(RequestKind::Get);
        assert_eq!((counter.take().gets, counter.peek()), (3, IoStats::default()));
        late.received(10);
        drop(late);
        assert_eq!(counter.peek(), IoStats::default());
        drop(counter.begin(RequestKind::Head));
        assert_eq!(depth(&counter), 1);
    }
}
