//! Compaction: rows stay as they are to the last byte, only where they lie differs; and what deltas and combinations make of that.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::Array;
use arrow_cast::display::{ArrayFormatter, FormatOptions};

use super::counting::Counting;
use super::forks::{Model, Version, combine};
use super::sample::{self, key, number, numbers, person, property, rows, texts, with_properties};
use super::{Rig, addresses, contents, expected, objects, read, remove, upsert};
use crate::schema::{JsonText, TableKind, Type};
use crate::table::open::Settings;
use crate::table::stage::Removal;
use crate::table::{DeltaKind, Layout, Scan, Table, TableError, TableWrite};

/// A table of `fragments` files with `per_fragment` rows each.
async fn in_pieces(rig: &Rig, layout: &Arc<Layout>, fragments: u64, per_fragment: u64) -> Table {
    let mut table = rig.create(layout).await;
    for n in 0..fragments {
        table = rig.append(&table, n * per_fragment..(n + 1) * per_fragment, 1).await;
    }
    table
}

/// All cells of all rows, in an order that depends on nothing but these.
async fn cells(table: &Table) -> Vec<Vec<String>> {
    let batch = read(table, Scan { columns: table.layout().all_columns(), ..Scan::default() }).await;
    let options = FormatOptions::new().with_null("null");
    let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap());
    let columns: Vec<ArrayFormatter<'_>> = columns.collect();
    let row = |n: usize| columns.iter().map(|column| column.value(n).to_string()).collect();
    let mut cells: Vec<Vec<String>> = (0..batch.num_rows()).map(row).collect();
    cells.sort();
    cells
}

#[tokio::test]
async fn rows_stay_as_they_are_in_fewer_files() {
    let rig = Rig::new();
    let layout = person(1);
    let table = in_pieces(&rig, &layout, 6, 20).await;
    let at = addresses(&table).await;
    let gone: Vec<u64> = [3, 4, 25].iter().map(|n| at[&key(*n)]).collect();
    let table = rig.write(&table, upsert(gone, rows(&layout, [3], 2))).await;
    let (before, files) = (cells(&table).await, objects(&rig).await);

    let plan = table.plan_compaction().unwrap().unwrap();
    let staged = table.compact(&plan).await.unwrap();
    let new: Vec<String> = objects(&rig).await.into_iter().filter(|path| !files.contains(path)).collect();
    let mut told: Vec<String> = staged.files.iter().map(ToString::to_string).collect();
    told.sort();
    assert_eq!(told, new, "one data file and one manifest, and the barrier knows both");
    assert_eq!(new.len(), 2);

    let compacted = rig.cold().tables.open(&layout, &staged.version).await.unwrap();
    assert_eq!(cells(&compacted).await, before);
    assert_eq!(compacted.verify().await.unwrap(), Vec::<String>::new());
    let fragments = compacted.dataset.fragments();
    assert_eq!((fragments.len(), fragments[0].physical_rows), (1, Some(118)), "removed rows are not copied");
    assert!(fragments[0].deletion_file.is_none());
    assert_eq!(compacted.plan_compaction().unwrap(), None, "once is enough");

    let made = table.compaction_to(&compacted);
    let bytes = |table: &Table| {
        table
            .dataset
            .fragments()
            .iter()
            .flat_map(|f| &f.files)
            .fold(0, |sum, file| sum + file.file_size_bytes.get().map_or(0, u64::from))
    };
    assert_eq!((made.fragments_before, made.fragments, made.rows), (7, 1, 118));
    assert_eq!((made.rewritten_bytes, made.written_bytes), (bytes(&table), bytes(&compacted)));
    assert_eq!(plan.bytes, made.rewritten_bytes);
    // The version compacted is as it was, and the new one can be written upon.
    assert_eq!(cells(&table).await, before);
    let next = rig.append(&compacted, [900], 3).await;
    assert_eq!(contents(&next).await.len(), 119);
}

#[tokio::test]
async fn a_fragment_that_lost_rows_is_rewritten_and_others_are_left() {
    let rig = Rig::new();
    let layout = person(1);
    let table = in_pieces(&rig, &layout, 1, 100).await;
    assert_eq!(table.plan_compaction().unwrap(), None);
    let table = rig.write(&table, remove(0..10)).await;
    assert_eq!(table.plan_compaction().unwrap(), None, "a tenth is gone");
    let table = rig.write(&table, remove([10])).await;
    let compacted = rig.compact(&table).await;
    assert_eq!(compacted.dataset.fragments()[0].physical_rows, Some(89));
    assert_eq!(contents(&compacted).await, expected(11..100, 1));
    assert_eq!(rig.create(&person(2)).await.plan_compaction().unwrap(), None, "an empty table");
}

