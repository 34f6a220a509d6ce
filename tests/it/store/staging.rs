//! Background puts and the barrier that belongs to one publish.

use std::sync::Arc;

use futures::FutureExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, ObjectStoreExt, PutOptions};
use pleach::store::{
    Backend, Fault, Faults, Phase, Recording, RequestKind, Staging, Store, StoreError, StoreKind, StoreOptions, When,
};

use super::{bytes, faulty, path};

/// Staging over memory with faults, within small bounds.
fn staging(staged_bytes: usize, retained_bytes: usize) -> (Staging, Faults, Arc<dyn ObjectStore>) {
    let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let faults = Faults::new(memory.clone());
    let options = StoreOptions { staged_bytes, retained_bytes, ..StoreOptions::default() };
    (Staging::new(Arc::new(faults.clone()), &options), faults, memory)
}

async fn put(staging: &Staging, name: &str) -> Path {
    staging.put_opts(&path(name), bytes(name).into(), PutOptions::default()).await.unwrap();
    path(name)
}

async fn exists(memory: &dyn ObjectStore, name: &str) -> bool {
    memory.head(&path(name)).await.is_ok()
}

fn puts() -> When {
    When::kind(RequestKind::Put)
}

#[tokio::test]
async fn a_put_is_answered_before_it_is_durable_and_read_back_from_memory() {
    let (staging, faults, memory) = staging(1 << 20, 1 << 20);
    let hold = faults.hold(puts().path("data"));
    let file = put(&staging, "data/file").await;
    hold.reached().await;
    assert!(!exists(&*memory, "data/file").await);
    assert_eq!(staging.get(&file).await.unwrap().bytes().await.unwrap(), "data/file");
    assert_eq!(staging.head(&file).await.unwrap().size, 9);
    let options = GetOptions::new().with_range(Some(5..9));
    assert_eq!(staging.get_opts(&file, options).await.unwrap().bytes().await.unwrap(), "file");
    hold.release();
    staging.barrier(std::slice::from_ref(&file)).await.unwrap();
    assert!(exists(&*memory, "data/file").await);
    faults.add(When::kind(RequestKind::Get), Fault::FailBefore);
    assert_eq!(staging.get(&file).await.unwrap().bytes().await.unwrap(), "data/file", "still from memory");
}

#[tokio::test]
async fn a_barrier_waits_for_its_files_alone() {
    let (staging, faults, _) = staging(1 << 20, 1 << 20);
    let hold = faults.hold(puts().path("theirs"));
    let (ours, theirs) = (put(&staging, "ours").await, put(&staging, "theirs").await);
    hold.reached().await;
    staging.barrier(std::slice::from_ref(&ours)).await.unwrap();
    let both = [ours, theirs];
    let mut barrier = Box::pin(staging.barrier(&both));
    assert!(barrier.as_mut().now_or_never().is_none());
    hold.release();
    barrier.await.unwrap();
}

