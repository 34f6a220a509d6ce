//! Versions that fork, fold and take rows of one another, against a model of their rows: deltas and combinations are exact.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use proptest::prelude::*;
use roaring::RoaringTreemap;

use super::sample::{key, person, rows};
use super::{Rig, addresses, contents, expected, insert, remove, stream_of, upsert};
use crate::ids::Digest;
use crate::schema::Type;
use crate::table::{Combination, Delta, DeltaKind, Layout, Spot, Table, TableWrite};
use crate::value::{Value, digest_values};

/// Key → what tells its values apart.
pub(super) type Model = BTreeMap<u64, i64>;

/// A version and what it should have.
pub(super) struct Version {
    pub table: Table,
    pub model: Model,
    /// Where each row is.
    pub at: BTreeMap<u64, u64>,
}

/// What makes a version of another one.
#[derive(Debug, Clone)]
enum Step {
    /// Puts rows, new ones and others.
    Upsert { from: u64, count: u64, tag: i64 },
    /// Writes rows again as they are.
    Rewrite { every: u64 },
    /// Deletes rows.
    Delete { from: u64, count: u64 },
    /// Compacts, and where that gains nothing writes all rows into one file.
    Compact,
    /// Writes rows one after another, so that small files are folded.
    Trickle { from: u64, tag: i64 },
    /// Takes rows of another version: for key `n`, digit `n % 20` to the base of 4 of the choices says what becomes of it.
    Combine { source: usize, base: usize, choices: u64 },
}

pub(super) fn digest(n: u64) -> Digest {
    digest_values([(&Value::String(key(n)), &Type::String)])
}

impl Version {
    pub(super) async fn new(table: Table, model: Model) -> Self {
        let mut want = BTreeMap::new();
        for (n, tag) in &model {
            want.extend(expected([*n], *tag));
        }
        assert_eq!(contents(&table).await, want);
        let found = addresses(&table).await;
        let at = model.keys().map(|n| (*n, found[&key(*n)])).collect();
        Self { table, model, at }
    }

    fn addresses_of(&self, keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
        keys.into_iter().filter_map(|n| self.at.get(&n).copied()).collect()
    }

    fn layout(&self) -> &Arc<Layout> {
        self.table.layout()
    }
}

/// Rows, each with its own tag, as whole batches.
fn batches(layout: &Layout, model: &Model) -> (Vec<arrow_array::RecordBatch>, u64) {
    (model.iter().map(|(n, tag)| rows(layout, [*n], *tag)).collect(), model.len() as u64)
}

async fn write_all(rig: &Rig, version: &Version, removed: Vec<u64>, put: &Model, all: bool) -> Table {
    let (batches, insert_rows) = batches(version.layout(), put);
    let write = TableWrite {
        remove: removed.into_iter().collect(),
        remove_all: all,
        insert: if batches.is_empty() { stream::empty().boxed() } else { stream_of(batches) },
        insert_rows,
    };
    rig.write(&version.table, write).await
}

async fn step(rig: &Rig, versions: &[Version], parent: usize, step: &Step) -> Version {
    let before = &versions[parent % versions.len()];
    let mut model = before.model.clone();
    let table = match step {
        Step::Upsert { from, count, tag } => {
            let keys = *from..from + count;
            model.extend(keys.clone().map(|n| (n, *tag)));
            let gone = before.addresses_of(keys.clone());
            rig.write(&before.table, upsert(gone, rows(before.layout(), keys, *tag))).await
        }
        Step::Rewrite { every } => {
            let chosen: Model = model.iter().filter(|(n, _)| *n % every == 0).map(|(n, tag)| (*n, *tag)).collect();
            write_all(rig, before, before.addresses_of(chosen.keys().copied()), &chosen, false).await
        }
        Step::Delete { from, count } => {
            let keys = *from..from + count;
            model.retain(|n, _| !keys.contains(n));
            rig.write(&before.table, remove(before.addresses_of(keys))).await
        }
        Step::Compact if before.table.plan_compaction().unwrap().is_some() => rig.compact(&before.table).await,
        Step::Compact => write_all(rig, before, vec![], &model, true).await,
        Step::Trickle { from, tag } => {
            let mut table = before.table.clone();
            let keys = (*from..).filter(|n| !before.model.contains_key(n)).take(17);
            for n in keys {
                table = rig.write(&table, insert(rows(before.layout(), [n], *tag))).await;
                model.insert(n, *tag);
            }
            table
        }
        Step::Combine { source, base, choices } => {
            let (source, base) = (&versions[source % versions.len()], &versions[base % versions.len()]);
            return combine(rig, (base, source, before), |n| choices >> (2 * (n % 20)) & 3).await;
        }
    };
    Version::new(table, model).await
}

