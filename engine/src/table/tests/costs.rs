//! What operations ask of the store: requests, and round trips that wait for one another.

use std::sync::Arc;

use futures::StreamExt;

use super::counting::{Cost, Counting};
use super::sample::{key, person, rows};
use super::{KEY, Rig, addresses, insert, is_key, read, upsert};
use crate::table::open::Settings;
use crate::table::{Layout, Scan, Table, Tables};

/// A table of `fragments` files with `per_fragment` rows each.
async fn table(rig: &Rig, layout: &Arc<Layout>, fragments: u64, per_fragment: u64) -> Table {
    let mut table = rig.create(layout).await;
    for n in 0..fragments {
        table = rig.append(&table, n * per_fragment..(n + 1) * per_fragment, 1).await;
    }
    assert_eq!(table.dataset.fragments().len() as u64, fragments);
    table
}

fn lookup(layout: &Layout, n: u64) -> Scan {
    Scan { columns: layout.all_columns(), filter: Some(is_key(n)), limit: None, addresses: true }
}

fn nothing_is_searched(cost: &Cost) {
    assert_eq!((cost.count("LIST"), cost.count("HEAD")), (0, 0), "{:?}", cost.paths);
}

#[tokio::test]
async fn opening_costs_one_get_cold_and_nothing_warm() {
    let rig = Rig::new();
    let layout = person(1);
    let version = table(&rig, &layout, 3, 10).await.version().clone();
    let cold = rig.cold();
    let (opened, cost) = rig
        .store
        .measure(async {
            // Asking at once costs as much as asking once.
            futures::future::join_all((0..8).map(|_| cold.tables.open(&layout, &version))).await
        })
        .await;
    assert!(opened.iter().all(Result::is_ok));
    assert_eq!((cost.rounds, cost.requests, cost.count("GET")), (1, 1, 1), "{:?}", cost.paths);
    let (_, cost) = rig.store.measure(Box::pin(cold.tables.open(&layout, &version))).await;
    assert_eq!(cost.requests, 0);
}

#[tokio::test]
async fn creating_lists_nothing() {
    let rig = Rig::new();
    let (_, cost) = rig.store.measure(rig.tables.create(&person(1))).await;
    nothing_is_searched(&cost);
    assert_eq!(cost.count("PUT"), 2, "{:?}", cost.paths);
}

#[tokio::test]
async fn a_lookup_is_one_round_warm_and_few_cold() {
    for (n, (fragments, per_fragment)) in [(1, 1000), (10, 1), (16, 1), (16, 100)].into_iter().enumerate() {
        let rig = Rig::new();
        let layout = person(n as u128);
        let base = table(&rig, &layout, fragments, per_fragment).await;
        // Every fragment of several rows has lost one, so that deletion files are read as well.
        let removed: Vec<u64> =
            (0..fragments).filter(|_| per_fragment > 1).map(|fragment| fragment << 32 | 5).collect();
        let version = if removed.is_empty() {
            base.version().clone()
        } else {
            rig.write(&base, super::remove(removed)).await.version().clone()
        };
        let cold = rig.cold();
        let ((found, table), cost) = rig
            .store
            .measure(async {
                let table = Box::pin(cold.tables.open(&layout, &version)).await.unwrap();
                (read(&table, lookup(&layout, 0)).await, table)
            })
            .await;
        assert_eq!(found.num_rows(), 1);
        assert!(cost.rounds <= 4, "cold, {fragments} fragments: {} rounds {:#?}", cost.rounds, cost.paths);
        nothing_is_searched(&cost);
        let (found, cost) = rig.store.measure(read(&table, lookup(&layout, 0))).await;
        assert_eq!(found.num_rows(), 1);
        assert_eq!(cost.rounds, 1, "warm, {fragments} fragments: {:#?}", cost.paths);
        nothing_is_searched(&cost);
    }
}

