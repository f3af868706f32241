//! The pieces of an answer, as they come.

use std::{
    collections::HashSet,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::Stream;
use genai::{
    Error,
    chat::{ChatStream, ChatStreamEvent, ContentPart, StreamEnd},
};
use serde_json::{Map, Value};
use sortie_protocol::{Api, Price, StopReason, Thought, ToolCall};

use super::{
    call_id,
    fault::Faults,
    hearing::{Ear, End},
};
use crate::model::{Answer, Chunk, ModelError};

/// What it takes to read one answer.
pub(super) struct Reading {
    /// How the candidate is spoken to.
    pub(super) api: Api,
    /// The number of the request, for the ids of calls that come without one.
    pub(super) n: u64,
    /// The ids that calls of this conversation have.
    pub(super) used_ids: HashSet<String>,
    /// The candidate's prices.
    pub(super) price: Option<Price>,
    /// Hears every frame before the library makes something of it.
    pub(super) ear: Arc<Ear>,
    pub(super) faults: Faults,
}

/// An answer's stream. It ends with [`Chunk::End`] or with one error, whatever comes after that.
pub(super) struct Chunks {
    events: ChatStream,
    reading: Reading,
    /// Thinking text that was streamed.
    thinking: String,
    over: bool,
}

impl Chunks {
    pub(super) fn new(events: ChatStream, reading: Reading) -> Self {
        Self {
            events,
            reading,
            thinking: String::new(),
            over: false,
        }
    }

    fn chunk(&mut self, event: ChatStreamEvent) -> Option<Result<Chunk, ModelError>> {
        Some(Ok(match event {
            // Sent before anything has arrived.
            ChatStreamEvent::Start => return None,
            ChatStreamEvent::Chunk(chunk) => Chunk::Text(chunk.content),
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.thinking.push_str(&chunk.content);
                Chunk::Thought(chunk.content)
            }
            ChatStreamEvent::ThoughtSignatureChunk(_)
            | ChatStreamEvent::ToolCallChunk(_)
            | ChatStreamEvent::Heartbeat => Chunk::Progress,
            ChatStreamEvent::End(end) => {
                let thinking = std::mem::take(&mut self.thinking);
                return Some(self.reading.answer(end, thinking).map(Chunk::End));
            }
        }))
    }
}

impl Stream for Chunks {
    type Item = Result<Chunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        loop {
            let item = match Pin::new(&mut self.events).poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(event))) => match self.chunk(event) {
                    Some(item) => item,
                    None => continue,
                },
                // A frame of Gemini's with figures alone, or with the reason why there will be no answer.
                Poll::Ready(Some(Err(Error::ChatResponse { .. })))
                    if self.reading.ear.is_hollow() =>
                {
                    continue;
                }
                Poll::Ready(Some(Err(error))) => Err(self.reading.fault(&error)),
                Poll::Ready(None) => Err(self.reading.cut()),
            };
            self.over = matches!(item, Ok(Chunk::End(_)) | Err(_));
            return Poll::Ready(Some(item));
        }
    }
}

impl Reading {
    /// What `error` means. What a provider said itself is told rather than what the library makes of it.
    fn fault(&self, error: &Error) -> ModelError {
        match self.ear.take().fault {
            Some(body) => self.faults.event(&body),
            None => self.faults.read(error),
        }
    }

    /// What the end of a stream means that brought no end of the answer.
    fn cut(&self) -> ModelError {
        if self.ear.take().garbled {
            garbled()
        } else {
            ModelError::Truncated
        }
    }

    fn answer(&mut self, end: StreamEnd, thinking: String) -> Result<Answer, ModelError> {
        let heard = self.ear.take();
        if let Some(body) = heard.fault {
            return Err(self.faults.event(&body));
        }
        if heard.garbled {
            return Err(garbled());
        }
        match self.api {
            // The library ends these well when the connection does.
            Api::OpenaiResponses | Api::GoogleGenerativeAi if heard.end.is_none() => {
                return Err(ModelError::Truncated);
            }
            // It has not understood the last frame, and lost the calls.
            Api::OpenaiResponses if end.captured_response_id.is_none() => {
                return Err(ModelError::Answer("its end cannot be read".into()));
            }
            _ => {}
        }
        let mut usage = heard.usage;
        usage.cost = self.price.and_then(|price| price.of(&usage));
        let mut text = String::new();
        let mut calls = Vec::new();
        for part in end.captured_content.into_iter().flatten() {
            match part {
                ContentPart::Text(piece) => text.push_str(&piece),
                ContentPart::ToolCall(call) => calls.push(ToolCall {
                    id: call.call_id,
                    name: call.fn_name,
                    args: arguments(call.fn_arguments),
                }),
                // Thoughts are heard, with their places.
                ContentPart::ThoughtSignature(_)
                | ContentPart::ReasoningContent(_)
                | ContentPart::Binary(_)
                | ContentPart::ToolResponse(_)
                | ContentPart::Custom(_) => {}
            }
        }
        let calls = call_id::give(without_fillers(calls), self.n, &mut self.used_ids);
        let declines = heard.end == Some(End::Refusal) || !heard.refusal.is_empty();
        let stop = match heard.end {
            Some(End::Length) => StopReason::Length,
            _ if declines && calls.is_empty() => StopReason::Refusal,
            Some(End::Refusal) => StopReason::Refusal,
            // Not every provider says so when it wants tools run, and some say so without naming one.
            _ if !calls.is_empty() => StopReason::ToolUse,
            _ => StopReason::Stop,
        };
        if text.trim().is_empty() {
            text.push_str(&heard.refusal);
        }
        let mut thoughts = heard.thoughts;
        if thoughts.is_empty() && !thinking.is_empty() {
            thoughts.push(Thought {
                text: thinking,
                ..Thought::default()
            });
        }
        Ok(Answer {
            thoughts,
            text,
            calls,
            stop,
            usage,
        })
    }
}

/// Some frames that are no JSON the library leaves out without a word.
fn garbled() -> ModelError {
    ModelError::Answer("a piece of it is no JSON".into())
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

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
