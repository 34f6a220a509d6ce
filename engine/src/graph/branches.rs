//! Creating, deleting and listing branches.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};

use super::{Access, BranchInfo, ChangeOptions, CommitInfo, Core, Gate, Graph};
use crate::branch::{BranchError, BranchName, Reference};
use crate::error::Error;
use crate::ids::{ChangeId, IncarnationId, Seq};
use crate::publish::{Landed, NewChange, Patience, PublishError, PutInFlight, Stamp};
use crate::publish::{creating_record, deleting_record, detached};
use crate::record::{ChangeKind, Record};
use crate::schema::Catalog;

/// How many branches are looked at side by side.
const SIDE_BY_SIDE: usize = 64;

impl Graph {
    /// All living branches in the order of their names.
    ///
    /// # Errors
    /// When the store does not answer, or a log is damaged.
    pub async fn branches(&self) -> Result<Vec<BranchInfo>, Error> {
        let core = self.core();
        let heads = futures::stream::iter(core.authorities().names().await?)
            .map(|name| async move { core.authorities().fresh(&name).await })
            .buffer_unordered(SIDE_BY_SIDE)
            .try_filter_map(|head| async { Ok(head.filter(|head| !head.deleted)) });
        let mut branches: Vec<BranchInfo> = heads
            .map_ok(|head| async move { core.branch_info(&head).await })
            .try_buffer_unordered(SIDE_BY_SIDE)
            .try_collect()
            .await?;
        branches.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(branches)
    }

    /// One living branch.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn branch(&self, name: &str) -> Result<BranchInfo, Error> {
        let head = self.core().authorities().live(&BranchName::parse(name)?).await?;
        self.core().branch_info(&head).await
    }

    /// Creates a branch at the commit that `from` names: `main`, `main@42`, `main~2`, `main@2024-01-31T12:00:00Z`, or a commit id
    /// as `main@01J…`. With `if_head`, refuses unless that is the same commit.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://create-branch-example", ddl, InitOptions::default()).await?;
    /// let branch = graph.create_branch("review", "main", ChangeOptions::default()).await?;
    /// assert_eq!(branch.head.reference(), "review@0");
    /// assert_eq!(branch.head.parents[0].reference(), "main@0");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When a branch of that name lives, in whatever spelling, or there is no such commit.
    ///
    /// # Cancellation
    /// A dropped call is carried on to its end.
    pub async fn create_branch(&self, name: &str, from: &str, options: ChangeOptions) -> Result<BranchInfo, Error> {
        let name = BranchName::parse(name)?;
        let from: Reference = from.parse()?;
        let (core, asked, owned) = (self.core().clone(), name.clone(), options.clone());
        let create = move |in_flight| async move { core.create_branch(&asked, &from, &owned, &in_flight).await };
        let head = detached(name, &options, create).await?;
        Ok(BranchInfo { name: head.branch.clone(), head })
    }

    /// Deletes a branch and returns its last commit, once what writes to it or merges from it in this process is done. The log stays, so
    /// that its commits can still be read and a branch created again from them.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://delete-branch-example", ddl, InitOptions::default()).await?;
    /// graph.create_branch("review", "main", ChangeOptions::default()).await?;
    /// graph.delete_branch("review", ChangeOptions::default()).await?;
    /// assert_eq!(graph.branches().await?.len(), 1);
    /// // Its commits can still be named.
    /// assert!(graph.show("review@0").await.is_ok());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When there is no such branch, when it is `main`, or when somebody published to it meanwhile: what was not seen is not
    /// deleted.
    ///
    /// # Cancellation
    /// A dropped call is carried on to its end.
    pub async fn delete_branch(&self, name: &str, options: ChangeOptions) -> Result<CommitInfo, Error> {
        let name = BranchName::parse(name)?;
        if name.is_main() {
            return Err(BranchError::MainIsPermanent.into());
        }
        let (core, asked, owned) = (self.core().clone(), name.clone(), options.clone());
        let delete = move |in_flight| async move {
            let _pass = core.gates().acquire([(Gate::branch(&asked), Access::Alone)]).await;
            core.delete_branch(&asked, &owned, &in_flight).await
        };
        detached(name, &options, delete).await
    }
}

impl Core {
    /// A living branch for people.
    async fn branch_info(&self, head: &Record) -> Result<BranchInfo, Error> {
        Ok(BranchInfo { name: head.branch.to_string(), head: self.commit_info(head).await? })
    }

