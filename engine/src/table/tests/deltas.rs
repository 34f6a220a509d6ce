//! What deltas read, and what they make of damage.

use super::counting::{Cost, Counting};
use super::forks::digest;
use super::sample::{key, person, property, rows, with_properties};
use super::{Rig, addresses, insert, remove, upsert};
use crate::schema::Type;
use crate::table::open::Settings;
use crate::table::{DeltaKind, Table, TableError};

/// The data files that were read.
fn data_files(cost: &Cost) -> Vec<&str> {
    let reads = cost.paths.iter().filter(|path| path.contains(": GET ") && path.contains("/data/"));
    let names = reads.filter_map(|path| path.split("/data/").nth(1)).map(|name| name.split('?').next().unwrap());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn file_of(table: &Table, fragment: usize) -> String {
    table.dataset.fragments()[fragment].files[0].path.clone()
}

#[tokio::test]
async fn only_what_was_rewritten_is_read() {
    let rig = Rig::new();
    let layout = person(1);
    let mut base = rig.create(&layout).await;
    for n in 0..10 {
        base = rig.append(&base, n * 20..(n + 1) * 20, 1).await;
    }
    let (delta, cost) = rig.store.measure(base.delta_to(&base)).await;
    assert_eq!((delta.unwrap().changes.len(), cost.requests), (0, 0));

    let at = addresses(&base).await;
    let next = rig.write(&base, upsert([at[&key(45)], at[&key(46)]], rows(&layout, [45, 46, 900], 2))).await;
    let (delta, cost) = rig.store.measure(base.delta_to(&next)).await;
    assert_eq!(delta.unwrap().changes.len(), 3);
    let mut want = [file_of(&base, 2), file_of(&next, 10)];
    want.sort();
    assert_eq!(data_files(&cost), want, "{:#?}", cost.paths);
    assert!(cost.rounds <= 1, "warm: {:#?}", cost.paths);

    // A version that shares everything but has a manifest of its own.
    let same = rig.write(&base, remove([])).await;
    assert_ne!(same.version().version, base.version().version);
    let (delta, cost) = rig.store.measure(base.delta_to(&same)).await;
    assert_eq!((delta.unwrap().changes.len(), cost.requests), (0, 0), "{:#?}", cost.paths);

    // One deletion made twice: the files differ, their content does not.
    let once = rig.write(&base, remove([at[&key(45)]])).await;
    let twice = rig.write(&base, remove([at[&key(45)]])).await;
    let (delta, cost) = rig.store.measure(once.delta_to(&twice)).await;
    assert_eq!(delta.unwrap().changes.len(), 0);
    assert_eq!(data_files(&cost), Vec::<&str>::new(), "{:#?}", cost.paths);

    let cold = rig.cold();
    let versions = [base.version().clone(), next.version().clone()];
    let (delta, cost) = rig
        .store
        .measure(async {
            let opened =
                futures::future::join_all(versions.iter().map(|version| cold.tables.open(&layout, version))).await;
            let [before, after] = [0, 1].map(|i| opened[i].as_ref().unwrap());
            before.delta_to(after).await
        })
        .await;
    assert_eq!(delta.unwrap().changes.len(), 3);
    assert!(cost.rounds <= 5, "cold: {:#?}", cost.paths);
    assert_eq!((cost.count("LIST"), cost.count("HEAD")), (0, 0));
}

#[tokio::test]
async fn a_row_that_was_put_back_is_no_change() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let at = addresses(&base).await;
    let gone = rig.write(&base, remove([at[&key(3)], at[&key(4)]])).await;
    let back = rig.write(&gone, insert(rows(&layout, [3], 1))).await;
    let delta = base.delta_to(&back).await.unwrap();
    let changes: Vec<_> = delta.changes.iter().map(|change| (change.key, change.kind())).collect();
    assert_eq!(changes, [(digest(4), DeltaKind::Removed)]);
    let delta = gone.delta_to(&back).await.unwrap();
    assert_eq!(delta.changes.iter().map(super::super::KeyChange::kind).collect::<Vec<_>>(), [DeltaKind::Added]);
    // Back in time, rows come alive in a file that both have.
    let delta = gone.delta_to(&base).await.unwrap();
    assert_eq!(delta.changes.len(), 2);
    assert!(delta.changes.iter().all(|change| change.kind() == DeltaKind::Added));
}

#[tokio::test]
async fn the_width_of_rows_is_not_read() {
    let store = Counting::new();
    // As for tables of many rows.
    let rig = Rig::over(store.clone(), Settings { block_size: Some(64 << 10), ..Settings::default() });
    let wide = vec![
        property(10, 1_900_000_003, "id", Type::String),
        property(11, 40_007, "age", Type::Int64),
        property(13, 5_000, "embedding", Type::Vector(3072)),
    ];
    let layout = with_properties(&person(1), wide);
    let base = rig.append(&rig.create(&layout).await, 0..3000, 1).await;
    let at = addresses(&base).await;
    let keys = || (0..50).map(|n| n * 60);
    let next = rig.write(&base, upsert(keys().map(|n| at[&key(n)]), rows(&layout, keys(), 2))).await;
    let whole: u64 = base.files().iter().filter_map(|(_, size)| *size).sum();
    let cold = Rig::over(store.clone(), Settings { block_size: Some(64 << 10), ..Settings::default() });
    let before = cold.tables.open(&layout, base.version()).await.unwrap();
    let after = cold.tables.open(&layout, next.version()).await.unwrap();
    let (delta, cost) = store.tally(before.delta_to(&after)).await;
    assert_eq!(delta.unwrap().changes.len(), 50);
    assert!(cost.bytes * 100 < whole, "{} of {whole} bytes: {:#?}", cost.bytes, cost.paths);
}

#[tokio::test]
async fn a_failing_store_is_told() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let next = rig.append(&base, 20..30, 1).await;
    rig.store.fail("/data/");
    let error = base.delta_to(&next).await.unwrap_err();
    assert!(matches!(error, TableError::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_key_that_a_version_has_twice_is_damage() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let next = rig.append(&rig.append(&base, [40], 1).await, [40], 2).await;
    let error = base.delta_to(&next).await.unwrap_err();
    assert!(matches!(error, TableError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn rows_are_read_by_address() {
    use super::super::{TableError as Error, mapping::ROW_ADDRESS};
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use futures::TryStreamExt;
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.append(&rig.create(&layout).await, 0..20, 1).await, 20..40, 1).await;
    let at = addresses(&base).await;
    let base = rig.write(&base, remove([at[&key(2)], at[&key(30)]])).await;
    let wanted: Vec<u64> = [1, 3, 19, 20, 31].iter().map(|n| at[&key(*n)]).collect();
    let batches: Vec<_> =
        base.take(vec![super::AGE, super::KEY], &wanted.iter().copied().collect()).try_collect().await.unwrap();
    let mut found = Vec::new();
    for batch in &batches {
        assert_eq!(batch.schema().field(2).name(), ROW_ADDRESS);
        let addresses = batch.column(2).as_primitive::<UInt64Type>().values().to_vec();
        found.extend(super::sample::texts(batch, 1).into_iter().zip(addresses));
    }
    found.sort();
    assert_eq!(found, [1, 3, 19, 20, 31].map(|n| (key(n), at[&key(n)])));
    for wrong in [at[&key(2)], 20, 99 << 32] {
        let read: Result<Vec<_>, _> = base.take(vec![super::KEY], &[wrong].into_iter().collect()).try_collect().await;
        let error = read.unwrap_err();
        assert!(matches!(error, Error::NoSuchRow { address, .. } if address == wrong), "{error}");
    }
}
