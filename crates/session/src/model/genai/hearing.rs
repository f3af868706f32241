//! What is heard of an answer. The library only carries it here.
//!
//! The library reads frames too, and loses some of what is in them: an event whose name and data a CRLF at the wrong place has
//! parted, calls without a number, arguments that stand in the start of a block, a count of 0. So each frame is read by
//! the listener of its dialect, and an answer is what was heard.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::{Map, Value};
use sortie_protocol::{Thought, ToolCall, Usage};

use crate::model::Chunk;

/// Reads the frames of one API.
pub(super) trait Listener: Send {
    /// Takes `frame` in.
    fn frame(&mut self, frame: &Value, heard: &mut Heard);
}

/// What was heard of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// As far as it was reported, without a price.
    pub(super) usage: Usage,
    /// What it says.
    pub(super) text: String,
    /// Thoughts with what their provider needs to see again, in order.
    pub(super) thoughts: Vec<Thought>,
    /// The calls, in order.
    pub(super) calls: Vec<HeardCall>,
    /// Why the model stopped, once it has.
    pub(super) end: Option<End>,
    /// The words of a model, or of its provider, that declines.
    pub(super) refusal: String,
    /// The error that ended the answer.
    pub(super) fault: Option<Value>,
    /// Whether a frame was no JSON.
    pub(super) garbled: bool,
    /// Whether there was a frame at all.
    pub(super) any: bool,
    /// What nobody was told yet.
    news: VecDeque<Chunk>,
}

/// A call as far as it has come.
#[derive(Debug, Default)]
pub(super) struct HeardCall {
    /// Its provider's id; empty where it has none.
    pub(super) id: String,
    /// The tool.
    pub(super) name: String,
    /// The arguments, where they came whole and not as text.
    pub(super) given: Option<Value>,
    /// The arguments as text.
    pub(super) text: String,
}

impl HeardCall {
    /// The call. A tool without parameters is often called with no arguments at all; what is no JSON stays text.
    pub(super) fn whole(self) -> ToolCall {
        let args = match self.given {
            Some(Value::String(text)) => as_json(text),
            Some(Value::Object(_) | Value::Null) | None if !self.text.trim().is_empty() => {
                as_json(self.text)
            }
            Some(Value::Null) | None => Map::new().into(),
            Some(args) => args,
        };
        ToolCall {
            id: self.id,
            name: self.name,
            args,
        }
    }
}

fn as_json(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(Value::Null) => Map::new().into(),
        Ok(args) => args,
        Err(_) if text.trim().is_empty() => Map::new().into(),
        Err(_) => Value::String(text),
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was done, or wants tools run.
    Done,
    /// It ran into a limit.
    Length,
    /// It declined.
    Refusal,
}

impl Heard {
    /// A piece of text came.
    pub(super) fn say(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.text.push_str(piece);
            self.show(piece);
        }
    }

    /// A piece of text came that stands in the answer by another way.
    pub(super) fn show(&mut self, piece: &str) {
        self.news.push_back(Chunk::Text(piece.to_owned()));
    }

    /// A piece of thinking came.
    pub(super) fn muse(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.news.push_back(Chunk::Thought(piece.to_owned()));
        }
    }

    /// A call begins; its place among the calls.
    pub(super) fn call(&mut self, id: &str, name: &str) -> usize {
        self.calls.push(HeardCall {
            id: id.to_owned(),
            name: name.to_owned(),
            ..HeardCall::default()
        });
        self.calls.len() - 1
    }

    /// Whether there is some text.
    pub(super) fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// The place of a thought that comes now; see [`Thought::after`].
    pub(super) fn place(&self) -> usize {
        usize::from(self.has_text()) + self.calls.len()
    }
}

/// An ear at a stream.
pub(super) struct Ear(Mutex<(Box<dyn Listener>, Heard)>);

impl Ear {
    pub(super) fn new(listener: Box<dyn Listener>) -> Self {
        Self(Mutex::new((listener, Heard::default())))
    }

    /// Hears one frame.
    pub(super) fn hear(&self, frame: &Value) {
        self.with(|listener, heard| {
            heard.any = true;
            listener.frame(frame, heard);
        });
    }

    /// What came since this was last asked.
    pub(super) fn news(&self) -> VecDeque<Chunk> {
        self.with(|_, heard| std::mem::take(&mut heard.news))
    }

    /// What was used, as far as it was reported, without a price.
    pub(super) fn usage(&self) -> Usage {
        self.with(|_, heard| heard.usage)
    }

    /// Hands out what was heard, and forgets it.
    pub(super) fn take(&self) -> Heard {
        self.with(|_, heard| std::mem::take(heard))
    }

    fn with<T>(&self, act: impl FnOnce(&mut dyn Listener, &mut Heard) -> T) -> T {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (listener, heard) = &mut *both;
        act(listener.as_mut(), heard)
    }
}

impl ChatFrameSink for Ear {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        match frame.json() {
            Some(frame) => self.hear(&frame),
            // The end of a stream over completions, and a sign of life.
            None if ["[DONE]", ""].contains(&frame.data) => {}
            None => self.with(|_, heard| heard.garbled = true),
        }
        // Whatever came, it came: a provider that queues a request, or thinks in silence, says that it is there.
        self.with(|_, heard| {
            if heard.news.is_empty() {
                heard.news.push_back(Chunk::Progress);
            }
        });
    }
}

/// The count at `pointer`, if there is one. A 0 that was told is a 0.
pub(super) fn count(json: &Value, pointer: &str) -> Option<u64> {
    json.pointer(pointer)?.as_u64()
}

/// The text at `pointer`, if it is one.
pub(super) fn text<'a>(json: &'a Value, pointer: &str) -> Option<&'a str> {
    json.pointer(pointer)?.as_str()
}