#[tokio::test]
async fn writes_are_one_round_of_puts_behind_a_staging_store() {
    let rig = Rig::new();
    let layout = person(1);
    let base = table(&rig, &layout, 10, 20).await;
    let found = addresses(&base).await;
    rig.store.write_behind();

    let (next, cost) = rig.store.measure(base.stage(insert(rows(&layout, [1000], 1)))).await;
    let next = rig.open(&layout, &next.unwrap()).await;
    assert_eq!((cost.rounds, cost.requests), (1, 2), "append: {:#?}", cost.paths);
    let key_alone = Scan { columns: vec![KEY], addresses: true, filter: Some(is_key(1000)), ..Scan::default() };
    let (_, cost) = rig.store.measure(read(&next, key_alone)).await;
    assert!(cost.rounds <= 1, "no footer is read before the rows: {:#?}", cost.paths);

    let gone: Vec<u64> = [3, 25, 47].iter().map(|n| found[&key(*n)]).collect();
    let (next, cost) = rig.store.measure(next.stage(upsert(gone, rows(&layout, [3, 25, 47], 2)))).await;
    let next = rig.open(&layout, &next.unwrap()).await;
    assert_eq!((cost.rounds, cost.requests), (1, 5), "upsert of rows in three fragments: {:#?}", cost.paths);

    // Once more in the same fragments: their deletion vectors are in memory although the store has let go of its copies.
    let gone: Vec<u64> = [4, 26, 48].iter().map(|n| found[&key(*n)]).collect();
    let (next, cost) = rig.store.measure(next.stage(upsert(gone, rows(&layout, [4, 26, 48], 2)))).await;
    assert_eq!((cost.rounds, cost.requests), (1, 5), "upsert upon an upsert: {:#?}", cost.paths);
    nothing_is_searched(&cost);
    let version = next.unwrap().version;
    let (_, cost) = rig.store.measure(Box::pin(rig.tables.open(&layout, &version))).await;
    assert_eq!(cost.requests, 0, "a version just written is open");
}

#[tokio::test]
async fn a_fold_reads_once_and_writes_once() {
    let rig = Rig::new();
    let layout = person(1);
    let base = table(&rig, &layout, 16, 10).await;
    rig.store.write_behind();
    let (next, cost) = rig.store.measure(base.stage(insert(rows(&layout, [1000], 1)))).await;
    let next = rig.open(&layout, &next.unwrap()).await;
    assert_eq!(next.dataset.fragments().len(), 1);
    assert!(cost.rounds <= 3, "{:#?}", cost.paths);
    assert_eq!(cost.count("PUT"), 2);
    nothing_is_searched(&cost);
}

#[tokio::test]
async fn a_fold_that_was_read_ahead_is_one_round_of_puts() {
    let rig = Rig::new();
    let layout = person(1);
    let base = table(&rig, &layout, 16, 10).await;
    let few = table(&rig, &person(2), 15, 10).await;
    rig.store.write_behind();
    let ((), cost) = rig.store.measure(base.read_ahead(1)).await;
    assert_eq!(cost.rounds, 1, "beside the lookup, which takes as long: {:#?}", cost.paths);
    let ((), cost) = rig.store.measure(base.read_ahead(1)).await;
    assert_eq!(cost.requests, 0, "a write that comes to nothing and is sent again does not read again");
    let (next, cost) = rig.store.measure(base.stage(insert(rows(&layout, [1000], 1)))).await;
    let next = rig.open(&layout, &next.unwrap()).await;
    assert_eq!(next.dataset.fragments().len(), 1);
    assert_eq!((cost.rounds, cost.requests, cost.count("PUT")), (1, 2, 2), "{:#?}", cost.paths);
    let mut want = super::expected(0..160, 1);
    want.extend(super::expected([1000], 1));
    assert_eq!(super::contents(&next).await, want);
    let ((), cost) = rig.store.measure(few.read_ahead(1)).await;
    assert_eq!(cost.requests, 0, "nothing will be folded");
}

#[tokio::test]
async fn counting_reads_no_data() {
    let rig = Rig::new();
    let layout = person(1);
    let base = table(&rig, &layout, 3, 100).await;
    let version = base.version().clone();
    let cold = rig.cold().tables.open(&layout, &version).await.unwrap();
    let (all, cost) = rig.store.measure(read(&cold, Scan { addresses: true, ..Scan::default() })).await;
    assert_eq!(all.num_rows(), 300);
    assert!(cost.rounds <= 1, "{:#?}", cost.paths);
}

#[tokio::test]
async fn open_versions_pin_a_bounded_amount() {
    let rig = Rig::new();
    let layout = person(1);
    let mut table = rig.create(&layout).await;
    let mut versions = Vec::new();
    for n in 0..40 {
        table = rig.append(&table, [n], 1).await;
        versions.push(table.version().clone());
    }
    let handle_bytes = 64 << 10;
    let small =
        Rig::over(rig.store.clone(), Settings { handle_bytes, metadata_bytes: 64 << 10, ..Settings::default() });
    for version in &versions {
        let table = small.tables.open(&layout, version).await.unwrap();
        assert_eq!(read(&table, lookup(&layout, 0)).await.num_rows(), 1);
    }
    let pinned = small.tables.pinned_bytes().await;
    assert!(pinned > 0 && pinned <= handle_bytes, "{pinned} bytes");
}

