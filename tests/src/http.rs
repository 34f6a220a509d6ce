//! Just enough HTTP/1.1 for proxies and their control: the heads of messages, and where bodies end.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// The longest line of a head, and the most lines.
const LINE: usize = 64 << 10;
const LINES: usize = 256;

/// Where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// After a chunk of no bytes.
    Chunked,
    /// With the connection.
    UntilClose,
}

/// The first line and the headers of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    first: String,
    headers: Vec<(String, String)>,
    raw: Vec<u8>,
}

impl Head {
    /// Reads a head; `None` where the connection ends before it begins.
    ///
    /// # Errors
    /// When the connection breaks, or what comes is no head.
    pub async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let mut raw = Vec::new();
        let mut first = None;
        let mut headers = Vec::new();
        for _ in 0..LINES {
            let begin = raw.len();
            let read = reader.take(LINE as u64).read_until(b'\n', &mut raw).await?;
            if read == 0 && raw.is_empty() {
                return Ok(None);
            }
            if raw.last() != Some(&b'\n') {
                return Err(malformed("a head that breaks off"));
            }
            let line = String::from_utf8_lossy(&raw[begin..]).trim_end().to_owned();
            match (&first, line.split_once(':')) {
                (None, _) => first = Some(line),
                (Some(_), Some((name, value))) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
                (Some(_), None) if line.is_empty() => {
                    return Ok(Some(Self { first: first.unwrap_or_default(), headers, raw }));
                }
                (Some(_), None) => return Err(malformed("a header without a colon")),
            }
        }
        Err(malformed("a head without an end"))
    }

    /// The value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The method of a request.
    pub fn method(&self) -> &str {
        self.first.split(' ').next().unwrap_or_default()
    }

    /// The path and query of a request.
    pub fn target(&self) -> &str {
        self.first.split(' ').nth(1).unwrap_or_default()
    }

    /// The status of a response.
    pub fn status(&self) -> Option<u16> {
        self.first.split(' ').nth(1).and_then(|status| status.parse().ok())
    }

    /// The bytes, as they came.
    pub fn bytes(&self) -> &[u8] {
        &self.raw
    }

    fn declared(&self) -> Option<Framing> {
        if self.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked")) {
            return Some(Framing::Chunked);
        }
        self.header("content-length").and_then(|length| length.parse().ok()).map(Framing::Length)
    }

    /// Where the body of this request ends.
    pub fn request_framing(&self) -> Framing {
        self.declared().unwrap_or(Framing::Length(0))
    }

    /// Where the body of this response ends.
    pub fn response_framing(&self, method: &str) -> Framing {
        match self.status() {
            Some(100..=199 | 204 | 304) => Framing::Length(0),
            _ if method == "HEAD" => Framing::Length(0),
            _ => self.declared().unwrap_or(Framing::UntilClose),
        }
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Passes a body on as it is framed, at most `limit` bytes of it; tells how many bytes of the wire that were.
///
/// # Errors
/// When either side breaks off.
pub async fn pass_body(
    reader: &mut (impl AsyncBufRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
    framing: Framing,
    limit: u64,
) -> io::Result<u64> {
    let mut passed = match framing {
        Framing::Length(length) => pass_exactly(reader, writer, length.min(limit)).await?,
        Framing::UntilClose => tokio::io::copy_buf(&mut reader.take(limit), writer).await?,
        Framing::Chunked => 0,
    };
    while framing == Framing::Chunked && passed < limit {
        let mut line = Vec::new();
        reader.take(LINE as u64).read_until(b'\n', &mut line).await?;
        let text = String::from_utf8_lossy(&line);
        let size = text.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| malformed("a chunk without a size"))?;
        writer.write_all(&line).await?;
        // The chunk and the end of its line; after the last one trailers may come, of which S3 has none.
        passed += line.len() as u64 + pass_exactly(reader, writer, (size + 2).min(limit)).await?;
        if size == 0 {
            break;
        }
    }
    writer.flush().await?;
    Ok(passed)
}

async fn pass_exactly(
    reader: &mut (impl AsyncBufRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
    length: u64,
) -> io::Result<u64> {
    let passed = tokio::io::copy_buf(&mut reader.take(length), writer).await?;
    if passed < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(passed) }
}

/// Reads the rest of a body into memory.
///
/// # Errors
/// When the connection breaks off.
pub async fn read_body(reader: &mut (impl AsyncBufRead + Unpin), framing: Framing) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    pass_body(reader, &mut body, framing, u64::MAX).await?;
    Ok(body)
}

