//! Gemini.

use serde_json::{Map, Value, json};
use sortie_protocol::{PlannedTool, Thought, ToolCall, Usage, WireEffort};

use super::{object, some_list};
use crate::model::{
    ModelRequest,
    genai::{
        call_id,
        conversation::{self, Answered, Piece, Said, Turn, arguments},
        hearing::{End, Heard, Listener, count, text},
    },
};

/// Stands in for the signature of a call that another model made, or an older one: models that are asked to think by
/// level refuse a turn whose first call has none.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &ModelRequest<'_>) -> Map<String, Value> {
    let tools = some_list(request.tools.iter().map(tool).collect());
    object([
        ("generationConfig", generation(request)),
        (
            "systemInstruction",
            (!request.system.is_empty()).then(|| json!({"parts": [{"text": request.system}]})),
        ),
        (
            "tools",
            tools.map(|tools| json!([{"functionDeclarations": tools}])),
        ),
        (
            "toolConfig",
            request.must_call.map(|name| {
                json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}})
            }),
        ),
        ("contents", Some(contents(request).into())),
    ])
}

fn generation(request: &ModelRequest<'_>) -> Option<Value> {
    let candidate = request.candidate;
    let thinking = match &candidate.wire_effort {
        Some(WireEffort::Off) => Some(json!({"thinkingBudget": 0})),
        Some(WireEffort::Budget(tokens)) => {
            Some(json!({"thinkingBudget": tokens, "includeThoughts": true}))
        }
        Some(WireEffort::Word(word)) => {
            Some(json!({"thinkingLevel": word, "includeThoughts": true}))
        }
        // No plan has the others over this API.
        Some(WireEffort::Adaptive(_) | WireEffort::BudgetAndWord { .. }) | None => None,
    };
    let config = object([
        ("maxOutputTokens", candidate.max_tokens.map(Value::from)),
        ("thinkingConfig", thinking),
    ]);
    (!config.is_empty()).then(|| config.into())
}

/// The field for schemas as they are; `parameters` takes few of their keywords.
fn tool(tool: &PlannedTool) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
}

fn contents(request: &ModelRequest<'_>) -> Vec<Value> {
    let by_level = matches!(request.candidate.wire_effort, Some(WireEffort::Word(_)));
    let mut contents = Vec::new();
    for said in conversation::of(request) {
        match said {
            Said::User(text) => contents.push(json!({"role": "user", "parts": [{"text": text}]})),
            Said::Turn(turn) => {
                contents.push(json!({"role": "model", "parts": parts(&turn, by_level)}));
                if !turn.answers.is_empty() {
                    let answers: Vec<_> = turn.answers.iter().map(answer).collect();
                    contents.push(json!({"role": "user", "parts": answers}));
                }
            }
        }
    }
    contents
}

fn parts(turn: &Turn<'_>, by_level: bool) -> Vec<Value> {
    let mut parts = Vec::new();
    // A signature that waits for its part.
    let mut waiting: Option<&str> = None;
    let mut calls = 0;
    for piece in turn.pieces() {
        let mut part = match piece {
            Piece::Sealed(thought) => {
                let signature = thought.signature.as_deref();
                if thought.text.is_empty() {
                    parts.extend(waiting.map(alone));
                    waiting = signature;
                } else {
                    parts.push(json!({"text": thought.text, "thought": true,
                        "thoughtSignature": signature}));
                }
                continue;
            }
            Piece::Text(text) => json!({"text": text}),
            Piece::Call(call) => {
                calls += 1;
                json!({"functionCall": named(call, "args", arguments(call))})
            }
        };
        let is_first_call = calls == 1 && part.get("functionCall").is_some();
        let stand_in = (by_level && is_first_call).then_some(NO_SIGNATURE);
        if let Some(signature) = waiting.take().or(stand_in) {
            part["thoughtSignature"] = signature.into();
        }
        parts.push(part);
    }
    parts.extend(waiting.map(alone));
    parts
}

fn alone(signature: &str) -> Value {
    json!({"text": "", "thoughtSignature": signature})
}

/// Answers are matched to calls by name and order, or by the provider's id where it gave one.
fn answer(answer: &Answered<'_>) -> Value {
    let key = if answer.ok { "output" } else { "error" };
    json!({"functionResponse": named(answer.call, "response", json!({key: answer.text}))})
}

