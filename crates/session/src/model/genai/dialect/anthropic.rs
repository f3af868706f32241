//! Anthropic Messages.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sortie_protocol::{PlannedTool, Thought, Usage, WireEffort};

use super::{object, some_list};
use crate::model::{
    ModelRequest,
    genai::{
        conversation::{self, Answered, Piece, Said, arguments, plain, tool as tool_name},
        hearing::{End, Heard, Listener, count, text},
    },
};

pub(super) fn body(request: &ModelRequest<'_>) -> Map<String, Value> {
    let candidate = request.candidate;
    let (thinking, effort) = match &candidate.wire_effort {
        None => (None, None),
        Some(WireEffort::Off) => (Some(json!({"type": "disabled"})), None),
        Some(WireEffort::Budget(tokens)) => (Some(enabled(*tokens)), None),
        Some(WireEffort::BudgetAndWord { tokens, word }) => (Some(enabled(*tokens)), Some(word)),
        // Newer models keep their thinking to themselves unless they are asked for it.
        Some(WireEffort::Adaptive(word)) => (
            Some(json!({"type": "adaptive", "display": "summarized"})),
            Some(word),
        ),
        Some(WireEffort::Word(word)) => (None, Some(word)),
    };
    let thinks = thinking
        .as_ref()
        .is_some_and(|how| how["type"] != "disabled");
    object([
        ("model", Some(candidate.wire_name.as_str().into())),
        ("stream", Some(true.into())),
        ("max_tokens", candidate.max_tokens.map(Value::from)),
        ("thinking", thinking),
        ("output_config", effort.map(|word| json!({"effort": word}))),
        ("system", system(request.system)),
        ("tools", some_list(request.tools.iter().map(tool).collect())),
        (
            "tool_choice",
            // A model that thinks cannot be made to call a tool: the API refuses the request.
            request
                .must_call
                .filter(|_| !thinks)
                .map(|name| json!({"type": "tool", "name": name})),
        ),
        ("messages", Some(messages(request).into())),
    ])
}

fn enabled(tokens: u64) -> Value {
    json!({"type": "enabled", "budget_tokens": tokens})
}

/// The mark up to which the provider keeps what it has read. Without one every request pays for the whole conversation.
fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn system(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!([marked(json!({"type": "text", "text": text}))]))
}

fn tool(tool: &PlannedTool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}

fn messages(request: &ModelRequest<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    for said in conversation::of(request) {
        match said {
            Said::User(text) => {
                let block = json!({"type": "text", "text": text});
                messages.push(message("user", [block].into_iter()));
            }
            Said::Turn(turn) => {
                let blocks = turn.pieces_to_the_last_deed().into_iter().map(block);
                messages.push(message("assistant", blocks));
                if !turn.answers.is_empty() {
                    messages.push(message("user", turn.answers.iter().map(answer)));
                }
            }
        }
    }
    if let Some(last) = messages
        .last_mut()
        .filter(|last| last["role"] == "user")
        .and_then(|last| last["content"].as_array_mut()?.last_mut())
    {
        *last = marked(last.take());
    }
    messages
}

fn message(role: &str, blocks: impl Iterator<Item = Value>) -> Value {
    json!({"role": role, "content": blocks.collect::<Vec<_>>()})
}

fn block(piece: Piece<'_>) -> Value {
    match piece {
        Piece::Sealed(Thought {
            redacted: Some(data),
            ..
        }) => json!({"type": "redacted_thinking", "data": data}),
        Piece::Sealed(thought) => {
            json!({"type": "thinking", "thinking": thought.text, "signature": thought.signature})
        }
        Piece::Text(text) => json!({"type": "text", "text": text}),
        // The ids of other providers have dots and colons.
        Piece::Call(call) => {
            json!({"type": "tool_use", "id": plain(&call.id), "name": tool_name(call),
            "input": arguments(call)})
        }
    }
}

