use genai::chat::{
    CompletionTokensDetails, MessageContent, PromptTokensDetails, StopReason as Reason,
    ToolCall as GenaiCall, Usage as GenaiUsage,
};
use serde_json::json;
use sortie_protocol::Secrets;

use super::*;

fn reading() -> Reading {
    Reading {
        n: 3,
        used_ids: HashSet::from(["used".to_owned()]),
        price: None,
        faults: Faults::new(&Secrets::default()),
    }
}

fn call(id: &str, name: &str, args: Value) -> GenaiCall {
    GenaiCall {
        call_id: id.into(),
        fn_name: name.into(),
        fn_arguments: args,
        thought_signatures: None,
    }
}

fn calls(calls: Vec<GenaiCall>) -> Vec<ToolCall> {
    let end = StreamEnd {
        captured_content: Some(MessageContent::from_tool_calls(calls)),
        ..StreamEnd::default()
    };
    reading().answer(end).calls
}

#[test]
fn ids_that_are_missing_made_up_or_used_are_ours() {
    let calls = calls(vec![
        call("call_0", "read", json!({"path": "a"})),
        call("", "read", json!({"path": "b"})),
        call("used", "read", json!({"path": "c"})),
        call("their-own", "read", json!({"path": "d"})),
        call("call_7", "read", json!({"path": "e"})),
    ]);
    let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(
        ids,
        ["call_3_0", "call_3_1", "call_3_2", "their-own", "call_7"]
    );
}

#[test]
fn an_id_of_ours_is_not_given_twice() {
    let mut reading = reading();
    reading.used_ids.insert("call_3_0".into());
    let end = StreamEnd {
        captured_content: Some(MessageContent::from_tool_calls(vec![call(
            "",
            "read",
            json!({}),
        )])),
        ..StreamEnd::default()
    };
    assert_eq!(reading.answer(end).calls[0].id, "call_3_0x");
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
fn thinking_keeps_its_signatures() {
    let end = StreamEnd {
        captured_content: Some(MessageContent::from_parts(vec![
            ContentPart::ThoughtSignature("s1".into()),
            ContentPart::ReasoningContent("first".into()),
            ContentPart::ThoughtSignature("s2".into()),
            ContentPart::ReasoningContent("second".into()),
            ContentPart::Text("so".into()),
        ])),
        captured_reasoning_content: Some("firstsecond".into()),
        ..StreamEnd::default()
    };
    let thought = |text: &str, signature: Option<&str>| Thought {
        text: text.into(),
        signature: signature.map(str::to_owned),
        ..Thought::default()
    };
    let answer = reading().answer(end);
    assert_eq!(
        answer.thoughts,
        [thought("first", Some("s1")), thought("second", Some("s2"))]
    );
    assert_eq!(answer.text, "so");

    let unsigned = StreamEnd {
        captured_reasoning_content: Some("hm".into()),
        ..StreamEnd::default()
    };
    assert_eq!(reading().answer(unsigned).thoughts, [thought("hm", None)]);
}

#[test]
fn a_stop_is_read_with_what_was_called() {
    let reason = |word: &str| Some(Reason::from(word.to_owned()));
    for (word, has_calls, wanted) in [
        ("stop", false, StopReason::Stop),
        ("stop", true, StopReason::ToolUse),
        ("tool_calls", true, StopReason::ToolUse),
        ("tool_calls", false, StopReason::Stop),
        ("length", true, StopReason::Length),
        ("content_filter", false, StopReason::Refusal),
        ("whatever", false, StopReason::Stop),
    ] {
        assert_eq!(
            stop(reason(word).as_ref(), has_calls),
            wanted,
            "{word} {has_calls}"
        );
    }
    assert_eq!(stop(None, false), StopReason::Stop);
}

#[test]
fn what_is_cached_is_not_counted_twice() {
    let counted = GenaiUsage {
        prompt_tokens: Some(105),
        prompt_tokens_details: Some(PromptTokensDetails {
            cached_tokens: Some(90),
            cache_creation_tokens: Some(5),
            ..PromptTokensDetails::default()
        }),
        completion_tokens: Some(40),
        completion_tokens_details: Some(CompletionTokensDetails {
            reasoning_tokens: Some(30),
            ..CompletionTokensDetails::default()
        }),
        total_tokens: Some(145),
    };
    let mut reading = reading();
    reading.price = Some(Price {
        input: 1.0,
        output: 2.0,
        cache_read: 0.1,
        cache_write: 4.0,
    });
    let end = StreamEnd {
        captured_usage: Some(counted),
        ..StreamEnd::default()
    };
    let usage = reading.answer(end).usage;
    let cost = usage.cost.unwrap();
    assert!(
        (cost - (10.0 + 80.0 + 9.0 + 20.0) / 1e6).abs() < 1e-12,
        "{cost}"
    );
    assert_eq!(
        usage,
        Usage {
            input: Some(10),
            output: Some(40),
            cache_read: Some(90),
            cache_write: Some(5),
            reasoning: Some(30),
            cost: Some(cost),
        }
    );
    let nothing = reading.answer(StreamEnd::default()).usage;
    assert_eq!(nothing, Usage::default());
}
