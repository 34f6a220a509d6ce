//! What the S3 client does by itself, seen at the gateway: the reason why a commit point has a client that sends once.

use std::sync::Arc;
use std::time::Duration;

use kit::conformance::create;
use kit::gateway::{Gateway, Mishap, Requests};
use kit::rig::Rig;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use pleach::store::{Created, Store, StoreOptions};

async fn behind_gateway() -> Option<(Gateway, Store, Arc<dyn ObjectStore>)> {
    let rig = Rig::find()?;
    let gateway = rig.gateway().await;
    let options = StoreOptions {
        timeout: Some(Duration::from_secs(1)),
        commit_timeout: Duration::from_millis(500),
        ..rig.options(&gateway.endpoint())
    };
    let store = Store::open(&rig.uri("client"), &options).await.expect("usable settings");
    let direct = rig.store("client", &rig.direct()).await.objects();
    Some((gateway, store, direct))
}

/// What a bare put-if-absent is told, how often it was sent, and whether its object is there.
struct Told {
    answer: object_store::Result<()>,
    sent: usize,
    there: bool,
}

async fn put(client: &Arc<dyn ObjectStore>, gateway: &Gateway, direct: &Arc<dyn ObjectStore>, mishap: &Mishap) -> Told {
    let key = Path::from("key");
    gateway.clear();
    gateway.add(Requests::creates().once(), mishap.clone());
    gateway.take();
    let answer = create(client, &key, "body").await;
    let there = direct.head(&key).await.is_ok();
    if there {
        direct.delete(&key).await.expect("the key is free again");
    }
    Told { answer, sent: gateway.take().requests.len(), there }
}

/// The client's own retries repeat a put whose answer was cut, and then call its own object somebody else's.
#[tokio::test(flavor = "multi_thread")]
async fn with_retries_a_put_may_be_refused_for_its_own_object() {
    let Some((gateway, store, direct)) = behind_gateway().await else { return };
    let told = put(&store.objects(), &gateway, &direct, &Mishap::AnswerCut).await;
    assert!(matches!(told.answer, Err(Error::AlreadyExists { .. })), "{:?}", told.answer);
    assert_eq!((told.sent, told.there), (2, true));
    let told = put(&store.objects(), &gateway, &direct, &Mishap::Answered(503, "SlowDown")).await;
    assert_eq!((told.answer.is_ok(), told.sent, told.there), (true, 2, true));
    for mishap in [Mishap::AnswerReset, Mishap::AnswerHung] {
        let told = put(&store.objects(), &gateway, &direct, &mishap).await;
        assert_eq!((told.answer.is_err(), told.sent, told.there), (true, 1, true), "{mishap:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commit_points_client_sends_everything_once() {
    let Some((gateway, store, direct)) = behind_gateway().await else { return };
    for (mishap, there) in [
        (Mishap::AnswerCut, true),
        (Mishap::AnswerReset, true),
        (Mishap::AnswerHung, true),
        (Mishap::Hung, false),
        (Mishap::UploadReset(2), false),
        (Mishap::Answered(503, "SlowDown"), false),
        (Mishap::Answered(500, "InternalError"), false),
        (Mishap::Answered(429, "TooManyRequests"), false),
    ] {
        let told = put(&store.commit_point(), &gateway, &direct, &mishap).await;
        assert!(!matches!(told.answer, Ok(()) | Err(Error::AlreadyExists { .. })), "{mishap:?}: {:?}", told.answer);
        assert_eq!((told.sent, told.there), (1, there), "{mishap:?}");
    }
    // A 409 says that a rival was under way, not that an object is there; the client makes no difference.
    let told =
        put(&store.commit_point(), &gateway, &direct, &Mishap::Answered(409, "ConditionalRequestConflict")).await;
    assert!(matches!(told.answer, Err(Error::AlreadyExists { .. })), "{:?}", told.answer);
    assert_eq!((told.sent, told.there), (1, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_is_read_back_tells_ours_from_theirs() {
    let Some((gateway, store, direct)) = behind_gateway().await else { return };
    for (n, mishap) in [Mishap::AnswerCut, Mishap::AnswerReset, Mishap::AnswerHung].into_iter().enumerate() {
        let key = Path::from(format!("record/{n}"));
        gateway.add(Requests::creates().once(), mishap.clone());
        let created = store.create(&key, &"ours".into()).await;
        assert!(matches!(created, Ok(Created::Ours)), "{mishap:?}: {created:?}");
        assert_eq!(direct.get(&key).await.unwrap().bytes().await.unwrap(), "ours");
        let created = store.create(&key, &"other".into()).await;
        assert!(matches!(&created, Ok(Created::Theirs(found)) if found == "ours"), "{created:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_and_plain_puts_are_sent_again() {
    let Some((gateway, store, direct)) = behind_gateway().await else { return };
    let key = Path::from("plain");
    for mishap in [Mishap::Answered(503, "SlowDown"), Mishap::AnswerReset, Mishap::AnswerCut] {
        for method in ["PUT", "GET"] {
            gateway.clear();
            gateway.take();
            gateway.add(Requests::of(method).times(2), mishap.clone());
            if method == "PUT" {
                store.overwrite(&key, "body".into()).await.unwrap_or_else(|error| panic!("{mishap:?}: {error}"));
            } else {
                let found = store.read(&key).await.unwrap_or_else(|error| panic!("{mishap:?}: {error}"));
                assert_eq!(found.as_deref(), Some(&b"body"[..]));
            }
            assert_eq!(gateway.take().requests.len(), 3, "{mishap:?} {method}");
        }
    }
    assert_eq!(direct.get(&key).await.unwrap().bytes().await.unwrap(), "body");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_used_again() {
    let Some((gateway, store, _)) = behind_gateway().await else { return };
    for n in 0..20 {
        let key = Path::from(format!("one after the other/{n}"));
        assert!(matches!(store.create(&key, &"x".into()).await, Ok(Created::Ours)));
        assert!(store.read(&key).await.unwrap().is_some());
        assert_eq!(store.first_keys(&Path::from("one after the other"), 1).await.unwrap().len(), 1);
    }
    let traffic = gateway.take();
    assert_eq!(traffic.requests.len(), 60);
    // Another one is made when a request comes before the last connection is back in the pool; then there are two to be used.
    assert!(traffic.connections <= 8, "{} connections for 60 requests", traffic.connections);
}
