//! Each mishap of the gateway: what reached the server, and what the client was told.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use kit::gateway::{Gateway, Mishap, Requests};
use kit::http::{Head, ask, read_body, response};
use pleach::clock::Clock;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{millis, now};

/// Bodies of requests that reached the server whole.
type Reached = Arc<Mutex<Vec<String>>>;

/// A server that notes the bodies it receives and answers each by ten bytes, and a gateway in front of it.
async fn noting() -> (Gateway, Reached) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let reached = Reached::default();
    let noted = reached.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream, noted.clone()));
        }
    });
    (Gateway::start(address).await, reached)
}

async fn answer_all(stream: TcpStream, reached: Reached) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(head) = Head::read(&mut stream).await? {
        let body = read_body(&mut stream, head.request_framing()).await?;
        reached.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
        stream.write_all(&response(200, "text/plain", "0123456789")).await?;
    }
    Ok(())
}

fn address(gateway: &Gateway) -> SocketAddr {
    gateway.endpoint().trim_start_matches("http://").parse().unwrap()
}

async fn put(gateway: &Gateway, body: &str) -> io::Result<(u16, String)> {
    ask(address(gateway), "PUT", "/bucket/key", body).await
}

fn count(reached: &Reached) -> usize {
    reached.lock().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_meets_nothing_passes_and_is_counted() {
    let (gateway, reached) = noting().await;
    for body in ["one", "", "three"] {
        assert_eq!(put(&gateway, body).await.unwrap(), (200, "0123456789".to_owned()));
    }
    ask(address(&gateway), "GET", "/bucket?list-type=2", "").await.unwrap();
    ask(address(&gateway), "GET", "/bucket/key", "").await.unwrap();
    assert_eq!(*reached.lock().unwrap(), ["one", "", "three", "", ""]);
    let traffic = gateway.take();
    assert_eq!((traffic.of("PUT"), traffic.lists(), traffic.gets(), traffic.connections), (3, 1, 1, 5));
    assert_eq!((traffic.requests[2].bytes, traffic.serial_depth()), ((5, 10), 5));
    assert_eq!(gateway.take().requests, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_serves_request_after_request() {
    let (gateway, reached) = noting().await;
    let mut stream = BufReader::new(TcpStream::connect(address(&gateway)).await.unwrap());
    for _ in 0..3 {
        stream.write_all(b"PUT /k HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
        let head = Head::read(&mut stream).await.unwrap().unwrap();
        assert_eq!(read_body(&mut stream, head.response_framing("PUT")).await.unwrap(), b"0123456789");
    }
    assert_eq!((count(&reached), gateway.take().connections), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_the_gateways_own_spares_the_server() {
    let (gateway, reached) = noting().await;
    gateway.add(Requests::of("PUT").skip(1).once(), Mishap::Answered(503, "SlowDown"));
    let statuses = [put(&gateway, "a").await, put(&gateway, "b").await, put(&gateway, "c").await].map(Result::unwrap);
    assert_eq!(statuses.each_ref().map(|(status, _)| *status), [200, 503, 200]);
    assert!(statuses[1].1.contains("<Code>SlowDown</Code>"));
    assert_eq!(*reached.lock().unwrap(), ["a", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_get_lost_after_the_effect() {
    for (mishap, expected) in [
        (Mishap::AnswerReset, io::ErrorKind::ConnectionReset),
        (Mishap::AnswerCut, io::ErrorKind::UnexpectedEof),
        (Mishap::BodyCut(4), io::ErrorKind::UnexpectedEof),
    ] {
        let (gateway, reached) = noting().await;
        gateway.add(Requests::all().once(), mishap.clone());
        let error = put(&gateway, "a").await.unwrap_err();
        assert_eq!((error.kind(), count(&reached)), (expected, 1), "{mishap:?}");
        gateway.clear();
        put(&gateway, "b").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hung_requests_are_not_answered() {
    for (mishap, effects) in [(Mishap::AnswerHung, 1), (Mishap::Hung, 0)] {
        let (gateway, reached) = noting().await;
        gateway.add(Requests::all().once(), mishap.clone());
        assert!(Clock::system().timeout(millis(200), put(&gateway, "a")).await.is_none(), "{mishap:?}");
        assert_eq!(count(&reached), effects, "{mishap:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_request_arrives_after_its_client_has_left() {
    let (gateway, reached) = noting().await;
    gateway.add(Requests::all().once(), Mishap::Late(millis(300)));
    let begun = now();
    assert!(Clock::system().timeout(millis(50), put(&gateway, "late")).await.is_none());
    assert_eq!(count(&reached), 0);
    while count(&reached) == 0 {
        assert!(begun.elapsed() < millis(10_000), "it never came");
        Clock::system().sleep(millis(10)).await;
    }
    assert!(begun.elapsed() >= millis(300));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_reset_does_not_arrive_whole() {
    let (gateway, reached) = noting().await;
    gateway.add(Requests::all().once(), Mishap::UploadReset(3));
    assert!(put(&gateway, &"x".repeat(1 << 20)).await.is_err());
    put(&gateway, "next").await.unwrap();
    assert_eq!(*reached.lock().unwrap(), ["next"]);
}
