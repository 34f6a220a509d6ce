//! The proxies by name: making, changing and ending them.

use std::collections::BTreeMap;
use std::io;

use pleach::clock::Clock;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::link;
use super::toxic::Toxic;

/// Why the API refuses.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) error: String,
}

impl Refused {
    pub(super) fn new(status: u16, error: impl Into<String>) -> Self {
        Self { status, error: error.into() }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::new(500, error.to_string())
    }
}

/// A proxy as a client describes it.
#[derive(Debug, Deserialize)]
pub(super) struct Described {
    name: String,
    listen: String,
    upstream: String,
    #[serde(default = "yes")]
    enabled: bool,
}

fn yes() -> bool {
    true
}

/// All proxies.
#[derive(Debug, Default)]
pub(super) struct Registry(Mutex<BTreeMap<String, Proxy>>);

#[derive(Debug)]
struct Proxy {
    listen: String,
    upstream: String,
    toxics: watch::Sender<Vec<Toxic>>,
    /// The task that accepts connections and owns them; `None` while the proxy is down.
    running: Option<JoinHandle<()>>,
}

impl Proxy {
    fn to_json(&self, name: &str) -> Value {
        let toxics: Vec<Value> = self.toxics.borrow().iter().map(Toxic::to_json).collect();
        json!({
            "name": name, "listen": self.listen, "upstream": self.upstream, "enabled": self.running.is_some(), "toxics": toxics
        })
    }

    async fn up(&mut self) -> io::Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        let listener = TcpListener::bind(&self.listen).await?;
        // The port that was chosen is kept when it goes down and up again.
        self.listen = listener.local_addr()?.to_string();
        self.running = Some(tokio::spawn(accept(listener, self.upstream.clone(), self.toxics.subscribe())));
        Ok(())
    }

    /// Ends all connections and refuses new ones.
    async fn down(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
            // Its end is the point; that it was aborted is known.
            let _ = running.await;
        }
    }
}

async fn accept(listener: TcpListener, upstream: String, toxics: link::Toxics) {
    let mut connections = JoinSet::new();
    loop {
        // One that could not be accepted is its client's trouble.
        if let Ok((client, _)) = listener.accept().await {
            let (upstream, toxics) = (upstream.clone(), toxics.clone());
            connections.spawn(async move { link::run(client, &upstream, toxics, &Clock::system()).await });
        }
        while connections.try_join_next().is_some() {}
    }
}

impl Registry {
    pub(super) async fn all(&self) -> Value {
        let proxies = self.0.lock().await;
        proxies.iter().map(|(name, proxy)| (name.clone(), proxy.to_json(name))).collect::<Map<_, _>>().into()
    }

    pub(super) async fn create(&self, described: Described) -> Result<Value, Refused> {
        let mut proxies = self.0.lock().await;
        let Described { name, listen, upstream, enabled } = described;
        if proxies.contains_key(&name) {
            return Err(Refused::new(409, "proxy already exists"));
        }
        let mut proxy = Proxy { listen, upstream, toxics: watch::channel(Vec::new()).0, running: None };
        if enabled {
            proxy.up().await?;
        }
        let json = proxy.to_json(&name);
        proxies.insert(name, proxy);
        Ok(json)
    }

    pub(super) async fn delete(&self, name: &str) -> Result<(), Refused> {
        let mut proxy = self.0.lock().await.remove(name).ok_or_else(no_proxy)?;
        proxy.down().await;
        Ok(())
    }

    /// Brings all up and removes all toxics.
    pub(super) async fn reset(&self) -> Result<(), Refused> {
        for proxy in self.0.lock().await.values_mut() {
            proxy.toxics.send_replace(Vec::new());
            proxy.up().await?;
        }
        Ok(())
    }

    pub(super) async fn show(&self, name: &str) -> Result<Value, Refused> {
        self.0.lock().await.get(name).map(|proxy| proxy.to_json(name)).ok_or_else(no_proxy)
    }

    /// Changes where it leads, or whether it is up.
    pub(super) async fn change(&self, name: &str, json: &Value) -> Result<Value, Refused> {
        let mut proxies = self.0.lock().await;
        let proxy = proxies.get_mut(name).ok_or_else(no_proxy)?;
        if let Some(upstream) = json["upstream"].as_str().filter(|upstream| *upstream != proxy.upstream) {
            upstream.clone_into(&mut proxy.upstream);
            if proxy.running.is_some() {
                proxy.down().await;
                proxy.up().await?;
            }
        }
        match json["enabled"].as_bool() {
            Some(true) => proxy.up().await?,
            Some(false) => proxy.down().await,
            None => {}
        }
        Ok(proxy.to_json(name))
    }

    pub(super) async fn toxics(&self, name: &str) -> Result<Value, Refused> {
        self.show(name).await.map(|mut proxy| proxy["toxics"].take())
    }

    pub(super) async fn add_toxic(&self, name: &str, toxic: Toxic) -> Result<Value, Refused> {
        let proxies = self.0.lock().await;
        let proxy = proxies.get(name).ok_or_else(no_proxy)?;
        if proxy.toxics.borrow().iter().any(|other| other.name == toxic.name) {
            return Err(Refused::new(409, "toxic already exists"));
        }
        let json = toxic.to_json();
        // `send_modify`, since nobody may be listening at the moment.
        proxy.toxics.send_modify(|toxics| toxics.push(toxic));
        Ok(json)
    }

    pub(super) async fn change_toxic(&self, name: &str, toxic: &str, json: &Value) -> Result<Value, Refused> {
        let proxies = self.0.lock().await;
        let proxy = proxies.get(name).ok_or_else(no_proxy)?;
        let old = proxy.toxics.borrow().iter().find(|other| other.name == toxic).cloned().ok_or_else(no_toxic)?;
        let new = old.changed(json).map_err(|error| Refused::new(400, error))?;
        let json = new.to_json();
        proxy.toxics.send_modify(|toxics| {
            for old in toxics.iter_mut().filter(|other| other.name == toxic) {
                *old = new.clone();
            }
        });
        Ok(json)
    }

    pub(super) async fn remove_toxic(&self, name: &str, toxic: &str) -> Result<(), Refused> {
        let proxies = self.0.lock().await;
        let proxy = proxies.get(name).ok_or_else(no_proxy)?;
        let before = proxy.toxics.borrow().len();
        proxy.toxics.send_modify(|toxics| toxics.retain(|other| other.name != toxic));
        if proxy.toxics.borrow().len() == before { Err(no_toxic()) } else { Ok(()) }
    }
}

fn no_proxy() -> Refused {
    Refused::new(404, "proxy not found")
}

fn no_toxic() -> Refused {
    Refused::new(404, "toxic not found")
}
