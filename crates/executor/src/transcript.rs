//! What was said in one task, read from its `<id>.jsonl` and told as text.
//!
//! The one telling of `sortie runs transcript` and of `history://ID`. Pure but for [`Transcript::load`]: no colour, no
//! width, no clock.

mod passage;

use std::{collections::HashMap, fs, io, path::Path};

use sortie_protocol::{Record, RecordKind};

pub use passage::Passage;

/// How much of what was said is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Long arguments, answers, and thoughts are cut, and say how much is left out.
    Short,
    /// Everything.
    Whole,
}

/// The records of one task, as far as they can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The records, in order.
    pub records: Vec<Record>,
    /// The numbers, from 1, of lines that are damaged.
    pub damaged: Vec<usize>,
    /// Whether the last line was not yet, or never, written to its end.
    pub torn: bool,
}

impl Transcript {
    /// Reads the transcript at `path`.
    pub fn load(path: &Path) -> io::Result<Self> {
        Ok(Self::parse(&String::from_utf8_lossy(&fs::read(path)?)))
    }

    /// Reads the lines of a transcript. A damaged one costs what it told, and not the rest.
    pub fn parse(text: &str) -> Self {
        let (whole, rest) = match text.rfind('\n') {
            Some(end) => text.split_at(end + 1),
            None => ("", text),
        };
        let mut transcript = Self {
            torn: !rest.is_empty(),
            ..Self::default()
        };
        for (number, line) in (1..).zip(whole.lines()) {
            match serde_json::from_str(line) {
                Ok(record) => transcript.records.push(record),
                Err(_) => transcript.damaged.push(number),
            }
        }
        transcript
    }

    /// What was said, one passage a record. A call is told by the turn that made it.
    pub fn passages(&self, detail: Detail) -> Vec<Passage> {
        let start = self.records.first().map_or(0, |record| record.at);
        let mut calls = HashMap::new();
        let mut passages = Vec::new();
        for record in &self.records {
            let after = record.at.saturating_sub(start);
            let passage = match &record.kind {
                RecordKind::User { origin, text } => Passage::user(*origin, text),
                RecordKind::Assistant(turn) => {
                    for (nth, call) in (1..).zip(&turn.calls) {
                        calls.insert(&call.id, (record.n, nth));
                    }
                    Passage::assistant(record.n, turn, detail)
                }
                RecordKind::ToolCall(_) => continue,
                RecordKind::ToolResult(result) => {
                    Passage::answer(calls.remove(&result.call), result, detail)
                }
            };
            passages.push(passage.at(record.n, after));
        }
        let mut open: Vec<_> = calls.into_values().collect();
        open.sort_unstable();
        passages.extend(Passage::remarks(&open, self));
        passages
    }

    /// All that record `n` says; `None` where nothing is told of it.
    pub fn passage(&self, n: u64) -> Option<Passage> {
        let start = format!("#{n} ");
        let mut passages = self.passages(Detail::Whole).into_iter();
        passages.find(|passage| passage.heading.starts_with(&start))
    }

    /// All of it as text.
    pub fn text(&self, detail: Detail) -> String {
        let passages = self.passages(detail);
        let texts: Vec<_> = passages.iter().map(Passage::to_string).collect();
        texts.join("\n")
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
