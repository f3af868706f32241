//! The output of a command: decoded as it comes, freed of keys, kept within a limit, the rest sent on as an artifact.

use sortie_protocol::redact::Stream;

use super::ToolContext;

/// How much of an artifact is gathered before it is sent.
const PIECE: usize = 64 << 10;
/// The most output of one call that is sent on as an artifact, in bytes. What comes after it is only counted, and its
/// end shown: a command that writes without end must not fill the disk of the run.
const ARTIFACT_LIMIT: u64 = 32 << 20;

/// Takes the output of one command.
///
/// Holds at most about twice the limit: while all of it fits in an answer it is kept as it is, and from then on only
/// its head and its tail are.
pub(super) struct Capture<'a> {
    context: &'a ToolContext,
    name: String,
    decoder: Decoder,
    /// Keys are taken out before anything is cut: half of one would be known to nobody.
    keys: Stream,
    /// The start of the output; all of it as long as nothing was sent on.
    head: String,
    /// The latest output, once there is more than the limit.
    tail: String,
    /// Output that waits to be sent on.
    piece: String,
    total: u64,
    sent: u64,
}

impl<'a> Capture<'a> {
    /// For the output of the call that `context` belongs to. `tool` starts the artifact's name.
    pub(super) fn new(context: &'a ToolContext, tool: &str) -> Self {
        Self {
            name: format!("{tool}-{}", context.serial),
            context,
            decoder: Decoder::default(),
            keys: Stream::default(),
            head: String::new(),
            tail: String::new(),
            piece: String::new(),
            total: 0,
            sent: 0,
        }
    }

    /// Takes bytes as they came; a character may be cut between two calls.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let text = self.decoder.push(bytes);
        let text = self.keys.push(&self.context.keys, &text);
        self.take(&text);
    }

    /// The output for the answer, ending in a line's end unless it is empty.
    pub(super) fn finish(mut self) -> String {
        let rest = self.decoder.finish();
        let mut rest = self.keys.push(&self.context.keys, &rest);
        rest.push_str(&self.keys.finish(&self.context.keys));
        self.take(&rest);
        if self.is_whole() {
            return ended(self.head);
        }
        self.send();
        let tail = ended(tail_of(&self.tail, self.tail_limit()).to_owned());
        let head = ended(self.head);
        let hidden = self.total.saturating_sub((head.len() + tail.len()) as u64);
        let kept = if self.sent < self.total {
            format!("the first {} bytes", self.sent)
        } else {
            "all of it".to_owned()
        };
        format!(
            "{head}[{hidden} of {} bytes left out; `agent://{}/{}` is {kept}, for `read`]\n{tail}",
            self.total, self.context.task, self.name
        )
    }

    fn is_whole(&self) -> bool {
        self.total == self.head.len() as u64
    }

    fn tail_limit(&self) -> usize {
        self.context.output_limit / 2
    }

    fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let whole = self.is_whole();
        self.total += text.len() as u64;
        if whole && self.head.len() + text.len() <= self.context.output_limit {
            self.head.push_str(text);
            return;
        }
        if whole {
            let all = std::mem::take(&mut self.head);
            self.gather(&all);
            self.tail.push_str(&all);
            self.head = head_of(&all, text, self.context.output_limit / 2);
        }
        self.gather(text);
        self.tail.push_str(text);
        // Cut now and then, so that each byte is moved a few times at most.
        let limit = self.tail_limit();
        if self.tail.len() > 2 * limit + PIECE {
            let start = self.tail.ceil_char_boundary(self.tail.len() - limit);
            self.tail.drain(..start);
        }
    }

    fn gather(&mut self, text: &str) {
        if self.sent + self.piece.len() as u64 >= ARTIFACT_LIMIT {
            return;
        }
        self.piece.push_str(text);
        if self.piece.len() >= PIECE {
            self.send();
        }
    }

    fn send(&mut self) {
        if self.piece.is_empty() {
            return;
        }
        self.context.artifacts.append(&self.name, &self.piece);
        self.sent += self.piece.len() as u64;
        self.piece.clear();
    }
}

/// The first `limit` bytes of `a` followed by `b`, cut back to the last whole line where there is one.
fn head_of(a: &str, b: &str, limit: usize) -> String {
    let mut head = a[..a.floor_char_boundary(limit)].to_owned();
    if head.len() == a.len() {
        head.push_str(&b[..b.floor_char_boundary(limit - head.len())]);
    }
    if let Some(end) = head.rfind('\n') {
        head.truncate(end + 1);
    }
    head
}

/// The last `limit` bytes of `text`, from the first whole line where there is one.
fn tail_of(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let tail = &text[text.ceil_char_boundary(text.len() - limit)..];
    match tail.find('\n') {
        Some(end) if end + 1 < tail.len() => &tail[end + 1..],
        _ => tail,
    }
}

fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Makes text of bytes that come in pieces. What is no text becomes `U+FFFD`.
#[derive(Debug, Default)]
struct Decoder {
    /// The start of a character whose rest has not come yet.
    carry: Vec<u8>,
}

impl Decoder {
    fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.carry);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut rest = all.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    return text;
                }
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(len) = error.error_len() else {
                        self.carry = bad.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &bad[len..];
                }
            }
        }
    }

    fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.carry)).into_owned()
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
