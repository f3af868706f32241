//! Lines on a pipe.
//!
//! A document is one line of JSON. One over [`LINE_LIMIT`] travels as `part` lines, so that no content can break
//! the wire, and one over [`DOCUMENT_LIMIT`] does not travel. Nothing here reads or writes: [`encode`] fills a
//! buffer, and a [`Decoder`] is fed what arrived.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use thiserror::Error;

/// The longest line, in bytes, its end not counted.
pub const LINE_LIMIT: usize = 1 << 20;
/// The longest document, in bytes.
pub const DOCUMENT_LIMIT: usize = 256 << 20;
/// How much of a document one part carries. JSON text at most doubles when it is quoted once more.
const PART_SIZE: usize = 480 << 10;

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename = "part")]
struct Part<'a> {
    /// Which part, from 0.
    i: usize,
    /// How many parts there are.
    of: usize,
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

/// A document that cannot be sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// It is no JSON: a map with keys that are not text.
    #[error("the message cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// It is over [`DOCUMENT_LIMIT`].
    #[error("a message of {0} bytes is too long to send")]
    TooLong(usize),
}

/// Appends `message` to `buffer` as one or more whole lines.
pub fn encode<M: Serialize>(message: &M, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = buffer.len();
    serde_json::to_writer(&mut *buffer, message)?;
    let len = buffer.len() - start;
    if len <= LINE_LIMIT {
        buffer.push(b'\n');
        return Ok(());
    }
    let document = buffer.split_off(start);
    if len > DOCUMENT_LIMIT {
        return Err(EncodeError::TooLong(len));
    }
    let document = String::from_utf8_lossy(&document);
    let parts = split(&document);
    for (i, text) in parts.iter().enumerate() {
        let part = Part {
            i,
            of: parts.len(),
            text: (*text).into(),
        };
        serde_json::to_writer(&mut *buffer, &part)?;
        buffer.push(b'\n');
    }
    Ok(())
}

fn split(mut text: &str) -> Vec<&str> {
    let mut parts = Vec::with_capacity(text.len() / PART_SIZE + 1);
    while !text.is_empty() {
        let (part, rest) = text.split_at(text.floor_char_boundary(PART_SIZE));
        parts.push(part);
        text = rest;
    }
    parts
}

/// A line that is not a message of ours.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It does not read as a message.
    #[error("a line that is no message: {reason}")]
    Foreign {
        /// What the reader said.
        reason: String,
        /// The head of the line.
        line: String,
    },
    /// It has no end within [`LINE_LIMIT`].
    #[error("a line longer than {LINE_LIMIT} bytes was discarded")]
    TooLong,
    /// A part that does not follow the one before it.
    #[error("part {found} came where part {expected} was due")]
    OutOfOrder {
        /// The part that was due.
        expected: usize,
        /// The part that came.
        found: usize,
    },
}

/// Puts bytes together into messages.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// The rest of the current line is to be thrown away.
    discarding: bool,
    parts: Option<Assembly>,
    ready: VecDeque<Vec<u8>>,
}

#[derive(Debug)]
struct Assembly {
    text: String,
    next: usize,
    of: usize,
}

impl Decoder {
    /// Takes bytes as they arrived.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|&b| b == b'\n') {
            self.buffer.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.buffer);
            self.ready.push_back(line);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message, or what stood in its place. `None`: more bytes are needed.
    pub fn next_message<M: DeserializeOwned>(&mut self) -> Option<Result<M, DecodeError>> {
        loop {
            let Some(line) = self.ready.pop_front() else {
                return self.overlong();
            };
            if std::mem::take(&mut self.discarding) {
                continue;
            }
            if line.len() > LINE_LIMIT {
                return Some(Err(DecodeError::TooLong));
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match self.assemble(&line) {
                Assembled::Part => {}
                Assembled::Whole(document) => return Some(read(&document)),
                Assembled::Line => return Some(read(&line)),
                Assembled::Fault(error) => return Some(Err(error)),
            }
        }
    }

    /// What is left when the stream ends: a line without its end.
    pub fn rest(&self) -> &[u8] {
        &self.buffer
    }

    fn overlong<M>(&mut self) -> Option<Result<M, DecodeError>> {
        if self.buffer.len() <= LINE_LIMIT {
            return None;
        }
        self.buffer.clear();
        // One report a line, however many reads it takes to see its end.
        (!std::mem::replace(&mut self.discarding, true)).then_some(Err(DecodeError::TooLong))
    }

    fn assemble(&mut self, line: &[u8]) -> Assembled {
        if !line.starts_with(b"{\"kind\":\"part\"") {
            self.parts = None;
            return Assembled::Line;
        }
        let Ok(part) = serde_json::from_slice::<Part<'_>>(line) else {
            return Assembled::Line;
        };
        let assembly = match &mut self.parts {
            Some(assembly) => assembly,
            none => none.insert(Assembly {
                text: String::new(),
                next: 0,
                of: part.of,
            }),
        };
        if part.i != assembly.next || part.of != assembly.of {
            let expected = assembly.next;
            self.parts = None;
            return Assembled::Fault(DecodeError::OutOfOrder {
                expected,
                found: part.i,
            });
        }
        if assembly.text.len() + part.text.len() > DOCUMENT_LIMIT {
            self.parts = None;
            return Assembled::Fault(DecodeError::TooLong);
        }
        assembly.text.push_str(&part.text);
        assembly.next += 1;
        if assembly.next < assembly.of {
            return Assembled::Part;
        }
        let text = self
            .parts
            .take()
            .map(|assembly| assembly.text)
            .unwrap_or_default();
        Assembled::Whole(text.into_bytes())
    }
}

enum Assembled {
    /// More parts are due.
    Part,
    /// The last part completed this document.
    Whole(Vec<u8>),
    /// An ordinary line.
    Line,
    Fault(DecodeError),
}

fn read<M: DeserializeOwned>(document: &[u8]) -> Result<M, DecodeError> {
    serde_json::from_slice(document).map_err(|error| DecodeError::Foreign {
        reason: error.to_string(),
        line: String::from_utf8_lossy(&document[..document.len().min(200)]).into_owned(),
    })
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;
