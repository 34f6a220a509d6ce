//! Publishing where a record can hardly hold its tables and its request ids, and into an address where another graph is by now.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;

use crate::error::{Error, ErrorKind};
use crate::graph::{ChangeInfo, ChangeOptions, CommitInfo, InitOptions};
use crate::ids::{Seq, TableId};
use crate::publish::{Evaluation, Snapshot, Work};
use crate::record::{ChangeKind, MAX_BYTES, Record, RequestHash};
use crate::schema::Catalog;
use crate::table::{StagedVersion, TableVersion};
use crate::testing::{Rig, Set, evaluation, request, version};

/// Gives many tables a version.
struct Wide(u16);

#[async_trait]
impl Work for Wide {
    type Report = ();

    async fn evaluate(&self, _at: &Snapshot) -> Result<Evaluation<()>, Error> {
        let staged = |number: u16| StagedVersion {
            table: TableId::from_bytes(u128::from(number).to_be_bytes()),
            version: TableVersion { e_tag: "e".repeat(32), ..version(u64::from(number)) },
            files: Vec::new(),
            adopted: 0,
        };
        Ok(evaluation((0..self.0).map(staged).collect(), BTreeSet::new(), BTreeMap::new(), ()))
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Write
    }

    fn replay(&self, _commit: &CommitInfo, _change: &ChangeInfo) {}
}

#[tokio::test]
async fn a_branch_of_many_tables_and_requests_takes_commits_and_knows_the_last_ones() {
    let rig = Rig::new().await;
    rig.process().await.core().publish("main", Wide(400), &ChangeOptions::default()).await.unwrap();
    let head = rig.process().await.core().snapshot("main").await.unwrap().record;
    // As if it had all been published: a ring of as many requests as go in beside the tables.
    let mut full = Record::clone(&head);
    let room = full.encode().unwrap().len();
    let number = u32::try_from((MAX_BYTES - 512 - room) / 20 - 9).unwrap();
    for change in 128..128 + number {
        full.requests.push(RequestHash::of(&format!("early {change}")), Seq(0), change);
    }
    assert!(number < 4_000, "the tables leave less room than the requests could take");
    let key = rig.process().await.core().authorities().log(&full.branch).key(Seq(1));
    rig.store().overwrite(&key, full.encode().unwrap()).await.unwrap();

    let graph = rig.process().await;
    let mut commits = Vec::new();
    for number in 0..12 {
        commits.push(Set::table(1).publish_as(&graph, "main", &request(&format!("r{number}"))).await.unwrap());
    }
    let other = rig.process().await;
    for (number, commit) in commits.iter().enumerate() {
        let again = Set::table(1).publish_as(&other, "main", &request(&format!("r{number}"))).await.unwrap();
        assert_eq!(again, *commit, "its outcome is known");
    }
    let spilled = other.core().store().first_keys(&Path::from("changes"), 99).await.unwrap();
    // Until the list of requests itself is too long, moving a commit's changes out is enough; then room is made for many commits.
    assert!((1..12).contains(&spilled.len()), "{} of 12 commits needed an object more", spilled.len());
}

#[tokio::test]
async fn a_schema_of_too_many_tables_is_refused_before_anything_is_made() {
    let rig = Rig::empty();
    let ddl: Vec<String> =
        (0..600).map(|number| format!("CREATE NODE TABLE T{number} (id INT64 PRIMARY KEY);")).collect();
    let ddl = ddl.join("\n");
    let error = rig.builder().init_on(rig.store(), &ddl, InitOptions::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "too-many-tables"), "{error}");
    assert!(error.to_string().contains("600"), "{error}");
    assert!(rig.store().first_keys(&Path::default(), 1).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_process_does_not_write_into_another_graph_that_was_made_at_the_address() {
    for commits in [0, 2] {
        let rig = Rig::new().await;
        let old = rig.warm().await;
        let idle = rig.process().await;
        for _ in 0..commits {
            Set::table(1).publish(&old, "main").await.unwrap();
        }
        for folder in ["branches", "schemas"] {
            for key in rig.store().first_keys(&Path::from(folder), 99).await.unwrap() {
                rig.store().objects().delete(&key).await.unwrap();
            }
        }
        rig.store().objects().delete(&Path::from("graph.json")).await.unwrap();
        let new = rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap();
        for _ in 0..commits {
            Set::table(1).publish(&new, "main").await.unwrap();
        }
        let head = new.show("main").await.unwrap();
        for process in [&old, &idle] {
            let error = Set::table(2).publish(process, "main").await.unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::Data, "record-foreign"), "{error}");
            let ids = [process, &new].map(|graph| graph.core().file().graph.to_string());
            assert!(ids.iter().all(|id| error.to_string().contains(id)), "{error} names {ids:?}");
        }
        assert_eq!(rig.process().await.show("main").await.unwrap(), head);
        // The tables of these commits are made up; all else is whole.
        let problems = new.fsck(&[]).await.unwrap().problems;
        assert!(problems.iter().all(|problem| !problem.code.starts_with("record-")), "{problems:?}");
    }
}
