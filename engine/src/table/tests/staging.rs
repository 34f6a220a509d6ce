//! Writes: what comes out, what is written where, and what hostile input does.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use futures::{StreamExt, stream};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use roaring::RoaringTreemap;

use super::counting::Front;
use super::sample::{self, key, person, rows, with_properties};
use super::{Rig, addresses, contents, expected, insert, objects, remove, stream_of, upsert};
use crate::error::{Classify, ErrorKind};
use crate::schema::Type;
use crate::table::fold::FRAGMENTS_PER_TIER;
use crate::table::open::Settings;
use crate::table::{TableError, TableWrite};

#[tokio::test]
async fn rows_come_and_go_and_the_version_written_upon_stays() {
    let rig = Rig::new();
    let layout = person(1);
    let empty = rig.create(&layout).await;
    assert_eq!(contents(&empty).await, expected([], 0));
    let one = rig.append(&empty, 0..10, 1).await;
    let found = addresses(&one).await;
    let two = rig.write(&one, upsert([found[&key(3)], found[&key(4)]], rows(&layout, [3, 20], 2))).await;

    let mut want = expected([0, 1, 2, 5, 6, 7, 8, 9], 1);
    want.extend(expected([3, 20], 2));
    assert_eq!(contents(&two).await, want);
    assert_eq!(contents(&one).await, expected(0..10, 1));
    assert_eq!(contents(&empty).await, expected([], 0));

    let all: Vec<u64> = addresses(&two).await.into_values().collect();
    let three = rig.write(&two, remove(all)).await;
    assert_eq!(contents(&three).await, expected([], 0));
    assert_eq!(contents(&rig.append(&three, [7], 3).await).await, expected([7], 3));
    let cold = rig.cold();
    assert_eq!(contents(&cold.tables.open(&layout, two.version()).await.unwrap()).await, want);
}

#[tokio::test]
async fn removing_all_replaces_the_table() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..10, 1).await;
    let write = TableWrite { remove_all: true, ..insert(rows(&layout, 5..8, 2)) };
    assert_eq!(contents(&rig.write(&base, write).await).await, expected(5..8, 2));
    // The addresses are not looked at, not even wrong ones.
    let write = TableWrite { remove_all: true, ..remove([u64::MAX]) };
    assert_eq!(contents(&rig.write(&base, write).await).await, expected([], 0));
}

#[tokio::test]
async fn a_row_that_is_gone_can_be_removed_again() {
    let rig = Rig::new();
    let base = rig.append(&rig.create(&person(1)).await, 0..4, 1).await;
    let address = addresses(&base).await[&key(2)];
    let once = rig.write(&base, remove([address])).await;
    let twice = rig.write(&once, remove([address, address])).await;
    assert_eq!(contents(&twice).await, expected([0, 1, 3], 1));
    assert_eq!(twice.version().rows, 3);
}

#[tokio::test]
async fn an_address_of_no_row_fails_before_anything_is_written() {
    let rig = Rig::new();
    let base = rig.append(&rig.create(&person(1)).await, 0..4, 1).await;
    let before = objects(&rig).await;
    for address in [4, 1 << 32, 77 << 32 | 1, u64::MAX] {
        let error = base.stage(upsert([0, address], rows(base.layout(), [9], 1))).await.unwrap_err();
        assert!(matches!(error, TableError::NoSuchRow { address: named, .. } if named == address), "{error}");
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
    assert_eq!(objects(&rig).await, before);
}

#[tokio::test]
async fn the_files_are_exactly_what_the_version_adds() {
    let rig = Rig::new();
    let layout = person(1);
    let created = rig.tables.create(&layout).await.unwrap();
    let mut named: Vec<String> = created.files.iter().map(ToString::to_string).collect();
    named.sort();
    assert_eq!(named, objects(&rig).await);

    let base = rig.append(&rig.open(&layout, &created).await, 0..10, 1).await;
    let before = objects(&rig).await;
    let staged = base.stage(upsert([1, 2], rows(&layout, [1, 2, 30], 2))).await.unwrap();
    let mut named: Vec<String> = staged.files.iter().map(ToString::to_string).collect();
    named.sort();
    let added: Vec<String> = objects(&rig).await.into_iter().filter(|path| !before.contains(path)).collect();
    assert_eq!(named, added);
    assert_eq!(named.len(), 3, "a data file, a deletion file, a manifest");
    assert_eq!(staged.table, layout.table.id);
    assert_eq!(staged.version.rows, 11);
    assert!(staged.version.version >= 1 << 63);
}

#[tokio::test]
async fn an_insert_that_yields_other_than_was_promised_is_refused() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..3, 1).await;
    let batches = || {
        [
            (0, vec![]),
            (0, vec![rows(&layout, [], 1)]),
            (2, vec![rows(&layout, [7], 1), rows(&layout, [8], 1)]),
            (4, vec![rows(&layout, 4..8, 1)]),
        ]
    };
    // Also where removed rows are as many as are missing, where one was gone before, and where all rows go.
    let gone = rig.write(&base, remove([1])).await;
    for (base, remove, remove_all, left) in [
        (&base, vec![], false, 3),
        (&base, vec![0, 1, 2], false, 0),
        (&gone, vec![0, 1], false, 1),
        (&base, vec![], true, 0),
    ] {
        for (yielded, insert) in batches() {
            let write = TableWrite {
                remove: remove.iter().copied().collect(),
                remove_all,
                insert: stream_of(insert),
                insert_rows: 3,
            };
            let error = base.stage(write).await.unwrap_err();
            let told = matches!(error, TableError::WrongRows { found, expected, .. } if (found, expected) == (left + yielded, left + 3));
            assert!(told, "{error}");
            assert_eq!((error.kind(), error.code()), (ErrorKind::Internal, "wrong-rows"));
        }
    }
}

