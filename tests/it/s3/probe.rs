//! Whether a server keeps the promises that commits rest on is found out: one that does passes, one that does not is refused.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kit::cli::Sandbox;
use kit::gateway::{Mishap, Requests};
use kit::graphs::init_options;
use kit::rig::{Rig, skipped};
use pleach::Graph;
use pleach::clock::Clock;
use pleach::store::{ProbeOptions, ProbeReport, Store, StoreOptions, probe};
use serde_json::json;

fn broken(report: &ProbeReport) -> Vec<&str> {
    report.broken().map(|check| check.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_two_clients_one_wins_each_of_a_hundred_keys() {
    let Some(rig) = Rig::find() else { return };
    let proxy = rig.proxy().await;
    proxy.add("latency", "downstream", 1.0, json!({"latency": 8, "jitter": 8})).await;
    let store = rig.store("probe", &proxy.endpoint()).await;
    let report =
        probe(&store, ProbeOptions { clients: 32, keys: 100, ..ProbeOptions::default() }).await.expect("a report");
    assert!(report.safe, "{report:#?}");
    assert_eq!((report.clients, report.keys, &report.left_behind), (32, 100, &None));
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_answers_do_not_make_a_server_unsafe() {
    let Some(rig) = Rig::find() else { return };
    let gateway = rig.gateway().await;
    for nth in 0..10 {
        gateway.add(Requests::creates().path("/race/").skip(nth * 7).once(), Mishap::AnswerReset);
    }
    let store = rig.store("probe", &gateway.endpoint()).await;
    let report = probe(&store, ProbeOptions::short()).await.expect("a report");
    assert!(report.safe, "{report:#?}");
}

#[test]
fn the_command_says_so_and_why_not() {
    let Some(rig) = Rig::find() else { return };
    let sandbox = Sandbox::new();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.envs(rig.environment(&rig.direct()));
        kit::cli::finish(command.spawn().expect("the command starts"))
    };
    let outcome = run(&["probe", &rig.uri("probe"), "--quick", "--json"]);
    assert_eq!((outcome.code, &outcome.json()["safe"]), (Some(0), &json!(true)), "{outcome:?}");
}

/// A server that answers one put-if-absent after the other truthfully, and overlapping ones not.
struct Racy {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Racy {
    /// Starts it; `None` where it is not installed.
    async fn start() -> Option<Self> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
        let built = cache.map(|cache| cache.join("pleach-s3s-fs/bin/s3s-fs"));
        let Some(binary) = built.filter(|binary| binary.exists()) else {
            skipped("no s3s-fs, the server that must be refused; `./dev s3s` builds it");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("bucket")).expect("a bucket is a folder there");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let child = Command::new(binary)
            .args(["--host", "127.0.0.1", "--access-key", "key", "--secret-key", "secret"])
            .args(["--port", &port.to_string()])
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let server = Self { child, port, _folder: folder };
        for _ in 0..200 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Some(server);
            }
            Clock::system().sleep(Duration::from_millis(25)).await;
        }
        panic!("s3s-fs does not listen");
    }

    fn options(&self) -> StoreOptions {
        let mut options =
            StoreOptions { endpoint: Some(format!("http://127.0.0.1:{}", self.port)), ..StoreOptions::default() };
        for (name, value) in [("region", "us-east-1"), ("access_key_id", "key"), ("secret_access_key", "secret")] {
            options.set(name, value).expect("a setting");
        }
        options
    }
}

impl Drop for Racy {
    fn drop(&mut self) {
        // It is ours, and it may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_checks_and_then_acts_is_refused() {
    let Some(server) = Racy::start().await else { return };
    let store = Store::open("s3://bucket/graph", &server.options()).await.expect("usable settings");
    let report = probe(&store, ProbeOptions::default()).await.expect("a report");
    assert!(!report.safe && broken(&report).contains(&"one-winner"), "{report:#?}");
    let winners = report.checks.iter().find(|check| check.name == "one-winner").expect("that check");
    assert!(winners.findings.iter().any(|finding| finding.contains("winners: clients")), "{winners:?}");
    let error = Graph::builder()
        .store_options(server.options())
        .init("s3://bucket/graph", super::SCHEMA, init_options())
        .await
        .expect_err("no graph is made on such a server");
    assert_eq!(error.code(), "store-unsafe", "{error}");
}
