//! One record as people and models read it.

use std::fmt::{self, Write as _};

use serde_json::Value;
use sortie_protocol::{AssistantTurn, Origin, StopReason, ToolResult, Usage};

use super::{Detail, Transcript};

/// The most of an answer or a thought that is told in short, in bytes.
const SHORT_TEXT: usize = 2_000;
/// The most of an answer or a thought that is told in short, in lines.
const SHORT_LINES: usize = 20;
/// The most of one argument of a call that is told in short, in bytes.
const SHORT_VALUE: usize = 300;
/// The most of one argument of a call that is told in short, in lines.
const SHORT_VALUE_LINES: usize = 6;
const INDENT: &str = "    ";

/// What one record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Who speaks, and when: one line. Empty for remarks on the transcript itself.
    pub heading: String,
    /// What is said, ending in a line's end unless it is empty.
    pub body: String,
}

impl Passage {
    pub(super) fn user(origin: Origin, text: &str) -> Self {
        let who = match origin {
            Origin::Assignment => "assignment",
            Origin::Steer => "steered",
            Origin::Reminder => "reminder",
            Origin::Delivery => "delivery",
        };
        Self::new(who, ended(text))
    }

    pub(super) fn assistant(n: u64, turn: &AssistantTurn, detail: Detail) -> Self {
        let who = match turn.candidate {
            0 => "assistant".to_owned(),
            other => format!("assistant (`candidates[{other}]` of the plan)"),
        };
        let mut body = String::new();
        for thought in &turn.thoughts {
            let text = match thought.text.trim() {
                "" => "not shown by the provider",
                text => text,
            };
            body += "[thinking] ";
            body += &ended(&told(text, SHORT_TEXT, SHORT_LINES, detail));
        }
        body += &ended(&turn.text);
        for (nth, call) in (1..).zip(&turn.calls) {
            body += &ended(&format!("> {n}.{nth} {}", call.name));
            body += &arguments(&call.args, detail);
        }
        body += match turn.stop {
            StopReason::Stop | StopReason::ToolUse => "",
            StopReason::Length => "[cut off at the output limit]\n",
            StopReason::Refusal => "[refused]\n",
        };
        if body.is_empty() {
            body += "[nothing]\n";
        }
        body += &figures(&turn.usage);
        Self::new(who, body)
    }

    pub(super) fn answer(call: Option<(u64, u64)>, result: &ToolResult, detail: Detail) -> Self {
        let how = if result.ok { "answer" } else { "failure" };
        let of = match call {
            Some((n, nth)) => format!("{n}.{nth} "),
            None => String::new(),
        };
        let text = told(&result.text, SHORT_TEXT, SHORT_LINES, detail);
        Self::new(format!("{how} of {of}{}", result.name), ended(&text))
    }

    /// What is missing, if anything is.
    pub(super) fn remarks(open: &[(u64, u64)], transcript: &Transcript) -> Option<Self> {
        let mut body = String::new();
        for (n, nth) in open {
            // Writing to a string cannot fail.
            let _ = writeln!(body, "[call {n}.{nth} has no answer]");
        }
        for line in &transcript.damaged {
            let _ = writeln!(
                body,
                "[line {line} of the transcript is damaged, and left out]"
            );
        }
        if transcript.torn {
            body += "[the last line of the transcript is not whole, and left out]\n";
        }
        (!body.is_empty()).then(|| Self {
            heading: String::new(),
            body,
        })
    }

    /// Adds the record's number, and how long after the first record it came.
    pub(super) fn at(mut self, n: u64, after_ms: u64) -> Self {
        let who = self.heading;
        let (seconds, tenths) = (after_ms / 1_000, after_ms % 1_000 / 100);
        self.heading = match (seconds, tenths) {
            (0, 0) => format!("#{n} {who}"),
            _ => format!("#{n} {who}, after {seconds}.{tenths} s"),
        };
        self
    }

    fn new(who: impl Into<String>, body: String) -> Self {
        Self {
            heading: who.into(),
            body,
        }
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.heading.is_empty() {
            writeln!(f, "{}", self.heading)?;
        }
        f.write_str(&self.body)
    }
}

/// The arguments of a call, one a line; those of several lines as a block.
fn arguments(args: &Value, detail: Detail) -> String {
    let Value::Object(fields) = args else {
        return block(&plain(args), detail);
    };
    let mut text = String::new();
    for (name, value) in fields {
        let value = plain(value);
        text += INDENT;
        text += name;
        if value.contains('\n') {
            text += ":\n";
            for line in block(&value, detail).lines() {
                text += &ended(&format!("{INDENT}{line}"));
            }
        } else {
            text += ": ";
            text += &ended(&told(&value, SHORT_VALUE, SHORT_VALUE_LINES, detail));
        }
    }
    text
}

fn block(value: &str, detail: Detail) -> String {
    let value = told(value, SHORT_VALUE, SHORT_VALUE_LINES, detail);
    let lines: Vec<_> = value
        .lines()
        .map(|line| format!("{INDENT}{line}\n"))
        .collect();
    lines.concat()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `text`, or its beginning with a note of what is left out.
fn told(text: &str, bytes: usize, lines: usize, detail: Detail) -> String {
    let by_lines = text
        .match_indices('\n')
        .nth(lines - 1)
        .map_or(text.len(), |(end, _)| end);
    let end = by_lines.min(text.floor_char_boundary(bytes));
    if detail == Detail::Whole || text[end..].trim().is_empty() {
        return text.to_owned();
    }
    let left = text.len() - end;
    let joint = if end == by_lines { '\n' } else { ' ' };
    format!("{}{joint}[{left} more bytes]", &text[..end])
}

/// What the provider counted, if it did.
fn figures(usage: &Usage) -> String {
    let mut parts = Vec::new();
    let mut tokens = |count: Option<u64>, what: &str| {
        parts.extend(count.map(|count| format!("{count} {what}")));
    };
    tokens(usage.input, "in");
    tokens(usage.cache_read, "from the cache");
    tokens(usage.cache_write, "to the cache");
    tokens(usage.output, "out");
    tokens(usage.reasoning, "of them thinking");
    match (parts.is_empty(), usage.cost) {
        (true, _) => String::new(),
        (false, Some(cost)) => format!("[tokens: {}; ${cost:.4}]\n", parts.join(", ")),
        (false, None) => format!("[tokens: {}]\n", parts.join(", ")),
    }
}

fn ended(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
