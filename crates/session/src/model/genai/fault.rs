//! What went wrong, out of the library's errors.

use std::{error::Error as _, time::SystemTime};

use genai::{Error, webc::StreamTimeout};
use serde_json::Value;
use sortie_protocol::Secrets;

use super::retry_after::{retry_after, retry_delay};
use crate::model::ModelError;

/// How much of a provider's words is kept, in characters.
const WORDS: usize = 500;
/// A secret shorter than this would take ordinary words with it.
const SHORTEST_SECRET: usize = 4;
/// The status that providers use for too much work, where they use one.
const OVERLOADED: u16 = 529;
const TOO_MANY: u16 = 429;
/// The status of a request that is wrong.
const REFUSED: u16 = 400;

/// Reads errors, and keeps secrets out of what is told of them.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    secrets: Secrets,
}

impl Faults {
    /// For errors that may hold values of `secrets`: providers like to quote keys.
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self {
            secrets: secrets.clone(),
        }
    }

    /// What `error` means for the session.
    pub(super) fn read(&self, error: &Error) -> ModelError {
        match error {
            Error::WebStream { error, cause, .. } => {
                // Whatever stopped a stream is wrapped like this, and looks like nothing from outside.
                if let Some(inner) = error.downcast_ref::<Error>() {
                    self.read(inner)
                } else if let Some(inner) = error.downcast_ref::<reqwest::Error>() {
                    self.unreached(inner)
                } else if error.is::<StreamTimeout>() {
                    ModelError::Stalled
                } else {
                    ModelError::Answer(self.words(cause))
                }
            }
            Error::HttpError {
                status,
                body,
                headers,
                ..
            } => ModelError::Status {
                http: status.as_u16(),
                message: self.body_words(body, status.canonical_reason()),
                retry_after: retry_after(headers, SystemTime::now()).or_else(|| {
                    let body: Value = serde_json::from_str(body).ok()?;
                    retry_delay(&body)
                }),
            },
            Error::ChatResponse { body, .. } => self.event(body),
            Error::StreamParse { serde_error, .. } => {
                ModelError::Answer(self.words(&format!("a piece of it is no JSON: {serde_error}")))
            }
            Error::WebModelCall {
                webc_error: genai::webc::Error::Reqwest(inner),
                ..
            } => self.unreached(inner),
            Error::JsonValueExt(_)
            | Error::SerdeJson(_)
            | Error::InvalidJsonResponseElement { .. } => {
                ModelError::Answer(self.words(&format!("a piece of it is not as agreed: {error}")))
            }
            other => ModelError::Request(self.words(&other.to_string())),
        }
    }

    /// An error that came in the middle of an answer, after a status that promised one.
    pub(super) fn event(&self, body: &Value) -> ModelError {
        let message = match find_words(body) {
            Some(words) => self.words(words),
            None => self.words(&body.to_string()),
        };
        let told = body.to_string().to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| told.contains(word));
        let http = match told_status(body) {
            Some(status @ 400..500) => status,
            _ if says(&["overloaded"]) => OVERLOADED,
            Some(status) => status,
            None if says(&[
                "rate_limit",
                "rate limit",
                "too many requests",
                "insufficient_quota",
            ]) =>
            {
                TOO_MANY
            }
            // It will be refused again, as it would have been with a status.
            None if says(&[
                "invalid_request",
                "context_length_exceeded",
                "authentication_error",
                "invalid_api_key",
                "permission_error",
                "not_found_error",
                "billing_error",
            ]) =>
            {
                REFUSED
            }
            None => return ModelError::Answer(message),
        };
        ModelError::Status {
            http,
            message,
            retry_after: retry_delay(body),
        }
    }

    /// An error below HTTP. Its own text names the URL, which may hold a secret, so only its causes are told.
    fn unreached(&self, error: &reqwest::Error) -> ModelError {
        let mut cause = error.source();
        let mut last = None;
        while let Some(deeper) = cause {
            last = Some(deeper.to_string());
            cause = deeper.source();
        }
        let what = if error.is_builder() {
            "the address or a header is not valid"
        } else if error.is_connect() {
            "no connection"
        } else if error.is_body() || error.is_decode() {
            "it broke off"
        } else {
            "no answer"
        };
        let text = match last {
            Some(last) => self.words(&format!("{what}: {last}")),
            None => what.to_owned(),
        };
        if error.is_builder() {
            ModelError::Request(text)
        } else {
            ModelError::Connection(text)
        }
    }

    fn body_words(&self, body: &str, status: Option<&str>) -> String {
        if let Ok(json) = serde_json::from_str::<Value>(body)
            && let Some(words) = find_words(&json)
        {
            return self.words(words);
        }
        if body.trim().is_empty() {
            return status.unwrap_or("no reason given").to_lowercase();
        }
        self.words(body)
    }

    /// `text` on one line, without secrets, and not too long.
    fn words(&self, text: &str) -> String {
        let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (name, value) in self.secrets.hidden() {
            if value.len() >= SHORTEST_SECRET {
                line = line.replace(value, &format!("[key {name}]"));
            }
        }
        match line.char_indices().nth(WORDS) {
            None => line,
            Some((end, _)) => {
                let end = line[..end]
                    .char_indices()
                    .next_back()
                    .map_or(0, |(at, _)| at);
                format!("{}…", &line[..end])
            }
        }
    }
}

/// The sentence in an error's JSON, wherever providers put it.
fn find_words(body: &Value) -> Option<&str> {
    match body {
        Value::String(words) => Some(words.as_str()).filter(|words| !words.trim().is_empty()),
        Value::Array(items) => items.iter().find_map(find_words),
        Value::Object(fields) => ["error", "message", "detail", "msg", "errors"]
            .iter()
            .find_map(|name| fields.get(*name).and_then(find_words)),
        _ => None,
    }
}

/// The HTTP status that an error's JSON names, as a number or as text.
fn told_status(body: &Value) -> Option<u16> {
    let code = ["/code", "/status", "/error/code"]
        .iter()
        .find_map(|place| match body.pointer(place)? {
            Value::Number(code) => code.as_u64(),
            Value::String(code) => code.parse().ok(),
            _ => None,
        })?;
    u16::try_from(code)
        .ok()
        .filter(|status| (400..600).contains(status))
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