#[tokio::test]
async fn files_are_bounded() {
    let store = Counting::new();
    let rig = Rig::over(store, Settings { file_rows: 100, ..Settings::default() });
    let layout = person(1);
    let compacted = rig.compact(&in_pieces(&rig, &layout, 6, 60).await).await;
    let rows: Vec<usize> = compacted.dataset.fragments().iter().filter_map(|f| f.physical_rows).collect();
    assert_eq!(rows, [100, 100, 100, 60]);
    assert_eq!(contents(&compacted).await, expected(0..360, 1));
}

#[tokio::test]
async fn hidden_edge_ids_are_carried_over() {
    let rig = Rig::new();
    let (catalog, _, mut calls) = sample::catalog();
    if let TableKind::Edge { multi, .. } = &mut calls.kind {
        *multi = true;
    }
    let layout = Layout::new(&catalog, &calls);
    let table = in_pieces(&rig, &layout, 3, 5).await;
    let before = cells(&table).await;
    let compacted = rig.compact(&table).await;
    assert_eq!(cells(&compacted).await, before);
    let ids = read(&compacted, Scan { columns: vec![2], ..Scan::default() }).await;
    assert_eq!((ids.schema().field(0).name().as_str(), ids.column(0).null_count()), ("_id", 0));
}

/// The rows come under the current schema; a null that stands for a fill value stays a null, since the value may only be told from it.
#[tokio::test]
async fn an_older_version_is_brought_to_the_schema_and_nulls_stay_null() {
    let rig = Rig::new();
    let old = person(1);
    let base = in_pieces(&rig, &old, 4, 5).await;
    let mut properties = old.table.properties.clone();
    properties[1].name = "years".to_owned();
    properties.remove(2);
    let mut height = property(50, 31_337, "height", Type::Int64);
    height.fill = Some(JsonText::new("7").unwrap());
    properties.insert(1, height);
    let new = with_properties(&old, properties);
    let table = rig.tables.open(&new, base.version()).await.unwrap();
    let before = cells(&table).await;

    let staged = table.compact(&table.plan_compaction().unwrap().unwrap()).await.unwrap();
    let compacted = rig.cold().tables.open(&new, &staged.version).await.unwrap();
    assert!(compacted.mapping.is_aligned());
    assert_eq!(cells(&compacted).await, before);
    let of = |name: &str| new.columns.iter().position(|column| column.name == name).unwrap();
    let batch = read(&compacted, Scan { columns: vec![of("height"), of("years"), of("id")], ..Scan::default() }).await;
    assert_eq!(numbers(&batch, 0), [None; 20]);
    let mut years: Vec<_> = texts(&batch, 2).into_iter().zip(numbers(&batch, 1)).collect();
    years.sort();
    assert_eq!(years, (0..20).map(|n| (key(n), Some(number(n, 1)))).collect::<Vec<_>>());
    // Field ids are ours, and those of columns that the schema dropped are not written again.
    let mut used: Vec<i32> = compacted.dataset.fragments()[0].files.iter().flat_map(|f| f.fields.to_vec()).collect();
    used.sort_unstable();
    let mut ours: Vec<i32> = new.columns.iter().map(|column| column.field.0).collect();
    ours.sort_unstable();
    assert_eq!(used, ours);
    assert_eq!(compacted.verify().await.unwrap(), Vec::<String>::new());
    // Reading it under the schema it had before finds what that has of it.
    assert_eq!(contents(&base).await, expected(0..20, 1));
}

#[tokio::test]
async fn a_compaction_that_would_lose_rows_is_an_error() {
    let rig = Rig::new();
    let layout = person(1);
    let table = in_pieces(&rig, &layout, 3, 5).await;
    let fragments = table.dataset.fragments();
    let forgetful = Removal {
        gone: fragments.iter().map(|fragment| fragment.id).collect(),
        thinned: BTreeMap::new(),
        folded: fragments[..2].to_vec(),
    };
    let error = Box::pin(table.carry_out(forgetful, TableWrite::nothing())).await.unwrap_err();
    assert!(matches!(error, TableError::WrongRows { found: 10, expected: 15, .. }), "{error}");
    rig.store.fail("/data/");
    let cold = rig.cold().tables.open(&layout, table.version()).await.unwrap();
    let error = cold.compact(&cold.plan_compaction().unwrap().unwrap()).await.unwrap_err();
    assert!(matches!(error, TableError::Unavailable { .. }), "{error}");
}

