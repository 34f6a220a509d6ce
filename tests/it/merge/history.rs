//! Merges upon merges: what was merged is remembered, however it went to and fro.

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{Graph, MergeOptions, MergeOutcome, MergeSide, Strategy, Write};

use super::{SCHEMA, bases, branch, city, conflicts, lives, merge, person, prepare, put, rows, write};

async fn merge_bases(graph: &Graph, one: &str, other: &str) -> Vec<String> {
    let found = graph.merge_bases(one, other).await.unwrap();
    assert_eq!(graph.merge_bases(other, one).await.unwrap(), found);
    found.iter().map(pleach::ParentInfo::reference).collect()
}

/// `main` and `f` with each other's change, merged both ways at once; the change of `main` is of persons, that of `f` of cities.
async fn criss_cross() -> Graph {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    put(&graph, "main", [person(1, "ours")]).await;
    put(&graph, "f", [city(1, "theirs")]).await;
    merge(&graph, "f@1", "main").await;
    merge(&graph, "main@2", "f").await;
    graph
}

#[tokio::test]
async fn a_criss_cross_has_two_bases_and_merges_again() {
    let graph = criss_cross().await;
    assert_eq!(export(&graph, "main").await, export(&graph, "f").await);
    assert_eq!(merge_bases(&graph, "main", "f").await, ["f@1", "main@2"]);
    let report = merge(&graph, "f", "main").await;
    assert_eq!((report.outcome, bases(&report)), (MergeOutcome::Merged, vec!["f@1".to_owned(), "main@2".to_owned()]));
    assert!(report.tables.is_empty(), "both have all of it");
    assert_eq!(merge(&graph, "f", "main").await.outcome, MergeOutcome::UpToDate);
    put(&graph, "f", [lives(2, 1)]).await;
    let report = merge(&graph, "f", "main").await;
    assert_eq!(report.tables.keys().collect::<Vec<_>>(), ["Lives"]);
    assert_whole(&graph).await;
}

/// A side that has what *one* of the bases has did change it, against the other; taking the other side's for that would bring back
/// what was set back.
#[tokio::test]
async fn what_is_set_back_after_a_criss_cross_stays_so() {
    let graph = criss_cross().await;
    put(&graph, "main", [city(1, "old")]).await;
    assert_eq!(merge(&graph, "f", "main").await.outcome, MergeOutcome::Merged);
    assert_eq!(rows(&graph, "main", "City").await[0], city(1, "old"));
    assert_whole(&graph).await;
}

/// Branches that take each other in again and again: what one side alone changed since is no conflict, and it costs the same every time.
#[tokio::test]
async fn branches_that_take_each_other_in_for_ever_cost_the_same_every_time() {
    const ROUNDS: usize = 24;
    let graph = criss_cross().await;
    let mut reads = Vec::new();
    for round in 0..ROUNDS {
        let ours = put(&graph, "main", [person(1, &format!("ours {round}"))]).await;
        let theirs = put(&graph, "f", [person(2, &format!("theirs {round}"))]).await;
        let _ = graph.take_io();
        let report = merge(&graph, &theirs.reference(), "main").await;
        reads.push(graph.take_io().gets);
        assert_eq!((report.bases.len(), report.tables["Person"].counts.unwrap().added), (2, 0), "{report:?}");
        merge(&graph, &ours.reference(), "f").await;
        assert_eq!(export(&graph, "main").await, export(&graph, "f").await);
    }
    let settled = reads.split_off(ROUNDS / 2);
    assert!(settled.iter().max() <= reads.iter().max(), "{reads:?}, then {settled:?}");
    let rows = rows(&graph, "main", "Person").await;
    for expected in [person(1, &format!("ours {}", ROUNDS - 1)), person(2, &format!("theirs {}", ROUNDS - 1))] {
        assert!(rows.contains(&expected), "{expected} in {rows:?}");
    }
    assert_whole(&graph).await;
}

/// Who settles one conflict in two ways, one on each side, still disagrees, however often.
#[tokio::test]
async fn what_was_settled_differently_on_both_sides_stays_a_conflict() {
    let graph = criss_cross().await;
    let settled = async |source: &str, into: &str, side: MergeSide| {
        let strategies = vec![Strategy { table: None, property: None, side }];
        let options = MergeOptions { change: by_kit(), strategies, ..MergeOptions::default() };
        graph.merge(source, into, options).await.unwrap();
    };
    put(&graph, "main", [person(1, "of main")]).await;
    put(&graph, "f", [person(1, "of f")]).await;
    for round in 0..3 {
        let ours = put(&graph, "main", [city(10 + round, "ours")]).await.reference();
        let theirs = put(&graph, "f", [city(20 + round, "theirs")]).await.reference();
        let refused = graph.merge("f", "main", MergeOptions::default()).await.unwrap_err();
        assert_eq!(conflicts(&refused).1, ["both-changed: Person 1 name"], "round {round}");
        settled(&theirs, "main", MergeSide::Target).await;
        settled(&ours, "f", MergeSide::Target).await;
    }
    let ours = graph.branch("main").await.unwrap().head.reference();
    settled("f", "main", MergeSide::Target).await;
    settled(&ours, "f", MergeSide::Source).await;
    put(&graph, "f", [city(30, "later")]).await;
    merge(&graph, "f", "main").await;
    assert!(rows(&graph, "main", "Person").await.contains(&person(1, "of main")));
    assert_whole(&graph).await;
}

