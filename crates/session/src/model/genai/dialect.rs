//! What is said and heard over each API: a file for each.
//!
//! Bodies are written here whole, and laid over the library's own: that one rewrites efforts by what it believes of a
//! model's name, keeps thoughts in no order, and takes a tool named `web_search` for the provider's.

mod anthropic;
mod completions;
mod gemini;
mod responses;

use serde_json::{Map, Value};
use sortie_protocol::Api;

use super::hearing::Listener;
use crate::model::ModelRequest;

/// The body of `request`.
pub(super) fn body(request: &ModelRequest<'_>) -> Map<String, Value> {
    match request.candidate.api {
        Api::OpenaiCompletions | Api::Script => completions::body(request),
        Api::OpenaiResponses => responses::body(request),
        Api::AnthropicMessages => anthropic::body(request),
        Api::GoogleGenerativeAi => gemini::body(request),
    }
}

/// Who reads the frames of an answer over `api`.
pub(super) fn listener(api: Api) -> Box<dyn Listener> {
    match api {
        Api::OpenaiCompletions | Api::Script => Box::<completions::Frames>::default(),
        Api::OpenaiResponses => Box::<responses::Frames>::default(),
        Api::AnthropicMessages => Box::<anthropic::Frames>::default(),
        Api::GoogleGenerativeAi => Box::<gemini::Frames>::default(),
    }
}

/// Puts fields together, without those that are not there.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// `items`, unless there are none.
fn some_list(items: Vec<Value>) -> Option<Value> {
    (!items.is_empty()).then_some(Value::Array(items))
}

/// `text`, unless it is empty.
fn some_text(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}

#[cfg(test)]
mod heard_tests;
#[cfg(test)]
mod said_tests;
