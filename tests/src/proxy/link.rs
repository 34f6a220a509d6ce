//! One connection through the proxy: bytes both ways, each way with its toxics.

use std::time::{Duration, Instant};

use pleach::clock::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, watch};

use super::toxic::{Kind, Stream, Toxic, millis};

/// The toxics of a proxy, as they are now.
pub(super) type Toxics = watch::Receiver<Vec<Toxic>>;

/// Chunks that may be on their way: what has been read while latency holds it back.
const CHUNKS: usize = 1024;
const CHUNK: usize = 32 << 10;

/// How a direction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// All was delivered, and then the end of the stream.
    Delivered,
    /// The whole connection is to be closed.
    Close,
    /// The whole connection is to be reset.
    Reset,
}

/// Connects to the server and passes bytes until both sides are through, or a toxic ends it.
pub(super) async fn run(mut client: TcpStream, server: &str, toxics: Toxics, clock: &Clock) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    // Small requests must not wait for each other's acknowledgements.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let end = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let up = carry(from_client, to_server, toxics.clone(), Stream::Upstream, clock);
        let down = carry(from_server, to_client, toxics, Stream::Downstream, clock);
        both(up, down).await
    };
    if end == End::Reset {
        for stream in [&client, &server] {
            // Closing then sends a reset instead of an end. One that is gone already needs none.
            let _ = stream.set_zero_linger();
        }
    }
}

/// Waits for both directions, or for the first that ends the connection.
async fn both(up: impl Future<Output = End>, down: impl Future<Output = End>) -> End {
    tokio::pin!(up, down);
    tokio::select! {
        end = &mut up => if end == End::Delivered { down.await } else { end },
        end = &mut down => if end == End::Delivered { up.await } else { end },
    }
}

/// Passes one direction. Reading goes on while what was read is held back: latency delays a stream and does not narrow it.
async fn carry(mut from: ReadHalf<'_>, to: WriteHalf<'_>, toxics: Toxics, stream: Stream, clock: &Clock) -> End {
    let (queue, chunks) = mpsc::channel(CHUNKS);
    let reading = async move {
        loop {
            let mut chunk = vec![0; CHUNK];
            match from.read(&mut chunk).await {
                Ok(0) => return End::Delivered,
                Ok(read) => chunk.truncate(read),
                Err(_) => return End::Reset,
            }
            if queue.send((clock.instant(), chunk)).await.is_err() {
                return End::Delivered;
            }
        }
    };
    let writing = Delivery { to, toxics, stream, clock, share: share(clock), passed: 0 }.run(chunks);
    tokio::pin!(reading, writing);
    tokio::select! {
        end = &mut writing => end,
        end = &mut reading => if end == End::Delivered { writing.await } else { end },
    }
}

/// Where this connection stands in the share of those that a toxic spares: below its toxicity it has it.
#[expect(clippy::cast_precision_loss, reason = "32 random bits are exact in a float")]
fn share(clock: &Clock) -> f64 {
    (clock.random_u64() >> 32) as f64 / f64::from(u32::MAX)
}

struct Delivery<'a> {
    to: WriteHalf<'a>,
    toxics: Toxics,
    stream: Stream,
    clock: &'a Clock,
    share: f64,
    passed: u64,
}

impl Delivery<'_> {
    async fn run(mut self, mut chunks: mpsc::Receiver<(Instant, Vec<u8>)>) -> End {
        while let Some((read_at, chunk)) = chunks.recv().await {
            if let Some(end) = self.deliver(read_at, chunk).await {
                return end;
            }
        }
        for toxic in self.current() {
            if let Kind::SlowClose { delay } = toxic {
                self.clock.sleep(millis(delay)).await;
            }
        }
        // A peer that is gone needs no end of the stream.
        let _ = self.to.shutdown().await;
        End::Delivered
    }

    /// The toxics that this direction has now.
    fn current(&self) -> Vec<Kind> {
        let toxics = self.toxics.borrow();
        let ours = toxics.iter().filter(|toxic| toxic.stream == self.stream && self.share < toxic.toxicity);
        ours.map(|toxic| toxic.kind).collect()
    }

    async fn deliver(&mut self, read_at: Instant, mut chunk: Vec<u8>) -> Option<End> {
        let mut due = read_at;
        let mut closes = false;
        for toxic in self.current() {
            match toxic {
                Kind::Latency { latency, jitter } => {
                    let least = latency.saturating_sub(jitter);
                    due += millis(least + self.clock.random_u64() % (2 * jitter.min(latency) + 1));
                    self.clock.sleep(due.saturating_duration_since(self.clock.instant())).await;
                }
                Kind::Bandwidth { rate } => {
                    let micros = chunk.len() as u64 * 1_000_000 / (rate.max(1) << 10);
                    self.clock.sleep(Duration::from_micros(micros)).await;
                }
                Kind::Timeout { timeout: 0 } => return None,
                Kind::Timeout { timeout } => {
                    self.clock.sleep(millis(timeout)).await;
                    return Some(End::Close);
                }
                Kind::ResetPeer { timeout } => {
                    self.clock.sleep(millis(timeout)).await;
                    return Some(End::Reset);
                }
                Kind::LimitData { bytes } => {
                    let left = usize::try_from(bytes.saturating_sub(self.passed)).unwrap_or(usize::MAX);
                    closes |= chunk.len() >= left;
                    chunk.truncate(left);
                }
                Kind::SlowClose { .. } => {}
            }
        }
        if self.to.write_all(&chunk).await.is_err() {
            return Some(End::Reset);
        }
        self.passed += chunk.len() as u64;
        closes.then_some(End::Close)
    }
}
