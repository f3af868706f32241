//! The tool `glob`: the paths that a pattern means.

use std::path::Path;

use async_trait::async_trait;
use serde_json::Value;
use tokio::select;

use super::{
    Tool, ToolAnswer, ToolContext,
    arguments::{Arguments, renamed},
    blocking::on_a_thread,
    search::{Kind, LEFT_OUT, Pattern, Pick, Unread, Walk, shown, start},
};

/// What other tools of this kind call the arguments.
const ALIASES: &[(&str, &str)] = &[("glob", "pattern"), ("query", "pattern")];
/// The most paths of one answer.
const MOST: u32 = 2_000;
/// The same where a call names no number.
const USUAL: u32 = 500;
/// How many further paths are counted once the answer is full.
const COUNTED_ON: usize = 100_000;
/// Kept free for what is said at the end, in bytes.
const CLOSING: usize = 1 << 10;

/// Lists the files and folders that `pattern` means, below `path`, sorted.
#[derive(Debug)]
pub(super) struct Glob;

#[async_trait]
impl Tool for Glob {
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer {
        let (args, inner) = (args.clone(), context.clone());
        select! {
            biased;
            // The thread sees it too, unless a file system keeps it waiting.
            () = context.cancel.cancelled() => ToolAnswer::failed("cancelled"),
            answer = on_a_thread(move || glob(&args, &inner)) => answer,
        }
    }
}

fn glob(args: &Value, context: &ToolContext) -> Result<String, String> {
    let args = renamed(args, ALIASES)?;
    let args = Arguments::read(&args, &["pattern", "path", "limit"])?;
    let cwd = context.cwd.as_path();
    let folder = start(args, cwd)?;
    if !folder.path.is_dir() {
        return Err(format!("`{}` is no folder", folder.text));
    }
    let text = args.text("pattern")?;
    let limit = args.number("limit", 1..=MOST)?.unwrap_or(USUAL);
    let pattern = Pattern::new("pattern", text, &folder.path)?;
    pattern.check(cwd)?;
    let mut list = List::new(limit, context.output_limit, cwd);
    // What is spelled out is meant, even where a rule would leave it out.
    let spelled_out = pattern.exact.clone();
    if spelled_out.symlink_metadata().is_ok() && pattern.takes(&spelled_out, spelled_out.is_dir()) {
        list.add(&spelled_out, spelled_out.is_dir());
    }
    for found in Walk::new(&folder.path, Pick::Only(pattern)) {
        if context.cancel.is_cancelled() {
            return Err("cancelled".into());
        }
        match found {
            Err(unreadable) => list.unread.add(unreadable),
            Ok(entry) if entry.path == spelled_out => {}
            Ok(entry) => {
                // A link counts as what it leads to.
                let leads_to_folder = || entry.kind == Kind::Other && entry.path.is_dir();
                list.add(&entry.path, entry.kind == Kind::Folder || leads_to_folder());
            }
        }
        if list.is_over() {
            break;
        }
    }
    Ok(list.finish(text, folder.text))
}

/// The paths so far.
struct List<'a> {
    cwd: &'a Path,
    text: String,
    /// How long the text may become, in bytes.
    room: usize,
    limit: u32,
    shown: u32,
    /// Paths that are meant and have no place here.
    more: usize,
    /// Whether it was the length of the answer that left no place.
    is_long: bool,
    unread: Unread,
}

impl<'a> List<'a> {
    fn new(limit: u32, bytes: usize, cwd: &'a Path) -> Self {
        Self {
            cwd,
            text: String::new(),
            room: bytes.saturating_sub(CLOSING),
            limit,
            shown: 0,
            more: 0,
            is_long: false,
            unread: Unread::default(),
        }
    }

    fn add(&mut self, path: &Path, is_folder: bool) {
        let mut line = shown(path, self.cwd);
        if is_folder {
            line.push('/');
        }
        line.push('\n');
        self.is_long |= self.shown < self.limit && self.text.len() + line.len() > self.room;
        if self.is_long || self.shown == self.limit {
            self.more += 1;
        } else {
            self.shown += 1;
            self.text.push_str(&line);
        }
    }

    fn is_over(&self) -> bool {
        self.more >= COUNTED_ON
    }

    /// The answer to `pattern` below `folder`.
    fn finish(mut self, pattern: &str, folder: &str) -> String {
        if self.more > 0 {
            let least = if self.is_over() { "at least " } else { "" };
            let raise = if self.is_long || self.limit == MOST {
                ""
            } else {
                ", or raise `limit`"
            };
            let (shown, more) = (self.shown, self.more);
            let closing = format!(
                "[{shown} shown, {least}{more} more; narrow it by `path` or a longer `pattern`{raise}]\n"
            );
            self.text.push_str(&closing);
        } else if self.shown == 0 {
            let place = match folder {
                "." => "the working folder".to_owned(),
                text => format!("`{text}`"),
            };
            let brackets = if pattern.contains('[') {
                "; `[` begins a set of characters, and `[[]` is the bracket itself"
            } else {
                ""
            };
            self.text = format!("[nothing in {place} matches `{pattern}`; {LEFT_OUT}{brackets}]\n");
        }
        self.text.extend(self.unread.note(self.cwd));
        self.text
    }
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
