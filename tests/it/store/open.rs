//! Opening places by their URI.

use std::sync::Arc;

use object_store::memory::InMemory;
use pleach::store::{Backend, HeadSearch, Recording, Store, StoreError, StoreKind, StoreOptions, memory};

use super::{bytes, path};

async fn open(uri: &str) -> Result<Store, StoreError> {
    Store::open(uri, &StoreOptions::default()).await
}

#[tokio::test]
async fn handles_on_one_memory_name_meet_and_others_do_not() {
    let (one, two, other) = (
        open("memory://meet").await.unwrap(),
        open("memory://meet").await.unwrap(),
        open("memory://else").await.unwrap(),
    );
    one.overwrite(&path("a/b"), bytes("x")).await.unwrap();
    assert_eq!(two.read(&path("a/b")).await.unwrap(), Some(bytes("x")));
    assert_eq!(other.read(&path("a/b")).await.unwrap(), None);
    assert_eq!(open("memory://meet/a").await.unwrap().read(&path("b")).await.unwrap(), Some(bytes("x")));
    assert_eq!((one.kind(), one.head_search(), one.uri()), (StoreKind::Memory, HeadSearch::List, "memory://meet"));
    memory::forget("meet");
    assert_eq!(open("memory://meet").await.unwrap().read(&path("a/b")).await.unwrap(), None);
    assert_eq!(one.read(&path("a/b")).await.unwrap(), Some(bytes("x")), "open handles keep it");
}

#[tokio::test]
async fn any_backend_can_stand_behind_a_name() {
    let recording = Recording::new(Arc::new(InMemory::new()));
    let backend = Backend::new(StoreKind::Local, "", Arc::new(recording.clone()));
    memory::register("recorded", backend);
    let store = open("memory://recorded").await.unwrap();
    store.overwrite(&path("a"), bytes("x")).await.unwrap();
    assert_eq!(recording.take().len(), 2);
    assert_eq!((store.kind(), store.uri()), (StoreKind::Local, "memory://recorded"));
}

#[tokio::test]
async fn a_folder_is_made_on_demand_and_named_absolutely() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("a b/c");
    let store = open(&nested.display().to_string()).await.unwrap();
    assert!(nested.is_dir());
    assert_eq!((store.kind(), store.head_search()), (StoreKind::Local, HeadSearch::Gallop));
    assert!(store.uri().starts_with("file:///") && store.uri().ends_with("/a%20b/c"), "{}", store.uri());
    store.overwrite(&path("x/y"), bytes("z")).await.unwrap();
    assert_eq!(std::fs::read(nested.join("x/y")).unwrap(), b"z");
    let again = open(store.uri()).await.unwrap();
    assert_eq!(again.read(&path("x/y")).await.unwrap(), Some(bytes("z")));
}

#[tokio::test]
async fn a_relative_path_stays_where_it_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let here = std::env::current_dir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let store = open("here").await.unwrap();
    std::env::set_current_dir(here).unwrap();
    store.overwrite(&path("x"), bytes("y")).await.unwrap();
    assert_eq!(std::fs::read(folder.path().join("here/x")).unwrap(), b"y");
}

#[tokio::test]
async fn a_missing_folder_is_an_error_where_it_is_not_to_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("typo");
    let options = StoreOptions { create_folder: false, ..StoreOptions::default() };
    let opened = Store::open(&missing.display().to_string(), &options).await;
    assert!(matches!(opened, Err(StoreError::NoFolder { .. })), "{opened:?}");
    assert!(!missing.exists());
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    assert!(matches!(open(&file.display().to_string()).await, Err(StoreError::Folder { .. })));
}

#[tokio::test]
async fn unknown_schemes_are_refused() {
    assert!(matches!(open("gs://bucket/x").await, Err(StoreError::UnknownScheme { .. })));
}

#[tokio::test]
async fn an_endpoint_where_nobody_listens_is_unreachable() {
    let mut options = StoreOptions { retries: 0, ..StoreOptions::default() };
    for (name, value) in [
        ("endpoint", "http://127.0.0.1:1"),
        ("access_key_id", "k"),
        ("secret_access_key", "s"),
        ("region", "us-east-1"),
    ] {
        options.set(name, value).unwrap();
    }
    let store = Store::open("s3://bucket/prefix", &options).await.unwrap();
    assert_eq!((store.kind(), store.uri()), (StoreKind::S3, "s3://bucket/prefix"));
    let read = store.read(&path("x")).await;
    assert!(matches!(read, Err(StoreError::Unreachable { .. })), "{read:?}");
    let listed = store.first_keys(&path("x"), 1).await;
    assert!(matches!(listed, Err(StoreError::Unreachable { .. })), "{listed:?}");
    let created = store.create(&path("x"), &bytes("y")).await;
    assert!(matches!(created, Err(StoreError::Unreachable { .. })), "nothing was sent: {created:?}");
}
