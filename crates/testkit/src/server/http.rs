//! As much of HTTP/1.1 as clients of providers speak.

use std::io::{self, BufRead, Read, Write};

/// A request as it came, before anybody has looked at what it means.
pub(super) struct Message {
    pub(super) method: String,
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Reads one request. `None`: the client is done with this connection.
pub(super) fn read(stream: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_ascii_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "no request line",
        ));
    };
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |wanted: &str| {
        let found = headers.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    let body = if header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        read_chunks(stream)?
    } else {
        let len = header("content-length")
            .and_then(|len| len.parse().ok())
            .unwrap_or(0);
        read_exactly(stream, len)?
    };
    Ok(Some(Message {
        method,
        path,
        headers,
        body,
    }))
}

fn read_exactly(stream: &mut impl Read, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let found = stream.take(len).read_to_end(&mut bytes)?;
    if found as u64 == len {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn read_chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let len = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        body.extend(read_exactly(stream, len)?);
        // The end of the line after a chunk, or after the last one that of the trailers, of which there are none.
        stream.read_line(&mut line)?;
        if len == 0 {
            return Ok(body);
        }
    }
}

/// How the end of a body shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// By its length, in bytes.
    Length(usize),
    /// By a last chunk.
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// Sends the head of an answer.
pub(super) fn write_head(
    stream: &mut impl Write,
    status: u16,
    headers: &[(String, String)],
    framing: Framing,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    let framing = match framing {
        Framing::Length(len) => format!("content-length: {len}"),
        Framing::Chunked => "transfer-encoding: chunked".to_owned(),
        Framing::UntilClose => "connection: close".to_owned(),
    };
    head.extend([&framing, "\r\n\r\n"]);
    stream.write_all(head.as_bytes())?;
    stream.flush()
}

/// Sends a piece of a body. An empty piece is the end of a chunked one.
pub(super) fn write_piece(
    stream: &mut impl Write,
    framing: Framing,
    piece: &str,
) -> io::Result<()> {
    if framing == Framing::Chunked {
        write!(stream, "{:x}\r\n{piece}\r\n", piece.len())?;
    } else {
        stream.write_all(piece.as_bytes())?;
    }
    stream.flush()
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Status",
    }
}