#[tokio::test]
async fn a_fold_counts_the_rows_that_it_drops() {
    let rig = Rig::new();
    let layout = person(1);
    let mut table = rig.create(&layout).await;
    for n in 0..FRAGMENTS_PER_TIER as u64 {
        table = rig.append(&table, [2 * n, 2 * n + 1], 1).await;
    }
    let found = addresses(&table).await;
    table = rig.write(&table, remove([found[&key(0)]])).await;
    assert_eq!(table.dataset.fragments().len(), FRAGMENTS_PER_TIER);
    // One of the two is gone already.
    let write = || upsert([found[&key(0)], found[&key(9)]], rows(&layout, [9], 2));
    let error = table.stage(TableWrite { insert_rows: 2, ..write() }).await.unwrap_err();
    assert!(matches!(error, TableError::WrongRows { found: 31, expected: 32, .. }), "{error}");
    let folded = rig.write(&table, write()).await;
    assert_eq!((folded.dataset.fragments().len(), folded.version().rows), (1, 31));
}

#[tokio::test]
async fn a_failing_insert_is_told_as_it_was() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.create(&layout).await;
    for good in 0..3 {
        let table = layout.table.id;
        let error = TableError::NoSuchColumn { table, column: "of the caller".to_owned() };
        let batches: Vec<_> = (0..good).map(|n| Ok(rows(&layout, [n], 1))).chain([Err(error)]).collect();
        let insert = stream::iter(batches).boxed();
        let write = TableWrite { remove: RoaringTreemap::new(), remove_all: false, insert, insert_rows: 3 };
        let error = base.stage(write).await.unwrap_err();
        assert!(matches!(&error, TableError::NoSuchColumn { column, .. } if column == "of the caller"), "{error:?}");
    }
}

#[tokio::test]
async fn rows_with_other_columns_are_refused() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.create(&layout).await;
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let other = Arc::new(Schema::new(vec![Field::new("age", DataType::Int64, true)]));
    let good = rows(&layout, [1], 1);
    let bad = RecordBatch::try_new(other, vec![column]).unwrap();
    let write = TableWrite { insert: stream_of(vec![good, bad.clone()]), insert_rows: 2, ..remove([]) };
    for write in [insert(bad), write] {
        assert!(matches!(base.stage(write).await.unwrap_err(), TableError::OtherColumns { .. }));
    }
}

