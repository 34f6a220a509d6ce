//! What every object store and every decorator of one must do, as one list of checks.
//!
//! Run by `conformance(&store, ordered)` over an empty place; `ordered` says whether its LIST has an order.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::join_all;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions,
};

/// Runs all checks, each in a folder of its own.
///
/// # Panics
/// At the first that fails.
pub async fn conformance(store: &Arc<dyn ObjectStore>, ordered: bool) {
    put_get_and_head(store).await;
    ranges(store).await;
    absent_objects(store).await;
    overwriting(store).await;
    put_if_absent(store).await;
    put_if_absent_race(store).await;
    listing(store, ordered).await;
    listing_with_offset(store, ordered).await;
    listing_by_folder(store).await;
    deleting(store).await;
    copying(store).await;
    multipart(store).await;
    odd_names(store).await;
}

/// All bytes of an object.
///
/// # Panics
/// When it cannot be read.
pub async fn read(store: &dyn ObjectStore, path: &Path) -> Bytes {
    store.get(path).await.expect("get").bytes().await.expect("body")
}

/// Puts `body` if nothing is at `path`.
pub async fn create(store: &dyn ObjectStore, path: &Path, body: impl Into<Bytes>) -> object_store::Result<()> {
    store.put_opts(path, body.into().into(), PutOptions::from(PutMode::Create)).await.map(drop)
}

async fn put(store: &dyn ObjectStore, path: &str, body: &str) -> Path {
    let path = Path::parse(path).expect("path");
    store.put(&path, body.to_owned().into()).await.expect("put");
    path
}

async fn names(store: &dyn ObjectStore, folder: &str) -> Vec<String> {
    let folder = Path::from(folder);
    store.list(Some(&folder)).map_ok(|object| object.location.to_string()).try_collect().await.expect("list")
}

async fn put_get_and_head(store: &Arc<dyn ObjectStore>) {
    for body in ["", "x", "some more"] {
        let path = put(store, &format!("plain/deep/er/{}", body.len()), body).await;
        assert_eq!(read(store, &path).await, body);
        let meta = store.head(&path).await.expect("head");
        assert_eq!((meta.size, &meta.location), (body.len() as u64, &path));
    }
}

async fn ranges(store: &Arc<dyn ObjectStore>) {
    let path = put(store, "ranges/object", "0123456789").await;
    for (range, expected) in [
        (GetRange::Bounded(0..10), "0123456789"),
        (GetRange::Bounded(2..5), "234"),
        (GetRange::Bounded(8..99), "89"),
        (GetRange::Offset(7), "789"),
        (GetRange::Suffix(3), "789"),
        (GetRange::Suffix(99), "0123456789"),
    ] {
        let options = GetOptions::new().with_range(Some(range.clone()));
        let answer = store.get_opts(&path, options).await.expect("range");
        assert_eq!(answer.meta.size, 10, "{range}");
        assert_eq!(answer.range.end - answer.range.start, expected.len() as u64, "{range}");
        assert_eq!(answer.bytes().await.expect("body"), expected, "{range}");
    }
    assert_eq!(store.get_range(&path, 4..6).await.expect("range"), "45");
    let several = store.get_ranges(&path, &[1..3, 7..8]).await.expect("ranges");
    assert_eq!(several, ["12", "7"]);
    let beyond = GetOptions::new().with_range(Some(GetRange::Offset(10)));
    assert!(store.get_opts(&path, beyond).await.is_err(), "a range that begins at the end");
}

async fn absent_objects(store: &Arc<dyn ObjectStore>) {
    let path = Path::from("absent/object");
    assert!(matches!(store.get(&path).await, Err(Error::NotFound { .. })));
    assert!(matches!(store.head(&path).await, Err(Error::NotFound { .. })));
    assert!(matches!(store.get_range(&path, 0..1).await, Err(Error::NotFound { .. })));
    assert!(matches!(store.copy(&path, &Path::from("absent/copy")).await, Err(Error::NotFound { .. })));
    assert_eq!(names(store, "absent").await, [""; 0]);
}

