//! One connection, from its first request to its end.

use std::{
    io::{self, BufReader, Read, Write},
    net::TcpStream,
    time::Instant,
};

use super::{
    Shared,
    dialect::{Dialect, Reply},
    http::{self, Framing},
    request::Request,
    turn::{End, Kind, Message, Turn},
};

/// What becomes of a connection after an answer.
#[derive(PartialEq, Eq)]
enum Next {
    /// It takes another request.
    Keep,
    /// It is closed.
    Close,
    /// It is kept open without a word until the client closes it.
    Wait,
}

/// Answers the requests of one client until one side closes the connection.
pub(super) fn serve(stream: &TcpStream, shared: &Shared) {
    // What cannot be read or written ends the connection, which the client sees and the server has noted.
    let _ = exchange(stream, shared);
}

fn exchange(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    // Frames are small, and tests look at when they come.
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    while let Some(message) = http::read(&mut reader)? {
        let Some(dialect) = Dialect::of(&message.path).filter(|_| message.method == "POST") else {
            shared.fault(format!(
                "no provider answers {} {}",
                message.method, message.path
            ));
            let framing = Framing::Length(0);
            http::write_head(&mut writer, 404, &[], framing)?;
            continue;
        };
        let text = String::from_utf8_lossy(&message.body).into_owned();
        let request = Request {
            path: message.path,
            headers: message.headers,
            body: serde_json::from_str(&text).unwrap_or_default(),
            at: Instant::now(),
            text,
            dialect,
        };
        let (number, turn) = shared.answer(&request);
        let mut answer = Answer {
            dialect,
            turn: &turn,
            number,
            writer: stream,
        };
        let next = answer.send(&request.body);
        if next.is_err() {
            shared.hung_up(number);
        }
        match next? {
            Next::Keep => {}
            Next::Close => return Ok(()),
            Next::Wait => {
                // A client that waits sends nothing, so whatever is read is the end.
                let _ = reader.read(&mut [0]);
                shared.hung_up(number);
                return Ok(());
            }
        }
    }
    Ok(())
}

struct Answer<'a> {
    dialect: Dialect,
    turn: &'a Turn,
    number: usize,
    writer: &'a TcpStream,
}

impl Answer<'_> {
    fn send(&mut self, body: &serde_json::Value) -> io::Result<Next> {
        match &self.turn.kind {
            Kind::Silence => Ok(Next::Wait),
            Kind::Status(status) => self.refuse(*status),
            Kind::ErrorEvent(kind) => {
                let frame = self.dialect.error_frame(kind, "the scripted error");
                self.stream(&[frame], End::Whole)
            }
            Kind::BadJson => self.stream(&[self.dialect.frame("{\"choices\": [{")], End::Whole),
            Kind::Message(message) => {
                let mut frames = self.frames(message, body);
                if let End::Failed(n, status) = message.end {
                    frames.truncate(n);
                    frames.push(self.dialect.failure(status, "the scripted error"));
                }
                self.stream(&frames, message.end)
            }
        }
    }

    fn frames(&self, message: &Message, body: &serde_json::Value) -> Vec<String> {
        let reply = Reply {
            message,
            usage: self.turn.usage,
            number: self.number,
        };
        self.dialect.frames(&reply, body)
    }

    fn refuse(&mut self, status: u16) -> io::Result<Next> {
        let kind = self.dialect.error_kind(status);
        let error = self.dialect.error(status, kind, "the scripted refusal");
        let body = error.to_string();
        let framing = Framing::Length(body.len());
        self.head(status, "application/json", framing)?;
        http::write_piece(&mut self.writer, framing, &body)?;
        Ok(Next::Keep)
    }

    fn stream(&mut self, frames: &[String], end: End) -> io::Result<Next> {
        let (whole, framing) = match end {
            End::Whole | End::Failed(..) => (frames.len(), Framing::Chunked),
            End::Torn(n) | End::Stalled(n) => (n.min(frames.len()), Framing::Chunked),
            // Without a length and without chunks the end of the connection is the end of the body, so that
            // nothing but the missing terminator shows the cut.
            End::Cut(n) => (n.min(frames.len()), Framing::UntilClose),
        };
        self.head(200, "text/event-stream", framing)?;
        for frame in &frames[..whole] {
            http::write_piece(&mut self.writer, framing, frame)?;
        }
        match end {
            End::Whole | End::Failed(..) => {
                http::write_piece(&mut self.writer, framing, "")?;
                Ok(Next::Keep)
            }
            End::Cut(_) => Ok(Next::Close),
            End::Stalled(_) => Ok(Next::Wait),
            End::Torn(_) => {
                let frame = frames.get(whole).map_or("data: {", String::as_str);
                let half = &frame[..frame.floor_char_boundary(frame.len() / 2)];
                // A chunk that promises more than comes.
                write!(self.writer, "{:x}\r\n{half}", frame.len())?;
                Ok(Next::Close)
            }
        }
    }

    fn head(&mut self, status: u16, kind: &str, framing: Framing) -> io::Result<()> {
        let mut headers = vec![("content-type".to_owned(), kind.to_owned())];
        headers.extend(self.turn.headers.iter().cloned());
        http::write_head(&mut self.writer, status, &headers, framing)
    }
}