#[tokio::test]
async fn many_small_writes_keep_few_fragments_and_all_rows() {
    let rig = Rig::new();
    let layout = person(1);
    let mut table = rig.create(&layout).await;
    let mut want = expected([], 0);
    let (mut most, mut folds) = (0, 0);
    for n in 0..60 {
        // Each write adds a row and, from the third on, replaces the one before the last.
        let before = table.dataset.fragments().len();
        let found = addresses(&table).await;
        let replaced: Vec<u64> = if n > 1 { vec![n - 2] } else { vec![] };
        let write =
            upsert(replaced.iter().map(|n| found[&key(*n)]), rows(&layout, replaced.iter().copied().chain([n]), 2));
        table = rig.write(&table, write).await;
        want.extend(expected(replaced.into_iter().chain([n]), 2));
        most = most.max(table.dataset.fragments().len());
        folds += usize::from(table.dataset.fragments().len() < before);
    }
    assert_eq!(contents(&table).await, want);
    assert!(most <= FRAGMENTS_PER_TIER, "{most} fragments");
    assert!(folds > 0);
    assert_eq!(table.verify().await.unwrap(), Vec::<String>::new());
    // Hidden columns survive a fold.
    let cold = rig.cold().tables.open(&layout, table.version()).await.unwrap();
    let row = super::read(
        &cold,
        crate::table::Scan { columns: layout.all_columns(), filter: Some(super::is_key(10)), ..Default::default() },
    );
    assert_eq!(row.await, rows(&layout, [10], 2));
}

#[tokio::test]
async fn what_was_read_ahead_is_folded_as_the_write_would_have_read_it() {
    let rig = Rig::new();
    let layout = person(1);
    let mut table = rig.create(&layout).await;
    for n in 0..16 {
        table = rig.append(&table, [2 * n, 2 * n + 1], 1).await;
    }
    let found = addresses(&table).await;
    table.read_ahead(1).await;
    let gone: Vec<u64> = [4, 5, 9].iter().map(|n| found[&key(*n)]).collect();
    let folded = rig.write(&table, upsert(gone, rows(&layout, [9, 99], 2))).await;
    let mut want = expected((0..32).filter(|n| ![4, 5, 9].contains(n)), 1);
    want.extend(expected([9, 99], 2));
    assert_eq!(contents(&folded).await, want);
    // A write upon the same version that folds nothing takes nothing of it.
    table.read_ahead(1).await;
    let thinned = rig.write(&table, remove([found[&key(7)]])).await;
    assert_eq!(contents(&thinned).await, expected((0..32).filter(|n| *n != 7), 1));
}

#[tokio::test]
async fn a_fold_leaves_out_rows_that_the_same_write_removes() {
    let rig = Rig::new();
    let layout = person(1);
    let mut table = rig.create(&layout).await;
    for n in 0..FRAGMENTS_PER_TIER as u64 {
        table = rig.append(&table, [2 * n, 2 * n + 1], 1).await;
    }
    assert_eq!(table.dataset.fragments().len(), FRAGMENTS_PER_TIER);
    let found = addresses(&table).await;
    let folded =
        rig.write(&table, upsert([found[&key(0)], found[&key(1)], found[&key(9)]], rows(&layout, [9], 2))).await;
    assert_eq!(folded.dataset.fragments().len(), 1);
    let mut want = expected(2..32, 1);
    want.extend(expected([9], 2));
    assert_eq!(contents(&folded).await, want);
    assert_eq!(contents(&table).await, expected(0..32, 1));
}

#[tokio::test]
async fn large_inserts_stream_in_batches() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.create(&layout).await;
    let batches: Vec<RecordBatch> = (0..20).map(|n| rows(&layout, n * 5000..(n + 1) * 5000, 1)).collect();
    let write = TableWrite { insert: stream_of(batches), insert_rows: 100_000, ..remove([]) };
    let staged = base.stage(write).await.unwrap();
    assert_eq!(staged.version.rows, 100_000);
    let table = rig.cold().tables.open(&layout, &staged.version).await.unwrap();
    assert_eq!(contents(&table).await.len(), 100_000);
    let row = super::read(
        &table,
        crate::table::Scan { columns: layout.all_columns(), filter: Some(super::is_key(77_777)), ..Default::default() },
    );
    assert_eq!(row.await, rows(&layout, [77_777], 1));
}

