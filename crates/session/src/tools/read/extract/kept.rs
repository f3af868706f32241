//! What of a text is shown, and enough of what stands around it to know a key that an end cuts through.

use std::{borrow::Cow, fmt::Write as _};

use sortie_protocol::redact::Redactor;

/// What a mark in the place of a line's rest is counted as, in bytes.
const MARK: usize = 64;

/// The parts of a text that are shown.
#[derive(Debug)]
pub(super) struct Kept {
    /// How much is kept around each part, in bytes.
    margin: usize,
    /// The end of all that was seen.
    recent: Vec<u8>,
    parts: Vec<Part>,
    /// How many bytes are shown.
    len: usize,
    /// Where the current line starts: how many parts there were, and how long the open one was.
    line_start: (usize, usize),
}

/// A part without a gap.
#[derive(Debug)]
struct Part {
    before: Vec<u8>,
    text: Vec<u8>,
    after: Vec<u8>,
    /// Whether what comes next belongs to it.
    open: bool,
    /// What it leaves out of its last line.
    cut: Option<Cut>,
}

/// A line that is shown to a place within it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Which.
    pub(super) line: u64,
    /// The last byte that is shown.
    pub(super) last: u64,
    /// How long it is, in bytes.
    pub(super) of: u64,
}

impl Kept {
    /// Nothing so far. Keys are up to `margin` bytes long.
    pub(super) fn new(margin: usize) -> Self {
        Self {
            margin,
            recent: Vec::new(),
            parts: Vec::new(),
            len: 0,
            line_start: (0, 0),
        }
    }

    /// How many bytes are shown, or a little more.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether enough was seen behind the last part.
    pub(super) fn is_safe(&self) -> bool {
        let last = self.parts.last();
        last.is_none_or(|part| part.after.len() >= self.margin)
    }

    /// Takes what is shown.
    pub(super) fn show(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.follow(bytes);
        self.len += bytes.len();
        match self.parts.last_mut() {
            Some(part) if part.open => part.text.extend_from_slice(bytes),
            _ => self.parts.push(Part {
                before: self.recent.clone(),
                text: bytes.to_owned(),
                after: Vec::new(),
                open: true,
                cut: None,
            }),
        }
        self.remember(bytes);
    }

    /// Takes what is not shown.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(part) = self.parts.last_mut() {
            part.open = false;
        }
        self.follow(bytes);
        self.remember(bytes);
    }

    /// A line starts here.
    pub(super) fn start_line(&mut self) {
        let open = self.parts.last().filter(|part| part.open);
        let len = open.map_or(0, |part| part.text.len());
        self.line_start = (self.parts.len(), len);
    }

    /// Takes back what is shown of the current line.
    pub(super) fn drop_line(&mut self) {
        let (parts, len) = self.line_start;
        for part in self.parts.drain(parts.min(self.parts.len())..) {
            self.len -= part.text.len();
        }
        if let Some(part) = self.parts.last_mut().filter(|part| part.open) {
            let started = part.text.split_off(len);
            self.len -= started.len();
            part.open = false;
            part.after = started;
            part.after.truncate(self.margin);
        }
    }

    /// The line that ends here was not shown to its end.
    pub(super) fn cut_line(&mut self, cut: Cut) {
        if let Some(part) = self.parts.last_mut() {
            part.cut = Some(cut);
            self.len += MARK;
        }
    }

    /// What is shown, without keys, and whether some of it is no UTF-8.
    pub(super) fn text(self, keys: &Redactor) -> (String, bool) {
        let mut text = String::with_capacity(self.len);
        let mut lossy = false;
        for part in self.parts {
            let place = part.before.len()..part.before.len() + part.text.len();
            let whole = [part.before, part.text, part.after].concat();
            let clean = keys.clean_part(&whole, place);
            let shown = String::from_utf8_lossy(&clean);
            lossy |= matches!(shown, Cow::Owned(_));
            text.push_str(&shown);
            if let Some(Cut { line, last, of }) = part.cut {
                let (left, next) = (of - last, last + 1);
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    " [… {left} more bytes of this line: range \"{line}:{next}-\"]"
                );
            }
        }
        (text, lossy)
    }

    fn follow(&mut self, bytes: &[u8]) {
        for part in self.parts.iter_mut().rev().filter(|part| !part.open) {
            let room = self.margin.saturating_sub(part.after.len());
            if room == 0 {
                break;
            }
            part.after
                .extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
    }

    fn remember(&mut self, bytes: &[u8]) {
        if self.margin == 0 {
            return;
        }
        self.recent.extend_from_slice(bytes);
        if self.recent.len() > 2 * self.margin {
            self.recent.drain(..self.recent.len() - self.margin);
        }
    }
}
