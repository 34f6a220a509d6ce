//! What single merges come to.

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{ChangeOptions, ErrorKind, MergeOptions, MergeOutcome, Write};

use super::{SCHEMA, bases, branch, city, knows, merge, options, person, prepare, put, rows, try_merge, write};

#[tokio::test]
async fn a_target_that_the_source_contains_becomes_what_the_source_is() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    put(&graph, "f", [person(4, "new"), knows(4, 1)]).await;
    let source = put(&graph, "f", [city(1, "new")]).await;
    let options =
        MergeOptions { change: ChangeOptions { message: "why".to_owned(), ..by_kit() }, ..MergeOptions::default() };
    let report = graph.merge("f", "main", options).await.unwrap();
    assert_eq!((report.outcome, bases(&report)), (MergeOutcome::FastForward, vec!["main@1".to_owned()]));
    let tables: Vec<_> = report.tables.iter().map(|(name, t)| (name.as_str(), t.rows_before, t.rows)).collect();
    assert_eq!(tables, [("City", Some(3), Some(3)), ("Knows", Some(1), Some(2)), ("Person", Some(3), Some(4))]);
    let commit = report.commit.unwrap();
    assert_eq!(commit.reference(), "main@2");
    let parents: Vec<_> = commit.parents.iter().map(|parent| (parent.reference(), parent.id)).collect();
    assert_eq!(parents[1], ("f@2".to_owned(), source.id));
    assert_eq!(parents[0].0, "main@1");
    assert_eq!((commit.changes[0].kind.as_str(), commit.changes[0].message.as_str()), ("merge", "why"));
    assert_eq!(graph.show("main").await.unwrap(), commit);
    assert_eq!(export(&graph, "main").await, export(&graph, "f").await);
    let again = merge(&graph, "f", "main").await;
    assert_eq!((again.outcome, again.commit), (MergeOutcome::UpToDate, None));
    assert!(again.tables.is_empty());
    assert_eq!(again.bases[0].id, source.id);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn tables_that_one_side_changed_are_taken_from_it() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    put(&graph, "f", [city(1, "theirs"), city(4, "theirs")]).await;
    put(&graph, "main", [person(1, "ours")]).await;
    let report = merge(&graph, "f", "main").await;
    assert_eq!((report.outcome, bases(&report)), (MergeOutcome::Merged, vec!["main@1".to_owned()]));
    let changed: Vec<&str> = report.tables.keys().map(String::as_str).collect();
    assert_eq!(changed, ["City"]);
    assert_eq!(rows(&graph, "main", "theirs").await, [city(1, "theirs"), city(4, "theirs")]);
    assert_eq!(rows(&graph, "main", "ours").await, [person(1, "ours")]);
    // What the target is now contains the source.
    let back = merge(&graph, "main", "f").await;
    assert_eq!((back.outcome, bases(&back)), (MergeOutcome::FastForward, vec!["f@1".to_owned()]));
    assert_eq!(export(&graph, "main").await, export(&graph, "f").await);
    assert_eq!(merge(&graph, "f", "main").await.outcome, MergeOutcome::UpToDate);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_branch_that_brings_nothing_makes_no_commit() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    for (source, into) in [("f", "main"), ("main", "main"), ("main~1", "main"), ("main@0", "f")] {
        let report = merge(&graph, source, into).await;
        assert_eq!((report.outcome, report.commit), (MergeOutcome::UpToDate, None), "{source} into {into}");
    }
    put(&graph, "main", [person(1, "new")]).await;
    assert_eq!(
        merge(&graph, "f", "main").await.outcome,
        MergeOutcome::UpToDate,
        "a branch without a commit of its own"
    );
    assert_eq!(graph.show("main").await.unwrap().seq.0, 2);
}

