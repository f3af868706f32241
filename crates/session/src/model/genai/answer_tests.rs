use serde_json::json;
use sortie_protocol::{Api, Secrets, ToolCall};

use super::*;
use crate::model::genai::dialect;

fn reading(api: Api) -> Reading {
    Reading {
        n: 3,
        used_ids: HashSet::new(),
        price: None,
        ear: Arc::new(Ear::new(dialect::listener(api))),
        faults: Faults::new(&Secrets::default()),
    }
}

/// The answer over `api` of these frames.
fn answer(api: Api, frames: &[Value]) -> Result<Answer, ModelError> {
    let mut reading = reading(api);
    for frame in frames {
        reading.ear.hear(frame);
    }
    reading.end(None)
}

/// Frames of completions with these pieces of calls, and an end.
fn chat(pieces: &[Value], reason: &str) -> Vec<Value> {
    let pieces = pieces
        .iter()
        .map(|piece| json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
    let end = json!({"choices": [{"delta": {}, "finish_reason": reason}]});
    pieces.chain([end]).collect()
}

/// The calls of an answer, as `id name arguments`.
fn calls(api: Api, frames: &[Value]) -> Vec<String> {
    let calls = answer(api, frames).unwrap().calls;
    let told = |call: ToolCall| format!("{} {} {}", call.id, call.name, call.args);
    calls.into_iter().map(told).collect()
}

#[test]
fn arguments_that_are_no_json_stay_as_they_came() {
    let piece = |n: u64, id: &str, args: Value| json!({"index": n, "id": id, "function": {"name": "read", "arguments": args}});
    let pieces = [
        piece(0, "a", json!("{\"path\": ")),
        piece(1, "b", json!("")),
        piece(2, "c", Value::Null),
        piece(3, "d", json!("{\"path\": \"x\"}")),
        piece(4, "e", json!({"path": "x"})),
        piece(5, "f", json!("null")),
    ];
    let found = calls(Api::OpenaiCompletions, &chat(&pieces, "tool_calls"));
    insta::assert_snapshot!(found.join("\n"), @r#"
    a read "{\"path\": "
    b read {}
    c read {}
    d read {"path":"x"}
    e read {"path":"x"}
    f read {}
    "#);
}

#[test]
fn calls_are_told_apart_however_they_are_numbered() {
    let first = |index: Value, id: &str, args: &str| json!({"index": index, "id": id, "function": {"name": "read", "arguments": args}});
    let more = |index: Value, args: &str| json!({"index": index, "function": {"arguments": args}});
    let (none, zero) = (Value::Null, json!(0));
    let told = [
        // With a gap.
        vec![
            first(json!(1), "a", "{"),
            more(json!(1), "}"),
            first(json!(3), "b", "{}"),
        ],
        // Without numbers.
        vec![
            first(none.clone(), "a", "{"),
            more(none.clone(), "}"),
            first(none, "b", "{}"),
        ],
        // All with the same.
        vec![
            first(zero.clone(), "a", "{"),
            more(zero.clone(), "}"),
            first(zero.clone(), "b", "{}"),
        ],
        // With the id in every piece.
        vec![first(zero.clone(), "a", "{"), first(zero, "a", "}")],
    ]
    .map(|pieces| calls(Api::OpenaiCompletions, &chat(&pieces, "tool_calls")).join(", "));
    insta::assert_snapshot!(told.join("\n"), @"
    a read {}, b read {}
    a read {}, b read {}
    a read {}, b read {}
    a read {}
    ");
}

#[test]
fn blocks_may_be_whole_at_their_start_and_come_at_the_same_time() {
    let start = |n: u64, input: Value| {
        json!({"type": "content_block_start", "index": n, "content_block":
            {"type": "tool_use", "id": format!("t{n}"), "name": "read", "input": input}})
    };
    let more = |n: u64, args: &str| {
        json!({"type": "content_block_delta", "index": n, "delta":
            {"type": "input_json_delta", "partial_json": args}})
    };
    let frames = [
        start(0, json!({"path": "whole"})),
        start(1, json!({})),
        start(2, json!({})),
        more(1, "{\"path\":"),
        more(2, "{\"path\": \"b\""),
        more(1, "\"a\"}"),
        more(2, "}"),
        json!({"type": "content_block_start", "index": 3, "content_block": {"type": "of_tomorrow"}}),
        json!({"type": "content_block_delta", "index": 3, "delta": {"type": "citations_delta", "citation": {}}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    insta::assert_snapshot!(calls(Api::AnthropicMessages, &frames).join("\n"), @r#"
    t0 read {"path":"whole"}
    t1 read {"path":"a"}
    t2 read {"path":"b"}
    "#);
}

#[test]
fn a_stop_is_read_with_what_was_called() {
    let one = json!({"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}});
    let one = std::slice::from_ref(&one);
    for (reason, pieces, wanted) in [
        ("stop", &[][..], StopReason::Stop),
        ("stop", one, StopReason::ToolUse),
        ("tool_calls", one, StopReason::ToolUse),
        ("tool_calls", &[], StopReason::Stop),
        ("length", one, StopReason::Length),
        ("content_filter", &[], StopReason::Refusal),
        ("content_filter", one, StopReason::Refusal),
        ("whatever", &[], StopReason::Stop),
    ] {
        let answer = answer(Api::OpenaiCompletions, &chat(pieces, reason)).unwrap();
        assert_eq!(answer.stop, wanted, "{reason}");
        // Who declines means nothing to be done.
        assert_eq!(
            answer.calls.is_empty(),
            pieces.is_empty() || reason == "content_filter"
        );
    }
}

#[test]
fn a_refusal_in_words_is_a_refusal_with_a_text() {
    let frames = [
        json!({"choices": [{"delta": {"refusal": "I will not"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    ];
    let answer = answer(Api::OpenaiCompletions, &frames).unwrap();
    assert_eq!(
        (answer.stop, answer.text.as_str()),
        (StopReason::Refusal, "I will not")
    );
}

#[test]
fn an_answer_without_an_end_is_none() {
    for api in Api::REMOTE {
        assert_eq!(
            answer(api, &[json!({})]),
            Err(ModelError::Truncated),
            "{api}"
        );
    }
    insta::assert_snapshot!(answer(Api::OpenaiResponses, &[]).unwrap_err(), @"the connection failed: nothing came that is an answer");
}

#[test]
fn an_end_is_read_whatever_else_is_missing() {
    let item = json!({"type": "message", "content": [{"type": "output_text", "text": "hi"}]});
    let done = json!({"type": "response.output_item.done", "item": item});
    let frames = [
        done,
        json!({"type": "response.completed", "response": {"output": null}}),
    ];
    assert_eq!(answer(Api::OpenaiResponses, &frames).unwrap().text, "hi");
    let frames = [
        json!({"error": null, "choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}),
    ];
    assert_eq!(answer(Api::OpenaiCompletions, &frames).unwrap().text, "hi");
}

#[test]
fn a_failure_is_told_in_the_providers_words() {
    let failed = |code: &str| {
        let error = json!({"code": code, "message": "so sorry"});
        let frame = json!({"type": "response.failed", "response": {"error": error}});
        answer(Api::OpenaiResponses, &[frame])
            .unwrap_err()
            .to_string()
    };
    let broken = |api: Api, frame: Value| answer(api, &[frame]).unwrap_err().to_string();
    let told = [
        failed("server_error"),
        failed("rate_limit_exceeded"),
        failed("context_length_exceeded"),
        broken(
            Api::OpenaiCompletions,
            json!({"choices": [{"delta": {}, "finish_reason": "insufficient_system_resource"}]}),
        ),
        broken(
            Api::GoogleGenerativeAi,
            json!({"candidates": [{"finishReason": "OTHER"}]}),
        ),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    the answer cannot be used: so sorry
    the provider answered 429: so sorry
    the provider answered 400: so sorry
    the answer cannot be used: the provider broke it off: insufficient_system_resource
    the answer cannot be used: the provider broke it off: OTHER
    ");
}

#[test]
fn what_is_cached_is_not_paid_twice() {
    let frame = json!({"usage": {"prompt_tokens": 105, "completion_tokens": 40, "prompt_tokens_details":
        {"cached_tokens": 90, "cache_write_tokens": 5}}});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let mut reading = reading(Api::OpenaiCompletions);
    reading.price = Some(Price {
        input: 1.0,
        output: 2.0,
        cache_read: 0.1,
        cache_write: 4.0,
    });
    reading.ear.hear(&frame);
    reading.ear.hear(&end);
    let cost = reading.end(None).unwrap().usage.cost.unwrap();
    assert!(
        (cost - (10.0 + 80.0 + 9.0 + 20.0) / 1e6).abs() < 1e-12,
        "{cost}"
    );
    reading.ear.hear(&end);
    assert_eq!(reading.end(None).unwrap().usage, Usage::default());
}