/// Combines two versions: 0 and 1 keep the target's row, 2 takes the source's (or has it deleted as there), 3 writes another.
pub(super) async fn combine(
    rig: &Rig,
    (base, source, target): (&Version, &Version, &Version),
    choice: impl Fn(u64) -> u64,
) -> Version {
    let (mut take, mut gone, mut written) = (RoaringTreemap::new(), RoaringTreemap::new(), Model::new());
    let mut model = target.model.clone();
    let keys: std::collections::BTreeSet<u64> = source.model.keys().chain(target.model.keys()).copied().collect();
    for n in keys {
        // What both have alike is left alone, as a merge does.
        if source.model.get(&n) == target.model.get(&n) || choice(n) < 2 {
            continue;
        }
        gone.extend(target.at.get(&n));
        model.remove(&n);
        if choice(n) == 3 {
            written.insert(n, -7);
            model.insert(n, -7);
        } else if let Some(address) = source.at.get(&n) {
            take.insert(*address);
            model.insert(n, source.model[&n]);
        }
    }
    let to_target = base.table.delta_to(&target.table).await.unwrap();
    let to_source = base.table.delta_to(&source.table).await.unwrap();
    let (batches, insert_rows) = batches(target.layout(), &written);
    let twins = to_target.twins(&to_source);
    let insert = if batches.is_empty() { stream::empty().boxed() } else { stream_of(batches) };
    let combination = Combination { take, remove: gone, twins, insert, insert_rows };
    let staged = target.table.combine(&source.table, combination).await.unwrap();
    // As another process sees it: nothing of it is in memory only.
    let cold = rig.cold().tables.open(target.layout(), &staged.version).await.unwrap();
    assert_eq!(cold.verify().await.unwrap(), Vec::<String>::new());
    let mut files: Vec<String> = staged.files.iter().map(ToString::to_string).collect();
    files.sort();
    files.dedup();
    assert_eq!(files.len(), staged.files.len(), "no file twice");
    Version::new(rig.open(target.layout(), &staged).await, model).await
}

/// Compares a delta with what a full comparison of the models says, addresses included.
async fn check_delta(before: &Version, after: &Version) {
    let delta: Delta = before.table.delta_to(&after.table).await.unwrap();
    let address = |spot: Option<Spot>| spot.map(|spot| spot.address);
    let mut found = BTreeMap::new();
    for change in &delta.changes {
        assert!(found.insert(change.key, *change).is_none(), "a key twice");
    }
    let mut sorted = delta.changes.clone();
    sorted.sort_by_key(|change| change.key);
    assert_eq!(sorted, delta.changes);
    for n in before.model.keys().chain(after.model.keys()).copied().collect::<std::collections::BTreeSet<_>>() {
        let change = found.remove(&digest(n));
        assert_eq!(change.as_ref(), delta.of(digest(n)));
        let kind = match (before.model.get(&n), after.model.get(&n)) {
            (None, _) => DeltaKind::Added,
            (_, None) => DeltaKind::Removed,
            (Some(was), Some(is)) if was == is => {
                assert_eq!(change, None, "{n}");
                assert_eq!(delta.locate(before.at[&n]), Some(after.at[&n]), "{n}");
                continue;
            }
            _ => DeltaKind::Changed,
        };
        let change = change.unwrap_or_else(|| panic!("{n} is {kind:?}"));
        assert_eq!(change.kind(), kind, "{n}");
        assert_eq!(address(change.before), before.at.get(&n).copied(), "{n}");
        assert_eq!(address(change.after), after.at.get(&n).copied(), "{n}");
        if let Some(address) = before.at.get(&n) {
            assert_eq!(delta.locate(*address), None, "{n}");
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..30_u64, 1..12_u64, 0..3_i64).prop_map(|(from, count, tag)| Step::Upsert { from, count, tag }),
        2 => (1..5_u64).prop_map(|every| Step::Rewrite { every }),
        3 => (0..30_u64, 1..12_u64).prop_map(|(from, count)| Step::Delete { from, count }),
        1 => Just(Step::Compact),
        1 => (0..60_u64, 0..3_i64).prop_map(|(from, tag)| Step::Trickle { from, tag }),
        4 => (any::<usize>(), any::<usize>(), any::<u64>())
            .prop_map(|(source, base, choices)| Step::Combine { source, base, choices }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn deltas_and_combinations_are_exact_whatever_came_before(
        steps in prop::collection::vec((any::<usize>(), any_step()), 1..10),
        pairs in prop::collection::vec((any::<usize>(), any::<usize>()), 10),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let rig = Rig::new();
            let layout = person(1);
            let empty = rig.create(&layout).await;
            let first = rig.append(&empty, 0..20, 0).await;
            let mut versions = vec![
                Version::new(empty, Model::new()).await,
                Version::new(first, (0..20).map(|n| (n, 0)).collect()).await,
            ];
            for (parent, next) in &steps {
                // The later ones more often, so that lines grow long.
                let parent = if parent % 3 == 0 { *parent } else { versions.len() - 1 };
                versions.push(step(&rig, &versions, parent, next).await);
            }
            for (before, after) in pairs {
                check_delta(&versions[before % versions.len()], &versions[after % versions.len()]).await;
            }
        });
    }
}
