//! The HTTP API, as far as tests need it.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::registry::{Refused, Registry};
use super::toxic::Toxic;
use crate::http::{Head, read_body, response};

/// Accepts connections for ever.
pub(super) async fn run(listener: TcpListener, registry: Arc<Registry>) -> io::Result<()> {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        let registry = registry.clone();
        // A client that breaks off has its own trouble.
        connections.spawn(async move { drop(serve(stream, &registry).await) });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, registry: &Registry) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(head) = Head::read(&mut stream).await? {
        let body = read_body(&mut stream, head.request_framing()).await?;
        let answer = match answer(registry, head.method(), head.target(), &body).await {
            Ok((204, _)) => response(204, "", ""),
            Ok((status, body)) => response(status, "application/json", &body.to_string()),
            Err(Refused { status, error }) => {
                response(status, "application/json", &json!({"error": error, "status": status}).to_string())
            }
        };
        stream.write_all(&answer).await?;
        if head.bytes().windows(9).any(|part| part == b"HTTP/1.0\r") {
            return stream.shutdown().await;
        }
    }
    Ok(())
}

async fn answer(registry: &Registry, method: &str, path: &str, body: &[u8]) -> Result<(u16, Value), Refused> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let done = (204, Value::Null);
    match (method, parts.as_slice()) {
        ("GET", ["version"]) => Ok((200, json!({"version": concat!("pleach-", env!("CARGO_PKG_VERSION"))}))),
        ("POST", ["reset"]) => registry.reset().await.map(|()| done),
        ("GET", ["proxies"]) => Ok((200, registry.all().await)),
        ("POST", ["proxies"]) => {
            let described = serde_json::from_slice(body).map_err(|error| Refused::new(400, error.to_string()))?;
            registry.create(described).await.map(|proxy| (201, proxy))
        }
        ("GET", ["proxies", name]) => registry.show(name).await.map(|proxy| (200, proxy)),
        ("POST" | "PATCH", ["proxies", name]) => registry.change(name, &parsed(body)?).await.map(|proxy| (200, proxy)),
        ("DELETE", ["proxies", name]) => registry.delete(name).await.map(|()| done),
        ("GET", ["proxies", name, "toxics"]) => registry.toxics(name).await.map(|toxics| (200, toxics)),
        ("POST", ["proxies", name, "toxics"]) => {
            let toxic = Toxic::from_json(parsed(body)?).map_err(|error| Refused::new(400, error))?;
            registry.add_toxic(name, toxic).await.map(|toxic| (200, toxic))
        }
        ("POST" | "PATCH", ["proxies", name, "toxics", toxic]) => {
            registry.change_toxic(name, toxic, &parsed(body)?).await.map(|toxic| (200, toxic))
        }
        ("DELETE", ["proxies", name, "toxics", toxic]) => registry.remove_toxic(name, toxic).await.map(|()| done),
        _ => Err(Refused::new(404, "not found")),
    }
}

fn parsed(body: &[u8]) -> Result<Value, Refused> {
    serde_json::from_slice(body).map_err(|error| Refused::new(400, error.to_string()))
}
