//! What a merge would do, before anything is written.

use serde_json::{Value, json};

use super::{MERGE, disagreement, divided, fields, many, reviewed};

#[test]
fn a_merge_without_conflicts_is_shown_and_not_done() {
    let sandbox = reviewed();
    let told = sandbox.ok(&[&MERGE[..], &["--dry-run"]].concat());
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "`main` would become as `review` is",
            "table   source    target    before  rows",
            "Person  +1 ~0 -0  +0 ~0 -0       2     3",
        ],
        "{told:?}"
    );
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1");
    let up_to_date = sandbox.ok(&["merge", "main", "--into", "review", "--dry-run"]).stdout;
    assert_eq!(up_to_date, "`review` has all that `main` brings: there would be no new commit\n");
}

#[test]
fn every_conflict_is_shown_with_what_either_side_has() {
    let sandbox = divided();
    let told = sandbox.fails(3, &[&MERGE[..], &["--dry-run"]].concat());
    let expected = "\
review@2 would be merged into main@2; both come from main@1
table   source    target    before  rows
Person  +1 ~1 -0  +0 ~1 -0       2     3
1 conflict:
1. both-changed: Person \"ada\" name
     base    \"Ada\"
     source  \"Ada L.\"
     target  \"Ada B.\"
";
    assert_eq!(told.stdout, expected);
    assert!(told.stderr.starts_with("error: the merge would meet 1 conflict\nhint: "), "{told:?}");
    assert!(told.stderr.contains("--resolve FILE") && told.stderr.contains("--strategy source"), "{told:?}");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@2", "nothing was written");
    // What settles it for a merge settles it here.
    sandbox.ok(&[&MERGE[..], &["--dry-run", "--strategy", "Person.name=source"]].concat());
}

#[test]
fn a_dry_run_is_one_object() {
    let sandbox = divided();
    let told = sandbox.fails(3, &[&MERGE[..], &["--dry-run", "--json"]].concat());
    assert_eq!(told.error()["code"], "merge-conflicts");
    let object = told.json();
    assert_eq!(
        fields(&object),
        ["bases", "conflict_count", "conflicts", "io", "outcome", "source", "tables", "target"]
    );
    assert_eq!((&object["outcome"], &object["conflict_count"]), (&json!("merged"), &json!(1)));
    assert_eq!(object["conflicts"], json!([disagreement()]));
    for (side, reference) in [("source", "review@2"), ("target", "main@2")] {
        assert_eq!(fields(&object[side]), ["branch", "id", "incarnation", "ref", "seq"]);
        assert_eq!(object[side]["ref"], reference);
    }
    assert_eq!(object["bases"][0]["ref"], "main@1");
    assert_eq!(object["tables"]["Person"]["source"], json!({"added": 1, "changed": 1, "removed": 0}));
    let free = sandbox.ok(&[&MERGE[..], &["--dry-run", "--json", "--strategy", "target"]].concat()).json();
    assert_eq!((&free["conflict_count"], &free["conflicts"]), (&json!(0), &json!([])));
}

#[test]
fn conflicts_are_shown_by_the_page() {
    let sandbox = many(53);
    let page = |options: &[&str]| {
        let told = sandbox.fails(3, &[&MERGE[..], &["--dry-run", "--json"], options].concat()).json();
        assert_eq!(told["conflict_count"], 53);
        let keys = told["conflicts"].as_array().expect("a list").iter().map(|conflict| conflict["key"].clone());
        keys.collect::<Vec<Value>>()
    };
    let key = |i: usize| json!(format!("p{i:03}"));
    assert_eq!(page(&[]), (0..50).map(key).collect::<Vec<_>>());
    assert_eq!(page(&["--skip", "50"]), (50..53).map(key).collect::<Vec<_>>());
    assert_eq!(page(&["--skip", "1", "--limit", "2"]), [key(1), key(2)]);
    assert_eq!(page(&["--limit", "0"]).len(), 53);
    assert_eq!(page(&["--skip", "60"]), Vec::<Value>::new());
    let text = |options: &[&str]| sandbox.fails(3, &[&MERGE[..], &["--dry-run"], options].concat()).stdout;
    let first = text(&[]);
    assert!(first.contains("\nconflicts 1 to 50 of 53:\n1. both-changed: Person \"p000\" name\n"), "{first}");
    assert!(first.ends_with("\n3 more: --skip 50, or --limit 0 for all\n"), "{first}");
    let last = text(&["--skip", "50"]);
    assert!(last.contains("\nconflicts 51 to 53 of 53:\n51. both-changed: Person \"p050\" name\n"), "{last}");
    assert!(!last.contains("more: "), "{last}");
    assert!(text(&["--skip", "53"]).ends_with("\nnone of 53 conflicts is left to show\n"));
}

#[test]
fn only_branches_are_merged_into() {
    let sandbox = reviewed();
    let error = sandbox.fails(1, &["merge", "review", "--into", "main@1", "--dry-run", "--json"]).error();
    assert_eq!(error["code"], "target-not-a-branch");
    let error = sandbox.fails(1, &["merge", "nope", "--into", "main", "--dry-run", "--json"]).error();
    assert_eq!(error["code"], "branch-not-found");
}
