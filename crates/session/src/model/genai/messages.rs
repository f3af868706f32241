//! A transcript as the library's messages.

use std::collections::HashMap;

use genai::chat::{ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolResponse};
use serde_json::{Value, json};
use sortie_protocol::{Api, AssistantTurn, Record, RecordKind, ToolCall, ToolResult};

use crate::model::ModelRequest;

/// What a call is answered with that has no result: its session ended, or its turn broke off, before it ran.
const NOT_RUN: &str = "not run";

/// The conversation of `request`, and its tools.
pub(super) fn chat(request: &ModelRequest<'_>) -> ChatRequest {
    let api = request.candidate.api;
    let mut messages = Vec::new();
    let mut rest = request.transcript;
    // What was said last is what the model still works on; see `thoughts`.
    let last_said = request
        .transcript
        .iter()
        .rposition(|record| matches!(record.kind, RecordKind::User { .. }));
    while let Some((record, after)) = rest.split_first() {
        let place = request.transcript.len() - rest.len();
        rest = after;
        match &record.kind {
            RecordKind::User { text, .. } => messages.push(ChatMessage::user(text.as_str())),
            RecordKind::Assistant(turn) => {
                let at_work = last_said.is_none_or(|said| place > said);
                let parts = said(turn, api, at_work);
                if parts.is_empty() {
                    // No API takes an empty message.
                    continue;
                }
                messages.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
                if !turn.calls.is_empty() {
                    messages.push(ChatMessage::tool(answers(turn, after, api)));
                }
            }
            // A call stands in its turn, and a result is taken to it.
            RecordKind::ToolCall(_) | RecordKind::ToolResult(_) => {}
        }
    }
    let mut chat = ChatRequest::from_messages(messages);
    if !request.system.is_empty() {
        chat = chat.with_system(request.system);
    }
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.iter().map(|tool| {
            Tool::new(tool.name.as_str())
                .with_description(tool.description.as_str())
                .with_schema(tool.parameters.clone())
        }));
    }
    chat
}

fn said(turn: &AssistantTurn, api: Api, at_work: bool) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    if !turn.text.is_empty() || !turn.calls.is_empty() {
        parts.extend(thoughts(turn, api, at_work));
    }
    if !turn.text.is_empty() {
        parts.push(ContentPart::from_text(turn.text.as_str()));
    }
    parts.extend(turn.calls.iter().map(|call| {
        ContentPart::ToolCall(genai::chat::ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: arguments(call),
            thought_signatures: None,
        })
    }));
    parts
}

/// What goes back of a turn's thinking. Signed thinking does always, before what it led to. On the completions wire
/// nothing is signed; providers that want thinking back there want it for the calls that they are at work on, and some
/// refuse it elsewhere.
fn thoughts(turn: &AssistantTurn, api: Api, at_work: bool) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    for thought in &turn.thoughts {
        match &thought.signature {
            Some(signature) => {
                parts.push(ContentPart::ThoughtSignature(signature.clone()));
                if !thought.text.is_empty() {
                    parts.push(ContentPart::ReasoningContent(thought.text.clone()));
                }
            }
            None if api == Api::OpenaiCompletions && at_work && !turn.calls.is_empty() => {
                parts.push(ContentPart::ReasoningContent(thought.text.clone()));
            }
            None => {}
        }
    }
    parts
}

/// The arguments of a call as an object, which is all that some APIs take.
fn arguments(call: &ToolCall) -> Value {
    match &call.args {
        Value::Object(_) => call.args.clone(),
        other => json!({"unreadable": other}),
    }
}

/// One answer for each call of `turn`, in the order of the calls, out of what follows up to the next turn.
fn answers(turn: &AssistantTurn, after: &[Record], api: Api) -> MessageContent {
    let mut results: HashMap<&str, &ToolResult> = HashMap::new();
    for record in after {
        match &record.kind {
            RecordKind::Assistant(_) => break,
            RecordKind::ToolResult(result) => {
                results.entry(&result.call).or_insert(result);
            }
            RecordKind::User { .. } | RecordKind::ToolCall(_) => {}
        }
    }
    let answer = |call: &ToolCall| match results.get(call.id.as_str()) {
        Some(result) => answered(call, result.ok, &result.text, api),
        None => answered(call, false, NOT_RUN, api),
    };
    MessageContent::from_parts(turn.calls.iter().map(answer).collect::<Vec<_>>())
}

fn answered(call: &ToolCall, ok: bool, text: &str, api: Api) -> ContentPart {
    if !ok && api == Api::AnthropicMessages {
        // The library has no word for a failure, and sends this as it stands.
        return ContentPart::from_custom(
            json!({"type": "tool_result", "tool_use_id": call.id, "is_error": true, "content": text}),
            None,
        );
    }
    let text = if ok {
        text.to_owned()
    } else {
        format!("error: {text}")
    };
    ContentPart::ToolResponse(ToolResponse::new(&call.id, text).with_fn_name(&call.name))
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