#[tokio::test]
async fn a_compaction_takes_few_rounds_however_many_fragments() {
    for (n, fragments) in [3, 16].into_iter().enumerate() {
        let rig = Rig::new();
        let layout = person(n as u128);
        let table = in_pieces(&rig, &layout, fragments, 10).await;
        rig.store.write_behind();
        let plan = table.plan_compaction().unwrap().unwrap();
        let (staged, cost) = rig.store.measure(table.compact(&plan)).await;
        assert_eq!(staged.unwrap().version.rows, fragments * 10);
        assert!(cost.rounds <= 3, "{:#?}", cost.paths);
        assert_eq!((cost.count("PUT"), cost.count("LIST"), cost.count("HEAD")), (2, 0, 0), "{:#?}", cost.paths);
        let cold = rig.cold();
        let (_, cost) = rig
            .store
            .measure(async {
                let table = Box::pin(cold.tables.open(&layout, table.version())).await.unwrap();
                table.compact(&table.plan_compaction().unwrap().unwrap()).await.unwrap()
            })
            .await;
        assert!(cost.rounds <= 5, "cold: {:#?}", cost.paths);
    }
}

#[tokio::test]
async fn a_delta_across_a_compaction_is_exact() {
    let rig = Rig::new();
    let layout = person(1);
    let base = in_pieces(&rig, &layout, 5, 20).await;
    let compacted = rig.compact(&base).await;
    let (before, after) = (addresses(&base).await, addresses(&compacted).await);
    for (from, to, here, there) in [(&base, &compacted, &before, &after), (&compacted, &base, &after, &before)] {
        let delta = from.delta_to(to).await.unwrap();
        assert!(delta.changes.is_empty(), "{:?}", delta.changes);
        assert!(here.iter().all(|(key, address)| delta.locate(*address) == there.get(key).copied()));
    }
    let next = rig.write(&compacted, upsert([after[&key(7)]], rows(&layout, [7, 200], 2))).await;
    let next = rig.compact(&rig.write(&next, remove([after[&key(8)]])).await).await;
    let delta = base.delta_to(&next).await.unwrap();
    let mut kinds: Vec<DeltaKind> = delta.changes.iter().map(super::super::KeyChange::kind).collect();
    kinds.sort_by_key(|kind| *kind as u8);
    assert_eq!(kinds, [DeltaKind::Added, DeltaKind::Removed, DeltaKind::Changed]);
}

/// Whichever of base, source and target was compacted, before or after its own changes, the combination has the same rows.
#[tokio::test]
async fn combinations_come_to_the_same_whoever_compacted() {
    let mut seen: Option<Model> = None;
    for compacted in 0..8_u8 {
        let by = |bit: u8| compacted & 1 << bit != 0;
        let rig = Rig::new();
        let layout = person(1);
        let model: Model = (0..100).map(|n| (n, 1)).collect();
        let mut base = in_pieces(&rig, &layout, 5, 20).await;
        if by(0) {
            base = rig.compact(&base).await;
        }
        let base = Version::new(base, model.clone()).await;
        let side = async |changed: [u64; 2], new: u64, gone: u64, tag: i64, compacts: bool| {
            let put = upsert(changed.map(|n| base.at[&n]), rows(&layout, [changed[0], changed[1], new], tag));
            let table = rig.write(&rig.write(&base.table, put).await, remove([base.at[&gone]])).await;
            let mut model = model.clone();
            model.extend([changed[0], changed[1], new].map(|n| (n, tag)));
            model.remove(&gone);
            let table = if compacts { rig.compact(&table).await } else { table };
            Version::new(table, model).await
        };
        let source = side([3, 45], 300, 60, 2, by(1)).await;
        let target = side([4, 46], 400, 61, 3, by(2)).await;
        // What only the source changed is taken.
        let theirs = |n: u64| if [3, 45, 300, 60].contains(&n) { 2 } else { 0 };
        let result = combine(&rig, (&base, &source, &target), theirs).await;
        let want = seen.get_or_insert_with(|| result.model.clone());
        assert_eq!(&result.model, want, "{compacted:03b}");
        assert_eq!(result.model.len(), 100);
    }
}

#[tokio::test]
async fn rows_read_ahead_of_a_write_serve_a_compaction() {
    let rig = Rig::new();
    let layout = person(1);
    let table = in_pieces(&rig, &layout, 16, 5).await;
    table.read_ahead(1).await;
    rig.store.write_behind();
    let plan = table.plan_compaction().unwrap().unwrap();
    let (staged, cost) = rig.store.measure(table.compact(&plan)).await;
    assert_eq!(cost.bytes_of("GET"), 0, "{:#?}", cost.paths);
    assert_eq!(contents(&rig.open(&layout, &staged.unwrap()).await).await, expected(0..80, 1));
}
