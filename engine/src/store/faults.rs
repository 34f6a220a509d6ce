//! An object store that fails in the ways real ones do, where and when a test says so.
//!
//! A rule is a [`When`] (which requests) and a [`Fault`] (what becomes of them). The first rule that applies to a request
//! decides; a request that no rule applies to goes through. [`Hold`]s stop a request half-way without blocking a thread.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{BoxStream, StreamExt};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use tokio::sync::Semaphore;

use super::request::RequestKind;
use crate::clock::Clock;

/// Which requests a fault befalls.
#[derive(Debug, Clone, Default)]
pub struct When {
    kind: Option<RequestKind>,
    path: Option<String>,
    skip: u64,
    every: u64,
    times: Option<u64>,
}

impl When {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requests of one kind.
    pub fn kind(kind: RequestKind) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// Only those whose path contains `part`.
    #[must_use]
    pub fn path(mut self, part: &str) -> Self {
        self.path = Some(part.to_owned());
        self
    }

    /// Not the first `count` of them.
    #[must_use]
    pub fn skip(mut self, count: u64) -> Self {
        self.skip = count;
        self
    }

    /// Only one in `count` of them, beginning with the first.
    #[must_use]
    pub fn every(mut self, count: u64) -> Self {
        self.every = count;
        self
    }

    /// At most `count` of them.
    #[must_use]
    pub fn times(mut self, count: u64) -> Self {
        self.times = Some(count);
        self
    }

    /// Only one.
    #[must_use]
    pub fn once(self) -> Self {
        self.times(1)
    }
}

/// What becomes of a request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Fails without an effect, in a way that does not tell so.
    FailBefore,
    /// Takes effect, then fails: the response is lost.
    FailAfter,
    /// Never connects: fails without an effect, in a way that tells so.
    Unreachable,
    /// Is refused for lack of rights.
    Denied,
    /// Is answered "already exists" without an effect: S3's 409.
    Conflict,
    /// A put-if-absent puts, whatever was there.
    Overwrite,
    /// Is never answered, and has no effect.
    Hang,
    /// Takes effect, and is never answered.
    HangAfter,
    /// Stops before it takes effect until it is released.
    Hold(Hold),
    /// Fails at once, and takes effect when it is released. Puts only.
    FailThenLand(Hold),
}

/// Stops requests half-way. Clones are one.
#[derive(Debug, Clone)]
pub struct Hold {
    reached: Arc<Semaphore>,
    gate: Arc<Semaphore>,
    landed: Arc<Semaphore>,
}

impl Default for Hold {
    fn default() -> Self {
        let shut = || Arc::new(Semaphore::new(0));
        Self { reached: shut(), gate: shut(), landed: shut() }
    }
}

impl Hold {
    /// A hold that nothing has reached.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until a request has been stopped; each call waits for another one.
    pub async fn reached(&self) {
        if let Ok(permit) = self.reached.acquire().await {
            permit.forget();
        }
    }

    /// Lets all stopped requests go on, and all that are to come.
    pub fn release(&self) {
        self.gate.close();
    }

    /// Waits until a late effect ([`Fault::FailThenLand`]) has taken place; each call waits for another one.
    pub async fn landed(&self) {
        if let Ok(permit) = self.landed.acquire().await {
            permit.forget();
        }
    }

    async fn stop(&self) {
        self.reached.add_permits(1);
        // Ends only by `release`, which closes the gate.
        let _ = self.gate.acquire().await;
    }
}

#[derive(Debug)]
struct Rule {
    when: When,
    fault: Fault,
    seen: u64,
    befallen: u64,
}

impl Rule {
    fn applies(&mut self, kind: RequestKind, path: &Path) -> bool {
        let when = &self.when;
        let meant = when.kind.is_none_or(|wanted| wanted == kind)
            && when.path.as_ref().is_none_or(|part| path.as_ref().contains(part.as_str()));
        if !meant {
            return false;
        }
        let nth = self.seen;
        self.seen += 1;
        let due = nth >= when.skip && (nth - when.skip).is_multiple_of(when.every.max(1));
        let left = when.times.is_none_or(|times| self.befallen < times);
        if due && left {
            self.befallen += 1;
        }
        due && left
    }
}