fn named(call: &ToolCall, key: &str, value: Value) -> Map<String, Value> {
    let id = Some(call.id.as_str()).filter(|id| !call_id::is_ours(id));
    object([
        ("id", id.map(Value::from)),
        ("name", Some(conversation::tool(call).into())),
        (key, Some(value)),
    ])
}

/// Whether the next piece of a thought goes on with the last.
#[derive(Default)]
pub(super) struct Frames {
    thinking: bool,
}

impl Listener for Frames {
    fn frame(&mut self, frame: &Value, heard: &mut Heard) {
        if let Some(told) = frame.get("usageMetadata") {
            heard.usage = usage(told);
        }
        if let Some(error) = frame.get("error").filter(|error| !error.is_null()) {
            heard.fault = Some(error.clone());
        }
        if let Some(reason) = text(frame, "/promptFeedback/blockReason") {
            heard.end = Some(End::Refusal);
            heard.refusal = format!("the provider blocked the prompt: {reason}");
        }
        let parts = frame.pointer("/candidates/0/content/parts");
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            self.part(part, heard);
        }
        if let Some(reason) = text(frame, "/candidates/0/finishReason") {
            finish(reason, frame, heard);
        }
    }
}

impl Frames {
    fn part(&mut self, part: &Value, heard: &mut Heard) {
        let signature = text(part, "/thoughtSignature").map(str::to_owned);
        let words = text(part, "/text").unwrap_or_default();
        if part["thought"] == true {
            heard.muse(words);
            match heard.thoughts.last_mut().filter(|_| self.thinking) {
                Some(thought) => {
                    thought.text.push_str(words);
                    thought.signature = signature.or(thought.signature.take());
                }
                None => heard.thoughts.push(Thought {
                    text: words.to_owned(),
                    signature,
                    after: heard.place(),
                    ..Thought::default()
                }),
            }
            self.thinking = true;
            return;
        }
        self.thinking = false;
        let is_call = part.get("functionCall").is_some();
        if let Some(signature) = signature {
            // A text's signature comes with its last piece, which is often empty. The text is the first of all pieces.
            let of_text = !is_call && (heard.has_text() || !words.trim().is_empty());
            let after = if of_text { 0 } else { heard.place() };
            heard.thoughts.push(Thought {
                signature: Some(signature),
                after,
                ..Thought::default()
            });
        }
        if let Some(call) = part.get("functionCall") {
            let told = |key: &str| text(call, key).unwrap_or_default();
            let place = heard.call(told("/id"), told("/name"));
            heard.calls[place].given = call.get("args").cloned();
        } else {
            heard.say(words);
        }
    }
}

fn finish(reason: &str, frame: &Value, heard: &mut Heard) {
    heard.end = Some(match reason {
        "MAX_TOKENS" => End::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => {
            let told = text(frame, "/candidates/0/finishMessage");
            heard.refusal = told.map_or_else(
                || format!("the provider stopped the answer: {reason}"),
                str::to_owned,
            );
            End::Refusal
        }
        _ => End::Done,
    });
    heard.fault = match reason {
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            Some(format!("the model could not write its call: {reason}").into())
        }
        "OTHER" | "MALFORMED_RESPONSE" | "MISSING_THOUGHT_SIGNATURE" => {
            Some(format!("the provider broke it off: {reason}").into())
        }
        _ => heard.fault.take(),
    };
}

/// What came from a cache is counted as input too, and what was thought is no part of the answer's count.
fn usage(told: &Value) -> Usage {
    let cache_read = count(told, "/cachedContentTokenCount");
    let reasoning = count(told, "/thoughtsTokenCount");
    let sum = |first: Option<u64>, second: Option<u64>| match (first, second) {
        (None, None) => None,
        (first, second) => Some(first.unwrap_or(0) + second.unwrap_or(0)),
    };
    let prompt = count(told, "/promptTokenCount");
    let input = sum(prompt, count(told, "/toolUsePromptTokenCount"));
    Usage {
        input: input.map(|all| all.saturating_sub(cache_read.unwrap_or(0))),
        output: sum(count(told, "/candidatesTokenCount"), reasoning),
        cache_read,
        cache_write: None,
        reasoning,
        cost: None,
    }
}
