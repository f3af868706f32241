//! One file, searched.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::Path,
};

use grep_matcher::{LineTerminator, Matcher};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};
use sortie_protocol::redact::Redactor;
use tokio_util::sync::CancellationToken;

use super::query::{Query, Show};

/// The longest line that is searched, and with `multiline` the longest file, in bytes.
const HELD: usize = 16 << 20;
/// How much is shown of one line, in bytes.
const WIDTH: usize = 300;

/// What came of a file.
#[derive(Debug)]
pub(super) enum Look {
    /// No line of it matches.
    Nothing,
    /// It has a NUL byte, so it is no text.
    Binary,
    /// It could not be read.
    Unread(io::Error),
    /// Some lines match.
    Found(Found),
}

/// The lines that match, and those around them.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The first of them, as many as an answer may want.
    pub(super) lines: Vec<Line>,
    /// How many lines match, shown or not.
    pub(super) matches: u64,
    /// Whether some line that is shown was no UTF-8.
    pub(super) lossy: bool,
}

/// One line that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Whether it is shown for itself and not for a line beside it.
    pub(super) matches: bool,
    /// Its text without the end, freed of keys, then cut.
    pub(super) text: String,
}

/// What a look at a file needs besides the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looker<'a> {
    pub(super) query: &'a Query,
    pub(super) keys: &'a Redactor,
    pub(super) cancel: &'a CancellationToken,
    /// How much text of one file an answer can want, in bytes.
    pub(super) room: usize,
    /// Whether it is enough to know that something matches.
    pub(super) briefly: bool,
}

impl Looker<'_> {
    /// What does the search. It holds buffers, so one serves many files.
    pub(super) fn searcher(self) -> Searcher {
        let shows_lines = self.query.show == Show::Lines && !self.briefly;
        let lines = |wanted: u64| usize::try_from(wanted).unwrap_or(usize::MAX);
        let (before, after) = if shows_lines {
            (lines(self.query.before), lines(self.query.after))
        } else {
            (0, 0)
        };
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_terminator(LineTerminator::crlf())
            .line_number(shows_lines)
            .multi_line(self.query.multiline)
            .heap_limit(Some(HELD))
            .before_context(before)
            .after_context(after)
            .build()
    }

    /// Looks at the file `path`.
    pub(super) fn look(self, searcher: &mut Searcher, path: &Path) -> Look {
        let mut gather = Gather {
            looker: self,
            found: Found::default(),
            shown: 0,
            last: 0,
            bytes: 0,
            is_binary: false,
        };
        let outcome = File::open(path).and_then(|file| {
            let cancel = self.cancel;
            searcher.search_reader(&self.query.matcher, Watched { file, cancel }, &mut gather)
        });
        match outcome {
            // The system's own errors have a number; this one is the searcher's, which would not hold more.
            Err(error) if error.raw_os_error().is_none() && !self.cancel.is_cancelled() => {
                Look::Unread(io::Error::other(self.too_long()))
            }
            Err(error) => Look::Unread(error),
            Ok(()) if gather.is_binary => Look::Binary,
            Ok(()) if gather.found.matches == 0 => Look::Nothing,
            Ok(()) => Look::Found(gather.found.without_strays()),
        }
    }

    fn too_long(self) -> String {
        let what = if self.query.multiline {
            "it is longer than the"
        } else {
            "it has a line longer than the"
        };
        format!("{what} {} MiB that are held at a time", HELD >> 20)
    }

    /// Whether `lines`, which match, would match without keys too. What a key holds is not told by what finds it.
    fn matches_without_keys(self, lines: &[u8]) -> bool {
        let text = String::from_utf8_lossy(lines);
        let mut clean = text.into_owned();
        !self.keys.clean_in_place(&mut clean)
            || self
                .query
                .matcher
                .is_match(clean.as_bytes())
                .unwrap_or(false)
    }
}

impl Found {
    /// Without blocks of lines that stand beside a match which is not shown.
    fn without_strays(mut self) -> Self {
        let blocks = self.lines.chunk_by(|a, b| a.number + 1 == b.number);
        let kept = blocks.filter(|block| block.iter().any(|line| line.matches));
        self.lines = kept.flatten().cloned().collect();
        self
    }