/// What becomes of a request, decided when it comes.
type Decide = Box<dyn FnMut(RequestKind, &Path) -> Option<Fault> + Send>;

#[derive(Default)]
struct Plan {
    rules: Vec<Rule>,
    decide: Option<Decide>,
    delays: BTreeMap<RequestKind, Duration>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("rules", &self.rules).field("delays", &self.delays).finish_non_exhaustive()
    }
}

/// An object store with faults. Clones share their rules.
#[derive(Debug, Clone)]
pub struct Faults {
    inner: Arc<dyn ObjectStore>,
    plan: Arc<Mutex<Plan>>,
    clock: Clock,
}

#[derive(Debug, thiserror::Error)]
#[error("a fault was injected")]
struct Injected;

fn injected() -> Error {
    Error::Generic { store: "Faults", source: Box::new(Injected) }
}

/// What is left to do when a request may go on.
enum Then {
    Answer,
    Fail,
    Overwrite,
    Hang,
    Land(Hold),
}

impl Faults {
    /// A store that behaves as `inner` until rules are added.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self { inner, plan: Arc::default(), clock: Clock::system() }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a rule, after those that are there.
    pub fn add(&self, when: When, fault: Fault) {
        self.plan().rules.push(Rule { when, fault, seen: 0, befallen: 0 });
    }

    /// Adds a rule that holds one request, and returns the hold.
    pub fn hold(&self, when: When) -> Hold {
        let hold = Hold::new();
        self.add(when.once(), Fault::Hold(hold.clone()));
        hold
    }

    /// Lets `decide` say what becomes of each request that no rule applies to.
    pub fn decide(&self, decide: impl FnMut(RequestKind, &Path) -> Option<Fault> + Send + 'static) {
        self.plan().decide = Some(Box::new(decide));
    }

    /// Removes all rules and delays. What is held stays held.
    pub fn clear(&self) {
        *self.plan() = Plan::default();
    }

    /// How many requests the rules that are there have befallen.
    pub fn befallen(&self) -> u64 {
        self.plan().rules.iter().map(|rule| rule.befallen).sum()
    }

    /// Delays each request of `kind` by `delay`.
    pub fn delay(&self, kind: RequestKind, delay: Duration) {
        self.plan().delays.insert(kind, delay);
    }

    /// Delays each request by `delay`.
    pub fn delay_all(&self, delay: Duration) {
        use RequestKind::{Copy, Create, Delete, Get, Head, List, Part, Put};
        for kind in [Get, Head, List, Put, Create, Part, Delete, Copy] {
            self.delay(kind, delay);
        }
    }

    /// What the plan has for a request, after its delay and its hold.
    async fn meet(&self, kind: RequestKind, path: &Path) -> Result<Then> {
        let (delay, fault) = {
            let mut plan = self.plan();
            let ruled = plan.rules.iter_mut().find_map(|rule| rule.applies(kind, path).then(|| rule.fault.clone()));
            let fault = ruled.or_else(|| plan.decide.as_mut().and_then(|decide| decide(kind, path)));
            (plan.delays.get(&kind).copied(), fault)
        };
        if let Some(delay) = delay {
            self.clock.sleep(delay).await;
        }
        let source = || Box::new(Injected);
        match fault {
            None => Ok(Then::Answer),
            Some(Fault::FailBefore) => Err(injected()),
            Some(Fault::FailAfter) => Ok(Then::Fail),
            Some(Fault::Unreachable) => {
                let source = Box::new(HttpError::new(HttpErrorKind::Connect, Injected));
                Err(Error::Generic { store: "Faults", source })
            }
            Some(Fault::Denied) => Err(Error::PermissionDenied { path: path.to_string(), source: source() }),
            Some(Fault::Conflict) => Err(Error::AlreadyExists { path: path.to_string(), source: source() }),
            Some(Fault::Overwrite) => Ok(Then::Overwrite),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::HangAfter) => Ok(Then::Hang),
            Some(Fault::Hold(hold)) => {
                hold.stop().await;
                Ok(Then::Answer)
            }
            Some(Fault::FailThenLand(hold)) => Ok(Then::Land(hold)),
        }
    }

    /// Does what is left to do with an answered request.
    async fn finish<T>(then: Then, answer: Result<T>) -> Result<T> {
        match then {
            Then::Answer | Then::Overwrite => answer,
            Then::Fail | Then::Land(_) => answer.and(Err(injected())),
            Then::Hang => std::future::pending().await,
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faults({})", self.inner)
    }
}

