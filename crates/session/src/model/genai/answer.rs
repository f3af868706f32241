//! The pieces of an answer, as they come.

use std::{
    collections::HashSet,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::Stream;
use genai::chat::{ChatStream, ChatStreamEvent, ContentPart, StreamEnd};
use serde_json::{Map, Value};
use sortie_protocol::{Price, StopReason, Thought, ToolCall, Usage};

use super::fault::Faults;
use crate::model::{Answer, Chunk, ModelError};

/// What it takes to read one answer.
pub(super) struct Reading {
    /// The number of the request, for the ids of calls that come without one.
    pub(super) n: u64,
    /// The ids that calls of this conversation have.
    pub(super) used_ids: HashSet<String>,
    /// The candidate's prices.
    pub(super) price: Option<Price>,
    pub(super) faults: Faults,
}

/// An answer's stream. It ends with [`Chunk::End`] or with one error, whatever comes after that.
pub(super) struct Chunks {
    events: ChatStream,
    reading: Reading,
    over: bool,
}

impl Chunks {
    pub(super) fn new(events: ChatStream, reading: Reading) -> Self {
        Self {
            events,
            reading,
            over: false,
        }
    }

    fn chunk(&mut self, event: ChatStreamEvent) -> Option<Chunk> {
        Some(match event {
            // Sent before anything has arrived.
            ChatStreamEvent::Start => return None,
            ChatStreamEvent::Chunk(chunk) => Chunk::Text(chunk.content),
            ChatStreamEvent::ReasoningChunk(chunk) => Chunk::Thought(chunk.content),
            ChatStreamEvent::ThoughtSignatureChunk(_)
            | ChatStreamEvent::ToolCallChunk(_)
            | ChatStreamEvent::Heartbeat => Chunk::Progress,
            ChatStreamEvent::End(end) => Chunk::End(self.reading.answer(end)),
        })
    }
}

impl Stream for Chunks {
    type Item = Result<Chunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        loop {
            match Pin::new(&mut self.events).poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(event))) => {
                    let Some(chunk) = self.chunk(event) else {
                        continue;
                    };
                    self.over = matches!(chunk, Chunk::End(_));
                    return Poll::Ready(Some(Ok(chunk)));
                }
                Poll::Ready(Some(Err(error))) => {
                    self.over = true;
                    return Poll::Ready(Some(Err(self.reading.faults.read(&error))));
                }
                Poll::Ready(None) => {
                    self.over = true;
                    return Poll::Ready(Some(Err(ModelError::Truncated)));
                }
            }
        }
    }
}

impl Reading {
    fn answer(&mut self, end: StreamEnd) -> Answer {
        let mut usage = usage(end.captured_usage.as_ref());
        usage.cost = self.price.and_then(|price| price.of(&usage));
        let mut text = String::new();
        let mut thoughts: Vec<Thought> = Vec::new();
        let mut calls = Vec::new();
        for part in end.captured_content.into_iter().flatten() {
            match part {
                ContentPart::Text(piece) => text.push_str(&piece),
                ContentPart::ThoughtSignature(signature) => thoughts.push(Thought {
                    text: String::new(),
                    signature: Some(signature),
                    ..Thought::default()
                }),
                // Comes after the signature it belongs to.
                ContentPart::ReasoningContent(piece) => match thoughts.last_mut() {
                    Some(thought) if thought.text.is_empty() => thought.text = piece,
                    _ => thoughts.push(Thought {
                        text: piece,
                        signature: None,
                        ..Thought::default()
                    }),
                },
                ContentPart::ToolCall(call) => calls.push(ToolCall {
                    id: call.call_id,
                    name: call.fn_name,
                    args: arguments(call.fn_arguments),
                }),
                ContentPart::Binary(_) | ContentPart::ToolResponse(_) | ContentPart::Custom(_) => {}
            }
        }
        if thoughts.iter().all(|thought| thought.text.is_empty())
            && let Some(text) = end
                .captured_reasoning_content
                .filter(|text| !text.is_empty())
        {
            match thoughts.first_mut() {
                Some(thought) => thought.text = text,
                None => thoughts.push(Thought {
                    text,
                    signature: None,
                    ..Thought::default()
                }),
            }
        }
        let calls = self.with_ids(without_fillers(calls));
        let stop = stop(end.captured_stop_reason.as_ref(), !calls.is_empty());
        Answer {
            thoughts,
            text,
            calls,
            stop,
            usage,
        }
    }

    /// Gives an id of ours to each call whose own is missing or taken. The library makes up `call_0`, `call_1` for calls
    /// without one, the same ones in every answer.
    fn with_ids(&mut self, mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
        for (place, call) in calls.iter_mut().enumerate() {
            let made_up = call.id == format!("call_{place}");
            if call.id.is_empty() || made_up || self.used_ids.contains(&call.id) {
                let mut id = format!("call_{}_{place}", self.n);
                while self.used_ids.contains(&id) {
                    id.push('x');
                }
                call.id = id;
            }
            self.used_ids.insert(call.id.clone());
        }
        calls
    }
}

/// The arguments as the plan's tools take them. A tool without parameters is often called with no text at all.
fn arguments(args: Value) -> Value {
    match args {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        args => args,
    }
}

/// Drops what the library puts in the place of a call whose number the provider skipped: the beginning of the next one.
fn without_fillers(calls: Vec<ToolCall>) -> Vec<ToolCall> {
    let mut kept: Vec<ToolCall> = Vec::with_capacity(calls.len());
    for call in calls {
        let filler = kept.last().is_some_and(|last| {
            !call.id.is_empty()
                && last.id == call.id
                && last.name == call.name
                && (last.args == call.args || !last.args.is_object() || is_empty(&last.args))
        });
        if filler {
            kept.pop();
        }
        kept.push(call);
    }
    kept
}

fn is_empty(args: &Value) -> bool {
    args.as_object().is_some_and(Map::is_empty)
}

fn stop(reason: Option<&genai::chat::StopReason>, has_calls: bool) -> StopReason {
    use genai::chat::StopReason as Reason;
    match reason {
        Some(Reason::MaxTokens(_)) => StopReason::Length,
        Some(Reason::ContentFilter(_)) => StopReason::Refusal,
        // Not every provider says so when it wants tools run, and some say so without naming one.
        _ if has_calls => StopReason::ToolUse,
        _ => StopReason::Stop,
    }
}

/// The library counts what came from a cache, or went into one, as input too.
fn usage(usage: Option<&genai::chat::Usage>) -> Usage {
    let Some(usage) = usage else {
        return Usage::default();
    };
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let details = usage.prompt_tokens_details.as_ref();
    let cache_read = count(details.and_then(|details| details.cached_tokens));
    let cache_write = count(details.and_then(|details| details.cache_creation_tokens));
    let cached = cache_read.unwrap_or(0) + cache_write.unwrap_or(0);
    Usage {
        input: count(usage.prompt_tokens).map(|all| all.saturating_sub(cached)),
        output: count(usage.completion_tokens),
        cache_read,
        cache_write,
        reasoning: count(
            usage
                .completion_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens),
        ),
        cost: None,
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
