//! Requests, bytes and serial depth of whole operations.

use std::sync::Arc;

use futures::future::{join, join_all};
use futures::{StreamExt, TryStreamExt};
use object_store::{ObjectStore, ObjectStoreExt, PutOptions};
use pleach::store::{Faults, IoStats, RequestKind, Store, StoreKind, When};

use super::{bytes, faulty, path};

#[tokio::test]
async fn each_kind_of_request_is_counted_with_its_bytes() {
    let (store, _, _) = faulty();
    let objects = store.objects();
    objects.put(&path("a"), bytes("12345").into()).await.unwrap();
    assert!(store.create(&path("b"), &bytes("123")).await.is_ok());
    assert_eq!(store.read(&path("a")).await.unwrap().unwrap().len(), 5);
    objects.get_range(&path("a"), 1..3).await.unwrap();
    objects.head(&path("a")).await.unwrap();
    assert!(!store.exists(&path("c")).await.unwrap());
    objects.copy(&path("a"), &path("d")).await.unwrap();
    assert_eq!(store.first_keys(&path("x"), 1).await.unwrap(), []);
    objects.delete(&path("d")).await.unwrap();
    let counted = store.io().take();
    let expected = IoStats {
        gets: 2,
        heads: 2,
        lists: 1,
        puts: 2,
        deletes: 1,
        copies: 1,
        bytes_read: 7,
        bytes_written: 8,
        serial_depth: 9,
    };
    assert_eq!(counted, expected);
    assert_eq!(counted.requests(), 9);
    assert_eq!(store.io().take(), IoStats::default());
}

#[tokio::test]
async fn requests_side_by_side_are_one_round() {
    let (store, faults, _) = faulty();
    for name in ["a", "b", "c"] {
        store.overwrite(&path(name), bytes("x")).await.unwrap();
    }
    store.io().take();
    let holds = ["a", "b", "c"].map(|name| faults.hold(When::kind(RequestKind::Get).path(name)));
    let reads = join_all(["a", "b", "c"].map(|name| {
        let store = store.clone();
        async move { store.read(&path(name)).await }
    }));
    let release = async {
        for hold in &holds {
            hold.reached().await;
        }
        for hold in &holds {
            hold.release();
        }
    };
    join(reads, release).await;
    store.read(&path("a")).await.unwrap();
    let counted = store.io().take();
    assert_eq!((counted.gets, counted.serial_depth), (4, 2));
}

#[tokio::test]
async fn a_get_lasts_until_its_body_is_read() {
    let (store, _, _) = faulty();
    store.overwrite(&path("a"), bytes("12345")).await.unwrap();
    store.io().take();
    let objects = store.objects();
    let open = objects.get(&path("a")).await.unwrap();
    objects.head(&path("a")).await.unwrap();
    assert_eq!(store.io().peek().serial_depth, 1, "the head ran beside the open body");
    assert_eq!(store.io().peek().bytes_read, 0);
    assert_eq!(open.bytes().await.unwrap().len(), 5);
    assert_eq!((store.io().peek().bytes_read, store.io().peek().serial_depth), (5, 1));
    let dropped = objects.get(&path("a")).await.unwrap();
    drop(dropped);
    objects.head(&path("a")).await.unwrap();
    assert_eq!(store.io().take().serial_depth, 3);
}

#[tokio::test]
async fn a_long_listing_is_a_request_per_thousand_keys() {
    let (store, _, memory) = faulty();
    for n in 0..2001 {
        memory.put(&path(&format!("many/{n:05}")), bytes("").into()).await.unwrap();
    }
    let objects = store.objects();
    let listed: Vec<_> = objects.list(Some(&path("many"))).try_collect().await.unwrap();
    assert_eq!(listed.len(), 2001);
    assert_eq!((store.io().peek().lists, store.io().take().serial_depth), (3, 3));
    objects.list_with_delimiter(Some(&path("many"))).await.unwrap();
    assert_eq!(store.io().take().lists, 3);
    assert_eq!(store.first_keys(&path("many"), 2).await.unwrap(), [path("many/00000"), path("many/00001")]);
    assert_eq!(store.io().take().lists, 1);
    drop(objects.list(Some(&path("many"))).next().await);
    assert_eq!(store.io().take().lists, 1);
}

#[tokio::test]
async fn staged_puts_and_multipart_uploads_are_counted() {
    let faults = Faults::new(Arc::new(object_store::memory::InMemory::new()));
    let store = Store::from_object_store(StoreKind::Memory, Arc::new(faults));
    let staging = store.staging();
    staging.put_opts(&path("a"), bytes("123").into(), PutOptions::default()).await.unwrap();
    staging.barrier(&[path("a")]).await.unwrap();
    assert_eq!(staging.get(&path("a")).await.unwrap().bytes().await.unwrap().len(), 3);
    let counted = store.io().take();
    assert_eq!((counted.puts, counted.bytes_written, counted.gets), (1, 3, 0), "read back from memory");
    let mut upload = staging.put_multipart(&path("b")).await.unwrap();
    upload.put_part(bytes("12345").into()).await.unwrap();
    upload.complete().await.unwrap();
    let counted = store.io().take();
    assert_eq!((counted.puts, counted.bytes_written, counted.serial_depth), (3, 5, 3));
}