#[derive(Debug)]
struct FaultyUpload {
    inner: Box<dyn MultipartUpload>,
    faults: Faults,
    path: Path,
}

#[async_trait]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let part = self.inner.put_part(data);
        let (faults, path) = (self.faults.clone(), self.path.clone());
        Box::pin(async move {
            let then = faults.meet(RequestKind::Part, &path).await?;
            Faults::finish(then, part.await).await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let then = self.faults.meet(RequestKind::Part, &self.path).await?;
        Faults::finish(then, self.inner.complete().await).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[async_trait]
impl ObjectStore for Faults {
    async fn put_opts(&self, location: &Path, payload: PutPayload, mut opts: PutOptions) -> Result<PutResult> {
        let then = self.meet(RequestKind::of_put(&opts), location).await?;
        match then {
            Then::Land(hold) => {
                let (inner, location) = (self.inner.clone(), location.clone());
                tokio::spawn(async move {
                    hold.stop().await;
                    let _ = inner.put_opts(&location, payload, opts).await;
                    hold.landed.add_permits(1);
                });
                return Err(injected());
            }
            Then::Overwrite => opts.mode = PutMode::Overwrite,
            Then::Answer | Then::Fail | Then::Hang => {}
        }
        Self::finish(then, self.inner.put_opts(location, payload, opts).await).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let then = self.meet(RequestKind::Part, location).await?;
        let inner = Self::finish(then, self.inner.put_multipart_opts(location, opts).await).await?;
        Ok(Box::new(FaultyUpload { inner, faults: self.clone(), path: location.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let then = self.meet(RequestKind::of_get(&options), location).await?;
        Self::finish(then, self.inner.get_opts(location, options).await).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let faults = self.clone();
        let met = locations.then(move |location| {
            let faults = faults.clone();
            async move {
                let location = location?;
                faults.meet(RequestKind::Delete, &location).await?;
                Ok(location)
            }
        });
        self.inner.delete_stream(met.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (faults, prefix) = (self.clone(), prefix.cloned());
        let listing = async move {
            match faults.meet(RequestKind::List, &prefix.clone().unwrap_or_default()).await {
                Ok(_) => faults.inner.list(prefix.as_ref()),
                Err(error) => futures::stream::once(async move { Err(error) }).boxed(),
            }
        };
        futures::stream::once(listing).flatten().boxed()
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        let (faults, prefix, offset) = (self.clone(), prefix.cloned(), offset.clone());
        let listing = async move {
            match faults.meet(RequestKind::List, &prefix.clone().unwrap_or_default()).await {
                Ok(_) => faults.inner.list_with_offset(prefix.as_ref(), &offset),
                Err(error) => futures::stream::once(async move { Err(error) }).boxed(),
            }
        };
        futures::stream::once(listing).flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let then = self.meet(RequestKind::List, &prefix.cloned().unwrap_or_default()).await?;
        Self::finish(then, self.inner.list_with_delimiter(prefix).await).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let then = self.meet(RequestKind::Copy, to).await?;
        Self::finish(then, self.inner.copy_opts(from, to, options).await).await
    }
}
