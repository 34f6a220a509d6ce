//! What combining writes, whose form it takes, and what it refuses.

use futures::{StreamExt, stream};
use roaring::RoaringTreemap;

use super::counting::Counting;
use super::forks::{Model, Version, combine};
use super::sample::{key, person, property, rows, with_properties};
use super::{Rig, addresses, contents, expected, insert, objects, remove, stream_of, upsert};
use crate::schema::Type;
use crate::table::open::Settings;
use crate::table::{Combination, Table, TableError};

fn taking(take: impl IntoIterator<Item = u64>, remove: impl IntoIterator<Item = u64>) -> Combination {
    Combination {
        take: take.into_iter().collect(),
        remove: remove.into_iter().collect(),
        twins: vec![],
        insert: stream::empty().boxed(),
        insert_rows: 0,
    }
}

async fn at(table: &Table, keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let found = addresses(table).await;
    keys.into_iter().map(|n| found[&key(n)]).collect()
}

fn data_files(table: &Table) -> Vec<String> {
    let mut files: Vec<String> =
        table.dataset.fragments().iter().flat_map(|fragment| &fragment.files).map(|file| file.path.clone()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn rows_are_taken_as_they_lie() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let gone = at(&base, [3, 4]).await;
    let source = rig.write(&base, upsert(gone, rows(&layout, [3, 4, 30], 2))).await;
    let target = rig.append(&base, [40], 3).await;
    rig.store.write_behind();
    let taken = at(&source, [3, 4, 30]).await;
    let replaced = at(&target, [3, 4]).await;
    let before = objects(&rig).await;
    let (staged, cost) = rig.store.measure(Box::pin(target.combine(&source, taking(taken, replaced)))).await;
    let staged = staged.unwrap();
    assert_eq!((cost.rounds, cost.count("GET")), (1, 0), "{:#?}", cost.paths);
    // Of the base's fragment the source has just these rows: its deletion file will do. Of the adopted one all rows are taken.
    assert_eq!(cost.count("PUT"), 1, "the manifest alone: {:#?}", cost.paths);
    let result = rig.open(&layout, &staged).await;
    let mut want = expected((0..20).filter(|n| ![3, 4].contains(n)), 1);
    want.extend(expected([3, 4, 30], 2));
    want.extend(expected([40], 3));
    assert_eq!(contents(&result).await, want);
    let added: Vec<String> = objects(&rig).await.into_iter().filter(|path| !before.contains(path)).collect();
    assert_eq!(added, staged.files.iter().map(ToString::to_string).collect::<Vec<_>>());
    // The versions combined are as they were, and the result can be written upon.
    assert_eq!(contents(&target).await.len(), 21);
    assert_eq!(contents(&source).await.len(), 21);
    let next = rig.append(&result, [50], 4).await;
    want.extend(expected([50], 4));
    assert_eq!(contents(&next).await, want);
    assert_eq!(contents(&rig.cold().tables.open(&layout, next.version()).await.unwrap()).await, want);
}

#[tokio::test]
async fn rows_that_are_not_taken_get_a_deletion_file() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let source = rig.append(&base, 20..30, 2).await;
    let target = rig.write(&base, remove(at(&base, [5]).await)).await;
    let merged = rows(&layout, [25], 9);
    let taken = at(&source, [20, 21]).await;
    rig.store.write_behind();
    let combination =
        Combination { insert: stream_of(vec![merged]), insert_rows: 1, ..taking(taken, at(&target, [7]).await) };
    let (staged, cost) = rig.store.measure(Box::pin(target.combine(&source, combination))).await;
    let result = rig.open(&layout, &staged.unwrap()).await;
    assert_eq!(cost.count("GET"), 0, "nothing is waited for: {:#?}", cost.paths);
    assert_eq!(cost.count("PUT"), 4, "two deletion files, one file of rows, a manifest: {:#?}", cost.paths);
    let mut want = expected((0..20).filter(|n| ![5, 7].contains(n)), 1);
    want.extend(expected([20, 21], 2));
    want.extend(expected([25], 9));
    assert_eq!(contents(&result).await, want);
}

