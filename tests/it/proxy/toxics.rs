//! Each toxic, and the API that sets them.

use std::io::ErrorKind;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{connect, echo, millis, now, round_trip};

#[tokio::test(flavor = "multi_thread")]
async fn without_toxics_all_bytes_pass_both_ways_and_so_does_the_end() {
    let proxy = echo().await;
    let mut stream = connect(&proxy).await;
    let bytes: Vec<u8> = (0..8u32 << 20).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[2]).collect();
    assert!(round_trip(&mut stream, &bytes).await.unwrap() == bytes);
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn latency_delays_a_stream_and_does_not_narrow_it() {
    let proxy = echo().await;
    proxy.add("latency", "downstream", 1.0, json!({"latency": 60, "jitter": 10})).await;
    let mut stream = connect(&proxy).await;
    for _ in 0..3 {
        let begun = now();
        round_trip(&mut stream, b"x").await.unwrap();
        assert!(begun.elapsed() >= millis(50), "{:?}", begun.elapsed());
    }
    let begun = now();
    round_trip(&mut stream, &vec![7; 4 << 20]).await.unwrap();
    // 128 chunks, which one after the other would take seven seconds.
    assert!(begun.elapsed() < millis(4_000), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn bandwidth_bounds_the_rate() {
    let proxy = echo().await;
    proxy.add("bandwidth", "upstream", 1.0, json!({"rate": 512})).await;
    let begun = now();
    round_trip(&mut connect(&proxy).await, &vec![7; 128 << 10]).await.unwrap();
    assert!(begun.elapsed() >= millis(240), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_swallows_and_closes_when_it_is_over() {
    let proxy = echo().await;
    proxy.add("timeout", "downstream", 1.0, json!({"timeout": 80})).await;
    let mut stream = connect(&proxy).await;
    let begun = now();
    stream.write_all(b"x").await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "the end, and no byte");
    assert!(begun.elapsed() >= millis(80));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_of_zero_swallows_until_it_is_removed() {
    let proxy = echo().await;
    proxy.add("timeout", "downstream", 1.0, json!({})).await;
    let mut stream = connect(&proxy).await;
    stream.write_all(b"lost").await.unwrap();
    let clock = pleach::clock::Clock::system();
    assert!(clock.timeout(millis(150), stream.read(&mut [0])).await.is_none(), "nothing comes, not even the end");
    proxy.cure().await;
    assert_eq!(round_trip(&mut stream, b"seen").await.unwrap(), b"seen");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_is_no_polite_end() {
    let proxy = echo().await;
    proxy.add("reset_peer", "downstream", 1.0, json!({})).await;
    let error = round_trip(&mut connect(&proxy).await, b"x").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[tokio::test(flavor = "multi_thread")]
async fn limited_data_ends_after_exactly_so_many_bytes() {
    let proxy = echo().await;
    proxy.add("limit_data", "downstream", 1.0, json!({"bytes": 10})).await;
    let mut stream = connect(&proxy).await;
    let mut read = Vec::new();
    stream.write_all(b"0123").await.unwrap();
    stream.read_exact(&mut [0; 4]).await.unwrap();
    stream.write_all(b"456789abc").await.unwrap();
    stream.read_to_end(&mut read).await.unwrap();
    assert_eq!(read, b"456789");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_close_delays_the_end_alone() {
    let proxy = echo().await;
    proxy.add("slow_close", "downstream", 1.0, json!({"delay": 700})).await;
    let mut stream = connect(&proxy).await;
    let begun = now();
    round_trip(&mut stream, b"x").await.unwrap();
    assert!(begun.elapsed() < millis(600), "{:?}", begun.elapsed());
    let begun = now();
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    assert!(begun.elapsed() >= millis(700), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn toxicity_is_the_share_of_the_connections() {
    let proxy = echo().await;
    for (toxicity, expected) in [(0.0, 0..=0), (0.5, 15..=65), (1.0, 80..=80)] {
        proxy.add("reset_peer", "downstream", toxicity, json!({})).await;
        let mut reset = 0;
        for _ in 0..80 {
            reset += u64::from(round_trip(&mut connect(&proxy).await, b"x").await.is_err());
        }
        assert!(expected.contains(&reset), "{toxicity}: {reset} of 80");
        proxy.cure().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_is_down_refuses_and_comes_back_at_the_same_address() {
    let proxy = echo().await;
    let mut open = connect(&proxy).await;
    round_trip(&mut open, b"x").await.unwrap();
    proxy.enable(false).await;
    assert!(round_trip(&mut open, b"x").await.is_err(), "open connections end");
    assert_eq!(TcpStream::connect(proxy.address()).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    proxy.enable(true).await;
    assert_eq!(round_trip(&mut connect(&proxy).await, b"again").await.unwrap(), b"again");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_shows_and_changes_what_there_is() {
    let proxy = echo().await;
    proxy.add("latency", "downstream", 1.0, json!({"latency": 5})).await;
    let name = "/toxics/latency_downstream";
    let (status, changed) = proxy.ask("PATCH", name, &json!({"attributes": {"jitter": 2}})).await;
    assert_eq!((status, &changed["attributes"]), (200, &json!({"latency": 5, "jitter": 2})));
    let (status, shown) = proxy.ask("GET", "", &Value::Null).await;
    assert_eq!((status, &shown["enabled"], &shown["toxics"]), (200, &json!(true), &json!([changed])));
    assert_eq!(proxy.ask("DELETE", name, &Value::Null).await.0, 204);
    assert_eq!(proxy.ask("GET", "/toxics", &Value::Null).await, (200, json!([])));
    assert_eq!(proxy.ask("DELETE", "", &Value::Null).await.0, 204);
    assert_eq!(proxy.ask("GET", "", &Value::Null).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_refuses_what_it_does_not_understand() {
    let proxy = echo().await;
    proxy.add("latency", "downstream", 1.0, json!({})).await;
    for (method, path, body, status) in [
        ("POST", "/toxics", json!({"type": "latency"}), 409),
        ("POST", "/toxics", json!({"type": "poison"}), 400),
        ("POST", "/toxics/other", json!({"toxicity": 1}), 404),
        ("PATCH", "/toxics/latency_downstream", json!({"attributes": {"latency": "long"}}), 400),
        ("DELETE", "/toxics/other", Value::Null, 404),
        ("PUT", "/toxics", Value::Null, 404),
    ] {
        let (answered, told) = proxy.ask(method, path, &body).await;
        assert_eq!(answered, status, "{method} {path} {body}: {told}");
        assert!(told["error"].is_string(), "{told}");
    }
}
