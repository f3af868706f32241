//! One scripted answer.

use serde_json::Value;

/// What the server does with one request.
///
/// Built from the constructor that names it, and completed: `Turn::thinking("hm").and_tool("read", json!({...}))`,
/// `Turn::status(429).retry_after(1)`, `Turn::text("...").usage(1_200, 40)`.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) kind: Kind,
    /// Tokens in and out.
    pub(super) usage: Option<(u64, u64)>,
    pub(super) headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A streamed answer.
    Message(Message),
    /// An HTTP error.
    Status(u16),
    /// A stream that holds an error in place of an answer.
    ErrorEvent(String),
    /// A stream with something in it that is no JSON.
    BadJson,
    /// Nothing, not even a head.
    Silence,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) thinking: String,
    pub(super) text: String,
    pub(super) calls: Vec<(String, Value)>,
    pub(super) stop: Stop,
    pub(super) end: End,
}

/// Why a model stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stop {
    /// It is done, or wants tools run.
    #[default]
    Done,
    /// It ran into its output limit.
    Length,
    /// It declined.
    Refusal,
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// As the protocol has it.
    #[default]
    Whole,
    /// With a clean end of the connection after so many frames, and no terminator.
    Cut(usize),
    /// In the middle of a frame after so many whole ones.
    Torn(usize),
    /// Not at all: nothing comes after so many frames.
    Stalled(usize),
}

impl Turn {
    /// Says something, and is done.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(Message {
            text: text.into(),
            ..Message::default()
        })
    }

    /// Thinks, and says nothing.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::message(Message {
            thinking: text.into(),
            ..Message::default()
        })
    }

    /// Calls a tool.
    pub fn tool(name: impl Into<String>, args: Value) -> Self {
        Self::tools([(name, args)])
    }

    /// Calls several tools at once.
    pub fn tools(calls: impl IntoIterator<Item = (impl Into<String>, Value)>) -> Self {
        Self::message(Message {
            calls: calls
                .into_iter()
                .map(|(name, args)| (name.into(), args))
                .collect(),
            ..Message::default()
        })
    }

    /// Ends without a word.
    pub fn empty() -> Self {
        Self::message(Message::default())
    }

    /// Is cut off by its output limit.
    pub fn length() -> Self {
        Self::message(Message {
            text: "As much as fits".to_owned(),
            stop: Stop::Length,
            ..Message::default()
        })
    }

    /// Declines.
    pub fn refusal() -> Self {
        Self::message(Message {
            text: "I will not do that.".to_owned(),
            stop: Stop::Refusal,
            ..Message::default()
        })
    }

    /// Closes the connection after `frames` frames, without the terminator. Clients that take the end of the stream
    /// for the end of the answer do not notice.
    pub fn cut_after(frames: usize) -> Self {
        Self::text("Half of what I have to say").cutting_after(frames)
    }

    /// Starts a stream and never goes on. The server notes when the client hangs up.
    pub fn stall() -> Self {
        Self::text("One moment").stalling_after(0)
    }

    /// Never answers. The server notes when the client hangs up.
    pub fn silent() -> Self {
        Self::of(Kind::Silence)
    }

    /// Answers with an HTTP status and the error that goes with it.
    pub fn status(status: u16) -> Self {
        Self::of(Kind::Status(status))
    }

    /// Starts a stream, and sends an error of this type in it.
    pub fn error_event(kind: impl Into<String>) -> Self {
        Self::of(Kind::ErrorEvent(kind.into()))
    }

    /// Streams something that is no JSON.
    pub fn bad_json() -> Self {
        Self::of(Kind::BadJson)
    }

    /// Says something as well.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.with(|message| message.text = text)
    }

    /// Calls a tool as well.
    #[must_use]
    pub fn and_tool(self, name: impl Into<String>, args: Value) -> Self {
        let call = (name.into(), args);
        self.with(|message| message.calls.push(call))
    }

    /// Closes the connection after `frames` frames, without the terminator.
    #[must_use]
    pub fn cutting_after(self, frames: usize) -> Self {
        self.with(|message| message.end = End::Cut(frames))
    }

    /// Breaks the connection in the middle of a frame, after `frames` whole ones.
    #[must_use]
    pub fn tearing_after(self, frames: usize) -> Self {
        self.with(|message| message.end = End::Torn(frames))
    }

    /// Sends nothing more after `frames` frames.
    #[must_use]
    pub fn stalling_after(self, frames: usize) -> Self {
        self.with(|message| message.end = End::Stalled(frames))
    }

    /// Reports tokens in and out, where the request asks for usage.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    /// Asks the client to wait, in whole seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    fn message(message: Message) -> Self {
        Self::of(Kind::Message(message))
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            usage: None,
            headers: Vec::new(),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Message)) -> Self {
        match &mut self.kind {
            Kind::Message(message) => change(message),
            other => panic!("{other:?} has no message to change"),
        }
        self
    }
}
