//! The real S3 server that `tests/s3/with-s3` started, as tests use it.
//!
//! A test that needs it begins with `let Some(rig) = Rig::find() else { return };`: without a server it is skipped, which is
//! noted for the summary of `./dev test`. Each test has a prefix and proxies of its own, so that they run side by side.

#![allow(clippy::panic, clippy::missing_panics_doc, reason = "what fails here fails the test")]

use std::fs::OpenOptions;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pleach::clock::Clock;
use pleach::store::{Store, StoreOptions};
use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::http::ask;

/// Notes that a test was skipped, and why.
#[allow(clippy::print_stderr, reason = "without a summary to note it in, it is said here")]
pub fn skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("skipped {test}: {reason}");
    let Some(file) = std::env::var_os("PLEACH_TEST_SKIPS") else { return };
    let mut file = OpenOptions::new().append(true).create(true).open(file).expect("the file of skipped tests");
    file.write_all(format!("{test}: {reason}\n").as_bytes()).expect("a note");
}

/// A bucket on a running server.
#[derive(Debug, Clone)]
pub struct Rig {
    /// The server's name and version.
    pub server: String,
    direct: SocketAddr,
    proxy_api: SocketAddr,
    bucket: String,
    access_key_id: String,
    secret_access_key: String,
    region: String,
    prefix: String,
}

impl Rig {
    /// The rig, if the environment names one; otherwise the test counts as skipped.
    pub fn find() -> Option<Self> {
        let Ok(direct) = std::env::var("PLEACH_S3_DIRECT") else {
            skipped("no S3 server; `./dev test` and `./dev s3` start one");
            return None;
        };
        let var = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("with-s3 sets {name}"));
        Some(Self {
            server: var("PLEACH_S3_NAME"),
            direct: address(&direct),
            proxy_api: address(&var("PLEACH_S3_PROXY_API")),
            bucket: var("PLEACH_S3_BUCKET"),
            access_key_id: var("AWS_ACCESS_KEY_ID"),
            secret_access_key: var("AWS_SECRET_ACCESS_KEY"),
            region: var("AWS_REGION"),
            prefix: Clock::system().ulid().to_string(),
        })
    }

    /// Where the server itself listens.
    pub fn direct(&self) -> String {
        format!("http://{}", self.direct)
    }

    /// The URI of a graph of this test.
    pub fn uri(&self, name: &str) -> String {
        format!("s3://{}/{}/{name}", self.bucket, self.prefix)
    }

    /// Settings to reach the server through `endpoint`, with patience that a hanging request exhausts soon.
    pub fn options(&self, endpoint: &str) -> StoreOptions {
        StoreOptions {
            endpoint: Some(endpoint.to_owned()),
            region: Some(self.region.clone()),
            access_key_id: Some(self.access_key_id.clone()),
            secret_access_key: Some(self.secret_access_key.clone()),
            timeout: Some(Duration::from_secs(4)),
            connect_timeout: Some(Duration::from_secs(2)),
            commit_timeout: Duration::from_secs(2),
            commit_within: Duration::from_secs(8),
            connect_within: Duration::from_secs(2),
            ..StoreOptions::default()
        }
    }

    /// The environment of a command that reaches the server through `endpoint`.
    pub fn environment(&self, endpoint: &str) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", endpoint.to_owned()),
            ("AWS_REGION", self.region.clone()),
            ("AWS_ACCESS_KEY_ID", self.access_key_id.clone()),
            ("AWS_SECRET_ACCESS_KEY", self.secret_access_key.clone()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        ]
    }

    /// A store of this test, reached through `endpoint`.
    pub async fn store(&self, name: &str, endpoint: &str) -> Store {
        Store::open(&self.uri(name), &self.options(endpoint)).await.expect("usable settings")
    }

    /// A gateway in front of the server.
    pub async fn gateway(&self) -> Gateway {
        Gateway::start(self.direct).await
    }

    /// A fault proxy of this test in front of the server.
    pub async fn proxy(&self) -> Proxy {
        Proxy::make(self.proxy_api, self.direct).await
    }
}

/// The address in a URL of host and port.
fn address(url: &str) -> SocketAddr {
    let text = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    text.parse().unwrap_or_else(|_| panic!("{url} is no address and port"))
}

/// A proxy of a running Toxiproxy, or of our own stand-in for it.
#[derive(Debug, Clone)]
pub struct Proxy {
    api: SocketAddr,
    name: String,
    address: SocketAddr,
}

impl Proxy {
    /// Makes a proxy in front of `upstream`.
    pub async fn make(api: SocketAddr, upstream: SocketAddr) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let wanted = json!({"name": name, "listen": "127.0.0.1:0", "upstream": upstream.to_string(), "enabled": true});
        let (status, answer) = ask(api, "POST", "/proxies", &wanted.to_string()).await.expect("the proxy's API");
        assert_eq!(status, 201, "{answer}");
        let made: Value = serde_json::from_str(&answer).expect("JSON");
        let address = made["listen"].as_str().expect("where it listens").parse().expect("an address");
        Self { api, name, address }
    }

    /// The URL for clients.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a request about this proxy to the API; the status and the JSON of the answer.
    pub async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let path = format!("/proxies/{}{path}", self.name);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = ask(self.api, method, &path, &body).await.expect("the proxy's API");
        (status, serde_json::from_str(&answer).unwrap_or(Value::Null))
    }

    /// Makes something wrong with what clients receive (`downstream`) or send (`upstream`), in a share of the connections.
    pub async fn add(&self, kind: &str, stream: &str, toxicity: f64, attributes: Value) {
        let toxic = json!({"type": kind, "stream": stream, "toxicity": toxicity, "attributes": attributes});
        let (status, answer) = self.ask("POST", "/toxics", &toxic).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Makes nothing wrong any more. Whether it is up stays as it is.
    pub async fn cure(&self) {
        let (_, toxics) = self.ask("GET", "/toxics", &Value::Null).await;
        for toxic in toxics.as_array().into_iter().flatten() {
            let name = toxic["name"].as_str().expect("a name");
            let (status, answer) = self.ask("DELETE", &format!("/toxics/{name}"), &Value::Null).await;
            assert_eq!(status, 204, "{answer}");
        }
    }

    /// Ends all connections and refuses new ones, or takes them again.
    pub async fn enable(&self, up: bool) {
        let (status, answer) = self.ask("POST", "", &json!({"enabled": up})).await;
        assert_eq!(status, 200, "{answer}");
    }
}
