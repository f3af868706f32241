//! `OpenAI` chat completions, and whoever speaks like them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sortie_protocol::{PlannedTool, Thought, ToolCall, Usage, WireEffort};

use super::{object, some_list};
use crate::model::{
    ModelRequest,
    genai::{
        conversation::{self, Said, Turn, arguments},
        hearing::{End, Heard, Listener, count, text},
    },
};

/// Models that take no `max_tokens`, by the beginning of their names.
const WITH_COMPLETION_TOKENS: [&str; 5] = ["gpt-5", "gpt-6", "o1", "o3", "o4"];

pub(super) fn body(request: &ModelRequest<'_>) -> Map<String, Value> {
    let candidate = request.candidate;
    let effort = candidate.wire_effort.as_ref().and_then(word);
    let mut body = object([
        ("model", Some(candidate.wire_name.as_str().into())),
        ("stream", Some(true.into())),
        ("stream_options", Some(json!({"include_usage": true}))),
        ("reasoning_effort", effort.map(Value::from)),
        ("tools", some_list(request.tools.iter().map(tool).collect())),
        (
            "tool_choice",
            request
                .must_call
                .map(|name| json!({"type": "function", "function": {"name": name}})),
        ),
        ("messages", Some(messages(request).into())),
    ]);
    if let Some(most) = candidate.max_tokens {
        let new = WITH_COMPLETION_TOKENS
            .iter()
            .any(|name| candidate.wire_name.starts_with(name));
        let key = if new {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body.insert(key.into(), most.into());
    }
    body
}

/// An effort as both of `OpenAI`'s APIs have it.
pub(super) fn word(effort: &WireEffort) -> Option<&str> {
    match effort {
        WireEffort::Off => Some("none"),
        WireEffort::Word(word) => Some(word),
        // No plan has these over these APIs.
        WireEffort::Budget(_) | WireEffort::Adaptive(_) | WireEffort::BudgetAndWord { .. } => None,
    }
}

fn tool(tool: &PlannedTool) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters
    }})
}

fn messages(request: &ModelRequest<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for said in conversation::of(request) {
        match said {
            Said::User(text) => messages.push(json!({"role": "user", "content": text})),
            Said::Turn(turn) => {
                messages.push(assistant(&turn).into());
                messages.extend(turn.answers.iter().map(|answer| {
                    json!({"role": "tool", "content": answer.told(), "tool_call_id": answer.call.id})
                }));
            }
        }
    }
    messages
}

/// Nothing is signed here. Providers that want thinking back want it for the calls that they are at work on, and some
/// refuse it elsewhere, or under another name.
fn assistant(turn: &Turn<'_>) -> Map<String, Value> {
    let mut message = object([
        ("role", Some("assistant".into())),
        ("content", Some(turn.text.into())),
        (
            "tool_calls",
            some_list(turn.calls.iter().map(call).collect()),
        ),
    ]);
    if turn.at_work
        && !turn.calls.is_empty()
        && let Some((field, thinking)) = turn.unsigned_thinking()
    {
        message.insert(field.to_owned(), thinking.into());
    }
    message
}

fn call(call: &ToolCall) -> Value {
    json!({"type": "function", "id": call.id, "function": {
        "name": conversation::tool(call), "arguments": arguments(call).to_string()
    }})
}

/// The fields of thinking. Who sends both says the same in them.
const THINKING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Which call each number stands for. Thoughts come as text, without places.
#[derive(Default)]
pub(super) struct Frames {
    numbered: BTreeMap<u64, usize>,
}

impl Listener for Frames {
    fn frame(&mut self, frame: &Value, heard: &mut Heard) {
        // Beside the choices, in one of them (Moonshot), or in a corner of its own (Groq).
        let places = ["/usage", "/choices/0/usage", "/x_groq/usage"];
        let told = places.iter().find_map(|place| frame.pointer(place));
        if let Some(told) = told.filter(|told| told.is_object()) {
            heard.usage = usage(told);
        }
        if let Some(delta) = frame.pointer("/choices/0/delta") {
            think(delta, heard);
            say(&delta["content"], heard);
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                self.call(call, heard);
            }
        }
        if let Some(words) = text(frame, "/choices/0/delta/refusal") {
            heard.refusal.push_str(words);
        }
        if let Some(reason) = text(frame, "/choices/0/finish_reason") {
            if ["error", "insufficient_system_resource"].contains(&reason) {
                heard.fault = Some(format!("the provider broke it off: {reason}").into());
            }
            heard.end = Some(match reason {
                "length" | "model_length" | "max_tokens" => End::Length,
                "content_filter" => End::Refusal,
                _ => End::Done,
            });
        }
    }
}

impl Frames {
    /// A piece of a call. Some providers give calls no number, and some give all of them the same: then the id tells them
    /// apart, and a piece without one goes on with the last.
    fn call(&mut self, piece: &Value, heard: &mut Heard) {
        let id = text(piece, "/id").unwrap_or_default();
        let name = text(piece, "/function/name").unwrap_or_default();
        let number = count(piece, "/index");
        let is_other = |place: &usize| {
            let known = &heard.calls[*place];
            !id.is_empty() && !known.id.is_empty() && known.id != id
        };
        let known = match number {
            Some(number) => self
                .numbered
                .get(&number)
                .copied()
                .filter(|it| !is_other(it)),
            None if !id.is_empty() => heard.calls.iter().position(|call| call.id == id),
            None if name.is_empty() => heard.calls.len().checked_sub(1),
            None => None,
        };
        let place = known.unwrap_or_else(|| heard.call(id, name));
        if let Some(number) = number {
            self.numbered.insert(number, place);
        }
        let call = &mut heard.calls[place];
        for (kept, told) in [(&mut call.id, id), (&mut call.name, name)] {
            if kept.is_empty() {
                told.clone_into(kept);
            }
        }
        match &piece["function"]["arguments"] {
            Value::String(more) => call.text.push_str(more),
            Value::Null => {}
            whole => call.given = Some(whole.clone()),
        }
    }
}

/// Text is a string, or a list of parts.
fn say(content: &Value, heard: &mut Heard) {
    match content {
        Value::String(piece) => heard.say(piece),
        Value::Array(parts) => {
            for piece in parts.iter().filter_map(|part| text(part, "/text")) {
                heard.say(piece);
            }
        }
        _ => {}
    }
}

fn think(delta: &Value, heard: &mut Heard) {
    let told = THINKING.into_iter().find_map(|field| {
        Some((
            field,
            delta.get(field)?.as_str().filter(|text| !text.is_empty())?,
        ))
    });
    let Some((field, more)) = told else { return };
    heard.muse(more);
    match heard.thoughts.last_mut() {
        Some(thought) => thought.text.push_str(more),
        None => heard.thoughts.push(Thought {
            text: more.to_owned(),
            field: Some(field.to_owned()),
            ..Thought::default()
        }),
    }
}

/// What came from a cache, or went into one, is counted as input too.
fn usage(told: &Value) -> Usage {
    let cache_read = count(told, "/prompt_tokens_details/cached_tokens")
        .or_else(|| count(told, "/prompt_cache_hit_tokens"))
        .or_else(|| count(told, "/cached_tokens"));
    let cache_write = count(told, "/prompt_tokens_details/cache_write_tokens");
    let cached = cache_read.unwrap_or(0) + cache_write.unwrap_or(0);
    Usage {
        input: count(told, "/prompt_tokens").map(|all| all.saturating_sub(cached)),
        output: count(told, "/completion_tokens"),
        cache_read,
        cache_write,
        reasoning: count(told, "/completion_tokens_details/reasoning_tokens"),
        cost: None,
    }
}