    async fn create_branch(
        &self,
        name: &BranchName,
        from: &Reference,
        options: &ChangeOptions,
        in_flight: &PutInFlight,
    ) -> Result<CommitInfo, Error> {
        let authorities = self.authorities();
        let mut patience = Patience::new(self.clock(), name.clone(), self.settings().publish_within);
        let (source, mut target) = futures::join!(authorities.resolve(from), authorities.fresh(name));
        let request = options.request_id.as_deref();
        let mut after = None;
        loop {
            let last = target?;
            if let Some(last) = &last {
                // Before the source is looked at: it may be gone by now.
                if let Some((commit, _)) = self.outcome_of(request, ChangeKind::Create, None, last, after).await? {
                    authorities.log(name).sync().await?;
                    return Ok(commit);
                }
                if !last.deleted {
                    authorities.log(name).sync().await?;
                    return Err(BranchError::Exists { existing: last.branch.clone(), asked: name.clone() }.into());
                }
            }
            let source = source.clone()?;
            self.expect_head(&source, options).await?;
            let latest = last.as_ref().map_or(source.time, |last| last.time.max(source.time));
            let stamp = Stamp::after(self.clock(), Some(latest));
            let change = self.change(ChangeKind::Create, stamp).recorded(options);
            let incarnation = IncarnationId::new(self.clock().ulid_at(stamp.time));
            let mut record = creating_record(name, &source, last.as_deref(), incarnation, stamp, change.clone());
            let (lineage, chunk) = self.fold_lineage(record.lineage).await?;
            record.lineage = lineage;
            // The source must not vanish with the power once the branch is there.
            authorities.log(&source.branch).sync().await?;
            // Reading the catalog beside the put saves a cold process a round.
            let (landed, catalog) = futures::join!(
                self.append(record, chunk.as_slice(), std::slice::from_ref(in_flight)),
                authorities.catalogs().read(source.schema),
            );
            match landed.map_err(|failed| failed.error(options))? {
                Landed::Ours(record) => {
                    authorities.advance(&record).await?;
                    // The branch is there: that only names cannot be read must not look like a failure.
                    return Ok(CommitInfo::new(&record, &[change], &catalog.unwrap_or_default()));
                }
                Landed::Theirs(arrived) => {
                    after = Some(arrived.seq.previous().unwrap_or(Seq::FIRST));
                    let head = self.catch_up(name, last.as_deref(), arrived).await?;
                    patience.wait().await?;
                    target = Ok(Some(head));
                }
            }
        }
    }

    /// With `if_head`, a branch is created only from that commit.
    pub(crate) async fn expect_head(&self, source: &Record, options: &ChangeOptions) -> Result<(), Error> {
        let Some(expected) = options.if_head.as_deref() else { return Ok(()) };
        if self.names(&expected.parse()?, source).await? {
            return Ok(());
        }
        Err(head_moved(source, expected).into())
    }

    async fn delete_branch(
        &self,
        name: &BranchName,
        options: &ChangeOptions,
        in_flight: &PutInFlight,
    ) -> Result<CommitInfo, Error> {
        let authorities = self.authorities();
        let request = options.request_id.as_deref();
        let found = authorities.fresh(name).await?;
        if let Some(head) = &found
            && let Some(deleted) = self.deleted_before(request, head, None).await?
        {
            return Ok(deleted);
        }
        let head = match authorities.living(name, found).await {
            Ok(head) => head,
            Err(refusal) => return self.refuse(name, refusal).await,
        };
        if let Some(expected) = options.if_head.as_deref()
            && !self.names(&expected.parse()?, &head).await?
        {
            return self.refuse(name, head_moved(&head, expected)).await;
        }
        let stamp = Stamp::after(self.clock(), Some(head.time));
        let change = self.change(ChangeKind::Delete, stamp).recorded(options);
        let record = deleting_record(&head, stamp, change);
        let append = self.append(record, &[], std::slice::from_ref(in_flight));
        let (landed, deleted) = futures::join!(append, self.commit_info(&head));
        match landed.map_err(|failed| failed.error(options))? {
            Landed::Ours(record) => {
                authorities.advance(&record).await?;
                // The branch is gone: that only names cannot be read must not look like a failure.
                Ok(deleted.unwrap_or_else(|_| CommitInfo::new(&head, &head.changes, &Catalog::default())))
            }
            Landed::Theirs(arrived) => {
                let now = self.catch_up(name, Some(&head), arrived).await?;
                // Before it is looked at whether the branch lives: this request may be why it does not.
                if let Some(deleted) = self.deleted_before(request, &now, Some(head.seq)).await? {
                    return Ok(deleted);
                }
                match authorities.living(name, Some(now)).await {
                    Ok(now) => self.refuse(name, head_moved(&now, &format!("{name}@{}", head.seq))).await,
                    Err(refusal) => self.refuse(name, refusal).await,
                }
            }
        }
    }

    /// Tells a refusal once what it relies on is durable.
    async fn refuse<T>(&self, name: &BranchName, refusal: impl Into<Error>) -> Result<T, Error> {
        self.authorities().log(name).sync().await?;
        Err(refusal.into())
    }

    /// The commit that was the head when this very request deleted the branch.
    async fn deleted_before(
        &self,
        request: Option<&str>,
        head: &Arc<Record>,
        after: Option<Seq>,
    ) -> Result<Option<CommitInfo>, Error> {
        let Some((deletion, _)) = self.outcome_of(request, ChangeKind::Delete, None, head, after).await? else {
            return Ok(None);
        };
        self.authorities().log(&head.branch).sync().await?;
        let last = self.authorities().record_at(&head.branch, deletion.seq.previous().unwrap_or(Seq::FIRST)).await?;
        self.commit_info(&last).await.map(Some)
    }

    /// A change of the branch as such: it touches no table.
    fn change(&self, kind: ChangeKind, stamp: Stamp) -> NewChange {
        NewChange { id: ChangeId::new(self.clock().ulid_at(stamp.time)), kind, counts: BTreeMap::new() }
    }
}

fn head_moved(head: &Record, expected: &str) -> PublishError {
    PublishError::HeadMoved { branch: head.branch.clone(), head: head.seq, expected: expected.to_owned() }
}
