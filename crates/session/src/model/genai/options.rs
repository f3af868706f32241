//! What is asked for beside the conversation.

use std::time::Duration;

use genai::{
    Headers,
    chat::{ChatOptions, ReasoningEffort, ToolChoice},
};
use sortie_protocol::{Api, Candidate, Effort, Thinking};

use crate::model::{ModelError, ModelRequest};

/// The options of `request`, with `headers` on top of the library's own.
pub(super) fn options(
    request: &ModelRequest<'_>,
    headers: Vec<(String, String)>,
) -> Result<ChatOptions, ModelError> {
    let candidate = request.candidate;
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_reasoning_content(true)
        // Without it the pieces of a call come without its name, and nothing puts them together.
        .with_capture_tool_calls(true)
        // Always one: without it the library takes an effort from the end of the model's name, and cuts the name.
        .with_reasoning_effort(effort(candidate)?);
    if let Some(limit) = limit(request.patience.first) {
        options = options.with_stream_header_timeout(limit);
    }
    if let Some(limit) = limit(request.patience.idle) {
        options = options.with_stream_read_timeout(limit);
    }
    if let Some(most) = candidate.max_tokens {
        options = options.with_max_tokens(u32::try_from(most).unwrap_or(u32::MAX));
    }
    if let Some(name) = request.must_call {
        options = options.with_tool_choice(ToolChoice::tool(name));
    }
    if !headers.is_empty() {
        options = options.with_extra_headers(Headers::from(headers));
    }
    Ok(options)
}

/// 0 is no limit, as in the plan's clocks.
fn limit(patience: Duration) -> Option<Duration> {
    (!patience.is_zero()).then_some(patience)
}

/// What the library has to be told so that exactly the plan's effort is sent.
fn effort(candidate: &Candidate) -> Result<ReasoningEffort, ModelError> {
    let api = candidate.api;
    let openai = matches!(api, Api::OpenaiCompletions | Api::OpenaiResponses);
    let Some(thinking) = candidate.effort else {
        // Each of these sends nothing: a budget has no word on the OpenAI wires, and no effort has none on the others.
        return Ok(if openai {
            ReasoningEffort::Budget(0)
        } else {
            ReasoningEffort::Zero
        });
    };
    let changed = match thinking {
        // Nothing would be sent, and the model would think as it likes.
        Thinking::Off => api == Api::GoogleGenerativeAi,
        // Here the library replaces some levels by their neighbours, by what it believes of the model's name.
        Thinking::Level(Effort::Minimal | Effort::Xhigh | Effort::Max) => !openai,
        Thinking::Level(Effort::Low | Effort::Medium | Effort::High) => false,
    };
    if changed {
        return Err(ModelError::Request(format!(
            "effort `{thinking}` cannot be sent to `{}` by `{api}`; choose another level for it",
            candidate.selector
        )));
    }
    Ok(match thinking {
        Thinking::Off => ReasoningEffort::Zero,
        Thinking::Level(Effort::Minimal) => ReasoningEffort::Minimal,
        Thinking::Level(Effort::Low) => ReasoningEffort::Low,
        Thinking::Level(Effort::Medium) => ReasoningEffort::Medium,
        Thinking::Level(Effort::High) => ReasoningEffort::High,
        Thinking::Level(Effort::Xhigh) => ReasoningEffort::XHigh,
        Thinking::Level(Effort::Max) => ReasoningEffort::Max,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::genai::asking::candidate;

    #[test]
    fn what_would_be_sent_as_something_else_is_refused() {
        let mut refused = Vec::new();
        let levels = Effort::ALL.into_iter().map(Thinking::Level);
        for thinking in [Thinking::Off].into_iter().chain(levels) {
            for api in Api::REMOTE {
                let mut candidate = candidate("http://localhost/v1");
                (candidate.api, candidate.effort) = (api, Some(thinking));
                if let Err(error) = effort(&candidate) {
                    refused.push(error.to_string());
                }
            }
        }
        insta::assert_snapshot!(refused.join("\n"), @r#"
    the request cannot be made: effort `off` cannot be sent to `local/small` by `google-generative-ai`; choose another level for it
    the request cannot be made: effort `minimal` cannot be sent to `local/small` by `anthropic-messages`; choose another level for it
    the request cannot be made: effort `minimal` cannot be sent to `local/small` by `google-generative-ai`; choose another level for it
    the request cannot be made: effort `xhigh` cannot be sent to `local/small` by `anthropic-messages`; choose another level for it
    the request cannot be made: effort `xhigh` cannot be sent to `local/small` by `google-generative-ai`; choose another level for it
    the request cannot be made: effort `max` cannot be sent to `local/small` by `anthropic-messages`; choose another level for it
    the request cannot be made: effort `max` cannot be sent to `local/small` by `google-generative-ai`; choose another level for it
    "#);
    }

    #[test]
    fn a_wait_of_nothing_is_no_limit() {
        assert_eq!(limit(Duration::ZERO), None);
        assert_eq!(limit(Duration::from_secs(1)), Some(Duration::from_secs(1)));
    }
}
