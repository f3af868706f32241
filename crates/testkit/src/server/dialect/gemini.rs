//! `POST /models/NAME:streamGenerateContent`.

use serde_json::{Value, json};

use super::{Dialect, Reply, pieces, strings};
use crate::server::{
    request::Step,
    turn::{Stop, Thinking, Tokens},
};

/// What the path ends in.
pub(super) const METHOD: &str = ":streamGenerateContent";

pub(super) fn model(path: &str) -> String {
    let name = path.split_once("/models/").map_or("", |(_, name)| name);
    name.split(METHOD).next().unwrap_or_default().to_owned()
}

/// The conversation. Calls have no id unless the server gave them one; without one they go by their name.
pub(super) fn steps(body: &Value) -> Vec<Step> {
    let mut steps = Vec::new();
    let system = strings(&system(body)["parts"], |part| &part["text"]).concat();
    if !system.is_empty() {
        steps.push(Step::System(system));
    }
    for content in body["contents"].as_array().into_iter().flatten() {
        let parts = content["parts"].as_array().into_iter().flatten();
        let text = said(&content["parts"]);
        if content["role"] == "model" {
            let calls = parts
                .filter_map(|part| name(&part["functionCall"]))
                .collect();
            steps.push(Step::Assistant { text, calls });
            continue;
        }
        for part in parts {
            let response = &part["functionResponse"];
            if let Some(call) = name(response) {
                let answer = &response["response"];
                let first = answer.as_object().and_then(|fields| fields.values().next());
                let text = match first {
                    Some(Value::String(text)) => text.clone(),
                    _ => answer.to_string(),
                };
                steps.push(Step::Result { call, text });
            }
        }
        if !text.is_empty() {
            steps.push(Step::User(text));
        }
    }
    steps
}

fn system(body: &Value) -> &Value {
    match &body["systemInstruction"] {
        Value::Null => &body["system_instruction"],
        found => found,
    }
}

fn name(call: &Value) -> Option<String> {
    let id = call["id"].as_str().or(call["name"].as_str());
    id.map(str::to_owned)
}

/// The text of some parts that is no thinking.
fn said(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    parts
        .filter(|part| part["thought"] != true)
        .filter_map(|part| part["text"].as_str())
        .collect()
}

pub(super) fn signatures(body: &Value) -> Vec<String> {
    let contents = body["contents"].as_array().into_iter().flatten();
    contents
        .flat_map(|content| strings(&content["parts"], |part| &part["thoughtSignature"]))
        .collect()
}

pub(super) fn effort(body: &Value) -> Value {
    body["generationConfig"]["thinkingConfig"].clone()
}

pub(super) fn tools(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools
        .flat_map(|tool| strings(&tool["functionDeclarations"], |function| &function["name"]))
        .collect()
}

/// What the real endpoint answers with 400.
pub(super) fn refusals(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let contents: Vec<&Value> = body["contents"].as_array().into_iter().flatten().collect();
    let count = |content: &Value, kind: &str| {
        let parts = content["parts"].as_array().into_iter().flatten();
        parts.filter(|part| !part[kind].is_null()).count()
    };
    for (place, content) in contents.iter().enumerate() {
        let calls = count(content, "functionCall");
        let next = contents.get(place + 1);
        let answers = next.map_or(0, |next| count(next, "functionResponse"));
        if calls > 0 && calls != answers {
            faults.push(format!(
                "{calls} calls are followed by {answers} answers, not by as many in one turn"
            ));
        }
        if content["parts"].as_array().is_none_or(Vec::is_empty) {
            faults.push("a turn has no parts".to_owned());
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        for function in tool["functionDeclarations"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let mut unknown = Vec::new();
            unknown_keywords(&function["parameters"], &mut unknown);
            if !unknown.is_empty() {
                faults.push(format!(
                    "the `parameters` of `{}` have keywords that are not of OpenAPI: {}",
                    function["name"],
                    unknown.join(", ")
                ));
            }
        }
    }
    faults
}

/// Keywords of JSON Schema that a `parameters` field may not have. (A `parametersJsonSchema` may.)
fn unknown_keywords(schema: &Value, found: &mut Vec<String>) {
    const UNKNOWN: [&str; 7] = [
        "$schema",
        "$ref",
        "$defs",
        "additionalProperties",
        "const",
        "oneOf",
        "patternProperties",
    ];
    let Some(fields) = schema.as_object() else {
        return;
    };
    let bad = fields.keys().filter(|key| UNKNOWN.contains(&key.as_str()));
    found.extend(bad.cloned());
    let inner = fields
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(serde_json::Map::values);
    for schema in inner.chain(fields.get("items")) {
        unknown_keywords(schema, found);
    }
}

pub(super) fn error(status: u16, kind: &str, message: &str) -> Value {
    json!({"error": {"code": status, "message": message, "status": kind}})
}

pub(super) const fn error_kind(status: u16) -> &'static str {
    match status {
        429 => "RESOURCE_EXHAUSTED",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        503 => "UNAVAILABLE",
        400..500 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

pub(super) fn frames(reply: &Reply<'_>) -> Vec<String> {
    let Reply { message, usage, .. } = reply;
    let mut parts = Vec::new();
    let mut signature = None;
    for thinking in &message.thinking {
        // The endpoint hides nothing by a block of its own.
        if let Thinking::Open {
            text,
            signature: own,
        } = thinking
        {
            signature = own.clone().or(signature);
            parts.extend(
                pieces(text)
                    .into_iter()
                    .map(|piece| json!({"text": piece, "thought": true})),
            );
        }
    }
    let texts = pieces(&message.text);
    parts.extend(texts.into_iter().map(|piece| json!({"text": piece})));
    let first_call = parts.len();
    parts.extend(
        message
            .calls
            .iter()
            .map(|call| json!({"functionCall": {"name": call.name, "args": call.args.value()}})),
    );
    // A signature stands with the first call, and only without one with the last text.
    let place = first_call.min(parts.len().saturating_sub(1));
    if let (Some(signature), Some(part)) = (signature, parts.get_mut(place)) {
        part["thoughtSignature"] = json!(signature);
    }
    let finish = match message.stop {
        Stop::Length => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
        Stop::Done => "STOP",
    };
    let chunk = |content: Value, finish: Option<&str>| {
        let mut candidate = json!({"index": 0, "content": content});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        let mut chunk = json!({"candidates": [candidate]});
        if let Some(tokens) = usage {
            chunk["usageMetadata"] = counted(tokens);
        }
        Dialect::Gemini.frame(&chunk.to_string())
    };
    let mut frames: Vec<String> = parts
        .into_iter()
        .map(|part| chunk(json!({"role": "model", "parts": [part]}), None))
        .collect();
    frames.push(chunk(
        json!({"role": "model", "parts": [{"text": ""}]}),
        Some(finish),
    ));
    frames
}

/// Here thinking is counted beside what was said, and not as a part of it.
fn counted(tokens: &Tokens) -> Value {
    let said = tokens.output - tokens.reasoning.unwrap_or(0).min(tokens.output);
    let mut usage = json!({
        "promptTokenCount": tokens.prompt(), "candidatesTokenCount": said,
        "totalTokenCount": tokens.prompt() + tokens.output,
    });
    if let Some(read) = tokens.cache_read {
        usage["cachedContentTokenCount"] = json!(read);
    }
    if let Some(reasoning) = tokens.reasoning {
        usage["thoughtsTokenCount"] = json!(reasoning);
    }
    usage
}
