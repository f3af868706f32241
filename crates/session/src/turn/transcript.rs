//! The conversation so far, and its way to the root.

use std::time::{SystemTime, UNIX_EPOCH};

use sortie_prompts::notes;
use sortie_protocol::{Record, RecordKind, ToolCall, ToolResult, Up};

use crate::link::Link;

/// Every record of a session, stored ones of an earlier life first.
#[derive(Debug)]
pub(super) struct Transcript {
    records: Vec<Record>,
    link: Link,
}

impl Transcript {
    /// Goes on where `stored` ends. Calls that were left without an answer get one: no model takes a conversation
    /// in which a call has none.
    pub(super) fn resume(stored: Vec<Record>, link: Link) -> Self {
        let mut transcript = Self {
            records: stored,
            link,
        };
        for call in transcript.unanswered() {
            transcript.refuse(&call, notes::NOT_RUN_LOST);
        }
        transcript
    }

    /// All records, in order.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Adds a record, sends it up, and returns its number.
    pub(super) fn append(&mut self, kind: RecordKind) -> u64 {
        let n = self.records.last().map_or(0, |record| record.n) + 1;
        let record = Record { n, at: now(), kind };
        self.link.send(Up::Record(record.clone()));
        self.records.push(record);
        n
    }

    /// Answers a call that was not carried out.
    pub(super) fn refuse(&mut self, call: &ToolCall, why: &str) {
        self.append(RecordKind::ToolResult(ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            ok: false,
            text: why.to_owned(),
        }));
    }

    /// The last text that a model said, trimmed.
    pub(super) fn last_text(&self) -> Option<&str> {
        self.records
            .iter()
            .rev()
            .find_map(|record| match &record.kind {
                RecordKind::Assistant(turn) => {
                    Some(turn.text.trim()).filter(|text| !text.is_empty())
                }
                _ => None,
            })
    }

    /// The calls of the last turn that have no answer, in order.
    fn unanswered(&self) -> Vec<ToolCall> {
        let turn = self
            .records
            .iter()
            .enumerate()
            .rev()
            .find_map(|(i, record)| match &record.kind {
                RecordKind::Assistant(turn) => Some((i, turn)),
                _ => None,
            });
        let Some((at, turn)) = turn else {
            return Vec::new();
        };
        let is_answered = |call: &ToolCall| {
            self.records[at..].iter().any(|record| {
                matches!(&record.kind, RecordKind::ToolResult(result) if result.call == call.id)
            })
        };
        turn.calls
            .iter()
            .filter(|call| !is_answered(call))
            .cloned()
            .collect()
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
