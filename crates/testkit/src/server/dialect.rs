//! The protocols that the server speaks. The script and the rules know none of them.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::Value;

use super::{
    request::Step,
    turn::{Message, Tokens},
};

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `POST /chat/completions`
    Chat,
    /// `POST /responses`
    Responses,
    /// `POST /v1/messages`
    Messages,
    /// `POST /models/NAME:streamGenerateContent`
    Gemini,
}

/// One answer, numbered so that the ids in it are its own.
pub(super) struct Reply<'a> {
    pub(super) message: &'a Message,
    pub(super) usage: Option<Tokens>,
    pub(super) number: usize,
}

impl Dialect {
    /// The protocol that a path belongs to.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        let all = [
            ("/chat/completions", Self::Chat),
            ("/responses", Self::Responses),
            ("/v1/messages", Self::Messages),
            (gemini::METHOD, Self::Gemini),
        ];
        all.into_iter()
            .find(|(end, _)| path.ends_with(end))
            .map(|(_, dialect)| dialect)
    }

    /// Whether the request asks for a stream.
    pub(super) fn streams(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Chat | Self::Responses | Self::Messages => body["stream"] == true,
            // Else one array comes, in one piece.
            Self::Gemini => path.contains("alt=sse"),
        }
    }

    /// The model that is asked for.
    pub(super) fn model(self, path: &str, body: &Value) -> String {
        match self {
            Self::Chat | Self::Responses | Self::Messages => {
                body["model"].as_str().unwrap_or_default().to_owned()
            }
            Self::Gemini => gemini::model(path),
        }
    }

    /// The conversation in a request.
    pub(super) fn steps(self, body: &Value) -> Vec<Step> {
        match self {
            Self::Chat => chat::steps(body),
            Self::Responses => responses::steps(body),
            Self::Messages => messages::steps(body),
            Self::Gemini => gemini::steps(body),
        }
    }

    /// What the client sends back of signed and of hidden thinking, in order.
    pub(super) fn signatures(self, body: &Value) -> Vec<String> {
        match self {
            Self::Chat => chat::signatures(body),
            Self::Responses => responses::signatures(body),
            Self::Messages => messages::signatures(body),
            Self::Gemini => gemini::signatures(body),
        }
    }

    /// What a request says about thinking.
    pub(super) fn effort(self, body: &Value) -> Value {
        match self {
            Self::Chat => chat::effort(body),
            Self::Responses => responses::effort(body),
            Self::Messages => messages::effort(body),
            Self::Gemini => gemini::effort(body),
        }
    }

    /// The names of the tools in a request.
    pub(super) fn tools(self, body: &Value) -> Vec<String> {
        match self {
            Self::Chat => chat::tools(body),
            Self::Responses => responses::tools(body),
            Self::Messages => messages::tools(body),
            Self::Gemini => gemini::tools(body),
        }
    }

    /// What only this protocol refuses, each in a sentence.
    pub(super) fn refusals(self, body: &Value) -> Vec<String> {
        match self {
            Self::Chat | Self::Responses => Vec::new(),
            Self::Messages => messages::refusals(body),
            Self::Gemini => gemini::refusals(body),
        }
    }

    /// The frames of an answer, the terminator among them.
    pub(super) fn frames(self, reply: &Reply<'_>, body: &Value) -> Vec<String> {
        match self {
            Self::Chat => chat::frames(reply, body),
            Self::Responses => responses::frames(reply, body),
            Self::Messages => messages::frames(reply, body),
            Self::Gemini => gemini::frames(reply),
        }
    }

    /// The body of an error of this status and type, with these words.
    pub(super) fn error(self, status: u16, kind: &str, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => chat::error(kind, message),
            Self::Messages => messages::error(kind, message),
            Self::Gemini => gemini::error(status, kind, message),
        }
    }

    /// The type that goes with an HTTP status.
    pub(super) fn error_kind(self, status: u16) -> &'static str {
        match self {
            Self::Chat | Self::Responses => match status {
                429 => "rate_limit_exceeded",
                401 | 403 => "invalid_api_key",
                400..500 => "invalid_request_error",
                _ => "server_error",
            },
            Self::Messages => messages::error_kind(status),
            Self::Gemini => gemini::error_kind(status),
        }
    }

    /// The frame of an error in the middle of a stream.
    pub(super) fn error_frame(self, kind: &str, message: &str) -> String {
        match self {
            Self::Chat => self.frame(&chat::error(kind, message).to_string()),
            Self::Responses => responses::error_frame(kind, message),
            Self::Messages => self.frame(&messages::error(kind, message).to_string()),
            Self::Gemini => self.frame(&gemini::error(500, kind, message).to_string()),
        }
    }

    /// The frame of an error of this status in the middle of a stream, which tells the status where the protocol does.
    pub(super) fn failure(self, status: u16, message: &str) -> String {
        let kind = self.error_kind(status);
        match self {
            Self::Chat => {
                let mut error = chat::error(kind, message);
                error["error"]["code"] = status.into();
                self.frame(&error.to_string())
            }
            Self::Gemini => self.frame(&gemini::error(status, kind, message).to_string()),
            Self::Responses | Self::Messages => self.error_frame(kind, message),
        }
    }

    /// A frame with this data. Where the protocol names its frames, the name is the `type` in the data.
    pub(super) fn frame(self, data: &str) -> String {
        match self {
            Self::Chat | Self::Gemini => format!("data: {data}\n\n"),
            Self::Responses | Self::Messages => {
                let parsed: Value = serde_json::from_str(data).unwrap_or_default();
                match parsed["type"].as_str() {
                    Some(name) => format!("event: {name}\ndata: {data}\n\n"),
                    None => format!("data: {data}\n\n"),
                }
            }
        }
    }
}

/// The strings that `pick` finds in the items of a list.
fn strings(list: &Value, pick: impl Fn(&Value) -> &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|item| pick(item).as_str().map(str::to_owned))
        .collect()
}

/// A text as it streams: in pieces that break anywhere between characters.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = (characters.len() / 3).clamp(1, 400);
    characters
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect()
}
