//! A TCP proxy that makes connections slow, narrow and unreliable, driven by the HTTP API of Toxiproxy, so that a
//! `toxiproxy-server` can take its place.
//!
//! It knows of bytes alone. Faults of single requests are [`crate::gateway`]'s.

mod api;
mod link;
mod registry;
mod toxic;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, ToSocketAddrs};

use self::registry::Registry;

/// The API, which listens but does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    registry: Arc<Registry>,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// When the address is not free.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, registry: Arc::default() })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the operating system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped.
    ///
    /// # Errors
    /// When no connection can be accepted any more.
    pub async fn run(self) -> io::Result<()> {
        api::run(self.listener, self.registry).await
    }
}