async fn overwriting(store: &Arc<dyn ObjectStore>) {
    for body in ["one", "two, longer", "3"] {
        let path = put(store, "overwrite/object", body).await;
        assert_eq!(read(store, &path).await, body);
        assert_eq!(store.head(&path).await.expect("head").size, body.len() as u64);
    }
    assert_eq!(names(store, "overwrite").await, ["overwrite/object"]);
}

async fn put_if_absent(store: &Arc<dyn ObjectStore>) {
    let path = Path::from("create/object");
    create(store, &path, "first").await.expect("fresh key");
    for body in ["second", "first"] {
        let refused = create(store, &path, body).await;
        assert!(matches!(refused, Err(Error::AlreadyExists { .. })), "{refused:?}");
        assert_eq!(read(store, &path).await, "first");
    }
    let path = put(store, "create/put before", "first").await;
    assert!(matches!(create(store, &path, "second").await, Err(Error::AlreadyExists { .. })));
    assert_eq!(read(store, &path).await, "first");
}

async fn put_if_absent_race(store: &Arc<dyn ObjectStore>) {
    for key in 0..4 {
        let path = Path::from(format!("race/{key}"));
        let clients = (0..32).map(|client| {
            let (store, path) = (store.clone(), path.clone());
            tokio::spawn(async move { create(&store, &path, client.to_string()).await })
        });
        let answers = join_all(clients).await;
        let won: Vec<_> = answers.iter().enumerate().filter(|(_, answer)| matches!(answer, Ok(Ok(())))).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        assert_eq!(read(store, &path).await, won[0].0.to_string());
        let lost = answers.iter().filter(|answer| matches!(answer, Ok(Err(Error::AlreadyExists { .. }))));
        assert_eq!(lost.count(), 31, "{answers:?}");
    }
}

async fn listing(store: &Arc<dyn ObjectStore>, ordered: bool) {
    let expected = ["list/00", "list/0a", "list/a/1", "list/a/2", "list/b", "list/f0"];
    for path in ["list/b", "list/a/2", "list/f0", "list/00", "list/a/1", "list/0a", "lister/x"] {
        put(store, path, path).await;
    }
    let mut listed = names(store, "list").await;
    if !ordered {
        listed.sort();
    }
    assert_eq!(listed, expected);
    let sizes: Vec<u64> =
        store.list(Some(&Path::from("list/a"))).map_ok(|object| object.size).try_collect().await.expect("list");
    assert_eq!(sizes, [8, 8]);
    assert_eq!(names(store, "list/b").await, [""; 0], "an object is not below itself");
    assert_eq!(names(store, "lis").await, [""; 0], "a prefix is of whole names");
    let all: BTreeSet<_> =
        store.list(None).map_ok(|object| object.location.to_string()).try_collect().await.expect("list");
    assert!(expected.iter().all(|path| all.contains(*path)));
}

async fn listing_with_offset(store: &Arc<dyn ObjectStore>, ordered: bool) {
    for n in 0..10 {
        put(store, &format!("offset/{n:04}"), "").await;
    }
    let after = |offset: &str| {
        let (store, offset) = (store.clone(), Path::from(offset));
        async move {
            let folder = Path::from("offset");
            let listing = store.list_with_offset(Some(&folder), &offset);
            let mut listed: Vec<String> =
                listing.map_ok(|object| object.location.to_string()).try_collect().await.expect("list");
            if !ordered {
                listed.sort();
            }
            listed
        }
    };
    assert_eq!(after("offset/0006").await, ["offset/0007", "offset/0008", "offset/0009"]);
    assert_eq!(after("offset/0007x").await, ["offset/0008", "offset/0009"]);
    assert_eq!(after("offset/0009").await, [""; 0]);
    assert_eq!(after("offset/000").await.len(), 10);
}

