//! One scripted answer.

use serde_json::Value;

/// What the server does with one request.
///
/// Built from the constructor that names it, and completed: `Turn::thinking("hm").and_tool("read", json!({...}))`,
/// `Turn::status(429).retry_after(1)`, `Turn::text("...").usage(1_200, 40)`.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) kind: Kind,
    pub(super) usage: Option<Tokens>,
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

/// What an answer used. Each protocol counts what came from its cache in its own way; here nothing is counted twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tokens {
    /// Read, and not from the cache.
    pub(super) input: u64,
    /// Written, thinking among it.
    pub(super) output: u64,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    /// How many of `output` were thinking.
    pub(super) reasoning: Option<u64>,
}

impl Tokens {
    /// All that was read, from wherever.
    pub(super) fn prompt(&self) -> u64 {
        self.input + self.cache_read.unwrap_or(0) + self.cache_write.unwrap_or(0)
    }
}

/// A piece of thinking.
#[derive(Clone, Debug)]
pub(super) enum Thinking {
    /// Text, and what the client has to send back with it.
    Open {
        text: String,
        signature: Option<String>,
    },
    /// Hidden from the client, who sends it back as it is.
    Redacted(String),
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) args: Args,
}

/// The arguments of a call.
#[derive(Clone, Debug)]
pub(super) enum Args {
    Json(Value),
    /// What stands in their place, and may be no JSON.
    Text(String),
}

impl Args {
    /// As they go over a wire that sends them as text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Json(args) => args.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// As they go over a wire that sends them as a value: there what is no JSON is a string.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Json(args) => args.clone(),
            Self::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) thinking: Vec<Thinking>,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
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
    /// With the error that goes with this HTTP status, after so many frames.
    Failed(usize, u16),
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
        Self::empty().and_thinking(text)
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
                .map(|(name, args)| Call {
                    name: name.into(),
                    args: Args::Json(args),
                })
                .collect(),
            ..Message::default()
        })
    }

    /// Calls a tool with arguments that are `text`, whether or not that is JSON.
    pub fn tool_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::message(Message {
            calls: vec![Call {
                name: name.into(),
                args: Args::Text(text.into()),
            }],
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
        let call = Call {
            name: name.into(),
            args: Args::Json(args),
        };
        self.with(|message| message.calls.push(call))
    }

    /// Thinks as well, after what it has thought so far.
    #[must_use]
    pub fn and_thinking(self, text: impl Into<String>) -> Self {
        let text = text.into();
        let signature = None;
        self.with(|message| message.thinking.push(Thinking::Open { text, signature }))
    }

    /// Signs its last piece of thinking. The completions wire has no place for it.
    ///
    /// # Panics
    ///
    /// When it has not thought.
    #[must_use]
    pub fn signed(self, with: impl Into<String>) -> Self {
        let with = Some(with.into());
        self.with(|message| match message.thinking.last_mut() {
            Some(Thinking::Open { signature, .. }) => *signature = with,
            other => panic!("{other:?} cannot be signed"),
        })
    }

    /// Thinks something that is hidden from the client. Only the messages wire knows such thinking.
    #[must_use]
    pub fn and_redacted(self, data: impl Into<String>) -> Self {
        let data = data.into();
        self.with(|message| message.thinking.push(Thinking::Redacted(data)))
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

    /// Sends the error that goes with this HTTP status after `frames` frames, and nothing more. Not every protocol tells
    /// the status there.
    #[must_use]
    pub fn failing_after(self, frames: usize, status: u16) -> Self {
        self.with(|message| message.end = End::Failed(frames, status))
    }

    /// Reports tokens in and out, where the request asks for usage or the protocol always tells it.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some(Tokens {
            input,
            output,
            ..Tokens::default()
        });
        self
    }

    /// Reports tokens that came from the provider's cache, beside those of [`usage`](Self::usage).
    #[must_use]
    pub fn cache_read(mut self, tokens: u64) -> Self {
        self.usage.get_or_insert_default().cache_read = Some(tokens);
        self
    }

    /// Reports tokens that went into the provider's cache, beside those of [`usage`](Self::usage). Only the messages
    /// wire tells it.
    #[must_use]
    pub fn cache_write(mut self, tokens: u64) -> Self {
        self.usage.get_or_insert_default().cache_write = Some(tokens);
        self
    }

    /// Reports how many of the tokens out were thinking. The messages wire does not tell it.
    #[must_use]
    pub fn reasoning(mut self, tokens: u64) -> Self {
        self.usage.get_or_insert_default().reasoning = Some(tokens);
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
