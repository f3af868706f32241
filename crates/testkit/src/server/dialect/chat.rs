//! `POST /chat/completions`, as most providers and all local servers speak it.

use serde_json::{Value, json};

use super::{Dialect, Reply, pieces, strings};
use crate::server::{
    request::Step,
    turn::{Stop, Thinking},
};

pub(super) fn steps(body: &Value) -> Vec<Step> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages
        .filter_map(|message| {
            let text = text(&message["content"]);
            Some(match message["role"].as_str()? {
                "system" | "developer" => Step::System(text),
                "user" => Step::User(text),
                "assistant" => Step::Assistant {
                    text,
                    calls: strings(&message["tool_calls"], |call| &call["id"]),
                },
                "tool" => Step::Result {
                    call: message["tool_call_id"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                    text,
                },
                _ => return None,
            })
        })
        .collect()
}

/// This wire has no place for signatures, only for thinking as text.
pub(super) fn signatures(_: &Value) -> Vec<String> {
    Vec::new()
}

pub(super) fn effort(body: &Value) -> Value {
    body["reasoning_effort"].clone()
}

pub(super) fn tools(body: &Value) -> Vec<String> {
    strings(&body["tools"], |tool| &tool["function"]["name"])
}

/// Text is a string, or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => strings(content, |part| &part["text"]).concat(),
    }
}

pub(super) fn frames(reply: &Reply<'_>, body: &Value) -> Vec<String> {
    let Reply {
        message,
        usage,
        number,
    } = reply;
    let chunk = |rest: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{number}"),
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": body["model"],
        });
        for (key, value) in rest.as_object().into_iter().flatten() {
            chunk[key] = value.clone();
        }
        Dialect::Chat.frame(&chunk.to_string())
    };
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    };
    let mut frames = vec![delta(json!({"role": "assistant", "content": ""}), None)];
    for thinking in &message.thinking {
        let Thinking::Open { text, .. } = thinking else {
            continue;
        };
        for piece in pieces(text) {
            frames.push(delta(json!({"reasoning_content": piece}), None));
        }
    }
    for piece in pieces(&message.text) {
        let key = if message.stop == Stop::Refusal {
            "refusal"
        } else {
            "content"
        };
        frames.push(delta(json!({key: piece}), None));
    }
    for (index, call) in message.calls.iter().enumerate() {
        let id = format!("call_{number}_{index}");
        let head = json!({"index": index, "id": id, "type": "function", "function": {"name": call.name, "arguments": ""}});
        frames.push(delta(json!({"tool_calls": [head]}), None));
        for piece in pieces(&call.args.text()) {
            let piece = json!({"index": index, "function": {"arguments": piece}});
            frames.push(delta(json!({"tool_calls": [piece]}), None));
        }
    }
    let finish = match message.stop {
        Stop::Length => "length",
        Stop::Refusal => "content_filter",
        Stop::Done if message.calls.is_empty() => "stop",
        Stop::Done => "tool_calls",
    };
    frames.push(delta(json!({}), Some(finish)));
    if let Some(tokens) = usage
        && body["stream_options"]["include_usage"] == true
    {
        let (prompt, output) = (tokens.prompt(), tokens.output);
        let mut usage = json!({"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output});
        if let Some(read) = tokens.cache_read {
            usage["prompt_tokens_details"] = json!({"cached_tokens": read});
        }
        if let Some(reasoning) = tokens.reasoning {
            usage["completion_tokens_details"] = json!({"reasoning_tokens": reasoning});
        }
        frames.push(chunk(json!({"choices": [], "usage": usage})));
    }
    frames.push(Dialect::Chat.frame("[DONE]"));
    frames
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
}
