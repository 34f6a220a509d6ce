//! What we rely upon in Lance beyond its documentation: an upgrade that breaks one of these must be noticed here.

use std::collections::BTreeSet;

use lance::Dataset;
use lance_table::format::is_detached_version;

use super::sample::{key, number, numbers, person, property, rows, with_properties};
use super::{Rig, addresses, contents, expected, insert, is_key, objects, read, upsert};
use crate::schema::Type;
use crate::table::Scan;

/// Every field id that the data files of a version use, list elements included.
fn ids_in_files(dataset: &Dataset) -> BTreeSet<i32> {
    dataset
        .fragments()
        .iter()
        .flat_map(|fragment| &fragment.files)
        .flat_map(|file| file.fields.iter().copied())
        .collect()
}

#[tokio::test]
async fn our_field_ids_are_in_manifests_and_data_files() {
    let rig = Rig::new();
    let layout = person(1);
    let empty = rig.create(&layout).await;
    let wanted: Vec<i32> = layout.columns.iter().map(|column| column.field.0).collect();
    let ids: Vec<i32> = empty.dataset.schema().fields.iter().map(|field| field.id).collect();
    assert_eq!(ids, wanted);
    let list = &empty.dataset.schema().fields[4];
    assert_eq!(
        list.children.iter().map(|child| (child.id, child.parent_id)).collect::<Vec<_>>(),
        [(2_147_483_640, list.id)]
    );

    let mut table = rig.append(&empty, 0..20, 1).await;
    for n in 0..20 {
        let found = addresses(&table).await;
        table = rig.write(&table, upsert([found[&key(n)]], rows(&layout, [n], 2))).await;
    }
    let ours: BTreeSet<i32> = layout
        .columns
        .iter()
        .flat_map(|column| [Some(column.field), column.item_field])
        .flatten()
        .map(|id| id.0)
        .collect();
    let used = ids_in_files(&table.dataset);
    assert!(used.is_subset(&ours), "{used:?} has ids that are not ours");
    assert!(used.contains(&2_147_483_640) || used.contains(&2_147_483_647), "the list is written");
    let cold = rig.cold().tables.open(&layout, table.version()).await.unwrap();
    assert_eq!(contents(&cold).await, expected(0..20, 2));
    for n in [0, 3] {
        let batch =
            read(&cold, Scan { columns: layout.all_columns(), filter: Some(is_key(n)), ..Scan::default() }).await;
        assert_eq!(batch, rows(&layout, [n], 2));
    }
    assert_eq!(cold.verify().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn two_branches_that_add_the_same_property_under_one_id_agree() {
    let rig = Rig::new();
    let old = person(1);
    let base = rig.append(&rig.create(&old).await, 0..5, 1).await;
    let with = |extra: &[(i32, &str)]| {
        let mut properties = old.table.properties.clone();
        properties
            .extend(extra.iter().map(|(id, name)| property(u128::try_from(*id).unwrap(), *id, name, Type::Int64)));
        with_properties(&old, properties)
    };
    // One branch adds a high id first, the other the shared, lower one: ids below the highest seen must be accepted.
    let (here, there) = (with(&[(9000, "shared"), (1_000_000, "high")]), with(&[(700_000, "other"), (9000, "shared")]));
    let on_here = rig.tables.open(&here, base.version()).await.unwrap();
    let on_here = rig.write(&on_here, insert(rows(&here, [10], 1))).await;
    let on_there = rig.tables.open(&there, base.version()).await.unwrap();
    let on_there = rig.write(&on_there, insert(rows(&there, [11], 2))).await;
    let shared = |table: &crate::table::Table| table.layout().columns.iter().position(|c| c.name == "shared").unwrap();
    for (table, n, tag) in [(&on_here, 10, 1), (&on_there, 11, 2)] {
        let batch =
            read(table, Scan { columns: vec![shared(table)], filter: Some(is_key(n)), ..Scan::default() }).await;
        assert_eq!(numbers(&batch, 0), [Some(number(n, tag))]);
    }
    // Both at once: what the union of the schemas reads from either branch's files.
    let both = with(&[(9000, "shared"), (1_000_000, "high"), (700_000, "other")]);
    let table = rig.tables.open(&both, on_there.version()).await.unwrap();
    let table = rig.write(&table, insert(rows(&both, [12], 3))).await;
    let columns: Vec<usize> = (6..9).collect();
    let batch = read(&table, Scan { columns: columns.clone(), filter: Some(is_key(11)), ..Scan::default() }).await;
    let values: Vec<_> = (0..3).map(|column| numbers(&batch, column)[0]).collect();
    assert_eq!(values, [Some(number(11, 2)), None, Some(number(11, 2))]);
    let batch = read(&table, Scan { columns, filter: Some(is_key(12)), ..Scan::default() }).await;
    assert_eq!((0..3).map(|column| numbers(&batch, column)[0]).collect::<Vec<_>>(), [Some(number(12, 3)); 3]);
}

#[tokio::test]
async fn detached_versions_fork_and_leave_the_attached_one_alone() {
    let rig = Rig::new();
    let layout = person(1);
    let empty = rig.create(&layout).await;
    let base = rig.append(&empty, 0..5, 1).await;
    let (left, right) = (rig.append(&base, [10], 1).await, rig.append(&base, [20], 1).await);
    let merged = |extra| expected((0..5).chain([extra]), 1);
    assert_eq!(contents(&left).await, merged(10));
    assert_eq!(contents(&right).await, merged(20));
    for table in [&empty, &base, &left, &right] {
        assert!(is_detached_version(table.version().version));
        assert!(!table.dataset.manifest().uses_stable_row_ids());
        assert!(table.dataset.manifest().config.is_empty(), "nothing asks Lance to clean up");
    }
    let attached = format!("tables/{}/_versions/{:020}.manifest", layout.table.id, u64::MAX - 1);
    let found: Vec<String> = objects(&rig).await.into_iter().filter(|path| path.contains("_versions/1")).collect();
    assert_eq!(found, [attached]);
}

#[tokio::test]
async fn files_have_the_names_that_we_compute() {
    let rig = Rig::new();
    let layout = person(1);
    let base = rig.append(&rig.create(&layout).await, 0..5, 1).await;
    let staged = base.stage(upsert([2], rows(&layout, [2], 2))).await.unwrap();
    let folder = format!("tables/{}", layout.table.id);
    let names: Vec<String> = staged.files.iter().map(ToString::to_string).collect();
    let one = |prefix: String, suffix: &str| {
        let found: Vec<_> = names.iter().filter(|name| name.starts_with(&prefix) && name.ends_with(suffix)).collect();
        assert_eq!(found.len(), 1, "{prefix}…{suffix} in {names:?}");
    };
    one(format!("{folder}/data/"), ".lance");
    one(format!("{folder}/_deletions/0-{}-", base.version().version), ".arrow");
    one(format!("{folder}/_versions/d{}.manifest", staged.version.version), "");
    assert_eq!(names.len(), 3);
    let stored = objects(&rig).await;
    assert!(names.iter().all(|name| stored.contains(name)));
    assert!(!stored.iter().any(|path| path.contains("_transactions") || path.contains("hint")), "{stored:?}");
}

#[tokio::test]
async fn an_update_keeps_the_ids_of_fragments_and_numbers_new_ones_on() {
    let rig = Rig::new();
    let layout = person(1);
    let ids =
        |table: &crate::table::Table| table.dataset.fragments().iter().map(|fragment| fragment.id).collect::<Vec<_>>();
    let mut table = rig.create(&layout).await;
    for n in 0..3 {
        table = rig.append(&table, [2 * n, 2 * n + 1], 1).await;
    }
    assert_eq!(ids(&table), [0, 1, 2]);
    // Fragment 1 loses both rows and vanishes, fragment 2 loses one.
    let next = rig.write(&table, upsert([1 << 32, (1 << 32) + 1, 2 << 32], rows(&layout, [9], 1))).await;
    assert_eq!(ids(&next), [0, 2, 3]);
    assert_eq!(contents(&next).await, expected([0, 1, 5, 9], 1));
    let fragment = &next.dataset.fragments()[1];
    assert_eq!(fragment.deletion_file.as_ref().unwrap().num_deleted_rows, Some(1));
    assert_eq!(fragment.physical_rows, Some(2));
}
