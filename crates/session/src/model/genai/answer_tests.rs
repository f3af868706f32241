use genai::chat::{MessageContent, ToolCall as GenaiCall};
use serde_json::json;
use sortie_protocol::{Secrets, Usage};

use super::*;
use crate::model::genai::dialect;

fn reading(api: Api) -> Reading {
    Reading {
        api,
        n: 3,
        used_ids: HashSet::new(),
        price: None,
        ear: Arc::new(Ear::new(dialect::listener(api))),
        faults: Faults::new(&Secrets::default()),
    }
}

/// The answer over `api` of these frames, where the library makes `end` of them.
fn answer(api: Api, frames: &[Value], end: StreamEnd) -> Result<Answer, ModelError> {
    let mut reading = reading(api);
    for frame in frames {
        reading.ear.hear(frame);
    }
    reading.answer(end, String::new())
}

fn call(id: &str, name: &str, args: Value) -> GenaiCall {
    GenaiCall {
        call_id: id.into(),
        fn_name: name.into(),
        fn_arguments: args,
        thought_signatures: None,
    }
}

fn with_calls(calls: Vec<GenaiCall>) -> StreamEnd {
    StreamEnd {
        captured_content: Some(MessageContent::from_tool_calls(calls)),
        ..StreamEnd::default()
    }
}

fn calls(calls: Vec<GenaiCall>) -> Vec<ToolCall> {
    answer(Api::OpenaiCompletions, &[], with_calls(calls))
        .unwrap()
        .calls
}

#[test]
fn arguments_that_are_no_json_stay_as_they_came() {
    let calls = calls(vec![
        call("a", "read", json!("{\"path\": ")),
        call("b", "todo", json!("")),
        call("c", "todo", Value::Null),
        call("d", "todo", json!({"items": []})),
    ]);
    let args: Vec<_> = calls.into_iter().map(|call| call.args).collect();
    assert_eq!(
        args,
        [
            json!("{\"path\": "),
            json!({}),
            json!({}),
            json!({"items": []})
        ]
    );
}

#[test]
fn a_gap_in_the_numbers_of_calls_makes_no_call() {
    let with_gap = vec![
        call("a", "read", json!("")),
        call("a", "read", json!("")),
        call("a", "read", json!({"path": "x"})),
        call("b", "read", json!({"path": "x"})),
    ];
    let found = calls(with_gap);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].args, json!({"path": "x"}));
}

#[test]
fn thinking_that_only_streams_is_kept_unsigned() {
    let mut reading = reading(Api::OpenaiCompletions);
    let answer = reading.answer(StreamEnd::default(), "hm".into()).unwrap();
    let thought = Thought {
        text: "hm".into(),
        ..Thought::default()
    };
    assert_eq!(answer.thoughts, [thought]);
}

#[test]
fn a_stop_is_read_with_what_was_called() {
    let frame = |reason: &str| json!({"choices": [{"delta": {}, "finish_reason": reason}]});
    let one = || with_calls(vec![call("a", "read", json!({}))]);
    for (reason, end, wanted) in [
        ("stop", StreamEnd::default(), StopReason::Stop),
        ("stop", one(), StopReason::ToolUse),
        ("tool_calls", one(), StopReason::ToolUse),
        ("tool_calls", StreamEnd::default(), StopReason::Stop),
        ("length", one(), StopReason::Length),
        ("content_filter", StreamEnd::default(), StopReason::Refusal),
        ("whatever", StreamEnd::default(), StopReason::Stop),
    ] {
        let answer = answer(Api::OpenaiCompletions, &[frame(reason)], end).unwrap();
        assert_eq!(answer.stop, wanted, "{reason}");
    }
    let silent = answer(Api::OpenaiCompletions, &[], StreamEnd::default()).unwrap();
    assert_eq!(silent.stop, StopReason::Stop);
}

#[test]
fn a_refusal_in_words_is_a_refusal_with_a_text() {
    let frames = [
        json!({"choices": [{"delta": {"refusal": "I will not"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    ];
    let answer = answer(Api::OpenaiCompletions, &frames, StreamEnd::default()).unwrap();
    assert_eq!(
        (answer.stop, answer.text.as_str()),
        (StopReason::Refusal, "I will not")
    );
}

#[test]
fn an_end_that_the_library_made_up_is_none() {
    for api in [Api::OpenaiResponses, Api::GoogleGenerativeAi] {
        let cut = answer(api, &[], StreamEnd::default());
        assert_eq!(cut, Err(ModelError::Truncated), "{api}");
    }
    let lost = [json!({"type": "response.completed", "response": {}})];
    let lost = answer(Api::OpenaiResponses, &lost, StreamEnd::default());
    insta::assert_snapshot!(lost.unwrap_err(), @"the answer cannot be used: its end cannot be read");
}

#[test]
fn a_failure_is_told_in_the_providers_words() {
    let failed = |code: &str| {
        let error = json!({"code": code, "message": "so sorry"});
        let frame = json!({"type": "response.failed", "response": {"error": error}});
        answer(Api::OpenaiResponses, &[frame], StreamEnd::default())
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(failed("server_error"), @"the answer cannot be used: so sorry");
    insta::assert_snapshot!(failed("rate_limit_exceeded"), @"the provider answered 429: so sorry");
}

#[test]
fn what_is_cached_is_not_paid_twice() {
    let frame = json!({"usage": {"prompt_tokens": 105, "completion_tokens": 40, "prompt_tokens_details":
        {"cached_tokens": 90, "cache_write_tokens": 5}}});
    let mut reading = reading(Api::OpenaiCompletions);
    reading.price = Some(Price {
        input: 1.0,
        output: 2.0,
        cache_read: 0.1,
        cache_write: 4.0,
    });
    reading.ear.hear(&frame);
    let end = StreamEnd::default();
    let cost = reading
        .answer(end, String::new())
        .unwrap()
        .usage
        .cost
        .unwrap();
    assert!(
        (cost - (10.0 + 80.0 + 9.0 + 20.0) / 1e6).abs() < 1e-12,
        "{cost}"
    );
    let nothing = reading.answer(StreamEnd::default(), String::new()).unwrap();
    assert_eq!(nothing.usage, Usage::default());
}
