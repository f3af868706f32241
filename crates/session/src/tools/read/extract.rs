//! A part of a text, within a limit, whatever the text's size and its lines' lengths are.

mod kept;

use std::io::{self, BufRead, BufReader, Read};

use sortie_protocol::redact::Redactor;
use tokio_util::sync::CancellationToken;

use self::kept::{Cut, Kept};
use super::range::{Range, Span};

/// The most lines that one call shows.
const LINES: u64 = 2_000;
/// The most of one line that is shown among others, in bytes.
const LINE: usize = 4_000;
/// How far a text is read on to count its lines, in bytes.
const COUNTED: u64 = 64 << 20;

/// What is wanted of a text.
#[derive(Debug)]
pub(super) struct Wish<'a> {
    /// Which part.
    pub(super) range: Range,
    /// The most of it, in bytes.
    pub(super) limit: usize,
    /// What must not be shown.
    pub(super) keys: &'a Redactor,
    /// Fires when nobody waits any more.
    pub(super) cancel: &'a CancellationToken,
    /// What else there is to say about it.
    pub(super) remarks: Vec<String>,
}

/// What came out of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Extract {
    /// The text for the answer, with what there is to say about it.
    Text(String),
    /// The range starts after the last line.
    Beyond {
        /// How many lines there are.
        lines: u64,
    },
    /// The range starts after the end of its line.
    BeyondLine {
        /// The line.
        line: u64,
        /// How long it is, in bytes.
        bytes: u64,
    },
}

/// Reads the part of `source` that is wished for.
pub(super) fn extract(source: impl Read, wish: Wish<'_>) -> io::Result<Extract> {
    let mut reader = BufReader::with_capacity(64 << 10, source);
    let mut scan = Scan::new(&wish);
    loop {
        if wish.cancel.is_cancelled() {
            return Err(io::Error::other("stopped before all of it was read"));
        }
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
        if scan.is_over() && scan.kept.is_safe() && scan.read > COUNTED {
            break;
        }
    }
    Ok(scan.into_extract(wish))
}

/// Where a walk over a text's lines stands.
struct Scan {
    range: Range,
    limit: usize,
    /// What is shown so far.
    kept: Kept,
    /// The line that the next piece belongs to.
    line: u64,
    /// How much of that line was seen, in bytes.
    seen: u64,
    /// Whether a piece of that line was seen; an empty one counts too.
    in_line: bool,
    /// Where the part of that line that is shown ends, once more of it follows.
    cut: Option<u64>,
    /// How long the first line of the range is, in bytes, once its end was seen.
    first_len: Option<u64>,
    /// The last line that is shown to its end.
    shown: u64,
    stop: Option<Stop>,
    read: u64,
    /// How many lines there are, once the end was seen.
    lines: Option<u64>,
}

/// Why no more is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The limits, between two lines.
    Full,
    /// The limits, or the range, within a line.
    Within {
        /// The last byte that is shown.
        last: u64,
    },
}

impl Scan {
    fn new(wish: &Wish<'_>) -> Self {
        Self {
            range: wish.range,
            limit: wish.limit,
            kept: Kept::new(wish.keys.longest()),
            line: 1,
            seen: 0,
            in_line: false,
            cut: None,
            first_len: None,
            shown: wish.range.lines().first - 1,
            stop: None,
            read: 0,
            lines: None,
        }
    }

    /// Takes a line, or a piece of one.
    fn take(&mut self, piece: &[u8]) {
        self.in_line = true;
        let content = piece.strip_suffix(b"\n").unwrap_or(piece);
        let ends = content.len() < piece.len();
        match self.range {
            Range::Lines(lines) if self.is_wanted(lines) => self.take_line(lines, content, ends),
            Range::Within { line, bytes } if line == self.line && self.stop.is_none() => {
                self.take_part(bytes, content, ends);
            }
            _ => self.kept.pass(piece),
        }
        self.seen += content.len() as u64;
        if ends {
            self.next_line();
        }
    }

    fn is_wanted(&self, lines: Span) -> bool {
        self.stop.is_none() && self.cut.is_none() && (lines.first..=lines.last).contains(&self.line)
    }

    fn take_line(&mut self, lines: Span, content: &[u8], ends: bool) {
        if self.line - lines.first >= LINES {
            self.stop = Some(Stop::Full);
            return self.pass(content, ends);
        }
        let longest = if lines.first == lines.last {
            usize::MAX
        } else {
            LINE
        };
        let seen = usize::try_from(self.seen).unwrap_or(usize::MAX);
        let mut end = boundary(content, longest.saturating_sub(seen));
        let is_cut = end < content.len();
        let room = self.limit.saturating_sub(self.kept.len());
        let is_first = self.line == lines.first;
        if end + usize::from(ends && !is_cut && !is_first) > room {
            if !is_first {
                self.kept.drop_line();
                self.stop = Some(Stop::Full);
                return self.pass(content, ends);
            }
            end = end.min(boundary(content, room));
            self.stop_within(end);
            self.kept.show(&content[..end]);
            return self.pass(&content[end..], ends);
        }
        self.kept.show(&content[..end]);
        if is_cut {
            self.cut = Some(self.seen + end as u64);
            self.pass(&content[end..], ends);
        } else if ends {
            self.kept.show(b"\n");
        }
    }