#[tokio::test]
async fn a_row_that_the_target_deleted_comes_alive_in_place() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let target = rig.write(&base, remove(at(&base, [5, 6]).await)).await;
    let staged = target.combine(&base, taking(at(&base, [5]).await, [])).await.unwrap();
    let result = rig.open(&layout, &staged).await;
    assert_eq!(contents(&result).await, expected((0..20).filter(|n| *n != 6), 1));
    assert_eq!(data_files(&result), data_files(&base), "no file is named twice");
    // All of them: the fragment has no deletion file any more.
    let staged = target.combine(&base, taking(at(&base, [5, 6]).await, [])).await.unwrap();
    let result = rig.open(&layout, &staged).await;
    assert_eq!(contents(&result).await, expected(0..20, 1));
    assert!(result.dataset.fragments()[0].deletion_file.is_none());
}

#[tokio::test]
async fn an_emptied_table_takes_rows() {
    let rig = Rig::new();
    let layout = person(1);
    let empty = rig.create(&layout).await;
    let source = rig.append(&empty, 0..20, 1).await;
    let staged = empty.combine(&source, taking(at(&source, 0..20).await, [])).await.unwrap();
    let result = rig.open(&layout, &staged).await;
    assert_eq!(contents(&result).await, expected(0..20, 1));
    let staged = result.combine(&empty, taking([], at(&result, 0..20).await)).await.unwrap();
    let emptied = rig.open(&layout, &staged).await;
    assert_eq!(contents(&emptied).await, expected([], 0));
    let staged = emptied.combine(&source, taking(at(&source, [4]).await, [])).await.unwrap();
    assert_eq!(contents(&rig.open(&layout, &staged).await).await, expected([4], 1));
}

/// One side compacted, the other changed a few rows; after one merge the two share files, and the next reads only what changed.
#[tokio::test]
async fn the_merge_after_a_compaction_reads_only_what_changed() {
    for source_compacts in [true, false] {
        let rig = Rig::new();
        let layout = person(1);
        let mut base = rig.create(&layout).await;
        for n in 0..5 {
            base = rig.append(&base, n * 100..(n + 1) * 100, 1).await;
        }
        let model: Model = (0..500).map(|n| (n, 1)).collect();
        let base = Version::new(base, model.clone()).await;
        let compacted = Version::new(rig.compact(&base.table).await, model.clone()).await;
        let edit = |version: &Version, n: u64| upsert([version.at[&n]], rows(&layout, [n], 2));
        let mut edited = model.clone();
        edited.insert(7, 2);
        let changed = Version::new(rig.write(&base.table, edit(&base, 7)).await, edited.clone()).await;
        let (source, target) = if source_compacts { (compacted, changed) } else { (changed, compacted) };

        // Rows that the source changed are taken; of those that it did not, the target's count.
        let choice = |n: u64| if n == 7 && !source_compacts { 2 } else { 0 };
        let result = combine(&rig, (&base, &source, &target), choice).await;
        assert_eq!(result.model, edited);

        // The source goes on, and is merged again: its head of then is the base.
        let mut further = source.model.clone();
        further.insert(200, 3);
        let next = upsert([source.at[&200]], rows(&layout, [200], 3));
        let further = Version::new(rig.write(&source.table, next).await, further).await;
        let (to_target, there) = rig.store.measure(source.table.delta_to(&result.table)).await;
        let (to_source, here) = rig.store.measure(source.table.delta_to(&further.table)).await;
        assert_eq!(to_source.unwrap().changes.len(), 1);
        assert!(to_target.unwrap().changes.len() <= 1);
        let requests = there.requests + here.requests;
        assert!(requests <= 10, "{:#?} {:#?}", there.paths, here.paths);
        let shared = data_files(&result.table);
        let missing: Vec<String> =
            data_files(&source.table).into_iter().filter(|file| !shared.contains(file)).collect();
        assert_eq!(missing, Vec::<String>::new(), "source compacts: {source_compacts}");
    }
}

#[tokio::test]
async fn many_combinations_keep_few_fragments() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let mut target = base.clone();
    for n in 100..130 {
        let source = rig.append(&base, [n], 2).await;
        let taken = at(&source, [n]).await;
        let staged = target.combine(&source, taking(taken, [])).await.unwrap();
        target = rig.open(&layout, &staged).await;
        assert!(target.dataset.fragments().len() <= crate::table::fold::FRAGMENTS_PER_TIER);
    }
    let mut want = expected(0..20, 1);
    want.extend(expected(100..130, 2));
    assert_eq!(contents(&target).await, want);
}

