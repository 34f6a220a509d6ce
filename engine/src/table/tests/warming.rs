//! What a write leaves in memory of the files it wrote, and that it does not depend on it.

use std::sync::Arc;

use object_store::memory::InMemory;

use super::counting::Cost;
use super::sample::{key, person, property, rows, with_properties};
use super::{Rig, addresses, contents, expected, insert, is_key, read, upsert};
use crate::schema::Type;
use crate::store::{Fault, Faults, RequestKind, When};
use crate::table::open::Settings;
use crate::table::{Layout, Scan, Tables};

/// `Person` with so many columns that Lance reads the descriptions of those of a lookup singly.
fn wide() -> Arc<Layout> {
    let layout = person(1);
    let more = (0..12).map(|n| property(100 + n, 6_000 + i32::try_from(n).unwrap(), &format!("p{n}"), Type::Int64));
    with_properties(&layout, layout.table.properties.iter().cloned().chain(more).collect())
}

fn gets(cost: &Cost) -> usize {
    cost.paths.iter().filter(|path| path.contains("GET") && path.contains("/data/")).count()
}

#[tokio::test]
async fn a_new_file_that_cannot_be_read_back_does_not_fail_the_write() {
    for unreadable in ["/data/", "_deletions"] {
        let faults = Faults::new(Arc::new(InMemory::new()));
        let tables = Tables::over(Arc::new(faults.clone()), Settings::default());
        let layout = person(1);
        let empty = tables.open(&layout, &tables.create(&layout).await.unwrap().version).await.unwrap();
        let first = empty.stage(insert(rows(&layout, 0..3, 1))).await.unwrap();
        let first = tables.open(&layout, &first.version).await.unwrap();
        let found = addresses(&first).await;

        faults.add(When::kind(RequestKind::Get).path(unreadable), Fault::FailBefore);
        let second = first.stage(upsert([found[&key(1)]], rows(&layout, [1], 2))).await.unwrap();
        assert!(faults.befallen() > 0, "{unreadable} was not asked for");
        faults.clear();
        let second = tables.open(&layout, &second.version).await.unwrap();
        let mut want = expected([0, 2], 1);
        want.extend(expected([1], 2));
        assert_eq!(contents(&second).await, want);
    }
}

#[tokio::test]
async fn a_new_small_file_is_read_once_of_a_narrow_table() {
    let rig = Rig::new();
    let layout = person(1);
    let empty = rig.create(&layout).await;
    let (_, cost) = rig.store.measure(empty.stage(insert(rows(&layout, 0..20, 1)))).await;
    assert_eq!(gets(&cost), 1, "{:#?}", cost.paths);
}

#[tokio::test]
async fn of_a_wide_table_lookups_and_whole_rows_take_one_round_after_a_write() {
    let layout = wide();
    let lookup = Scan { columns: vec![0, 2], addresses: true, filter: Some(is_key(7)), ..Scan::default() };
    let whole = Scan { columns: layout.all_columns(), filter: Some(is_key(7)), ..Scan::default() };
    for scan in [lookup, whole] {
        let rig = Rig::new();
        let empty = rig.create(&layout).await;
        rig.store.write_behind();
        let (staged, _) = rig.store.measure(empty.stage(insert(rows(&layout, 0..20, 1)))).await;
        let table = rig.open(&layout, &staged.unwrap()).await;
        let (found, cost) = rig.store.measure(read(&table, scan)).await;
        assert_eq!((found.num_rows(), cost.rounds), (1, 1), "{:#?}", cost.paths);
    }
}
