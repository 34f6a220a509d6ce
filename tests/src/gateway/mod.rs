//! An HTTP proxy in front of an S3 server that understands requests: it counts them, and lets chosen ones go wrong.
//!
//! What a single request meets cannot be said in bytes: the *answer to the record's PUT* is lost, *its* delivery comes late, a
//! 503 answers *every second read*. Slow and broken connections are [`crate::proxy`]'s; the two can stand in a row.

mod exchange;
mod rules;
mod traffic;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use pleach::clock::Clock;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

pub use self::rules::{Mishap, Requests};
pub use self::traffic::{Seen, Traffic};

use self::rules::Rules;
use self::traffic::Log;

/// A gateway, which ends when it is dropped.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

/// What all connections share.
#[derive(Debug)]
struct State {
    upstream: SocketAddr,
    rules: Mutex<Rules>,
    log: Log,
    clock: Clock,
}

impl State {
    fn rules(&self) -> std::sync::MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// Starts a gateway in front of `upstream`, on a free port of this machine.
    ///
    /// # Panics
    /// If there is none.
    pub async fn start(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let state = Arc::new(State { upstream, rules: Mutex::default(), log: Log::default(), clock: Clock::system() });
        let accepting = tokio::spawn(accept(listener, state.clone()));
        Self { address, state, accepting }
    }

    /// The URL for clients.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets `requests` meet `mishap`. Of several rules that fit the first counts.
    pub fn add(&self, requests: Requests, mishap: Mishap) {
        self.state.rules().add(requests, mishap);
    }

    /// Forgets all rules.
    pub fn clear(&self) {
        *self.state.rules() = Rules::default();
    }

    /// What came through since it was asked last.
    pub fn take(&self) -> Traffic {
        self.state.log.take()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        if let Ok((client, _)) = listener.accept().await {
            state.log.connected();
            let state = state.clone();
            // A side that breaks off is what tests are about.
            connections.spawn(async move { drop(exchange::serve(client, &state).await) });
        }
        while connections.try_join_next().is_some() {}
    }
}
