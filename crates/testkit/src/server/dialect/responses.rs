//! `POST /responses`.

use serde_json::{Value, json};

use super::{Dialect, Reply, pieces, strings};
use crate::server::{
    request::Step,
    turn::{Stop, Thinking, Tokens},
};

/// The conversation. What a model says is several items here: thinking, a message, calls.
pub(super) fn steps(body: &Value) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    if let Some(system) = body["instructions"].as_str() {
        steps.push(Step::System(system.to_owned()));
    }
    for item in body["input"].as_array().into_iter().flatten() {
        let word = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("function_call"), _) => match steps.last_mut() {
                Some(Step::Assistant { calls, .. }) => calls.push(word("call_id")),
                _ => steps.push(Step::Assistant {
                    text: String::new(),
                    calls: vec![word("call_id")],
                }),
            },
            (Some("function_call_output"), _) => steps.push(Step::Result {
                call: word("call_id"),
                text: text(&item["output"]),
            }),
            (None | Some("message"), Some("system" | "developer")) => {
                steps.push(Step::System(text(&item["content"])));
            }
            (None | Some("message"), Some("user")) => {
                steps.push(Step::User(text(&item["content"])));
            }
            (None | Some("message"), Some("assistant")) => steps.push(Step::Assistant {
                text: text(&item["content"]),
                calls: Vec::new(),
            }),
            _ => {}
        }
    }
    steps
}

pub(super) fn signatures(body: &Value) -> Vec<String> {
    strings(&body["input"], |item| &item["encrypted_content"])
}

pub(super) fn effort(body: &Value) -> Value {
    body["reasoning"]["effort"].clone()
}

pub(super) fn tools(body: &Value) -> Vec<String> {
    strings(&body["tools"], |tool| &tool["name"])
}

/// Text is a string, or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => strings(content, |part| &part["text"]).concat(),
    }
}

pub(super) fn error_frame(kind: &str, message: &str) -> String {
    let error = json!({"type": "error", "code": kind, "message": message, "param": null});
    Dialect::Responses.frame(&error.to_string())
}

/// The items of an answer, and the frames that they stream in.
struct Items {
    frames: Vec<String>,
    done: Vec<Value>,
}

impl Items {
    fn event(&mut self, kind: &str, rest: Value) {
        let mut event = json!({"type": kind, "sequence_number": self.frames.len()});
        if let Value::Object(rest) = rest {
            for (key, value) in rest {
                event[key] = value;
            }
        }
        self.frames
            .push(Dialect::Responses.frame(&event.to_string()));
    }

    /// An item from its start to its end: `pieces` stream as `kind`, each with `part` beside it.
    fn item(&mut self, start: &Value, kind: &str, text: &str, whole: Value) {
        let index = self.done.len();
        let added = json!({"output_index": index, "item": start});
        self.event("response.output_item.added", added);
        for piece in pieces(text) {
            let delta = json!({
                "output_index": index, "item_id": start["id"], "content_index": 0, "summary_index": 0, "delta": piece,
            });
            self.event(kind, delta);
        }
        let done = json!({"output_index": index, "item": whole});
        self.event("response.output_item.done", done);
        self.done.push(whole);
    }
}

pub(super) fn frames(reply: &Reply<'_>, body: &Value) -> Vec<String> {
    let Reply {
        message,
        usage,
        number,
    } = reply;
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": format!("resp_{number}"), "object": "response", "created_at": 1_700_000_000, "model": body["model"],
            "status": status, "output": output, "error": null, "incomplete_details": null,
        })
    };
    let mut items = Items {
        frames: Vec::new(),
        done: Vec::new(),
    };
    let created = json!({"response": response("in_progress", &[])});
    items.event("response.created", created);
    for (n, thinking) in message.thinking.iter().enumerate() {
        let Thinking::Open { text, signature } = thinking else {
            continue;
        };
        let id = format!("rs_{number}_{n}");
        let start = json!({"type": "reasoning", "id": id, "summary": []});
        let mut whole = start.clone();
        whole["summary"] = json!([{"type": "summary_text", "text": text}]);
        if let Some(signature) = signature {
            whole["encrypted_content"] = json!(signature);
        }
        items.item(&start, "response.reasoning_summary_text.delta", text, whole);
    }
    if !message.text.is_empty() {
        let refused = message.stop == Stop::Refusal;
        let (kind, part) = if refused {
            let part = json!({"type": "refusal", "refusal": message.text});
            ("response.refusal.delta", part)
        } else {
            let part = json!({"type": "output_text", "text": message.text, "annotations": []});
            ("response.output_text.delta", part)
        };
        let start = json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "in_progress", "content": [],
        });
        let mut whole = start.clone();
        whole["status"] = json!("completed");
        whole["content"] = json!([part]);
        items.item(&start, kind, &message.text, whole);
    }
    for (n, call) in message.calls.iter().enumerate() {
        let start = json!({
            "type": "function_call", "id": format!("fc_{number}_{n}"), "call_id": format!("call_{number}_{n}"),
            "name": call.name, "arguments": "", "status": "in_progress",
        });
        let mut whole = start.clone();
        let args = call.args.text();
        whole["arguments"] = json!(args);
        whole["status"] = json!("completed");
        let kind = "response.function_call_arguments.delta";
        items.item(&start, kind, &args, whole);
    }
    let cut_short = message.stop == Stop::Length;
    let status = if cut_short { "incomplete" } else { "completed" };
    let mut last = response(status, &items.done);
    if cut_short {
        last["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    last["usage"] = usage.as_ref().map_or(Value::Null, counted);
    items.event(&format!("response.{status}"), json!({"response": last}));
    items.frames
}

fn counted(tokens: &Tokens) -> Value {
    let prompt = tokens.prompt();
    let mut usage = json!({
        "input_tokens": prompt, "output_tokens": tokens.output, "total_tokens": prompt + tokens.output,
    });
    if let Some(read) = tokens.cache_read {
        usage["input_tokens_details"] = json!({"cached_tokens": read});
    }
    if let Some(reasoning) = tokens.reasoning {
        usage["output_tokens_details"] = json!({"reasoning_tokens": reasoning});
    }
    usage
}