/// Prints the numbers of RFC 0002.
#[tokio::test]
#[ignore = "prints numbers and asserts nothing; ./dev numbers runs it"]
async fn report() {
    println!("| block | rows | fragments | cold open+lookup | warm lookup | key column only, warm |");
    for block in [Some(64 << 10), Some(1 << 20), None] {
        for (fragments, per_fragment) in [(1, 10_000), (1, 100_000), (10, 1), (16, 1), (16, 1000), (1, 200_000)] {
            let store = Counting::new();
            let rig = Rig::over(store.clone(), Settings { block_size: block, ..Settings::default() });
            let layout = person(1);
            let base = table(&rig, &layout, fragments, per_fragment).await;
            let version = base.version().clone();
            let cold = Rig::over(store.clone(), Settings { block_size: block, ..Settings::default() });
            let (table, first) = store
                .measure(async {
                    let table = Box::pin(cold.tables.open(&layout, &version)).await.unwrap();
                    read(&table, lookup(&layout, 0)).await;
                    table
                })
                .await;
            let (_, warm) = store.measure(read(&table, lookup(&layout, 0))).await;
            read(&table, Scan { columns: vec![KEY], addresses: true, filter: Some(is_key(0)), ..Scan::default() })
                .await;
            let key_only = Scan { columns: vec![KEY], addresses: true, filter: Some(is_key(0)), ..Scan::default() };
            let (_, keys) = store.measure(read(&table, key_only)).await;
            let show = |cost: &Cost| format!("{} / {} / {} B", cost.rounds, cost.requests, cost.bytes);
            if std::env::var_os("SHOW").is_some() {
                println!("{:#?}\n{:#?}\n{:#?}", first.paths, warm.paths, keys.paths);
            }
            let bytes: u64 = base.files().iter().filter_map(|(_, size)| *size).sum();
            println!(
                "| {} | {} | {fragments} | {} | {} | {} | {} B per fragment, manifest {} B",
                block.map_or("by rows".to_owned(), |block| format!("{} KiB", block >> 10)),
                fragments * per_fragment,
                show(&first),
                show(&warm),
                show(&keys),
                bytes / fragments,
                version.size,
            );
        }
    }
}

/// The cost of small writes over a long life; prints like the above.
#[tokio::test]
#[ignore = "prints numbers and asserts nothing; ./dev numbers runs it"]
async fn report_of_small_writes() {
    let rig = Rig::new();
    let layout = person(1);
    let mut table = rig.create(&layout).await;
    // As a publish does it: what a write reads back of its own files costs no request.
    rig.store.write_behind();
    println!(
        "| after writes | most fragments | folds | bytes read per write | bytes written per write | largest write |"
    );
    let (mut most, mut folds, mut read, mut written, mut largest) = (0, 0, 0, 0, 0);
    for n in 1..=3000 {
        let before = table.dataset.fragments().len();
        let (next, cost) = rig.store.tally(table.stage(insert(rows(&layout, [n], 1)))).await;
        table = rig.open(&layout, &next.unwrap()).await;
        let after = table.dataset.fragments().len();
        most = most.max(after);
        folds += u64::from(after < before);
        let put: u64 = cost.bytes_of("PUT");
        (read, written, largest) = (read + cost.bytes_of("GET"), written + put, largest.max(put));
        if [10, 100, 1000, 3000].contains(&n) {
            println!("| {n} | {most} | {folds} | {} | {} | {largest} |", read / n, written / n);
        }
    }
}

#[tokio::test]
async fn versions_survive_the_barrier_of_the_real_store() {
    use crate::store::{Store, StoreKind};
    let objects: Arc<dyn object_store::ObjectStore> = Arc::new(object_store::memory::InMemory::new());
    let store = Store::from_object_store(StoreKind::Memory, objects.clone());
    let tables = Tables::new(&store);
    let layout = person(1);
    let created = tables.create(&layout).await.unwrap();
    store.staging().barrier(&created.files).await.unwrap();
    store.staging().release(&created.files);
    let empty = tables.open(&layout, &created.version).await.unwrap();
    let first = empty.stage(insert(rows(&layout, 0..10, 1))).await.unwrap();
    let base = tables.open(&layout, &first.version).await.unwrap();
    let second = base.stage(upsert([3, 4], rows(&layout, [3, 4], 2))).await.unwrap();
    for staged in [&first, &second] {
        store.staging().barrier(&staged.files).await.unwrap();
        store.staging().release(&staged.files);
    }
    // Another process sees all of it, and nothing else was written.
    let other = Store::from_object_store(StoreKind::Memory, objects.clone());
    let table = Tables::new(&other).open(&layout, &second.version).await.unwrap();
    let mut want = super::expected([0, 1, 2, 5, 6, 7, 8, 9], 1);
    want.extend(super::expected([3, 4], 2));
    assert_eq!(super::contents(&table).await, want);
    assert_eq!(table.verify().await.unwrap(), Vec::<String>::new());
    let stored = objects.list(None).count().await;
    assert_eq!(stored, created.files.len() + first.files.len() + second.files.len());
}
