//! What is heard of an answer beside what the library makes of it.
//!
//! The library rounds: a count of 0 and no count are one to it, thoughts lose their places, one refusal of Gemini's is
//! an error and a failure of Responses is bad JSON. So each frame is read here as well, by the listener of its dialect.

use std::sync::{Mutex, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value;
use sortie_protocol::{Thought, Usage};

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
    /// Thoughts with what their provider needs to see again, in order.
    pub(super) thoughts: Vec<Thought>,
    /// Why the model stopped, once it has.
    pub(super) end: Option<End>,
    /// The words of a model, or of its provider, that declines.
    pub(super) refusal: String,
    /// The error that ended the answer, where the library tells another or none.
    pub(super) fault: Option<Value>,
    /// Whether the last frame held nothing of an answer: the library takes that for an error.
    pub(super) hollow: bool,
    /// Whether a frame was no JSON.
    pub(super) garbled: bool,
    pieces: Pieces,
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

#[derive(Debug, Default)]
struct Pieces {
    text: bool,
    calls: usize,
}

impl Heard {
    /// There is some text.
    pub(super) fn text(&mut self) {
        self.pieces.text = true;
    }

    /// Whether there is some text.
    pub(super) fn has_text(&self) -> bool {
        self.pieces.text
    }

    /// A call begins.
    pub(super) fn call(&mut self) {
        self.pieces.calls += 1;
    }

    /// The place of a thought that comes now; see [`Thought::after`].
    pub(super) fn place(&self) -> usize {
        usize::from(self.pieces.text) + self.pieces.calls
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
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (listener, heard) = &mut *both;
        heard.hollow = false;
        listener.frame(frame, heard);
    }

    /// Hands out what was heard, and forgets it.
    pub(super) fn take(&self) -> Heard {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut heard.1)
    }

    /// Whether the last frame held nothing of an answer.
    pub(super) fn is_hollow(&self) -> bool {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.1.hollow
    }
}

impl ChatFrameSink for Ear {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        match frame.json() {
            Some(frame) => self.hear(&frame),
            // The end of a stream over completions, and a sign of life.
            None if ["[DONE]", ""].contains(&frame.data) => {}
            None => {
                let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                both.1.garbled = true;
            }
        }
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
