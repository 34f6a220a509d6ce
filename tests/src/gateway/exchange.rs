//! One client's connection: request by request, each with an answer or with what befalls it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::State;
use super::rules::Mishap;
use super::traffic::OnItsWay;
use crate::http::{Head, drain, pass_body, read_body, response};

/// A connection to either side.
struct Connection {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

impl Connection {
    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let (reader, writer) = stream.into_split();
        Ok(Self { reader: BufReader::new(reader), writer })
    }

    async fn to(address: SocketAddr) -> io::Result<Self> {
        Self::new(TcpStream::connect(address).await?)
    }

    /// Ends it with a reset.
    fn reset(self) -> io::Result<()> {
        self.writer.as_ref().set_zero_linger()?;
        // Otherwise it would say goodbye first.
        self.writer.forget();
        Ok(())
    }
}

/// How a connection goes on after a request.
enum After {
    NextRequest,
    End,
    /// The client's is reset.
    Reset,
    /// Both are.
    ResetBoth,
}

/// Serves a client until either side ends.
pub(super) async fn serve(client: TcpStream, state: &Arc<State>) -> io::Result<()> {
    let mut client = Connection::new(client)?;
    let mut server = Connection::to(state.upstream).await?;
    loop {
        let head = tokio::select! {
            head = Head::read(&mut client.reader) => head?,
            // A server that ends an idle connection ends the client's, which then makes another.
            _ = server.reader.fill_buf() => None,
        };
        let Some(head) = head else { return Ok(()) };
        let request = state.log.begin(&head);
        let mishap = state.rules().meet(&head);
        let after = match mishap {
            None => pass(&head, &mut client, &mut server, state, request).await?,
            Some(mishap) => befall(mishap, &head, &mut client, &mut server, state, request).await?,
        };
        match after {
            After::NextRequest => {}
            After::End => return Ok(()),
            After::Reset => return client.reset(),
            After::ResetBoth => {
                server.reset()?;
                return client.reset();
            }
        }
    }
}

/// Passes a request and its answer.
async fn pass(
    head: &Head,
    client: &mut Connection,
    server: &mut Connection,
    state: &State,
    request: OnItsWay,
) -> io::Result<After> {
    // Side by side, since a server may answer before it has read the whole body.
    let sending = async {
        server.writer.write_all(head.bytes()).await?;
        pass_body(&mut client.reader, &mut server.writer, head.request_framing(), u64::MAX).await
    };
    let answering = async {
        loop {
            let answer = Head::read(&mut server.reader).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
            if !matches!(answer.status(), Some(100..=199)) {
                let body = read_body(&mut server.reader, answer.response_framing(head.method())).await?;
                return Ok((answer, body));
            }
            client.writer.write_all(answer.bytes()).await?;
        }
    };
    let (sent, answered): (io::Result<u64>, io::Result<(Head, Vec<u8>)>) = tokio::join!(sending, answering);
    let (answer, body) = answered?;
    // Noted before the client can act upon it.
    state.log.end(request, (*sent.as_ref().unwrap_or(&0), body.len() as u64));
    client.writer.write_all(answer.bytes()).await?;
    client.writer.write_all(&body).await?;
    Ok(if sent.is_ok() { After::NextRequest } else { After::End })
}

/// Does to a request what is to befall it.
async fn befall(
    mishap: Mishap,
    head: &Head,
    client: &mut Connection,
    server: &mut Connection,
    state: &Arc<State>,
    request: OnItsWay,
) -> io::Result<After> {
    if let Mishap::UploadReset(bytes) = mishap {
        server.writer.write_all(head.bytes()).await?;
        pass_body(&mut client.reader, &mut server.writer, head.request_framing(), bytes).await?;
        return Ok(After::ResetBoth);
    }
    let body = read_body(&mut client.reader, head.request_framing()).await?;
    let whole = [head.bytes(), &body].concat();
    match mishap {
        Mishap::Answered(status, code) => {
            let document = error_document(head.method(), code);
            state.log.end(request, (body.len() as u64, document.len() as u64));
            client.writer.write_all(&response(status, "application/xml", &document)).await?;
            return Ok(After::NextRequest);
        }
        Mishap::AnswerCut => {
            answered(&whole, head.method(), server).await?;
            return Ok(After::End);
        }
        Mishap::AnswerReset => {
            answered(&whole, head.method(), server).await?;
            return Ok(After::Reset);
        }
        Mishap::BodyCut(bytes) => {
            let (answer, body) = answered(&whole, head.method(), server).await?;
            let kept = usize::try_from(bytes).unwrap_or(usize::MAX).min(body.len());
            client.writer.write_all(answer.bytes()).await?;
            client.writer.write_all(&body[..kept]).await?;
            return Ok(After::End);
        }
        Mishap::AnswerHung => drop(answered(&whole, head.method(), server).await?),
        Mishap::Late(delay) => deliver_later(whole, head.method().to_owned(), delay, state.clone()),
        Mishap::Hung | Mishap::UploadReset(_) => {}
    }
    // Nothing comes: until the client loses patience.
    drain(&mut client.reader).await?;
    Ok(After::End)
}

/// On a task of its own, so that the request arrives although its client has left.
fn deliver_later(request: Vec<u8>, method: String, delay: Duration, state: Arc<State>) {
    tokio::spawn(async move {
        state.clock.sleep(delay).await;
        let mut server = Connection::to(state.upstream).await?;
        answered(&request, &method, &mut server).await
    });
}

fn error_document(method: &str, code: &str) -> String {
    if code.is_empty() || method == "HEAD" {
        return String::new();
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code><Message>By the gateway</Message></Error>"
    )
}

/// Sends a whole request and reads the whole answer: by then it has taken effect.
async fn answered(request: &[u8], method: &str, server: &mut Connection) -> io::Result<(Head, Vec<u8>)> {
    server.writer.write_all(request).await?;
    let answer = Head::read(&mut server.reader).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let body = read_body(&mut server.reader, answer.response_framing(method)).await?;
    Ok((answer, body))
}