#[tokio::test]
async fn only_the_publish_whose_put_failed_fails() {
    let (staging, faults, _) = staging(1 << 20, 1 << 20);
    faults.add(puts().path("bad"), Fault::FailBefore);
    let (good, bad) = (put(&staging, "good").await, put(&staging, "bad").await);
    let (first, second) =
        futures::join!(staging.barrier(std::slice::from_ref(&good)), staging.barrier(std::slice::from_ref(&bad)));
    assert!(first.is_ok());
    assert!(matches!(second, Err(StoreError::Staging { path, .. }) if path == "bad"));
    let later = staging.barrier(&[good, bad.clone()]).await;
    assert!(matches!(later, Err(StoreError::Staging { .. })), "a failure is not forgotten by asking: {later:?}");
    assert!(matches!(staging.get(&bad).await, Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn a_file_that_was_never_staged_does_not_pass() {
    let (staging, _, memory) = staging(1 << 20, 1 << 20);
    memory.put(&path("there"), bytes("x").into()).await.unwrap();
    let barrier = staging.barrier(&[path("there")]).await;
    assert!(matches!(barrier, Err(StoreError::NotStaged { .. })), "{barrier:?}");
    staging.barrier(&[]).await.unwrap();
}

#[tokio::test]
async fn releasing_frees_memory_and_the_files_stay_durable() {
    let (staging, faults, _) = staging(1 << 20, 1 << 20);
    let file = put(&staging, "file").await;
    staging.barrier(std::slice::from_ref(&file)).await.unwrap();
    assert_eq!(staging.retained_bytes(), 4);
    staging.release(std::slice::from_ref(&file));
    assert_eq!(staging.retained_bytes(), 0);
    staging.barrier(std::slice::from_ref(&file)).await.unwrap();
    assert_eq!(staging.get(&file).await.unwrap().bytes().await.unwrap(), "file");
    let hold = faults.hold(puts().path("given up"));
    let given_up = put(&staging, "given up").await;
    hold.reached().await;
    staging.release(std::slice::from_ref(&given_up));
    hold.release();
    staging.barrier(std::slice::from_ref(&given_up)).await.unwrap();
    assert_eq!(staging.retained_bytes(), 0, "released on its way");
}

#[tokio::test]
async fn what_nobody_releases_is_bounded() {
    let (staging, _, _) = staging(1 << 20, 40);
    let mut files = Vec::new();
    for n in 0..20 {
        files.push(put(&staging, &format!("file-{n:05}")).await);
    }
    staging.barrier(&files).await.unwrap();
    assert!(staging.retained_bytes() <= 40);
    for file in &files {
        assert_eq!(staging.get(file).await.unwrap().bytes().await.unwrap(), file.as_ref(), "from the store");
    }
}

/// Whether a whole get of `file` asks the store; it has to come to its name, as [`put`] writes it.
async fn asks_the_store(staging: &Staging, faults: &Faults, file: &str) -> bool {
    faults.add(When::kind(RequestKind::Get), Fault::FailBefore);
    let answer = staging.get(&path(file)).await;
    faults.clear();
    match answer {
        Ok(answer) => {
            assert_eq!(answer.bytes().await.unwrap(), file);
            false
        }
        Err(error) => {
            assert!(!matches!(error, Error::NotFound { .. }), "{error}");
            true
        }
    }
}

#[tokio::test]
async fn small_data_files_that_were_released_or_read_whole_are_not_asked_for_again() {
    const NAMES: [&str; 5] =
        ["tables/1/data/a.lance", "tables/1/data/b.lance", "tables/1/data/c.lance", "tables/1/data/d.lance", "e.lance"];
    let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let faults = Faults::new(memory.clone());
    // Each of these names is as long as a small file may be.
    let options = StoreOptions { reread_bytes: NAMES[0].len() * 16, ..StoreOptions::default() };
    let staging = Staging::new(Arc::new(faults.clone()), &options);
    let [written, read, other, ranged, elsewhere] = NAMES;
    put(&staging, written).await;
    staging.barrier(&[path(written)]).await.unwrap();
    staging.release(&[path(written)]);
    assert_eq!(staging.retained_bytes(), 0);
    for name in [read, other, ranged, elsewhere] {
        memory.put(&path(name), bytes(name).into()).await.unwrap();
    }
    let _ = staging.get(&path(read)).await.unwrap().bytes().await.unwrap();
    let _ = staging.get(&path(elsewhere)).await.unwrap().bytes().await.unwrap();
    let _ = staging.get_range(&path(ranged), 0..4).await.unwrap();
    // Begun, and not read to its end.
    drop(staging.get(&path(other)).await.unwrap());
    assert!(!asks_the_store(&staging, &faults, written).await && !asks_the_store(&staging, &faults, read).await);
    assert_eq!(staging.get_range(&path(read), 7..9).await.unwrap(), "1/");
    for name in [other, ranged, elsewhere] {
        assert!(asks_the_store(&staging, &faults, name).await, "{name}");
    }
    let large = "tables/1/data/larger.lance";
    memory.put(&path(large), bytes(large).into()).await.unwrap();
    let _ = staging.get(&path(large)).await.unwrap().bytes().await.unwrap();
    assert!(asks_the_store(&staging, &faults, large).await);
    staging.forget_small();
    assert!(asks_the_store(&staging, &faults, written).await && asks_the_store(&staging, &faults, read).await);
    put(&staging, read).await;
    staging.barrier(&[path(read)]).await.unwrap();
    staging.release(&[path(read)]);
    staging.delete(&path(read)).await.unwrap();
    assert!(
        matches!(staging.get(&path(read)).await, Err(Error::NotFound { .. })),
        "a copy does not outlive a deletion"
    );
}

#[tokio::test]
async fn beyond_the_bound_a_put_waits_for_room() {
    let (staging, faults, _) = staging(2 << 10, 1 << 20);
    let hold = faults.hold(puts().path("big"));
    let (big, small) = (path("big"), path("small"));
    staging.put_opts(&big, vec![0; 8 << 10].into(), PutOptions::default()).await.unwrap();
    hold.reached().await;
    {
        let mut waiting = staging.put_opts(&small, bytes("x").into(), PutOptions::default());
        assert!((&mut waiting).now_or_never().is_none(), "no room");
        hold.release();
        waiting.await.unwrap();
    }
    staging.barrier(&[big, small]).await.unwrap();
}

#[tokio::test]
async fn two_puts_to_one_path_land_in_their_order() {
    let (staging, faults, memory) = staging(1 << 20, 1 << 20);
    let hold = faults.hold(puts().path("x"));
    staging.put(&path("x"), bytes("first"));
    staging.put(&path("x"), bytes("second"));
    hold.reached().await;
    assert_eq!(staging.get(&path("x")).await.unwrap().bytes().await.unwrap(), "second");
    hold.release();
    staging.barrier(&[path("x")]).await.unwrap();
    assert_eq!(memory.get(&path("x")).await.unwrap().bytes().await.unwrap(), "second");
}

#[tokio::test]
async fn a_create_whose_answer_was_lost_is_durable() {
    let (staging, _, memory) = staging(1 << 20, 1 << 20);
    memory.put(&path("same"), bytes("body").into()).await.unwrap();
    memory.put(&path("other"), bytes("not the body").into()).await.unwrap();
    kit::conformance::create(&staging, &path("same"), "body").await.unwrap();
    kit::conformance::create(&staging, &path("other"), "body").await.unwrap();
    staging.barrier(&[path("same")]).await.unwrap();
    assert!(matches!(staging.barrier(&[path("other")]).await, Err(StoreError::Staging { .. })));
}

#[tokio::test]
async fn multipart_uploads_go_straight_through_and_pass_when_completed() {
    let (staging, _, memory) = staging(1 << 20, 1 << 20);
    let file = path("large");
    let mut upload = staging.put_multipart(&file).await.unwrap();
    upload.put_part(bytes("part").into()).await.unwrap();
    let early = staging.barrier(std::slice::from_ref(&file)).await;
    assert!(matches!(early, Err(StoreError::NotStaged { .. })), "{early:?}");
    upload.complete().await.unwrap();
    assert!(exists(&*memory, "large").await);
    staging.barrier(std::slice::from_ref(&file)).await.unwrap();
    assert_eq!(staging.retained_bytes(), 0);
}

#[tokio::test]
async fn transaction_files_are_not_written() {
    let (staging, faults, memory) = staging(1 << 20, 1 << 20);
    faults.add(puts().path("_transactions"), Fault::FailBefore);
    put(&staging, "tables/t/_transactions/1.txn").await;
    let kept = [put(&staging, "tables/t/data/1.txn").await, put(&staging, "tables/t/_versions/1.manifest").await];
    staging.barrier(&kept).await.unwrap();
    assert!(!exists(&*memory, "tables/t/_transactions/1.txn").await);
    assert!(exists(&*memory, "tables/t/data/1.txn").await);
    let large = path("tables/t/_transactions/2.txn");
    faults.clear();
    staging.put_opts(&large, vec![0; (20 << 20) + 1].into(), PutOptions::default()).await.unwrap();
    staging.barrier(std::slice::from_ref(&large)).await.unwrap();
    assert!(exists(&*memory, "tables/t/_transactions/2.txn").await, "too large to be in the manifest");
}

#[tokio::test]
async fn a_put_that_panics_fails_its_barrier() {
    #[derive(Debug)]
    struct Panics;
    impl std::fmt::Display for Panics {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Panics")
        }
    }
    #[async_trait::async_trait]
    impl ObjectStore for Panics {
        async fn put_opts(
            &self,
            _: &Path,
            _: object_store::PutPayload,
            _: PutOptions,
        ) -> object_store::Result<object_store::PutResult> {
            panic!("in the background")
        }
        async fn put_multipart_opts(
            &self,
            _: &Path,
            _: object_store::PutMultipartOptions,
        ) -> object_store::Result<Box<dyn object_store::MultipartUpload>> {
            unreachable!()
        }
        async fn get_opts(&self, _: &Path, _: GetOptions) -> object_store::Result<object_store::GetResult> {
            unreachable!()
        }
        fn delete_stream(
            &self,
            _: futures::stream::BoxStream<'static, object_store::Result<Path>>,
        ) -> futures::stream::BoxStream<'static, object_store::Result<Path>> {
            unreachable!()
        }
        fn list(
            &self,
            _: Option<&Path>,
        ) -> futures::stream::BoxStream<'static, object_store::Result<object_store::ObjectMeta>> {
            unreachable!()
        }
        async fn list_with_delimiter(&self, _: Option<&Path>) -> object_store::Result<object_store::ListResult> {
            unreachable!()
        }
        async fn copy_opts(&self, _: &Path, _: &Path, _: object_store::CopyOptions) -> object_store::Result<()> {
            unreachable!()
        }
    }
    let staging = Staging::new(Arc::new(Panics), &StoreOptions::default());
    let file = put(&staging, "file").await;
    assert!(matches!(staging.barrier(&[file]).await, Err(StoreError::Staging { .. })));
}