#[tokio::test]
async fn one_insert_makes_several_files_when_they_grow_large() {
    let narrow = person(1);
    let mut properties = narrow.table.properties.clone();
    properties[3].ty = Type::Vector(3072);
    let wide = with_properties(&narrow, properties);
    // Lance counts bytes as pages of some MiB are flushed.
    let by_rows = (narrow, Settings { file_rows: 300, ..Settings::default() });
    let by_bytes = (wide, Settings { file_bytes: 4 << 20, ..Settings::default() });
    for (layout, settings) in [by_rows, by_bytes] {
        let rig = Rig::over(super::counting::Counting::new(), settings);
        let base = rig.create(&layout).await;
        let batches: Vec<RecordBatch> = (0..20).map(|n| rows(&layout, n * 100..(n + 1) * 100, 1)).collect();
        let write = TableWrite { insert: stream_of(batches), insert_rows: 2000, ..remove([]) };
        let staged = base.stage(write).await.unwrap();
        let table = rig.open(&layout, &staged).await;
        let files = table.dataset.fragments().len();
        assert!(files > 1, "{files} files");
        assert_eq!(staged.files.len(), files + 1);
        assert_eq!(contents(&table).await, expected(0..2000, 1));
    }
}

#[tokio::test]
async fn verify_finds_what_is_missing_or_changed() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..10, 1).await;
    let staged = base.stage(upsert([1], rows(&layout, [1], 2))).await.unwrap();
    let table = rig.open(&layout, &staged).await;
    assert_eq!(table.verify().await.unwrap(), Vec::<String>::new());
    let store = Front(rig.store.clone());
    for path in &staged.files {
        let bytes = store.get(path).await.unwrap().bytes().await.unwrap();
        store.delete(path).await.unwrap();
        let problems = table.verify().await.unwrap();
        assert!(problems.iter().any(|problem| problem.contains(path.as_ref())), "{problems:?}");
        let mut longer = bytes.to_vec();
        longer.push(0);
        store.put(path, longer.into()).await.unwrap();
        let problems = rig.cold().tables.open(&layout, base.version()).await.map(|_| ());
        assert!(problems.is_ok(), "the version before is intact");
        if !path.as_ref().contains("_deletions") {
            assert!(!table.verify().await.unwrap().is_empty(), "{path} has another size");
        }
        store.put(path, bytes.into()).await.unwrap();
    }
    assert_eq!(table.verify().await.unwrap(), Vec::<String>::new());
    rig.store.fail("/data/");
    assert_eq!(table.verify().await.unwrap_err().kind(), ErrorKind::Unavailable);
}

async fn first(table: &crate::table::Table, scan: crate::table::Scan) -> Result<(), TableError> {
    table.scan(scan).next().await.map_or(Ok(()), |batch| batch.map(drop))
}

#[tokio::test]
async fn failures_are_told_apart_by_what_happened() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..10, 1).await;
    let scan = || crate::table::Scan { columns: vec![2], ..Default::default() };

    // The store is down.
    rig.store.fail("/");
    let cold = rig.cold();
    assert_eq!(cold.tables.open(&layout, base.version()).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(base.stage(insert(rows(&layout, [11], 1))).await.unwrap_err().kind(), ErrorKind::Unavailable);
    rig.store.fail("/data/");
    let open = cold.tables.open(&layout, base.version()).await.unwrap();
    assert_eq!(first(&open, scan()).await.unwrap_err().kind(), ErrorKind::Unavailable);
    rig.store.fail("");
    assert!(first(&open, scan()).await.is_ok(), "an error is not kept");

    // A data file is gone.
    let cold = rig.cold().tables.open(&layout, base.version()).await.unwrap();
    let store = Front(rig.store.clone());
    store.delete(&cold.files()[0].0).await.unwrap();
    let error = first(&cold, scan()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error:?}");
    // The manifest is gone.
    let manifest: Path = cold.dataset.manifest_location().path.clone();
    store.delete(&manifest).await.unwrap();
    let error = rig.cold().tables.open(&layout, base.version()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Data, "table-unreadable"));
    // The manifest is no manifest.
    store.put(&manifest, vec![1_u8; usize::try_from(base.version().size).unwrap()].into()).await.unwrap();
    assert_eq!(rig.cold().tables.open(&layout, base.version()).await.unwrap_err().kind(), ErrorKind::Data);
    // A data file is no data file.
    let (path, size) = cold.files()[0].clone();
    store.put(&path, vec![7_u8; usize::try_from(size.unwrap()).unwrap()].into()).await.unwrap();
    let error = first(&cold, scan()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error:?}");
    // The record lies about the rows.
    let mut version = base.version().clone();
    version.rows += 1;
    assert_eq!(rig.tables.open(&layout, &version).await.unwrap_err().code(), "table-damaged");
    assert_eq!(sample::key(1), "k000001");
}