    fn take_part(&mut self, bytes: Span, content: &[u8], ends: bool) {
        let place = |byte: u64| {
            let place = byte.saturating_sub(self.seen);
            usize::try_from(place).unwrap_or(usize::MAX)
        };
        let mut from = place(bytes.first - 1).min(content.len());
        if self.kept.is_empty() && bytes.first > 1 {
            from = boundary(content, from);
        }
        let wanted = place(bytes.last);
        let room = self.limit.saturating_sub(self.kept.len());
        let end = boundary(content, wanted.min(from.saturating_add(room))).max(from);
        self.kept.pass(&content[..from]);
        self.kept.show(&content[from..end]);
        if end < content.len() {
            self.stop_within(end);
        }
        self.pass(&content[end..], ends);
    }

    fn stop_within(&mut self, end: usize) {
        let last = self.seen + end as u64;
        self.stop = Some(Stop::Within { last });
    }

    fn pass(&mut self, content: &[u8], ends: bool) {
        self.kept.pass(content);
        if ends {
            self.kept.pass(b"\n");
        }
    }

    fn next_line(&mut self) {
        let lines = self.range.lines();
        if self.line == lines.first {
            self.first_len = Some(self.seen);
        }
        if self.stop.is_none() && (lines.first..=lines.last).contains(&self.line) {
            self.shown = self.line;
            if let Some(last) = self.cut.take() {
                self.kept.cut_line(Cut {
                    line: self.line,
                    last,
                    of: self.seen,
                });
            }
        }
        self.line += 1;
        self.seen = 0;
        self.in_line = false;
        self.kept.start_line();
    }

    fn end(&mut self) {
        if self.in_line {
            self.next_line();
        }
        self.lines = Some(self.line - 1);
    }

    fn is_over(&self) -> bool {
        self.stop.is_some() || self.line > self.range.lines().last
    }

    fn into_extract(self, wish: Wish<'_>) -> Extract {
        let first = self.range.lines().first;
        if let Some(lines) = self.lines {
            if lines == 0 {
                return Extract::Text(with_notes("[empty]\n".into(), &wish.remarks));
            }
            if first > lines {
                return Extract::Beyond { lines };
            }
        }
        let mut notes = Vec::new();
        let heading = match self.range {
            Range::Lines(_) => self.lines_heading(&mut notes),
            Range::Within { line, bytes } => match self.part_heading(line, bytes, &mut notes) {
                Ok(heading) => Some(heading),
                Err(bytes) => return Extract::BeyondLine { line, bytes },
            },
        };
        let (text, lossy) = self.kept.text(wish.keys);
        let text = heading.map_or_else(String::new, |heading| format!("[{heading}]\n")) + &text;
        if lossy {
            notes.push(
                "not UTF-8: what is no text is shown as \u{FFFD}, and `edit` cannot change the file".into(),
            );
        }
        notes.extend(wish.remarks);
        Extract::Text(with_notes(text, &notes))
    }

    /// Which lines are shown, unless all are.
    fn lines_heading(&self, notes: &mut Vec<String>) -> Option<String> {
        let first = self.range.lines().first;
        match self.stop {
            None => {}
            Some(Stop::Full) => notes.push(format!(
                "more follows; read on with range \"{}\"",
                self.range.lines().after(self.shown)
            )),
            Some(Stop::Within { last }) => notes.push(format!(
                "line {first} {}, and bytes 1-{last} are shown; read on with range \"{first}:{}-\"",
                length(self.first_len),
                last + 1
            )),
        }
        if first == 1 && self.stop.is_none() && self.lines == Some(self.shown) {
            return None;
        }
        let last = self.shown.max(first);
        let which = if first == last {
            format!("line {first}")
        } else {
            format!("lines {first}-{last}")
        };
        Some(
            which
                + &self
                    .lines
                    .map_or_else(String::new, |lines| format!(" of {lines}")),
        )
    }

    /// Which part of `line` is shown, or how long that line is.
    fn part_heading(&self, line: u64, bytes: Span, notes: &mut Vec<String>) -> Result<String, u64> {
        let Span {
            first,
            last: wanted,
        } = bytes;
        let of = self.first_len;
        let last = match self.stop {
            Some(Stop::Within { last }) => last,
            // Else its end was seen: the range is not over before.
            _ => of.unwrap_or_default(),
        };
        if last < first {
            return Err(last);
        }
        if last < wanted && of != Some(last) {
            notes.push(format!(
                "more of it follows; read on with range \"{line}:{}\"",
                bytes.after(last)
            ));
        }
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        Ok(format!("line {line}, bytes {first}-{last}{of}"))
    }
}

fn length(of: Option<u64>) -> String {
    match of {
        Some(bytes) => format!("has {bytes} bytes"),
        None => "has no end in sight".into(),
    }
}

/// The first place from `at` on that is not within a character.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let within = rest.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80);
    at.min(bytes.len()) + within.count()
}

fn with_notes(mut text: String, notes: &[String]) -> String {
    if notes.is_empty() {
        return text;
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    format!("{text}[{}]\n", notes.join("; "))
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
