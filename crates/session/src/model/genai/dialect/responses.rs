//! `OpenAI` Responses. Nothing is stored there: reasoning comes encrypted, and goes back in its place.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sortie_protocol::{PlannedTool, Thought, Usage, WireEffort};

use super::{completions::word, object, some_list, some_text};
use crate::model::{
    ModelRequest,
    genai::{
        conversation::{self, Piece, Said, Turn, arguments},
        hearing::{End, Heard, Listener, count, text},
    },
};

pub(super) fn body(request: &ModelRequest<'_>) -> Map<String, Value> {
    let candidate = request.candidate;
    // A model that does not think refuses both of these.
    let thinks = matches!(candidate.wire_effort, Some(WireEffort::Word(_)));
    let reasoning = candidate.wire_effort.as_ref().and_then(word).map(|word| {
        if thinks {
            json!({"effort": word, "summary": "auto"})
        } else {
            json!({"effort": word})
        }
    });
    object([
        ("model", Some(candidate.wire_name.as_str().into())),
        ("stream", Some(true.into())),
        ("store", Some(false.into())),
        ("max_output_tokens", candidate.max_tokens.map(Value::from)),
        ("reasoning", reasoning),
        (
            "include",
            thinks.then(|| json!(["reasoning.encrypted_content"])),
        ),
        ("instructions", some_text(request.system)),
        ("tools", some_list(request.tools.iter().map(tool).collect())),
        (
            "tool_choice",
            request
                .must_call
                .map(|name| json!({"type": "function", "name": name})),
        ),
        ("input", Some(input(request).into())),
    ])
}

/// Left to itself the API rewrites a schema so that every parameter has to be there.
fn tool(tool: &PlannedTool) -> Value {
    json!({"type": "function", "name": tool.name, "description": tool.description,
        "parameters": tool.parameters, "strict": false})
}

fn input(request: &ModelRequest<'_>) -> Vec<Value> {
    let mut input = Vec::new();
    for said in conversation::of(request) {
        match said {
            Said::User(text) => input.push(json!({"role": "user", "content": text})),
            Said::Turn(turn) => items(&turn, &mut input),
        }
    }
    input
}

fn items(turn: &Turn<'_>, input: &mut Vec<Value>) {
    let pieces = turn.pieces_to_the_last_deed().into_iter();
    input.extend(pieces.filter_map(item));
    input.extend(turn.answers.iter().map(|answer| {
        json!({"type": "function_call_output", "call_id": answer.call.id, "output": answer.told()})
    }));
}

fn item(piece: Piece<'_>) -> Option<Value> {
    Some(match piece {
        Piece::Sealed(thought) => {
            let encrypted = thought.signature.as_ref()?;
            let summary = some_text(&thought.text);
            let summary = summary.map(|text| json!({"type": "summary_text", "text": text}));
            json!({"type": "reasoning", "summary": summary.as_slice(), "encrypted_content": encrypted})
        }
        Piece::Text(text) => json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": text}]}),
        Piece::Call(call) => {
            json!({"type": "function_call", "call_id": call.id, "name": conversation::tool(call),
            "arguments": arguments(call).to_string()})
        }
    })
}

/// Items that are done, by their places: they are done in any order.
#[derive(Default)]
pub(super) struct Frames {
    items: BTreeMap<u64, Value>,
}

impl Listener for Frames {
    fn frame(&mut self, frame: &Value, heard: &mut Heard) {
        match text(frame, "/type") {
            Some("response.output_item.done") => {
                let place = count(frame, "/output_index").unwrap_or(self.items.len() as u64);
                self.items.insert(place, frame["item"].clone());
            }
            Some("response.output_text.delta") => {
                heard.show(text(frame, "/delta").unwrap_or_default());
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                heard.muse(text(frame, "/delta").unwrap_or_default());
            }
            Some("error") => heard.fault = Some(frame.clone()),
            Some("response.completed") => self.end(&frame["response"], End::Done, heard),
            Some("response.incomplete") => {
                let reason = text(frame, "/response/incomplete_details/reason");
                let end = match reason {
                    Some("content_filter") => End::Refusal,
                    _ => End::Length,
                };
                self.end(&frame["response"], end, heard);
            }
            Some("response.failed") => {
                let error = frame
                    .pointer("/response/error")
                    .filter(|error| !error.is_null());
                heard.fault = Some(error.cloned().unwrap_or_else(|| "it failed".into()));
            }
            _ => {}
        }
    }
}

impl Frames {
    fn end(&mut self, response: &Value, end: End, heard: &mut Heard) {
        heard.end = Some(end);
        if let Some(told) = response.get("usage").filter(|told| told.is_object()) {
            heard.usage = usage(told);
        }
        let mut items: Vec<Value> = std::mem::take(&mut self.items).into_values().collect();
        if items.is_empty() {
            items = response["output"].as_array().cloned().unwrap_or_default();
        }
        for item in &items {
            match text(item, "/type") {
                Some("reasoning") => heard.thoughts.push(Thought {
                    text: told_texts(item),
                    signature: text(item, "/encrypted_content").map(str::to_owned),
                    after: heard.place(),
                    ..Thought::default()
                }),
                Some("function_call") => {
                    let told = |key: &str| text(item, key).unwrap_or_default();
                    let place = heard.call(told("/call_id"), told("/name"));
                    match &item["arguments"] {
                        Value::String(args) => heard.calls[place].text.clone_from(args),
                        args => heard.calls[place].given = Some(args.clone()),
                    }
                }
                Some("message") => message(item, heard),
                _ => {}
            }
        }
    }
}

/// The summary of a piece of reasoning, or where it is shown in full, that.
fn told_texts(item: &Value) -> String {
    let all = |key: &str| {
        let parts = item[key].as_array().into_iter().flatten();
        let texts: Vec<&str> = parts.filter_map(|part| text(part, "/text")).collect();
        texts.join("\n\n")
    };
    let summary = all("summary");
    if summary.is_empty() {
        all("content")
    } else {
        summary
    }
}

fn message(item: &Value, heard: &mut Heard) {
    for part in item["content"].as_array().into_iter().flatten() {
        if let Some(words) = text(part, "/text") {
            heard.text.push_str(words);
        }
        if let Some(words) = text(part, "/refusal") {
            heard.refusal.push_str(words);
        }
    }
}

fn usage(told: &Value) -> Usage {
    let cache_read = count(told, "/input_tokens_details/cached_tokens");
    let cache_write = count(told, "/input_tokens_details/cache_write_tokens");
    let cached = cache_read.unwrap_or(0) + cache_write.unwrap_or(0);
    Usage {
        input: count(told, "/input_tokens").map(|all| all.saturating_sub(cached)),
        output: count(told, "/output_tokens"),
        cache_read,
        cache_write,
        reasoning: count(told, "/output_tokens_details/reasoning_tokens"),
        cost: None,
    }
}
