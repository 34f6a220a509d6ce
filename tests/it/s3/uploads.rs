//! Files and reads that break on their way: nothing that is not whole is published, nothing that is not whole is believed.

use kit::gateway::{Mishap, Requests};
use kit::graphs::{export, write};
use pleach::{ErrorKind, Write};

use super::{Behind, person, record_get};

fn data_put() -> Requests {
    Requests::of("PUT").path("/data/")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_breaks_once_is_sent_again() {
    for mishap in [Mishap::UploadReset(100), Mishap::AnswerReset, Mishap::Answered(503, "SlowDown"), Mishap::Hung] {
        let Some(behind) = Behind::new().await else { return };
        let graph = behind.open().await;
        behind.gateway.add(data_put().once(), mishap.clone());
        write(&graph, Write::new().insert_json(person("a", 1)))
            .await
            .unwrap_or_else(|error| panic!("{mishap:?}: {error}"));
        behind.assert_people(&["a"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_always_breaks_publishes_nothing() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    behind.gateway.add(data_put(), Mishap::UploadReset(100));
    let error = write(&graph, Write::new().insert_json(person("a", 1))).await.expect_err("its file is not there");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "staging-failed"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("nothing was published")), "{:?}", error.hint());
    behind.assert_people(&[]).await;
    behind.gateway.clear();
    write(&graph, Write::new().insert_json(person("a", 1))).await.expect("the same handle goes on");
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_is_read_again_or_an_error() {
    let Some(behind) = Behind::new().await else { return };
    write(&behind.direct().await, Write::new().insert_json(person("a", 1))).await.expect("a commit");
    let whole = export(&behind.direct().await, "main").await;
    for broken in
        [record_get(), Requests::of("GET").path("/data/"), Requests::of("GET").path("list-type=2"), Requests::all()]
    {
        for mishap in [Mishap::BodyCut(10), Mishap::AnswerReset, Mishap::AnswerCut] {
            behind.gateway.clear();
            behind.gateway.add(broken.clone().once(), mishap.clone());
            let mut lines = Vec::new();
            let store = behind.store(behind.hurried()).await;
            let outcome = match pleach::Graph::open_on(store).await {
                Ok(graph) => graph.export("main", &[], &mut lines).await.map(drop),
                Err(error) => Err(error),
            };
            match outcome {
                Ok(()) => assert_eq!(String::from_utf8_lossy(&lines), whole, "{broken:?} {mishap:?}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{broken:?} {mishap:?}: {error}"),
            }
        }
    }
}
