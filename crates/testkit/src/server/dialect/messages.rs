//! `POST /v1/messages`.

use serde_json::{Value, json};

use super::{Dialect, Reply, pieces, strings};
use crate::server::{
    request::Step,
    turn::{Stop, Thinking, Tokens},
};

pub(super) fn steps(body: &Value) -> Vec<Step> {
    let mut steps = Vec::new();
    let system = text(&body["system"]);
    if !system.is_empty() {
        steps.push(Step::System(system));
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        if message["role"] == "assistant" {
            let calls = blocks(content, "tool_use");
            steps.push(Step::Assistant {
                text: text(content),
                calls: strings(&calls, |call| &call["id"]),
            });
            continue;
        }
        for result in blocks(content, "tool_result")
            .as_array()
            .into_iter()
            .flatten()
        {
            let call = result["tool_use_id"].as_str().unwrap_or_default();
            steps.push(Step::Result {
                call: call.to_owned(),
                text: text(&result["content"]),
            });
        }
        let said = text(content);
        if !said.is_empty() {
            steps.push(Step::User(said));
        }
    }
    steps
}

/// The blocks of one type.
fn blocks(content: &Value, kind: &str) -> Value {
    let content = content.as_array().into_iter().flatten();
    content
        .filter(|block| block["type"] == kind)
        .cloned()
        .collect()
}

/// Text is a string, or a list of blocks.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => strings(&blocks(content, "text"), |block| &block["text"]).concat(),
    }
}

pub(super) fn signatures(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    blocks
        .flatten()
        .filter_map(|block| match block["type"].as_str()? {
            "thinking" => block["signature"].as_str(),
            "redacted_thinking" => block["data"].as_str(),
            _ => None,
        })
        .map(str::to_owned)
        .collect()
}

pub(super) fn effort(body: &Value) -> Value {
    let mut said = json!({});
    for key in ["thinking", "output_config"] {
        if !body[key].is_null() {
            said[key] = body[key].clone();
        }
    }
    said
}

pub(super) fn tools(body: &Value) -> Vec<String> {
    strings(&body["tools"], |tool| &tool["name"])
}

/// What the real endpoint answers with 400.
pub(super) fn refusals(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(most) = body["max_tokens"].as_u64() else {
        return vec!["`max_tokens` is missing".to_owned()];
    };
    if let Some(budget) = body["thinking"]["budget_tokens"].as_u64()
        && !(1024..most).contains(&budget)
    {
        faults.push(format!(
            "`thinking.budget_tokens` is {budget}: not from 1024 up to `max_tokens`, {most}"
        ));
    }
    let thinks = matches!(
        body["thinking"]["type"].as_str(),
        Some("enabled" | "adaptive")
    );
    if thinks && matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool")) {
        faults.push("thinking does not go with a forced tool".to_owned());
    }
    if thinks && !body["temperature"].is_null() {
        faults.push("thinking does not go with a temperature".to_owned());
    }
    if body["messages"][0]["role"] != "user" {
        faults.push("the first message is not the user's".to_owned());
    }
    faults
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

pub(super) const fn error_kind(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

/// The blocks of an answer, and the frames that they stream in.
struct Blocks {
    frames: Vec<String>,
    count: usize,
}

impl Blocks {
    fn event(&mut self, event: &Value) {
        self.frames
            .push(Dialect::Messages.frame(&event.to_string()));
    }

    fn block(&mut self, start: &Value, deltas: impl IntoIterator<Item = Value>) {
        let index = self.count;
        self.count += 1;
        self.event(&json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            self.event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        self.event(&json!({"type": "content_block_stop", "index": index}));
    }
}

pub(super) fn frames(reply: &Reply<'_>, body: &Value) -> Vec<String> {
    let Reply {
        message,
        usage,
        number,
    } = reply;
    let mut blocks = Blocks {
        frames: Vec::new(),
        count: 0,
    };
    let start = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage.as_ref().map_or(json!({}), read),
    });
    blocks.event(&json!({"type": "message_start", "message": start}));
    blocks.event(&json!({"type": "ping"}));
    for thinking in &message.thinking {
        match thinking {
            Thinking::Redacted(data) => {
                blocks.block(&json!({"type": "redacted_thinking", "data": data}), []);
            }
            Thinking::Open { text, signature } => {
                let texts = pieces(text)
                    .into_iter()
                    .map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                let signature = signature
                    .iter()
                    .map(|signature| json!({"type": "signature_delta", "signature": signature}));
                let start = json!({"type": "thinking", "thinking": "", "signature": ""});
                blocks.block(&start, texts.chain(signature));
            }
        }
    }
    if !message.text.is_empty() {
        let texts = pieces(&message.text)
            .into_iter()
            .map(|piece| json!({"type": "text_delta", "text": piece}));
        blocks.block(&json!({"type": "text", "text": ""}), texts);
    }
    for (n, call) in message.calls.iter().enumerate() {
        let start = json!({
            "type": "tool_use", "id": format!("toolu_{number}_{n}"), "name": call.name, "input": {},
        });
        let args = pieces(&call.args.text())
            .into_iter()
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        blocks.block(&start, args);
    }
    let stop = match message.stop {
        Stop::Length => "max_tokens",
        Stop::Refusal => "refusal",
        Stop::Done if message.calls.is_empty() => "end_turn",
        Stop::Done => "tool_use",
    };
    let mut last =
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}});
    if let Some(tokens) = usage {
        last["usage"] = json!({"output_tokens": tokens.output});
    }
    blocks.event(&last);
    blocks.event(&json!({"type": "message_stop"}));
    blocks.frames
}

/// What is known at the start. Here `input_tokens` are those that no cache had to do with.
fn read(tokens: &Tokens) -> Value {
    let mut usage = json!({"input_tokens": tokens.input, "output_tokens": 1});
    if let Some(read) = tokens.cache_read {
        usage["cache_read_input_tokens"] = json!(read);
    }
    if let Some(written) = tokens.cache_write {
        usage["cache_creation_input_tokens"] = json!(written);
    }
    usage
}
