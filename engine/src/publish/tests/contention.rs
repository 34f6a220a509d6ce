//! Others who publish first, and branches that are deleted and created again meanwhile.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;

use super::{MAIN, head, refusal, rival};
use crate::error::ErrorKind;
use crate::graph::{ChangeOptions, Graph};
use crate::ids::Seq;
use crate::record::{Record, Tombstone};
use crate::store::{Fault, Hold, RequestKind, When};
use crate::testing::{Rig, Set, if_head, table};

#[tokio::test]
async fn a_rival_that_changed_nothing_we_depend_on_costs_no_evaluation() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    let work = Set::table(1).reading(2).meanwhile(rival(&theirs, 3));
    let commit = work.publish(&ours, "main").await.unwrap();
    assert_eq!((work.evaluations(), commit.seq, commit.parents[0].seq), (1, Seq(2), Seq(1)));
    let head = head(&ours).await;
    assert!(head.table_version(table(1)).is_some() && head.table_version(table(3)).is_some(), "both are in the commit");
}

#[tokio::test]
async fn a_rival_that_changed_what_we_read_or_write_makes_us_evaluate_again() {
    for number in [1, 2] {
        let rig = Rig::new().await;
        let (ours, theirs) = (rig.warm().await, rig.warm().await);
        let work = Set::table(1).reading(2).meanwhile(rival(&theirs, number));
        let commit = work.publish(&ours, "main").await.unwrap();
        assert_eq!((work.evaluations(), commit.seq), (2, Seq(2)));
    }
}

#[tokio::test]
async fn many_rivals_all_get_through_and_every_commit_has_one_parent() {
    let rig = Rig::new().await;
    let writers = (0..8_u8).map(|number| {
        let rig = &rig;
        async move {
            let graph = rig.process().await;
            for _ in 0..10 {
                Set::table(number).publish(&graph, "main").await.unwrap();
            }
        }
    });
    futures::future::join_all(writers).await;
    let commits = rig.process().await.log("main", 1000).await.unwrap();
    assert_eq!(commits.len(), 81);
    assert!(commits.windows(2).all(|pair| pair[0].parents[0].id == pair[1].id && pair[0].time > pair[1].time));
}

#[tokio::test]
async fn contention_ends_when_the_time_is_up_and_nothing_is_published() {
    let rig = Rig::new().await;
    let theirs = rig.warm().await;
    let ours = rig.builder().publish_within(Duration::ZERO).open_on(rig.store()).await.unwrap();
    let error = Set::table(1).meanwhile(rival(&theirs, 1)).publish(&ours, "main").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Contention, "contention"));
    assert!(error.is_retryable());
    assert_eq!(ours.show("main").await.unwrap().seq, Seq(1), "only the rival's");
}

#[tokio::test]
async fn a_pinned_head_lets_a_request_in_or_refuses_it_at_once() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    let first = Set::table(1).publish_as(&ours, "main", &if_head("main@0")).await.unwrap();
    let by_id = if_head(&format!("main@{}", first.id));
    assert_eq!(Set::table(1).publish_as(&ours, "main", &by_id).await.unwrap().seq, Seq(2));
    let work = Set::table(1);
    let error = work.publish_as(&ours, "main", &if_head("main@1")).await.unwrap_err();
    assert_eq!((error.code(), work.evaluations(), error.is_retryable()), ("head-moved", 0, false));
    // A process that remembers an older head asks before it refuses.
    assert_eq!(Set::table(1).publish_as(&theirs, "main", &if_head("main@2")).await.unwrap().seq, Seq(3));
    let raced = Set::table(9).meanwhile(rival(&theirs, 3));
    let error = raced.publish_as(&ours, "main", &if_head("main@3")).await.unwrap_err();
    assert_eq!((error.code(), raced.evaluations()), ("head-moved", 1), "unrelated or not");
}

/// Gives `f` a second life once a request that is held at `hold` has met the end of the first.
async fn created_again(rig: &Rig, theirs: &Graph, hold: &Hold) {
    hold.reached().await;
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    hold.release();
    assert_eq!(rig.process().await.branch("f").await.unwrap().head.seq, Seq(2));
}

#[tokio::test]
async fn a_branch_created_again_after_its_deletion_was_met_is_another_one() {
    // The deletion is met by the put, or by the look that confirms a refusal or a "nothing to do".
    for answer in [None, Some(true), Some(false)] {
        let rig = Rig::new().await;
        let (ours, theirs) = (rig.process().await, rig.process().await);
        theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
        let hold = Hold::new();
        let (other, faults, held) = (theirs.clone(), rig.faults.clone(), hold.clone());
        let work = Set::table(1).meanwhile(move |evaluation, _| {
            let (other, faults, held) = (other.clone(), faults.clone(), held.clone());
            async move {
                if evaluation == 1 {
                    other.delete_branch("f", ChangeOptions::default()).await.unwrap();
                    // The first look there finds that the deletion is the head; the second confirms what to tell of it.
                    let second = When::kind(RequestKind::Get).path("branches/f/fffffffffffffffd").skip(1).once();
                    faults.add(second, Fault::Hold(held));
                }
            }
            .boxed()
        });
        let work = work.answering(move |_| answer.map(|done| if done { Ok(()) } else { Err(refusal()) }));
        let asked = (work.clone(), ours.clone());
        let publish = tokio::spawn(async move { asked.0.publish(&asked.1, "f").await });
        created_again(&rig, &theirs, &hold).await;
        let error = publish.await.unwrap().unwrap_err();
        assert_eq!((error.code(), work.evaluations()), ("branch-recreated", 1), "{answer:?}");
        assert_eq!(theirs.branch("f").await.unwrap().head.seq, Seq(2), "nothing was published");
    }
}

