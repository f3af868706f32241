//! The answer of one search, which holds only so much.

use std::path::Path;

use super::{
    look::{Found, Line, Look},
    query::{MOST, Query, Show},
};
use crate::tools::search::{Unread, Unreadable, shown};

/// Kept free for what is said at the end, in bytes.
const CLOSING: usize = 1 << 10;
/// Kept free for what is said at the end of a file, in bytes.
const NOTE: usize = 80;
/// How many files are looked at after the answer is full, to tell how many more have a match.
const COUNTED_ON: usize = 20_000;

/// Text that grows file by file, until it is full.
#[derive(Debug)]
pub(super) struct Page<'a> {
    query: &'a Query,
    cwd: &'a Path,
    text: String,
    room: usize,
    /// Matching lines, or files, that may still be shown.
    left: u64,
    /// What it was that left no room.
    full: Option<Full>,
    /// Whether a file has more matching lines than one may show.
    shortened: bool,
    /// Files that were searched, without binary ones.
    searched: usize,
    binary: usize,
    /// Files that have a match and no place here.
    more: usize,
    /// Files that were looked at since there was no room.
    counted_on: usize,
    unread: Unread,
    error: Option<String>,
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Full {
    /// The number of matches.
    Limit,
    /// The bytes that an answer may hold.
    Bytes,
}

impl<'a> Page<'a> {
    /// An empty one of at most `bytes`, for the answer to `query`, with paths from `cwd`.
    pub(super) fn new(query: &'a Query, cwd: &'a Path, bytes: usize) -> Self {
        Self {
            query,
            cwd,
            text: String::new(),
            room: bytes.saturating_sub(CLOSING),
            left: query.limit,
            full: None,
            shortened: false,
            searched: 0,
            binary: 0,
            more: 0,
            counted_on: 0,
            unread: Unread::default(),
            error: None,
        }
    }

