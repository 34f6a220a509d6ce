//! The fault proxy of the tests as a process: `fault-proxy [ADDRESS]` serves its API there (127.0.0.1:8474 by default).

#![allow(clippy::print_stdout, reason = "it tells where it listens")]

use kit::proxy::Server;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8474".to_owned());
    let server = Server::bind(&address).await?;
    println!("listening at {}", server.address()?);
    server.run().await
}
