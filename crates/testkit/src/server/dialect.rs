//! The protocols that the server speaks. The script and the rules know none of them.

mod chat;

use serde_json::Value;

use super::{request::Step, turn::Message};

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `POST /chat/completions`
    Chat,
}

/// One answer, numbered so that the ids in it are its own.
pub(super) struct Reply<'a> {
    pub(super) message: &'a Message,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) number: usize,
}

impl Dialect {
    /// The protocol that a path belongs to.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        path.ends_with("/chat/completions").then_some(Self::Chat)
    }

    /// Whether the request asks for a stream.
    pub(super) fn streams(self, body: &Value) -> bool {
        match self {
            Self::Chat => body["stream"] == true,
        }
    }

    /// The conversation in a request.
    pub(super) fn steps(self, body: &Value) -> Vec<Step> {
        match self {
            Self::Chat => chat::steps(body),
        }
    }

    /// The names of the tools in a request.
    pub(super) fn tools(self, body: &Value) -> Vec<String> {
        match self {
            Self::Chat => chat::tools(body),
        }
    }

    /// The frames of an answer, the terminator among them.
    pub(super) fn frames(self, reply: &Reply<'_>, body: &Value) -> Vec<String> {
        match self {
            Self::Chat => chat::frames(reply, body),
        }
    }

    /// The body of an error, of this type and with these words.
    pub(super) fn error(self, kind: &str, message: &str) -> Value {
        match self {
            Self::Chat => chat::error(kind, message),
        }
    }

    /// A frame with this data.
    pub(super) fn frame(self, data: &str) -> String {
        match self {
            Self::Chat => format!("data: {data}\n\n"),
        }
    }
}
