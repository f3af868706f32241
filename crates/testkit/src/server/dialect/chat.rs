//! `POST /chat/completions`, as most providers and all local servers speak it.

use serde_json::{Value, json};

use super::{Dialect, Reply};
use crate::server::{request::Step, turn::Stop};

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
                    calls: each(&message["tool_calls"], |call| &call["id"]),
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

pub(super) fn tools(body: &Value) -> Vec<String> {
    each(&body["tools"], |tool| &tool["function"]["name"])
}

/// Text is a string, or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => each(content, |part| &part["text"]).concat(),
    }
}

fn each(list: &Value, pick: impl Fn(&Value) -> &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|item| pick(item).as_str().map(str::to_owned))
        .collect()
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
    for piece in pieces(&message.thinking) {
        frames.push(delta(json!({"reasoning_content": piece}), None));
    }
    for piece in pieces(&message.text) {
        let key = if message.stop == Stop::Refusal {
            "refusal"
        } else {
            "content"
        };
        frames.push(delta(json!({key: piece}), None));
    }
    for (index, (name, args)) in message.calls.iter().enumerate() {
        let id = format!("call_{number}_{index}");
        let head = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        frames.push(delta(json!({"tool_calls": [head]}), None));
        for piece in pieces(&args.to_string()) {
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
    if let Some((input, output)) = usage
        && body["stream_options"]["include_usage"] == true
    {
        let usage = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output});
        frames.push(chunk(json!({"choices": [], "usage": usage})));
    }
    frames.push(Dialect::Chat.frame("[DONE]"));
    frames
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

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
}
