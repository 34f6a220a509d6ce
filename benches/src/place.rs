//! Where a measured graph lies: behind a delay, so that round trips count for what they cost on a network.

use std::time::Duration;

use kit::rig::{Proxy, Rig};
use kit::world::World;
use pleach::store::Store;
use serde_json::json;

/// A place for graphs whose answers can be slowed down.
#[derive(Debug)]
pub enum Place {
    /// Memory, with a wait in front of each request.
    Memory(Box<World>),
    /// A real S3 server behind a proxy that holds back what it answers.
    S3(Box<OnServer>),
}

/// A server and the way to it.
#[derive(Debug)]
pub struct OnServer {
    rig: Rig,
    proxy: Proxy,
}

impl Place {
    /// Memory of its own.
    #[must_use]
    pub fn memory() -> Self {
        Self::Memory(Box::new(World::new()))
    }

    /// A prefix of its own on the server that `tests/s3/with-s3` started; none if there is none.
    pub async fn server() -> Option<Self> {
        std::env::var_os("PLEACH_S3_DIRECT")?;
        let rig = Rig::find()?;
        let proxy = rig.proxy().await;
        Some(Self::S3(Box::new(OnServer { rig, proxy })))
    }

    /// What it is, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Memory(_) => "memory",
            Self::S3(place) => &place.rig.server,
        }
    }

    /// The graph here, as a process of its own would reach it.
    pub async fn store(&self) -> Store {
        match self {
            Self::Memory(world) => world.store(),
            Self::S3(place) => place.rig.store("graph", &place.proxy.endpoint()).await,
        }
    }

    /// Lets each answer come `delay` later from now on.
    pub async fn slow(&self, delay: Duration) {
        match self {
            Self::Memory(world) => world.faults.delay_all(delay),
            Self::S3(place) => {
                let latency = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                place.proxy.add("latency", "downstream", 1.0, json!({"latency": latency, "jitter": 0})).await;
            }
        }
    }

    /// Lets answers come when they come.
    pub async fn fast(&self) {
        match self {
            Self::Memory(world) => world.faults.clear(),
            Self::S3(place) => place.proxy.cure().await,
        }
    }
}