/// A response as bytes, after which the connection goes on.
pub fn response(status: u16, content_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    // The reason is for people; clients go by the number.
    let head = match status {
        204 => format!("HTTP/1.1 {status} No Content\r\n\r\n"),
        _ => format!("HTTP/1.1 {status} Told\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"),
    };
    (head + body).into_bytes()
}

/// Sends one request on a connection of its own; its status and body.
///
/// # Errors
/// When the server cannot be reached or does not answer as one.
pub async fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    // HTTP/1.0: the answer is not chunked and ends with the connection.
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await?;
    let head = Head::read(&mut stream).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.status().ok_or_else(|| malformed("a response without a status"))?;
    let body = read_body(&mut stream, head.response_framing(method)).await?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// Reads and throws away until the other side closes.
///
/// # Errors
/// When the connection breaks.
pub async fn drain(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut buffer = [0; 4096];
    while reader.read(&mut buffer).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn head(text: &str) -> io::Result<Option<Head>> {
        Head::read(&mut text.as_bytes()).await
    }

    #[tokio::test]
    async fn a_head_tells_its_parts_and_keeps_its_bytes() {
        let text = "PUT /bucket/key?x=1 HTTP/1.1\r\nHost: here\r\nIf-None-Match: *\r\nContent-Length: 12\r\n\r\nbody";
        let head = head(text).await.unwrap().unwrap();
        assert_eq!((head.method(), head.target()), ("PUT", "/bucket/key?x=1"));
        assert_eq!((head.header("if-none-match"), head.header("etag")), (Some("*"), None));
        assert_eq!(head.request_framing(), Framing::Length(12));
        assert_eq!(head.bytes(), &text.as_bytes()[..text.len() - 4]);
    }

    #[tokio::test]
    async fn what_is_no_head_is_refused() {
        assert!(head("").await.unwrap().is_none());
        for text in ["GET / HTTP/1.1\r\nHost: he", "GET / HTTP/1.1\r\nno colon\r\n\r\n"] {
            assert!(head(text).await.is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn bodies_end_where_their_head_says() {
        for (text, method, framing) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "GET", Framing::Length(5)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD", Framing::Length(0)),
            ("HTTP/1.1 204 No Content\r\n\r\n", "DELETE", Framing::Length(0)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "GET", Framing::Chunked),
            ("HTTP/1.0 200 OK\r\n\r\n", "GET", Framing::UntilClose),
        ] {
            assert_eq!(head(text).await.unwrap().unwrap().response_framing(method), framing, "{method} {text}");
        }
        let chunked = "4\r\nwiki\r\n5;x=y\r\npedia\r\n0\r\n\r\nnext";
        let mut reader = chunked.as_bytes();
        let passed = read_body(&mut reader, Framing::Chunked).await.unwrap();
        assert_eq!((passed.as_slice(), reader), (&chunked.as_bytes()[..chunked.len() - 4], &b"next"[..]));
        assert_eq!(read_body(&mut &b"abcdef"[..], Framing::Length(3)).await.unwrap(), b"abc");
        assert_eq!(read_body(&mut &b"abcdef"[..], Framing::UntilClose).await.unwrap(), b"abcdef");
        assert!(read_body(&mut &b"ab"[..], Framing::Length(3)).await.is_err());
    }
}