    /// The lines up to the match number `count` (from 1), and `after` lines more, as far as they are there.
    pub(super) fn up_to(&self, count: u64, after: u64) -> &[Line] {
        let places = self.lines.iter().enumerate();
        let mut matches = places.filter(|(_, line)| line.matches);
        let Some(last) = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_sub(1))
        else {
            return &[];
        };
        let Some((place, line)) = matches.nth(last) else {
            return &self.lines;
        };
        let rest = &self.lines[place + 1..];
        let is_after = |other: &&Line| !other.matches && other.number <= line.number + after;
        &self.lines[..=place + rest.iter().take_while(is_after).count()]
    }
}

/// A file that cannot be read any further once the session is told to stop.
struct Watched<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}

/// Takes what the search finds.
struct Gather<'a> {
    looker: Looker<'a>,
    found: Found,
    /// Matching lines that are among the lines.
    shown: u64,
    /// The number of the last of these.
    last: u64,
    /// The text of the lines, in bytes.
    bytes: usize,
    is_binary: bool,
}

impl Gather<'_> {
    fn is_full(&self) -> bool {
        let query = self.looker.query;
        query.show == Show::Files
            || self.looker.briefly
            || self.shown >= query.of_one_file.min(query.limit)
            || self.bytes > self.looker.room
    }

    fn add(&mut self, number: u64, is_match: bool, bytes: &[u8]) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        self.found.lossy |= matches!(text, Cow::Owned(_));
        let text = self.looker.keys.clean(&text);
        let matcher = &self.looker.query.matcher;
        let place = if is_match && text.len() > WIDTH {
            let found = matcher.find(text.as_bytes()).ok().flatten();
            found.map_or(0, |found| found.start())
        } else {
            0
        };
        let text = cut(&text, place);
        self.bytes += text.len();
        if is_match {
            self.shown += 1;
            self.last = number;
        }
        self.found.lines.push(Line {
            number,
            matches: is_match,
            text,
        });
    }
}

impl Sink for Gather<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if !self.looker.matches_without_keys(found.bytes()) {
            return Ok(true);
        }
        let first = found.line_number().unwrap_or(1);
        for (number, line) in (first..).zip(found.lines()) {
            self.found.matches += 1;
            if !self.is_full() {
                self.add(number, true, line);
            }
        }
        Ok(!self.looker.briefly)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().unwrap_or(1);
        let follows = self.shown > 0 && number <= self.last + self.looker.query.after;
        if !self.is_full() || (follows && self.bytes <= self.looker.room) {
            self.add(number, false, context.bytes());
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// `text` where it is longer than a line may be, cut around the byte `place` of it.
fn cut(text: &str, place: usize) -> String {
    if text.len() <= WIDTH {
        return text.to_owned();
    }
    let start = if place < WIDTH / 2 {
        0
    } else {
        place.saturating_sub(WIDTH / 4).min(text.len() - WIDTH)
    };
    let start = text.ceil_char_boundary(start);
    let end = text.floor_char_boundary(start + WIDTH);
    let mark = |bytes: usize| match bytes {
        0 => String::new(),
        bytes => format!("[{bytes} bytes cut]"),
    };
    let (before, after) = (mark(start), mark(text.len() - end));
    format!("{before}{}{after}", &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let line = format!("{}ü{}", "a".repeat(700), "b".repeat(700));
        let shown = |place| cut(&line, place);
        assert_eq!(cut("short", 3), "short");
        assert_eq!(shown(0), format!("{}[1102 bytes cut]", "a".repeat(300)));
        assert_eq!(
            shown(700),
            format!(
                "[625 bytes cut]{}ü{}[477 bytes cut]",
                "a".repeat(75),
                "b".repeat(223)
            )
        );
        assert_eq!(shown(1400), format!("[1102 bytes cut]{}", "b".repeat(300)));
        for place in 0..line.len() {
            assert!(shown(place).len() < WIDTH + 50);
        }
    }
}
