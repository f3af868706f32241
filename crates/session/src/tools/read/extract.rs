//! Lines out of a file, within a limit, whatever the file's size and the lines' lengths are.

use std::{
    io::{self, BufRead, BufReader, Read},
    str::FromStr,
};

use sortie_protocol::redact::Redactor;

/// The most lines that one call shows.
const LINES: u64 = 2_000;
/// How far a file is read on to count its lines, in bytes.
const COUNTED: u64 = 64 << 20;
/// A NUL byte within this many bytes makes a file binary.
const SNIFFED: usize = 8 << 10;

/// Which lines to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The first, from 1.
    first: u64,
    /// The last, included; `u64::MAX` is the file's last.
    last: u64,
}

impl Range {
    /// Every line.
    pub(super) const ALL: Self = Self {
        first: 1,
        last: u64::MAX,
    };
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault =
            || format!("`range` is `{text}`, expected lines from 1 as `10-40`, `10-` or `10`");
        let number = |text: &str| text.trim().parse().map_err(|_| fault());
        let (first, last) = match text.split_once('-') {
            None => (number(text)?, number(text)?),
            Some((first, last)) if last.trim().is_empty() => (number(first)?, u64::MAX),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if first == 0 || last < first {
            return Err(fault());
        }
        Ok(Self { first, last })
    }
}

/// What came out of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Extract {
    /// The text for the answer, with what there is to say about it.
    Text(String),
    /// The file is no text.
    Binary,
    /// The range starts after the last line.
    Beyond {
        /// How many lines there are.
        lines: u64,
    },
}

/// Reads the lines `range` of `source`, at most `limit` bytes of them, and puts names in the place of `keys`.
pub(super) fn extract(
    source: impl Read,
    range: Range,
    limit: usize,
    keys: &Redactor,
) -> io::Result<Extract> {
    let mut reader = BufReader::with_capacity(64 << 10, source);
    let start = reader.fill_buf()?;
    if start[..start.len().min(SNIFFED)].contains(&0) {
        return Ok(Extract::Binary);
    }
    let mut scan = Scan::new(range, limit, keys.longest());
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            scan.end();
            break;
        }
        for piece in block.split_inclusive(|&byte| byte == b'\n') {
            scan.take(piece);
        }
        let len = block.len();
        scan.read += len as u64;
        reader.consume(len);
        if scan.is_over() && scan.after.len() >= scan.margin && scan.read > COUNTED {
            break;
        }
    }
    Ok(scan.into_extract(keys))
}

/// Where a walk over a file's lines stands.
struct Scan {
    range: Range,
    limit: usize,
    /// How much is kept of what stands around the part that is shown, for keys that its ends cut through.
    margin: usize,
    /// The end of what stands before it.
    before: Vec<u8>,
    /// What is shown so far.
    text: Vec<u8>,
    /// The start of what stands after it.
    after: Vec<u8>,
    /// The line that the next piece belongs to.
    line: u64,
    /// Where that line starts in `text`.
    line_start: usize,
    /// Whether a piece of that line was seen.
    in_line: bool,
    /// The last line that is shown whole.
    shown: u64,
    stop: Option<Stop>,
    read: u64,
    /// How many lines there are, once the end was seen.
    lines: Option<u64>,
}

/// Why no more is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The limits.
    Full,
    /// The limits, within the first line.
    LongLine,
}

impl Scan {
    fn new(range: Range, limit: usize, margin: usize) -> Self {
        Self {
            range,
            limit,
            margin,
            before: Vec::new(),
            text: Vec::new(),
            after: Vec::new(),
            line: 1,
            line_start: 0,
            in_line: false,
            shown: range.first - 1,
            stop: None,
            read: 0,
            lines: None,
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.in_line = true;
        if self.line < self.range.first {
            self.pass(piece);
        } else if self.stop.is_none() && self.line <= self.range.last {
            self.show(piece);
        } else {
            self.follow(piece);
        }
        if piece.ends_with(b"\n") {
            self.next_line();
        }
    }

    fn pass(&mut self, piece: &[u8]) {
        self.before.extend_from_slice(piece);
        if self.before.len() > 2 * self.margin {
            self.before.drain(..self.before.len() - self.margin);
        }
    }

    fn follow(&mut self, piece: &[u8]) {
        let room = self.margin.saturating_sub(self.after.len());
        self.after
            .extend_from_slice(&piece[..room.min(piece.len())]);
    }

    fn show(&mut self, piece: &[u8]) {
        if self.line - self.range.first >= LINES {
            self.stop = Some(Stop::Full);
            self.follow(piece);
        } else if self.text.len() + piece.len() <= self.limit {
            self.text.extend_from_slice(piece);
        } else if self.line_start > 0 {
            let started = self.text.split_off(self.line_start);
            self.stop = Some(Stop::Full);
            self.follow(&started);
            self.follow(piece);
        } else {
            let mut room = self.limit - self.text.len();
            // Not within a character.
            while room > 0 && piece[room] & 0xC0 == 0x80 {
                room -= 1;
            }
            self.text.extend_from_slice(&piece[..room]);
            self.stop = Some(Stop::LongLine);
            self.follow(&piece[room..]);
        }
    }

    fn next_line(&mut self) {
        if self.stop.is_none() && self.line >= self.range.first && self.line <= self.range.last {
            self.shown = self.line;
        }
        self.line += 1;
        self.line_start = self.text.len();
        self.in_line = false;
    }

    fn end(&mut self) {
        if self.in_line {
            self.next_line();
        }
        self.lines = Some(self.line - 1);
    }

    fn is_over(&self) -> bool {
        self.stop.is_some() || self.line > self.range.last
    }

    fn into_extract(self, keys: &Redactor) -> Extract {
        let (first, shown) = (self.range.first, self.shown);
        if let Some(lines) = self.lines {
            if lines == 0 {
                return Extract::Text("[empty file]\n".into());
            }
            if first > lines {
                return Extract::Beyond { lines };
            }
        }
        let part = self.before.len()..self.before.len() + self.text.len();
        let clean = keys.clean_part(&[self.before, self.text, self.after].concat(), part);
        let lossy = std::str::from_utf8(&clean).is_err();
        let whole = first == 1 && self.stop.is_none() && self.lines == Some(shown);
        let mut text = String::from_utf8_lossy(&clean).into_owned();
        if !whole {
            let last = shown.max(first);
            let of = self
                .lines
                .map_or_else(String::new, |lines| format!(" of {lines}"));
            let which = if first == last {
                format!("line {first}")
            } else {
                format!("lines {first}-{last}")
            };
            text.insert_str(0, &format!("[{which}{of}]\n"));
        }
        let mut notes = Vec::new();
        match self.stop {
            None => {}
            Some(Stop::Full) => notes.push(format!(
                "more follows; read on with range \"{}-\"",
                shown + 1
            )),
            Some(Stop::LongLine) => notes.push(format!(
                "line {first} is longer than {} bytes and was cut; for the rest of it use a command",
                self.limit
            )),
        }
        if lossy {
            notes.push("not UTF-8: what is no text is shown as \u{FFFD}".into());
        }
        if !notes.is_empty() {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text = format!("{text}[{}]\n", notes.join("; "));
        }
        Extract::Text(text)
    }
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