#[tokio::test]
async fn wide_rows_are_neither_read_nor_written() {
    let store = Counting::new();
    let rig = Rig::over(store.clone(), Settings { block_size: Some(64 << 10), ..Settings::default() });
    let wide = vec![
        property(10, 1_900_000_003, "id", Type::String),
        property(11, 40_007, "age", Type::Int64),
        property(13, 5_000, "embedding", Type::Vector(3072)),
    ];
    let layout = with_properties(&person(1), wide);
    let base = rig.append(&rig.create(&layout).await, 0..1000, 1).await;
    let keys = || (0..50).map(|n| n * 20);
    let source = rig.write(&base, upsert(at(&base, keys()).await, rows(&layout, keys(), 2))).await;
    let others = || (0..50).map(|n| n * 20 + 1);
    let target = rig.write(&base, upsert(at(&base, others()).await, rows(&layout, others(), 3))).await;
    let (taken, replaced) = (at(&source, keys()).await, at(&target, keys()).await);
    rig.store.write_behind();
    let (staged, cost) = store.tally(Box::pin(target.combine(&source, taking(taken, replaced)))).await;
    let result = rig.open(&layout, &staged.unwrap()).await;
    assert_eq!(cost.bytes_of("GET"), 0, "{:#?}", cost.paths);
    assert!(cost.bytes_of("PUT") < 16 << 10, "{} bytes: {:#?}", cost.bytes_of("PUT"), cost.paths);
    let mut want = expected(0..1000, 1);
    want.extend(expected(keys(), 2));
    want.extend(expected(others(), 3));
    assert_eq!(contents(&result).await, want);
}

#[tokio::test]
async fn addresses_of_no_row_fail_before_anything_is_written() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let source = rig.append(&rig.write(&base, remove([4])).await, 20..22, 2).await;
    let target = rig.append(&base, 30..32, 2).await;
    let before = objects(&rig).await;
    for (take, remove, named) in [
        (4, 0, 4),
        (20, 0, 20),
        (77 << 32, 0, 77 << 32),
        (1 << 32 | 2, 0, 1 << 32 | 2),
        (1 << 32, 20, 20),
        (1 << 32, 9 << 32, 9 << 32),
    ] {
        let error = target.combine(&source, taking([take], [remove])).await.unwrap_err();
        assert!(matches!(error, TableError::NoSuchRow { address, .. } if address == named), "{error}");
    }
    assert_eq!(objects(&rig).await, before);
}

#[tokio::test]
async fn files_of_another_layout_are_refused_and_those_without_a_column_read_null_there() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let mut properties = layout.table.properties.clone();
    properties.push(property(14, 123_456, "height", Type::Int64));
    let taller = with_properties(&layout, properties);
    let as_taller = rig.tables.open(&taller, base.version()).await.unwrap();
    let source = rig.write(&as_taller, insert(rows(&taller, [20], 1))).await;
    let before = objects(&rig).await;
    let error = base.combine(&source, taking([1 << 32], [])).await.unwrap_err();
    assert!(matches!(error, TableError::ForeignColumns { .. }), "{error}");
    assert_eq!(objects(&rig).await, before);
    // Of rows that lie in files without the column it is null, whichever version they come from.
    let staged = as_taller.combine(&source, taking([1 << 32], [])).await.unwrap();
    assert_eq!(contents(&rig.open(&taller, &staged).await).await, expected(0..21, 1));
    let as_taller_too = rig.tables.open(&taller, rig.append(&base, [30], 1).await.version()).await.unwrap();
    let staged = source.combine(&as_taller_too, taking([1 << 32], [])).await.unwrap();
    assert_eq!(staged.version.rows, 22);
    // Where both versions are older than the schema, the result gets the schema.
    let source = rig.append(&base, [20], 1).await;
    let source = rig.tables.open(&taller, source.version()).await.unwrap();
    let staged = as_taller.combine(&source, taking([1 << 32], [])).await.unwrap();
    assert_eq!(contents(&rig.open(&taller, &staged).await).await, expected(0..21, 1));
}

#[tokio::test]
async fn an_insert_of_another_number_of_rows_is_refused() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..20, 1).await;
    let source = rig.append(&base, [20], 1).await;
    let combination =
        Combination { insert: stream_of(vec![rows(&layout, [30], 1)]), insert_rows: 2, ..taking([1 << 32], []) };
    let error = base.combine(&source, combination).await.unwrap_err();
    assert!(matches!(error, TableError::WrongRows { found: 22, expected: 23, .. }), "{error:?}");
    let nothing = Combination { take: RoaringTreemap::new(), ..taking([], []) };
    let staged = base.combine(&source, nothing).await.unwrap();
    assert_eq!(staged.version.rows, 20);
}