/// The sum of its commits is nothing, but what they contain is told once, so that it is not merged again.
#[tokio::test]
async fn commits_that_come_to_nothing_change_nothing_and_are_merged_once() {
    for moved in [false, true] {
        let graph = graph(SCHEMA).await;
        prepare(&graph).await;
        branch(&graph, "f", "main").await;
        put(&graph, "f", [city(9, "gone")]).await;
        write(&graph, "f", Write::new().delete("City", ["9"])).await;
        if moved {
            put(&graph, "main", [person(9, "ours")]).await;
        }
        let before = export(&graph, "main").await;
        let first = merge(&graph, "f", "main").await;
        let expected = if moved { MergeOutcome::Merged } else { MergeOutcome::FastForward };
        assert_eq!(first.outcome, expected);
        assert_eq!(export(&graph, "main").await, before);
        assert_eq!(merge(&graph, "f", "main").await.outcome, MergeOutcome::UpToDate);
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn a_delete_wins_over_an_insert_of_what_was_there_in_either_order() {
    for order in [["a", "b"], ["b", "a"]] {
        let graph = graph(SCHEMA).await;
        prepare(&graph).await;
        branch(&graph, "a", "main").await;
        branch(&graph, "b", "main").await;
        let again = Write::new().upsert_json(knows(1, 2));
        assert_eq!(graph.write("a", again, by_kit()).await.unwrap().commit, None, "it says what is there");
        write(&graph, "b", Write::new().delete("Knows", ["1", "2"])).await;
        for source in order {
            merge(&graph, source, "main").await;
        }
        assert!(rows(&graph, "main", "Knows").await.is_empty());
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn any_commit_can_be_merged_and_brings_what_it_contains() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    let first = put(&graph, "f", [city(1, "first")]).await;
    put(&graph, "f", [city(1, "second")]).await;
    put(&graph, "main", [person(1, "ours")]).await;
    let report = merge(&graph, &format!("f@{}", first.id), "main").await;
    assert_eq!(report.commit.unwrap().parents[1].id, first.id);
    assert_eq!(rows(&graph, "main", "City").await[0], city(1, "first"));
    let report = merge(&graph, "f", "main").await;
    assert_eq!(bases(&report), ["f@1"], "it goes on where the first one ended");
    assert_eq!(rows(&graph, "main", "City").await[0], city(1, "second"));
    // Older than what was merged: nothing is taken back.
    assert_eq!(merge(&graph, "f@1", "main").await.outcome, MergeOutcome::UpToDate);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let graph = graph(SCHEMA).await;
    branch(&graph, "f", "main").await;
    for (source, into, code) in [
        ("nope", "main", "branch-not-found"),
        ("main", "nope", "branch-not-found"),
        ("f@7", "main", "commit-not-found"),
        ("main", "..", "branch-name-invalid"),
        ("main@", "main", "reference-invalid"),
    ] {
        let error = try_merge(&graph, source, into).await.unwrap_err();
        assert_eq!(error.code(), code, "{source} into {into}: {error}");
    }
}

#[tokio::test]
async fn a_pinned_target_lets_a_merge_in_or_refuses_it() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    put(&graph, "f", [city(1, "new")]).await;
    let pinned = |head: &str| {
        let change = ChangeOptions { if_head: Some(head.to_owned()), ..by_kit() };
        graph.merge("f", "main", MergeOptions { change, ..MergeOptions::default() })
    };
    let error = pinned("main@0").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Contention, "head-moved"));
    assert_eq!(pinned("main@1").await.unwrap().outcome, MergeOutcome::FastForward);
}

#[tokio::test]
async fn a_request_takes_effect_once_and_is_told_as_it_was() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    for (name, moves) in [("f", false), ("g", true)] {
        branch(&graph, name, "main").await;
        put(&graph, name, [city(1, name)]).await;
        if moves {
            put(&graph, "main", [person(1, "ours")]).await;
        }
        let request = || {
            let mut options = options();
            options.change.request_id = Some(format!("merge {name}"));
            options
        };
        let first = graph.merge(name, "main", request()).await.unwrap();
        // Whatever became of the branches.
        put(&graph, "main", [city(2, &format!("after {name}"))]).await;
        graph.delete_branch(name, by_kit()).await.unwrap();
        let again = graph.merge(name, "main", request()).await.unwrap();
        assert_eq!((again.outcome, &again.commit), (first.outcome, &first.commit));
        assert_eq!((again.bases, again.tables), (first.bases, first.tables));
    }
    assert_eq!(graph.log("main", 100).await.unwrap().len(), 2 + 2 + 3);
}

#[tokio::test]
async fn times_of_the_past_read_the_same_after_a_merge() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    put(&graph, "f", [city(1, "theirs")]).await;
    put(&graph, "main", [person(1, "ours")]).await;
    put(&graph, "main", [person(2, "ours")]).await;
    let mut past = Vec::new();
    for commit in graph.log("main", 10).await.unwrap() {
        for reference in [commit.reference(), format!("main@{}", commit.time)] {
            past.push((export(&graph, &reference).await, reference));
        }
    }
    let head = graph.show("main").await.unwrap();
    let merged = merge(&graph, "f", "main").await.commit.unwrap();
    assert!(merged.time > head.time);
    for (rows, reference) in past {
        assert_eq!(export(&graph, &reference).await, rows, "{reference}");
    }
}