async fn listing_by_folder(store: &Arc<dyn ObjectStore>) {
    for path in ["tree/x", "tree/a/1", "tree/a/2", "tree/b/c/d"] {
        put(store, path, "").await;
    }
    let level = store.list_with_delimiter(Some(&Path::from("tree"))).await.expect("list");
    let objects: Vec<_> = level.objects.iter().map(|object| object.location.to_string()).collect();
    let folders: Vec<_> = level.common_prefixes.iter().map(ToString::to_string).collect();
    assert_eq!((objects, folders), (vec!["tree/x".to_owned()], vec!["tree/a".to_owned(), "tree/b".to_owned()]));
}

async fn deleting(store: &Arc<dyn ObjectStore>) {
    let path = put(store, "delete/one", "x").await;
    store.delete(&path).await.expect("delete");
    assert!(matches!(store.get(&path).await, Err(Error::NotFound { .. })));
    create(store, &path, "again").await.expect("a deleted key is free");
    assert_eq!(read(store, &path).await, "again");
    let mut many = vec![path];
    for n in 0..5 {
        many.push(put(store, &format!("delete/{n}"), "x").await);
    }
    let deleted: Vec<Path> =
        store.delete_stream(futures::stream::iter(many.clone()).map(Ok).boxed()).try_collect().await.expect("delete");
    assert_eq!(deleted.len(), many.len());
    assert_eq!(names(store, "delete").await, [""; 0]);
}

async fn copying(store: &Arc<dyn ObjectStore>) {
    let from = put(store, "copy/from", "body").await;
    let to = Path::from("copy/to");
    store.copy(&from, &to).await.expect("copy");
    assert_eq!((read(store, &from).await, read(store, &to).await), ("body".into(), "body".into()));
    let exclusive = CopyOptions::new().with_mode(object_store::CopyMode::Create);
    // S3 does not know it, and nothing needs it; but it must not overwrite.
    let refused = store.copy_opts(&from, &to, exclusive).await;
    assert!(matches!(
        refused,
        Err(Error::AlreadyExists { .. } | Error::NotSupported { .. } | Error::NotImplemented { .. })
    ));
    store.rename(&from, &Path::from("copy/moved")).await.expect("rename");
    assert!(matches!(store.get(&from).await, Err(Error::NotFound { .. })));
    assert_eq!(read(store, &Path::from("copy/moved")).await, "body");
}

async fn multipart(store: &Arc<dyn ObjectStore>) {
    let path = Path::from("multipart/object");
    let mut upload = store.put_multipart_opts(&path, PutMultipartOptions::default()).await.expect("begin");
    let parts: Vec<Bytes> = vec![vec![b'a'; 5 << 20].into(), vec![b'b'; 5 << 20].into(), Bytes::from("end")];
    for part in &parts {
        upload.put_part(part.clone().into()).await.expect("part");
    }
    assert!(matches!(store.head(&path).await, Err(Error::NotFound { .. })), "invisible until it is completed");
    upload.complete().await.expect("complete");
    assert_eq!(store.head(&path).await.expect("head").size, (10 << 20) + 3);
    assert_eq!(store.get_range(&path, (5 << 20) - 1..(5 << 20) + 1).await.expect("range"), "ab");
    assert_eq!(read(store, &path).await, parts.concat());

    let path = Path::from("multipart/aborted");
    let mut upload = store.put_multipart_opts(&path, PutMultipartOptions::default()).await.expect("begin");
    upload.put_part(parts[0].clone().into()).await.expect("part");
    upload.abort().await.expect("abort");
    assert!(matches!(store.get(&path).await, Err(Error::NotFound { .. })));
}

/// Escaped names must not be escaped again, nor be taken for what they escape.
async fn odd_names(store: &Arc<dyn ObjectStore>) {
    for name in ["odd/a=2Fb/x", "odd/a%2Fb", "odd/é", "odd/a b", "odd/-x", "odd/_y.json"] {
        let path = put(store, name, name).await;
        assert_eq!(path.as_ref(), name);
        assert_eq!(read(store, &path).await, name);
        assert!(names(store, "odd").await.contains(&name.to_owned()), "{name}");
    }
}