/// A branch that both sides took in is their base, also when nothing but lineage knows of it any more.
#[tokio::test]
async fn siblings_that_took_a_branch_in_remember_it_when_it_is_gone() {
    for deleted in [false, true] {
        let graph = graph(SCHEMA).await;
        prepare(&graph).await;
        for name in ["x", "s", "t"] {
            branch(&graph, name, "main").await;
        }
        put(&graph, "x", [person(1, "1")]).await;
        merge(&graph, "x", "s").await;
        merge(&graph, "x", "t").await;
        put(&graph, "t", [person(1, "2")]).await;
        put(&graph, "s", [city(1, "s"), person(2, "s")]).await;
        if deleted {
            graph.delete_branch("x", by_kit()).await.unwrap();
            branch(&graph, "x", "main").await;
            put(&graph, "x", [person(3, "another life of that name")]).await;
        }
        assert_eq!(merge_bases(&graph, "s", "t").await, ["x@1"]);
        merge(&graph, "s", "t").await;
        assert_eq!(rows(&graph, "t", r#""id":1"#).await, [city(1, "s"), person(1, "2")]);
        assert_eq!(rows(&graph, "t", r#""Person","data":{"id":2"#).await, [person(2, "s")]);
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn repeated_merges_forth_and_back_bring_each_change_once() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    for round in 0..6 {
        put(&graph, "main", [person(1, &format!("ours {round}"))]).await;
        put(&graph, "f", [city(1, &format!("theirs {round}"))]).await;
        let (source, target) = if round % 2 == 0 { ("f", "main") } else { ("main", "f") };
        let report = merge(&graph, source, target).await;
        assert_eq!((report.outcome, report.bases.len()), (MergeOutcome::Merged, 1), "round {round}");
        assert_eq!(rows(&graph, target, "ours").await, [person(1, &format!("ours {round}"))]);
        assert_eq!(rows(&graph, target, "theirs").await, [city(1, &format!("theirs {round}"))]);
    }
    // A deletion that was merged stays deleted, whichever way it is merged on.
    write(&graph, "f", Write::new().delete("City", ["3"])).await;
    merge(&graph, "f", "main").await;
    merge(&graph, "main", "f").await;
    merge(&graph, "f", "main").await;
    assert!(rows(&graph, "main", r#""City","data":{"id":3"#).await.is_empty());
    assert_whole(&graph).await;
}

/// The lineage of `main` outgrows its record more than once, and still knows each branch.
#[tokio::test]
async fn what_hundreds_of_deleted_branches_brought_is_known() {
    const BRANCHES: i64 = 150;
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "side", "main").await;
    put(&graph, "side", [person(1, "side")]).await;
    let mut heads = Vec::new();
    for n in 0..BRANCHES {
        let name = format!("b{n}");
        branch(&graph, &name, "main").await;
        let head = put(&graph, &name, [city(100 + n, "brought")]).await;
        merge(&graph, &name, "main").await;
        graph.delete_branch(&name, by_kit()).await.unwrap();
        heads.push(head);
    }
    for head in &heads {
        let report = merge(&graph, &head.reference(), "main").await;
        assert_eq!(report.outcome, MergeOutcome::UpToDate, "{}", head.reference());
    }
    let report = merge(&graph, "side", "main").await;
    assert_eq!((report.outcome, bases(&report)), (MergeOutcome::Merged, vec!["main@1".to_owned()]));
    // Who has the lineage from elsewhere knows them as well.
    branch(&graph, "late", "main@1").await;
    assert_eq!(merge(&graph, "main", "late").await.outcome, MergeOutcome::Merged);
    assert_eq!(merge(&graph, &heads[0].reference(), "late").await.outcome, MergeOutcome::UpToDate);
    assert_eq!(rows(&graph, "late", "brought").await.len(), usize::try_from(BRANCHES).unwrap());
    assert_whole(&graph).await;
}

/// What was asked as of a moment is answered alike for ever, whatever is merged later.
#[tokio::test]
async fn answers_as_of_a_moment_stay_as_they_were_when_an_older_change_is_merged() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    let mut moments = vec![put(&graph, "main", [person(1, "t1")]).await.time];
    branch(&graph, "f", "main").await;
    // Between the first and the second moment of main, on a table that main does not change.
    put(&graph, "f", [city(1, "of f")]).await;
    for name in ["t2", "t3"] {
        moments.push(put(&graph, "main", [person(1, name)]).await.time);
    }
    let mut answers = Vec::new();
    for time in &moments {
        answers.push(export(&graph, &format!("main@{time}")).await);
    }
    assert!((1..).zip(&answers).all(|(n, answer)| answer.contains(&person(1, &format!("t{n}")))), "{answers:?}");
    merge(&graph, "f", "main").await;
    for (time, answer) in moments.iter().zip(&answers) {
        assert_eq!(export(&graph, &format!("main@{time}")).await, *answer, "{time}");
    }
    assert_eq!(rows(&graph, "main", "of f").await, [city(1, "of f")]);
    assert_whole(&graph).await;
}
