//! Plans: looked at before anything is written, applied while both heads are where they were; squashed merges; deleted sources.

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{ChangeOptions, ErrorKind, MergeOptions, MergeOutcome, MergeSide, Write};

use super::resolving::{resolve, side};
use super::rows::{SCHEMA, fork, p};
use super::{branch, conflicts, merge, options, put, rows, short, write};

#[tokio::test]
async fn a_plan_tells_what_would_change_and_writes_nothing() {
    let graph = graph(SCHEMA).await;
    fork(&graph, (1..=5).map(|id| p(id, r#""a":"old""#))).await;
    write(&graph, "f", Write::new().upsert_json(p(1, r#""a":"theirs""#)).delete("P", ["2"]).insert_json(p(6, "")))
        .await;
    put(&graph, "main", [p(1, r#""a":"ours""#), p(3, r#""a":"ours""#)]).await;
    let before = (graph.show("main").await.unwrap(), graph.show("f").await.unwrap());
    let plan = graph.plan_merge("f", "main", options()).await.unwrap();
    assert_eq!(plan.outcome, MergeOutcome::Merged);
    assert_eq!((plan.source.reference(), plan.target.reference()), ("f@1".to_owned(), "main@2".to_owned()));
    let table = plan.tables["P"];
    let counts = table.counts.unwrap();
    assert_eq!((table.rows_before, table.rows, counts.added, counts.removed), (Some(5), Some(5), 1, 1));
    assert_eq!((counts.source.inserted, counts.source.updated, counts.source.removed), (1, 1, 1));
    assert_eq!((counts.target.inserted, counts.target.updated, counts.target.removed), (0, 2, 0));
    assert_eq!(plan.conflicts.iter().map(short).collect::<Vec<_>>(), ["both-changed: P 1 a"]);
    assert_eq!((graph.show("main").await.unwrap(), graph.show("f").await.unwrap()), before);
    let up_to_date = graph.plan_merge("main@0", "f", options()).await.unwrap();
    assert_eq!((up_to_date.outcome, up_to_date.tables.len()), (MergeOutcome::UpToDate, 0));
    let forward = graph.plan_merge("f", "f@0", options()).await.unwrap_err();
    assert_eq!(forward.code(), "target-not-a-branch");
}

#[tokio::test]
async fn a_fast_forward_is_planned_with_its_counts() {
    let graph = graph(SCHEMA).await;
    fork(&graph, (1..=3).map(|id| p(id, ""))).await;
    write(&graph, "f", Write::new().delete("P", ["1"]).insert_json(p(7, ""))).await;
    let plan = graph.plan_merge("f", "main", options()).await.unwrap();
    assert_eq!(plan.outcome, MergeOutcome::FastForward);
    let counts = plan.tables["P"].counts.unwrap();
    assert_eq!((counts.added, counts.removed, plan.tables["P"].rows), (1, 1, Some(3)));
    let report = graph.apply_merge(&plan, options()).await.unwrap();
    assert_eq!(report.outcome, MergeOutcome::FastForward);
}

#[tokio::test]
async fn a_plan_is_applied_as_it_was_looked_at() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""a":"old""#)]).await;
    put(&graph, "f", [p(1, r#""a":"theirs""#)]).await;
    put(&graph, "main", [p(1, r#""a":"ours""#)]).await;
    let mut plan = graph.plan_merge("f", "main", options()).await.unwrap();
    let error = graph.apply_merge(&plan, options()).await.unwrap_err();
    assert_eq!(conflicts(&error), ("merge-conflicts", vec!["both-changed: P 1 a".to_owned()]));
    plan.resolutions = vec![resolve("P", "1", None, side(MergeSide::Source))];
    let applied = MergeOptions { change: ChangeOptions { message: "as planned".to_owned(), ..by_kit() }, ..options() };
    let report = graph.apply_merge(&plan, applied).await.unwrap();
    let commit = report.commit.unwrap();
    assert_eq!((commit.changes[0].message.as_str(), commit.parents.len()), ("as planned", 2));
    assert_eq!(rows(&graph, "main", "theirs").await.len(), 1);
    let again = graph.apply_merge(&plan, options()).await.unwrap_err();
    assert_eq!((again.kind(), again.code()), (ErrorKind::Contention, "head-moved"));
}

#[tokio::test]
async fn a_plan_whose_heads_have_gone_on_is_refused_and_says_which() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, ""), p(2, "")]).await;
    put(&graph, "f", [p(1, r#""a":"theirs""#)]).await;
    put(&graph, "main", [p(2, r#""a":"ours""#)]).await;
    let plan = graph.plan_merge("f", "main", options()).await.unwrap();
    let of_commit = graph.plan_merge("f@1", "main", options()).await.unwrap();
    put(&graph, "f", [p(1, r#""b":"later""#)]).await;
    let error = graph.apply_merge(&plan, options()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Contention, "source-moved"));
    assert!(error.to_string().contains("f@1") && error.to_string().contains("f@2"), "{error}");
    graph.apply_merge(&of_commit, options()).await.unwrap();
    let error = graph.apply_merge(&of_commit, options()).await.unwrap_err();
    assert_eq!(error.code(), "head-moved");
    assert!(error.to_string().contains("main"), "{error}");
    assert!(rows(&graph, "main", "later").await.is_empty());
}

#[tokio::test]
async fn a_squashed_merge_brings_the_rows_and_not_the_history() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, ""), p(2, "")]).await;
    put(&graph, "f", [p(1, r#""a":"theirs""#)]).await;
    put(&graph, "main", [p(2, r#""a":"ours""#)]).await;
    let squash = |request_id: Option<&str>| MergeOptions {
        change: ChangeOptions { request_id: request_id.map(str::to_owned), ..by_kit() },
        squash: true,
        ..MergeOptions::default()
    };
    let report = graph.merge("f", "main", squash(Some("once"))).await.unwrap();
    let commit = report.commit.unwrap();
    assert_eq!((report.outcome, commit.parents.len()), (MergeOutcome::Merged, 1));
    let again = graph.merge("f", "main", squash(Some("once"))).await.unwrap();
    assert_eq!((again.commit.as_ref(), again.outcome), (Some(&commit), MergeOutcome::Merged));
    assert_eq!(
        export(&graph, "main").await.lines().collect::<Vec<_>>(),
        [p(1, r#""a":"theirs""#), p(2, r#""a":"ours""#)]
    );
    // What is contained is what it was: the same base, and nothing new in it.
    let whole = merge(&graph, "f", "main").await;
    assert_eq!(whole.bases[0].reference(), "main@1");
    assert_eq!(whole.commit.unwrap().parents.len(), 2);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_source_is_deleted_after_its_merge_unless_it_went_on() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, "")]).await;
    put(&graph, "f", [p(1, r#""a":"theirs""#)]).await;
    let deleting = || MergeOptions { delete_source: true, ..options() };
    let error = graph.merge("f@1", "main", deleting()).await.unwrap_err();
    assert_eq!(error.code(), "source-not-a-branch");
    let report = graph.merge("f", "main", deleting()).await.unwrap();
    assert_eq!((report.source_deleted, report.outcome), (Some(true), MergeOutcome::FastForward));
    assert_eq!(graph.show("f").await.unwrap_err().code(), "branch-deleted");
    branch(&graph, "g", "main").await;
    put(&graph, "g", [p(2, "")]).await;
    let plan = graph.plan_merge("g", "main", options()).await.unwrap();
    let report = graph.apply_merge(&plan, deleting()).await.unwrap();
    assert_eq!(report.source_deleted, Some(true));
    branch(&graph, "h", "main").await;
    let up_to_date = graph.merge("h", "main", deleting()).await.unwrap();
    assert_eq!((up_to_date.commit, up_to_date.source_deleted), (None, Some(true)));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_request_that_comes_again_deletes_no_more_than_was_merged() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, "")]).await;
    let request = |delete_source: bool| MergeOptions {
        change: ChangeOptions { request_id: Some("once".to_owned()), ..by_kit() },
        delete_source,
        ..MergeOptions::default()
    };
    put(&graph, "f", [p(1, r#""a":"merged""#)]).await;
    let first = graph.merge("f", "main", request(false)).await.unwrap();
    assert!(!first.repeated);
    put(&graph, "f", [p(2, "")]).await;
    let again = graph.merge("f", "main", request(true)).await.unwrap();
    assert_eq!((again.repeated, again.source_deleted, again.commit), (true, Some(false), first.commit));
    assert_eq!(rows(&graph, "f", r#""id":2"#).await.len(), 1, "what was not merged is there");
    // Another request by the same id is none.
    branch(&graph, "g", "main").await;
    put(&graph, "g", [p(3, "")]).await;
    let error = graph.merge("g", "main", request(true)).await.unwrap_err();
    assert_eq!(error.code(), "request-id-reused");
    assert_eq!(rows(&graph, "g", r#""id":3"#).await.len(), 1);
}

#[tokio::test]
async fn a_branch_is_not_deleted_for_itself_nor_main_for_anything() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, "")]).await;
    let deleting = || MergeOptions { delete_source: true, ..options() };
    for (source, into, code) in [("f", "f", "source-is-target"), ("main", "f", "main-is-permanent")] {
        assert_eq!(graph.merge(source, into, deleting()).await.unwrap_err().code(), code);
    }
    assert_eq!(graph.show("f").await.unwrap().seq.0, 0);
    put(&graph, "f", [p(2, "")]).await;
    let plan = graph.plan_merge("f@1", "main", options()).await.unwrap();
    assert_eq!(graph.apply_merge(&plan, deleting()).await.unwrap_err().code(), "source-not-a-branch");
}

/// Both sources give one name to a row of their own; each plan is good by itself, and only one of them is applied.
#[tokio::test]
async fn of_two_plans_that_take_the_same_unique_value_one_is_applied() {
    const SCHEMA: &str = "CREATE NODE TABLE Tag (id INT64 PRIMARY KEY, name STRING, UNIQUE (name));";
    for at_once in [false, true] {
        let graph = graph(SCHEMA).await;
        let tag = |id: i64, name: &str| format!(r#"{{"table":"Tag","data":{{"id":{id},"name":"{name}"}}}}"#);
        put(&graph, "main", [tag(9, "green")]).await;
        let mut plans = Vec::new();
        for (name, id) in [("a", 1), ("b", 2)] {
            branch(&graph, name, "main").await;
            put(&graph, name, [tag(id, "orange")]).await;
        }
        put(&graph, "main", [tag(8, "blue")]).await;
        for name in ["a", "b"] {
            let plan = graph.plan_merge(name, "main", options()).await.unwrap();
            assert!(plan.conflicts.is_empty(), "{:?}", plan.conflicts);
            plans.push(plan);
        }
        let outcomes = if at_once {
            futures::future::join_all(plans.iter().map(|plan| graph.apply_merge(plan, options()))).await
        } else {
            vec![graph.apply_merge(&plans[0], options()).await, graph.apply_merge(&plans[1], options()).await]
        };
        let refused = usize::from(outcomes[0].is_ok());
        assert!(outcomes[1 - refused].is_ok(), "{outcomes:?}");
        assert_eq!(outcomes[refused].as_ref().unwrap_err().code(), "head-moved");
        // Looked at anew, it is a conflict of the two rows.
        let error = graph.merge(["a", "b"][refused], "main", options()).await.unwrap_err();
        let found = conflicts(&error).1;
        assert!(found == ["unique: Tag 1 name with Tag 2"] || found == ["unique: Tag 2 name with Tag 1"], "{found:?}");
        assert_eq!(rows(&graph, "main", "orange").await.len(), 1);
        assert_whole(&graph).await;
    }
}
