//! The pieces of an answer, as they come.

use std::{
    collections::{HashSet, VecDeque},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::Stream;
use genai::{
    Error,
    chat::{ChatStream, ChatStreamEvent},
};
use serde_json::Value;
use sortie_protocol::{Price, StopReason, Usage};

use super::{
    call_id,
    fault::Faults,
    hearing::{Ear, End, Heard, HeardCall},
};
use crate::model::{Answer, Chunk, ModelError};

/// What a stream means that ended without one frame.
const NOTHING: &str = "nothing came that is an answer";

/// What it takes to read one answer.
pub(super) struct Reading {
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
    waiting: VecDeque<Chunk>,
    used: Usage,
    /// How it ends, once what came before that has been told.
    end: Option<Result<Chunk, ModelError>>,
    over: bool,
}

impl Chunks {
    pub(super) fn new(events: ChatStream, reading: Reading) -> Self {
        Self {
            events,
            reading,
            waiting: VecDeque::new(),
            used: Usage::default(),
            end: None,
            over: false,
        }
    }
}

impl Stream for Chunks {
    type Item = Result<Chunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(chunk) = self.waiting.pop_front() {
                return Poll::Ready(Some(Ok(chunk)));
            }
            if self.over {
                return Poll::Ready(None);
            }
            if let Some(end) = self.end.take() {
                self.over = true;
                return Poll::Ready(Some(end));
            }
            let polled = Pin::new(&mut self.events).poll_next(cx);
            self.waiting = self.reading.ear.news();
            let used = self.reading.priced(self.reading.ear.usage());
            if used != self.used {
                self.used = used;
                self.waiting.push_back(Chunk::Used(used));
            }
            let ended = match polled {
                Poll::Pending if self.waiting.is_empty() => return Poll::Pending,
                Poll::Ready(Some(Ok(ChatStreamEvent::End(_))) | None) => Some(None),
                Poll::Ready(Some(Err(error))) if !is_misread(&error) => Some(Some(error)),
                Poll::Pending | Poll::Ready(Some(_)) => None,
            };
            if let Some(error) = ended {
                let end = self.reading.end(error.as_ref()).map(Chunk::End);
                self.end = Some(end);
            }
        }
    }
}

/// Whether the library only did not understand a frame, which was heard all the same: a kind of block that it does not
/// know, figures alone, an error that is null.
fn is_misread(error: &Error) -> bool {
    match error {
        Error::ChatResponse { body, .. } => {
            body.is_null() || body.get("error").is_none_or(Value::is_null) && !is_error(body)
        }
        Error::JsonValueExt(_)
        | Error::SerdeJson(_)
        | Error::InvalidJsonResponseElement { .. }
        | Error::StreamParse { .. } => true,
        _ => false,
    }
}

/// Whether this is what stands in an error, without the word itself.
fn is_error(body: &Value) -> bool {
    body.is_string()
        || ["message", "code", "status"]
            .iter()
            .any(|key| body.get(key).is_some())
}

impl Reading {
    /// What the end of the stream means, where `error` ended it. What a provider said itself is told rather than what the
    /// library makes of it, and an answer that was whole by then is whole.
    fn end(&mut self, error: Option<&Error>) -> Result<Answer, ModelError> {
        let heard = self.ear.take();
        match (&heard.fault, error) {
            (Some(body), _) => Err(self.faults.event(body)),
            _ if heard.garbled => Err(garbled()),
            _ if heard.end.is_some() => Ok(self.answer(heard)),
            (None, Some(error)) => Err(self.faults.read(error)),
            (None, None) if heard.any => Err(ModelError::Truncated),
            (None, None) => Err(ModelError::Connection(NOTHING.to_owned())),
        }
    }

    fn priced(&self, usage: Usage) -> Usage {
        let cost = self.price.and_then(|price| price.of(&usage));
        Usage { cost, ..usage }
    }

    fn answer(&mut self, heard: Heard) -> Answer {
        let usage = self.priced(heard.usage);
        let mut text = heard.text;
        let calls: Vec<_> = heard.calls.into_iter().map(HeardCall::whole).collect();
        let declines = heard.end == Some(End::Refusal)
            || !heard.refusal.is_empty() && calls.is_empty() && heard.end != Some(End::Length);
        // Who declines means nothing to be done.
        let calls = if declines { Vec::new() } else { calls };
        let calls = call_id::give(calls, self.n, &mut self.used_ids);
        let stop = match heard.end {
            Some(End::Length) => StopReason::Length,
            _ if declines => StopReason::Refusal,
            // Not every provider says so when it wants tools run, and some say so without naming one.
            _ if !calls.is_empty() => StopReason::ToolUse,
            _ => StopReason::Stop,
        };
        if text.trim().is_empty() {
            text.push_str(&heard.refusal);
        }
        Answer {
            thoughts: heard.thoughts,
            text,
            calls,
            stop,
            usage,
        }
    }
}

/// Some frames that are no JSON the library leaves out without a word.
fn garbled() -> ModelError {
    ModelError::Answer("a piece of it is no JSON".into())
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