#[tokio::test]
async fn a_request_that_stood_upon_a_rivals_commit_belongs_to_that_life_of_the_branch() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    ours.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    // Only remembered here; the rival's commit, met by the first put, is what ties the request.
    Set::table(3).publish(&theirs, "f").await.unwrap();
    let second = rig.faults.hold(When::kind(RequestKind::Create).path("branches/f/fffffffffffffffd"));
    let work = Set::table(1);
    let asked = (work.clone(), ours.clone());
    let publish = tokio::spawn(async move { asked.0.publish(&asked.1, "f").await });
    second.reached().await;
    theirs.delete_branch("f", ChangeOptions::default()).await.unwrap();
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    second.release();
    assert_eq!(publish.await.unwrap().unwrap_err().code(), "branch-recreated");
    assert_eq!(work.evaluations(), 1);
}

#[tokio::test]
async fn a_handle_follows_a_branch_that_another_process_deleted_and_created_again() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    ours.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    Set::table(1).publish(&ours, "f").await.unwrap();
    theirs.delete_branch("f", ChangeOptions::default()).await.unwrap();
    let main = Set::table(5).publish(&theirs, "main").await.unwrap();
    let created = theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap().head;
    assert_eq!((created.parents[0].id, created.seq), (main.id, Seq(3)));
    let work = Set::table(1).reading(2);
    let commit = work.publish(&ours, "f").await.unwrap();
    assert_eq!((commit.parents[0].id, commit.incarnation), (created.id, created.incarnation));
    assert_eq!(work.evaluations(), 2, "on what was remembered, then on the branch of now");
    assert_eq!(ours.show("f").await.unwrap(), rig.process().await.show("f").await.unwrap());
}

#[tokio::test]
async fn a_request_that_saw_the_old_branch_is_not_put_into_the_new_one() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    let other = theirs.clone();
    let work = Set::table(1).meanwhile(move |_, _| {
        let other = other.clone();
        async move {
            other.delete_branch("f", ChangeOptions::default()).await.unwrap();
            other.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
        }
        .boxed()
    });
    let error = work.publish(&ours, "f").await.unwrap_err();
    assert_eq!((error.kind(), error.code(), work.evaluations()), (ErrorKind::Contention, "branch-recreated", 1));
}

#[tokio::test]
async fn a_branch_that_is_deleted_meanwhile_takes_nothing() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    let other = Arc::new(theirs);
    let work = Set::table(1).meanwhile(move |_, _| {
        let other = other.clone();
        async move { drop(other.delete_branch("f", ChangeOptions::default()).await.unwrap()) }.boxed()
    });
    assert_eq!(work.publish(&ours, "f").await.unwrap_err().code(), "branch-deleted");
    assert_eq!(Set::table(1).publish(&ours, "f").await.unwrap_err().code(), "branch-deleted");
    assert_eq!(Set::table(1).publish(&ours, "g").await.unwrap_err().code(), "branch-not-found");
}

#[tokio::test]
async fn a_slow_writer_meets_tombstones_and_goes_on_from_the_head_of_now() {
    let rig = Rig::new().await;
    let (slow, others) = (rig.warm().await, rig.warm().await);
    let hold = rig.faults.hold(When::kind(RequestKind::Create).path(MAIN));
    let (work, handle) = (Set::table(1), slow.clone());
    let publish = tokio::spawn(async move { work.publish(&handle, "main").await });
    hold.reached().await;
    for _ in 0..4 {
        Set::table(2).publish(&others, "main").await.unwrap();
    }
    let authorities = others.core().authorities();
    let name = "main".parse().unwrap();
    for seq in [1, 2, 3].map(Seq) {
        let mut record = Record::clone(&*authorities.record_at(&name, seq).await.unwrap());
        record.tombstone = Some(Tombstone { time: rig.clock.now(), commit: record.commit });
        authorities.log(&name).overwrite(seq, record.encode().unwrap()).await.unwrap();
    }
    let before = authorities.log(&name).read(Seq(1)).await.unwrap();
    hold.release();
    let commit = publish.await.unwrap().unwrap();
    assert_eq!((commit.seq, commit.parents[0].seq), (Seq(5), Seq(4)));
    assert_eq!(authorities.log(&name).read(Seq(1)).await.unwrap(), before, "byte for byte");
}
