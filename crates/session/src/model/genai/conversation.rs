//! A transcript as a conversation: whose calls are answered, and whose thinking goes back to whom.

use std::collections::HashMap;

use serde_json::{Value, json};
use sortie_protocol::{AssistantTurn, Record, RecordKind, Thought, ToolCall, ToolResult};

use crate::model::ModelRequest;

/// What a call is answered with that has no result: its session ended, or its turn broke off, before it ran.
const NOT_RUN: &str = "not run";

/// One thing that was said.
#[derive(Debug)]
pub(super) enum Said<'a> {
    /// To the model.
    User(&'a str),
    /// By the model. Never empty: there is a text, or a call.
    Turn(Turn<'a>),
}

/// A turn of the model, and the answers to its calls.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) text: &'a str,
    pub(super) calls: &'a [ToolCall],
    /// One for each call, in their order.
    pub(super) answers: Vec<Answered<'a>>,
    /// Whether nothing has been said to the model since: it still works on what these calls were for.
    pub(super) at_work: bool,
    thoughts: &'a [Thought],
    is_own: bool,
}

/// The answer to a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) ok: bool,
    pub(super) text: &'a str,
}

/// A piece of a turn, in its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    /// What its provider has to see again as it was: it has a signature, or is redacted.
    Sealed(&'a Thought),
    /// What was said. Never blank.
    Text(&'a str),
    /// A call.
    Call(&'a ToolCall),
}

/// What was said before `request`.
pub(super) fn of<'a>(request: &ModelRequest<'a>) -> Vec<Said<'a>> {
    let transcript = request.transcript;
    // What was said last is what the model still works on.
    let last_said = transcript
        .iter()
        .rposition(|record| matches!(record.kind, RecordKind::User { .. }));
    let mut conversation = Vec::new();
    for (place, record) in transcript.iter().enumerate() {
        match &record.kind {
            RecordKind::User { text, .. } => conversation.push(Said::User(text)),
            // No API takes an empty message.
            RecordKind::Assistant(turn) if turn.text.trim().is_empty() && turn.calls.is_empty() => {
            }
            RecordKind::Assistant(turn) => conversation.push(Said::Turn(Turn {
                text: &turn.text,
                calls: &turn.calls,
                answers: answers(turn, &transcript[place + 1..]),
                at_work: last_said.is_none_or(|said| place > said),
                thoughts: &turn.thoughts,
                is_own: turn.candidate == request.place,
            })),
            // A call stands in its turn, and a result is taken to it.
            RecordKind::ToolCall(_) | RecordKind::ToolResult(_) => {}
        }
    }
    conversation
}

impl<'a> Turn<'a> {
    /// Its pieces in order. Sealed thoughts are among them where this candidate made them: another would refuse them.
    pub(super) fn pieces(&self) -> Vec<Piece<'a>> {
        let text = Some(self.text).filter(|text| !text.trim().is_empty());
        let others = text.map(Piece::Text).into_iter();
        let mut others = others.chain(self.calls.iter().map(Piece::Call));
        let mut pieces = Vec::new();
        let mut placed = 0;
        let sealed = self.thoughts.iter().filter(|thought| {
            self.is_own && (thought.signature.is_some() || thought.redacted.is_some())
        });
        let mut sealed: Vec<_> = sealed.collect();
        sealed.sort_by_key(|thought| thought.after);
        for thought in sealed {
            while placed < thought.after
                && let Some(other) = others.next()
            {
                pieces.push(other);
                placed += 1;
            }
            pieces.push(Piece::Sealed(thought));
        }
        pieces.extend(others);
        pieces
    }

    /// Its pieces up to the last that is no thought: most APIs refuse a turn that ends in thinking.
    pub(super) fn pieces_to_the_last_deed(&self) -> Vec<Piece<'a>> {
        let mut pieces = self.pieces();
        while matches!(pieces.last(), Some(Piece::Sealed(_))) {
            pieces.pop();
        }
        pieces
    }

    /// Unsigned thinking as one text, and the field that it came in.
    pub(super) fn unsigned_thinking(&self) -> Option<(&'a str, String)> {
        let came_in = |thought: &'a Thought| thought.field.as_deref();
        let field = self.thoughts.iter().find_map(came_in)?;
        let of_field = self
            .thoughts
            .iter()
            .filter(|thought| came_in(thought) == Some(field));
        let texts: Vec<_> = of_field.map(|thought| thought.text.as_str()).collect();
        Some((field, texts.join("\n")))
    }
}

impl Answered<'_> {
    /// The text for an API that has no word for a failure.
    pub(super) fn told(&self) -> String {
        if self.ok {
            self.text.to_owned()
        } else {
            format!("error: {}", self.text)
        }
    }
}

/// The longest name of a tool that every API takes.
const LONGEST_NAME: usize = 64;

/// The name of a call's tool as every API takes it. A model may have made one up: it was told that there is none, and the call
/// stands in the conversation all the same.
pub(super) fn tool(call: &ToolCall) -> String {
    let name: String = plain(&call.name).chars().take(LONGEST_NAME).collect();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}

/// `text` with nothing in it but letters, digits, `_`, and `-`.
pub(super) fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

/// The arguments of a call as an object, which is all that some APIs take.
pub(super) fn arguments(call: &ToolCall) -> Value {
    match &call.args {
        Value::Object(_) => call.args.clone(),
        other => json!({"unreadable": other}),
    }
}

/// One answer for each call of `turn`, in the order of the calls, out of what follows up to the next turn.
fn answers<'a>(turn: &'a AssistantTurn, after: &'a [Record]) -> Vec<Answered<'a>> {
    let mut results: HashMap<&str, &ToolResult> = HashMap::new();
    for record in after {
        match &record.kind {
            RecordKind::Assistant(_) => break,
            RecordKind::ToolResult(result) => {
                results.entry(&result.call).or_insert(result);
            }
            RecordKind::User { .. } | RecordKind::ToolCall(_) => {}
        }
    }
    let answer = |call: &'a ToolCall| match results.get(call.id.as_str()) {
        Some(result) => Answered {
            call,
            ok: result.ok,
            text: &result.text,
        },
        None => Answered {
            call,
            ok: false,
            text: NOT_RUN,
        },
    };
    turn.calls.iter().map(answer).collect()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
