//! One list of checks over every place and every decorator.

use std::sync::Arc;

use kit::conformance::conformance;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use pleach::store::{Counting, Faults, IoCounter, Recording, Staging, Store, StoreOptions};

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

async fn local(folder: &tempfile::TempDir) -> Store {
    Store::open(&folder.path().join("graph").display().to_string(), &StoreOptions::default()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_conforms() {
    let store = Store::open("memory://conformance", &StoreOptions::default()).await.unwrap();
    conformance(&store.objects(), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_below_a_prefix_conforms() {
    let store = Store::open("memory://conformance-prefix/a/b", &StoreOptions::default()).await.unwrap();
    conformance(&store.commit_point(), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_folder_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&local(&folder).await.objects(), false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counting_conforms() {
    conformance(&(Arc::new(Counting::new(memory(), Arc::new(IoCounter::default()))) as Arc<dyn ObjectStore>), true)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staging_conforms() {
    conformance(&(Arc::new(Staging::new(memory(), &StoreOptions::default())) as Arc<dyn ObjectStore>), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staging_with_the_smallest_bounds_conforms() {
    let options = StoreOptions { staged_bytes: 1, retained_bytes: 0, ..StoreOptions::default() };
    conformance(&(Arc::new(Staging::new(memory(), &options)) as Arc<dyn ObjectStore>), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staging_to_a_local_folder_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&(local(&folder).await.staging() as Arc<dyn ObjectStore>), false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_without_rules_conform() {
    conformance(&(Arc::new(Faults::new(memory())) as Arc<dyn ObjectStore>), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_conforms() {
    conformance(&(Arc::new(Recording::new(memory())) as Arc<dyn ObjectStore>), true).await;
}
