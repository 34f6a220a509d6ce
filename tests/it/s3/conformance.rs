//! The list of checks that memory and local folders pass.

use std::sync::Arc;

use kit::conformance::conformance;
use kit::rig::Rig;
use object_store::ObjectStore;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn the_server_conforms() {
    let Some(rig) = Rig::find() else { return };
    conformance(&rig.store("objects", &rig.direct()).await.objects(), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_that_sends_once_conforms_through_a_slow_proxy() {
    let Some(rig) = Rig::find() else { return };
    let proxy = rig.proxy().await;
    proxy.add("latency", "downstream", 1.0, json!({"latency": 10, "jitter": 8})).await;
    conformance(&rig.store("commit-point", &proxy.endpoint()).await.commit_point(), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staging_conforms_through_the_gateway() {
    let Some(rig) = Rig::find() else { return };
    let gateway = rig.gateway().await;
    let store = rig.store("staging", &gateway.endpoint()).await;
    conformance(&(store.staging() as Arc<dyn ObjectStore>), true).await;
}