fn answer(answer: &Answered<'_>) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": plain(&answer.call.id),
        "content": answer.text});
    if !answer.ok {
        block["is_error"] = true.into();
    }
    block
}

/// The blocks that are coming, by their numbers.
#[derive(Default)]
pub(super) struct Frames(BTreeMap<u64, Block>);

/// A block that is not whole yet.
enum Block {
    Thought(Thought),
    /// A place among the calls.
    Call(usize),
    /// Text, and whatever nobody knows yet.
    Other,
}

impl Listener for Frames {
    fn frame(&mut self, frame: &Value, heard: &mut Heard) {
        let number = count(frame, "/index").unwrap_or_default();
        match text(frame, "/type") {
            Some("message_start") => usage(&frame["message"]["usage"], &mut heard.usage),
            Some("content_block_start") => {
                let block = begin(&frame["content_block"], heard);
                self.0.insert(number, block);
            }
            Some("content_block_delta") => {
                let block = self.0.entry(number).or_insert(Block::Other);
                go_on(block, &frame["delta"], heard);
            }
            Some("content_block_stop") => {
                if let Some(Block::Thought(thought)) = self.0.remove(&number) {
                    heard.thoughts.push(thought);
                }
            }
            Some("error") => heard.fault = Some(frame.clone()),
            Some("message_delta") => {
                usage(&frame["usage"], &mut heard.usage);
                if let Some(reason) = text(frame, "/delta/stop_reason") {
                    heard.end = Some(match reason {
                        "max_tokens" | "model_context_window_exceeded" => End::Length,
                        "refusal" => End::Refusal,
                        _ => End::Done,
                    });
                }
            }
            _ => {}
        }
    }
}

fn begin(block: &Value, heard: &mut Heard) -> Block {
    let told = |key: &str| text(block, key).filter(|told| !told.is_empty());
    match text(block, "/type") {
        Some("tool_use") => {
            let place = heard.call(
                told("/id").unwrap_or_default(),
                told("/name").unwrap_or_default(),
            );
            // Empty here, and told in pieces, by the provider itself; whole by some that speak as it does.
            heard.calls[place].given = block.get("input").cloned();
            Block::Call(place)
        }
        Some("thinking") => {
            heard.muse(told("/thinking").unwrap_or_default());
            Block::Thought(Thought {
                text: told("/thinking").unwrap_or_default().to_owned(),
                signature: told("/signature").map(str::to_owned),
                after: heard.place(),
                ..Thought::default()
            })
        }
        Some("redacted_thinking") => {
            heard.thoughts.push(Thought {
                redacted: told("/data").map(str::to_owned),
                after: heard.place(),
                ..Thought::default()
            });
            Block::Other
        }
        _ => {
            heard.say(told("/text").unwrap_or_default());
            Block::Other
        }
    }
}

fn go_on(block: &mut Block, delta: &Value, heard: &mut Heard) {
    let told = |key: &str| text(delta, key).unwrap_or_default();
    heard.say(told("/text"));
    match block {
        Block::Thought(thought) => {
            heard.muse(told("/thinking"));
            thought.text.push_str(told("/thinking"));
            if let Some(more) = text(delta, "/signature") {
                thought.signature.get_or_insert_default().push_str(more);
            }
        }
        Block::Call(place) => heard.calls[*place].text.push_str(told("/partial_json")),
        Block::Other => {}
    }
}

/// Figures come at the start and again at the end; the later one of a figure holds. Input is told without what came
/// from a cache or went into one.
fn usage(told: &Value, usage: &mut Usage) {
    let figures = [
        (&mut usage.input, "/input_tokens"),
        (&mut usage.output, "/output_tokens"),
        (&mut usage.cache_read, "/cache_read_input_tokens"),
        (&mut usage.cache_write, "/cache_creation_input_tokens"),
        (
            &mut usage.reasoning,
            "/output_tokens_details/thinking_tokens",
        ),
    ];
    for (figure, place) in figures {
        *figure = count(told, place).or(*figure);
    }
}
