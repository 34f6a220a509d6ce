//! The proxies of the rig do what they are asked for: otherwise what is tested through them means nothing.

mod gateway;
mod toxics;

use std::time::{Duration, Instant};

use kit::proxy::Server;
use kit::rig::Proxy;
use pleach::clock::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server that sends back what it receives, and a proxy in front of it.
async fn echo() -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
                let _ = to.shutdown().await;
            });
        }
    });
    let server = Server::bind("127.0.0.1:0").await.unwrap();
    let api = server.address().unwrap();
    tokio::spawn(server.run());
    Proxy::make(api, address).await
}

fn now() -> Instant {
    Clock::system().instant()
}

fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Sends `bytes` and reads as many.
async fn round_trip(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut answer = vec![0; bytes.len()];
    let (mut from, mut to) = stream.split();
    let (sent, read) = tokio::join!(to.write_all(bytes), from.read_exact(&mut answer));
    sent?;
    read?;
    Ok(answer)
}

async fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(proxy.address()).await.unwrap()
}
