//! What the library is told beside where to send a request.

use std::{sync::Arc, time::Duration};

use genai::chat::{ChatOptions, ReasoningEffort};
use sortie_protocol::Api;

use super::{dialect, hearing::Ear};
use crate::model::ModelRequest;

/// The options of `request`, whose answer `ear` hears.
pub(super) fn options(request: &ModelRequest<'_>, ear: Arc<Ear>) -> ChatOptions {
    let mut options = ChatOptions::default()
        // Always one: without it the library takes an effort from the end of the model's name, and cuts the name.
        .with_reasoning_effort(silent(request.candidate.api))
        .with_raw_frame_sink_arc(ear)
        .with_extra_body(dialect::body(request).into());
    if let Some(limit) = limit(request.patience.first) {
        options = options.with_stream_header_timeout(limit);
    }
    if let Some(limit) = limit(request.patience.idle) {
        options = options.with_stream_read_timeout(limit);
    }
    options
}

/// 0 is no limit, as in the plan's clocks.
fn limit(patience: Duration) -> Option<Duration> {
    (!patience.is_zero()).then_some(patience)
}

/// An effort of which the library sends nothing, so that exactly what the plan says is sent.
fn silent(api: Api) -> ReasoningEffort {
    match api {
        // A budget has no word on these wires, and no effort has one on the others.
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => ReasoningEffort::Budget(0),
        Api::AnthropicMessages | Api::GoogleGenerativeAi => ReasoningEffort::Zero,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_nothing_is_no_limit() {
        assert_eq!(limit(Duration::ZERO), None);
        assert_eq!(limit(Duration::from_secs(1)), Some(Duration::from_secs(1)));
    }
}