    /// The question.
    pub(super) fn query(&self) -> &'a Query {
        self.query
    }

    /// How many files were searched, without binary ones.
    pub(super) fn searched(&self) -> usize {
        self.searched
    }

    /// How many files were passed over as no text.
    pub(super) fn binary(&self) -> usize {
        self.binary
    }

    /// Why the first file that could not be read could not.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether nothing more can be shown.
    pub(super) fn is_full(&self) -> bool {
        self.left == 0 || self.full.is_some()
    }

    /// Whether nothing more need be looked at either.
    pub(super) fn is_over(&self) -> bool {
        self.counted_on >= COUNTED_ON
    }

    /// Takes something that could not be read.
    pub(super) fn add_unread(&mut self, unreadable: Unreadable) {
        self.unread.add(unreadable);
    }

    /// Takes what came of the file `path`.
    pub(super) fn add(&mut self, path: &Path, look: Look) {
        self.counted_on += usize::from(self.is_full());
        match look {
            Look::Nothing => self.searched += 1,
            Look::Binary => self.binary += 1,
            Look::Unread(error) => {
                self.error.get_or_insert_with(|| error.to_string());
                self.add_unread(Unreadable::new(path, &error));
            }
            Look::Found(found) => {
                self.searched += 1;
                let was_shown = !self.is_full() && self.show(path, &found);
                if !was_shown {
                    self.full.get_or_insert(Full::Limit);
                    self.more += 1;
                }
            }
        }
    }

    /// Shows what there is room for, and says whether there was any.
    fn show(&mut self, path: &Path, found: &Found) -> bool {
        let path = shown(path, self.cwd);
        let was_shown = match self.query.show {
            Show::Files => self.push(&format!("{path}: {}\n", found.matches)),
            Show::Lines => self.show_lines(&path, found),
        };
        match (self.query.show, was_shown) {
            (_, 0) => return false,
            (Show::Files, _) => self.left -= 1,
            (Show::Lines, count) => {
                self.left -= count;
                self.close_file(found, count);
            }
        }
        true
    }

    fn show_lines(&mut self, path: &str, found: &Found) -> u64 {
        let start = self.text.len();
        let space = if start == 0 { "" } else { "\n" };
        if self.push(&format!("{space}{path}\n")) == 0 {
            return 0;
        }
        let (mut whole, mut count) = (start, 0);
        let most = self.query.of_one_file.min(self.left);
        let mut last = None;
        for line in found.up_to(most, self.query.after) {
            if self.push(&self.written(line, last)) == 0 {
                self.text.truncate(whole);
                break;
            }
            last = Some(line.number);
            count += u64::from(line.matches);
            if line.matches {
                whole = self.text.len();
            }
        }
        count
    }

    fn written(&self, line: &Line, last: Option<u64>) -> String {
        let has_context = self.query.before + self.query.after > 0;
        let is_apart = last.is_some_and(|last| last + 1 < line.number);
        let gap = if has_context && is_apart { "--\n" } else { "" };
        let sign = if line.matches { ':' } else { '-' };
        format!("{gap}{}{sign} {}\n", line.number, line.text)
    }

    fn close_file(&mut self, found: &Found, count: u64) {
        if found.lossy {
            self.text
                .push_str("[not UTF-8: what is no text is shown as \u{FFFD}]\n");
        }
        let hidden = found.matches - count;
        if hidden == 0 {
            return;
        }
        let note = match hidden {
            1 => "[1 more matching line in this file]\n".to_owned(),
            hidden => format!("[{hidden} more matching lines in this file]\n"),
        };
        self.text.push_str(&note);
        if self.full.is_none() && self.left == 0 {
            self.full = Some(Full::Limit);
        }
        self.shortened |= self.full.is_none();
    }

    /// Adds `text`, for which there may be no room. Says how many pieces were added.
    fn push(&mut self, text: &str) -> u64 {
        if self.text.len() + text.len() + 2 * NOTE > self.room {
            self.full = Some(Full::Bytes);
            return 0;
        }
        self.text.push_str(text);
        1
    }

    /// The answer; `nothing` says that there was no match.
    pub(super) fn finish(mut self, nothing: impl FnOnce(&Self) -> String) -> String {
        if self.text.is_empty() && self.full.is_none() {
            self.text = nothing(&self);
        } else {
            let closing = self.closing();
            let gap = if self.text.is_empty() || closing.is_empty() {
                ""
            } else {
                "\n"
            };
            self.text.extend([gap, &closing]);
        }
        self.text.extend(self.unread.note(self.cwd));
        self.text
    }

    fn closing(&self) -> String {
        let Some(full) = self.full else {
            return if self.shortened {
                format!(
                    "[at most {} lines of one file are shown; name one as `path` for more]\n",
                    self.query.of_one_file
                )
            } else {
                String::new()
            };
        };
        let limit = self.query.limit;
        let cut = match (full, self.query.show) {
            (Full::Bytes, _) => "cut here, where the answer is as long as it may be".to_owned(),
            (Full::Limit, Show::Lines) if limit == 1 => "cut after 1 matching line".to_owned(),
            (Full::Limit, Show::Lines) => format!("cut after {limit} matching lines"),
            (Full::Limit, Show::Files) if limit == 1 => "cut after 1 file".to_owned(),
            (Full::Limit, Show::Files) => format!("cut after {limit} files"),
        };
        let least = if self.is_over() { "at least " } else { "" };
        let more = match self.more {
            0 => String::new(),
            1 => format!("; {least}1 more file matches"),
            more => format!("; {least}{more} more files match"),
        };
        let raise = if full == Full::Limit && limit < u64::from(MOST) {
            ", or raise `limit`"
        } else {
            ""
        };
        format!("[{cut}{more}; narrow it by `path`, `glob`, or a longer `pattern`{raise}]\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::grep::query::arguments;

    #[test]
    fn what_is_counted_after_the_end_has_an_end_too() {
        let args = json!({"pattern": "x", "show": "files", "limit": 1});
        let query = Query::read(arguments(&args).unwrap(), false).unwrap();
        let found = || {
            Look::Found(Found {
                matches: 3,
                ..Found::default()
            })
        };
        let mut page = Page::new(&query, Path::new("/here"), 10_000);
        for name in ["/here/a", "/here/b"] {
            page.add(Path::new(name), found());
        }
        for _ in 2..COUNTED_ON {
            assert!(!page.is_over());
            page.add(Path::new("/here/c"), Look::Nothing);
        }
        page.add(Path::new("/here/d"), found());
        assert!(page.is_over());
        insta::assert_snapshot!(page.finish(|_| unreachable!()), @"
        a: 3

        [cut after 1 file; at least 2 more files match; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
        ");
    }

    #[test]
    fn what_could_not_be_read_is_counted_and_the_first_is_named() {
        let args = json!({"pattern": "x"});
        let query = Query::read(arguments(&args).unwrap(), false).unwrap();
        let mut texts = Vec::new();
        for names in [&["/here/a"][..], &["/here/a", "/elsewhere/b", "/here/c"]] {
            let mut page = Page::new(&query, Path::new("/here"), 10_000);
            for name in names {
                let error = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
                page.add(Path::new(name), Look::Unread(error));
            }
            texts.push(page.finish(|page| format!("[nothing in {}]\n", page.searched())));
        }
        insta::assert_snapshot!(texts.concat(), @"
        [nothing in 0]
        [`a` could not be read: permission denied]
        [nothing in 0]
        [3 files or folders could not be read, first `a`: permission denied]
        ");
    }
}
