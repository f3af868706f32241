//! A long source file in short: its declarations by line number, everything between them as ranges of lines.
//!
//! ```text
//! 12: pub struct Parser { … 13-19 (5 members)
//! 20: impl Parser {
//! 21-24:   pub fn new(source: &str, limit: usize) -> Self { … 25-41
//! … 42-60 (3 functions)
//! ```
//!
//! `outline` finds the declarations with tree-sitter; `choice` takes as many of them as there is room for, the outer and the
//! larger ones first; `sheet` writes them down. Every line of the file lies in exactly one range, shown or left out, because
//! what is left out is whatever stands between two shown ones. Pure: no files.

mod choice;
mod language;
mod memory;
mod outline;
mod rows;
mod sheet;

use sortie_protocol::redact::Redactor;
use tokio_util::sync::CancellationToken;

pub(crate) use language::Language;

use choice::{Budget, choose};
use outline::outline;
use rows::Rows;
use sheet::Sheet;

/// Longer texts are not summarised, in bytes: what it takes to parse one would be felt.
pub(crate) const LONGEST: usize = 1 << 20;
/// Shorter texts are shown as they are, in bytes.
const SHORTEST: usize = 8 << 10;
/// Texts of up to this many lines are shown as they are if they fit in an answer.
const FEW_LINES: usize = 400;
/// Lines that are longer on average, in bytes, were not written by a person.
const AVERAGE_LINE: usize = 200;

/// A text that may be summarised.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// What it is written in.
    pub(crate) language: Language,
    /// The most that an answer holds, in bytes.
    pub(crate) limit: usize,
    /// What must not be shown.
    pub(crate) keys: &'a Redactor,
    /// Fires when nobody waits any more.
    pub(crate) cancel: &'a CancellationToken,
}

/// The summary of `source`, with a first line that says what it is; `None` where it is better shown as it is: short, no
/// code that a person wrote, or not understood.
pub(crate) fn summarize(source: &Source<'_>) -> Option<String> {
    let Source { text, limit, .. } = *source;
    let rows = Rows::of(text, source.keys);
    let is_long = rows.count() > FEW_LINES || text.len() > limit;
    let is_written = text.len() / rows.count().max(1) <= AVERAGE_LINE;
    if !is_long || !is_written || !(SHORTEST..=LONGEST).contains(&text.len()) {
        return None;
    }
    let declarations = outline(source, &rows)?;
    if declarations.is_empty() {
        return None;
    }
    let sheet = Sheet {
        rows: &rows,
        declarations: &declarations,
        limit,
    };
    let shown = choose(&sheet, &Budget::of(text.len(), rows.count(), limit))?;
    Some(sheet.text(&shown))
}

#[cfg(test)]
pub(crate) mod checked;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