/// A crash cannot show that a folder was never synced; the order of effects can.
#[tokio::test]
async fn staged_files_are_durable_before_the_entry_is_put_and_read_backs_sync_its_folder() {
    let faults = Faults::new(Arc::new(InMemory::new()));
    let recording = Recording::new(Arc::new(faults.clone()));
    let mut backend = Backend::new(StoreKind::Local, "recorded", Arc::new(recording.clone()));
    backend.folders = Some(Arc::new(recording.clone()));
    let store = Store::from_backend(backend, &StoreOptions::default());
    faults.add(When::kind(RequestKind::Create), Fault::FailAfter);

    let files = [put(&store.staging(), "tables/t/data/1").await, put(&store.staging(), "tables/t/_versions/1").await];
    store.staging().barrier(&files).await.unwrap();
    store.create(&path("branches/main/1"), &bytes("record")).await.unwrap();

    let effects = recording.take();
    let at = |kind, name: &str, phase| {
        let found = effects.iter().position(|e| e.kind == kind && e.path == path(name) && e.phase == phase);
        found.unwrap_or_else(|| panic!("no {kind} {name} {phase:?} in {effects:?}"))
    };
    let entry = at(RequestKind::Create, "branches/main/1", Phase::Begun);
    for file in ["tables/t/data/1", "tables/t/_versions/1"] {
        assert!(at(RequestKind::Put, file, Phase::Done) < entry);
    }
    let lost = at(RequestKind::Create, "branches/main/1", Phase::Failed);
    let read = at(RequestKind::Get, "branches/main/1", Phase::Done);
    let synced = at(RequestKind::Sync, "branches/main", Phase::Done);
    assert!(lost < read && read < synced);
    assert_eq!(synced, effects.len() - 1, "told only when synced");
}

#[tokio::test]
async fn a_read_back_that_cannot_be_synced_is_unknown() {
    #[derive(Debug)]
    struct Unsyncable;
    #[async_trait::async_trait]
    impl pleach::store::Folders for Unsyncable {
        async fn sync(&self, _: &Path) -> std::io::Result<()> {
            Err(std::io::Error::other("full"))
        }
        async fn remove_empty(&self, _: &Path) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (_, faults, _) = faulty();
    let mut backend = Backend::new(StoreKind::Local, "unsyncable", Arc::new(faults.clone()));
    backend.folders = Some(Arc::new(Unsyncable));
    let store = Store::from_backend(backend, &StoreOptions::default());
    faults.add(When::kind(RequestKind::Create).once(), Fault::FailAfter);
    let outcome = store.create(&path("log/1"), &bytes("x")).await;
    assert!(matches!(outcome, Ok(pleach::store::Created::Unknown(StoreError::Folder { .. }))), "{outcome:?}");
}
