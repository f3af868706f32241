use proptest::prelude::*;
use sortie_protocol::{Api, Origin, StopReason, Usage};

use super::*;
use crate::model::genai::{
    asking::{candidate, records, request},
    dialect,
};

fn user(text: &str) -> RecordKind {
    RecordKind::User {
        origin: Origin::Steer,
        text: text.into(),
    }
}

fn turn(thoughts: Vec<Thought>, text: &str, calls: &[&str]) -> RecordKind {
    RecordKind::Assistant(AssistantTurn {
        candidate: 0,
        thoughts,
        text: text.into(),
        calls: calls
            .iter()
            .map(|id| ToolCall {
                id: (*id).into(),
                name: "read".into(),
                args: json!({"path": id}),
            })
            .collect(),
        stop: StopReason::Stop,
        usage: Usage::default(),
    })
}

fn result(call: &str, ok: bool, text: &str) -> RecordKind {
    RecordKind::ToolResult(ToolResult {
        call: call.into(),
        name: "read".into(),
        ok,
        text: text.into(),
    })
}

fn unsigned(text: &str, field: &str) -> Thought {
    Thought {
        text: text.into(),
        field: Some(field.into()),
        ..Thought::default()
    }
}

fn signed(text: &str, signature: &str, after: usize) -> Thought {
    Thought {
        text: text.into(),
        signature: Some(signature.into()),
        after,
        ..Thought::default()
    }
}

/// The conversation of a request to the candidate `place` over `api`, an item a message.
fn messages(api: Api, place: usize, kinds: Vec<RecordKind>) -> Vec<Value> {
    let mut candidate = candidate("http://localhost/v1");
    candidate.api = api;
    let transcript = records(kinds);
    let body = dialect::body(&ModelRequest {
        place,
        ..request(&candidate, &transcript)
    });
    let key = match api {
        Api::OpenaiCompletions | Api::Script | Api::AnthropicMessages => "messages",
        Api::OpenaiResponses => "input",
        Api::GoogleGenerativeAi => "contents",
    };
    body[key].as_array().unwrap().clone()
}

fn shown(api: Api, kinds: Vec<RecordKind>) -> String {
    let lines: Vec<_> = messages(api, 0, kinds)
        .iter()
        .map(Value::to_string)
        .collect();
    lines.join("\n")
}

#[test]
fn every_call_is_answered_before_anybody_speaks() {
    let kinds = || {
        vec![
            user("go"),
            turn(vec![], "", &["a", "b", "call_1_2"]),
            result("b", false, "no such file"),
            user("wait"),
            result("a", true, "text"),
            result("stray", true, "of nobody"),
            turn(vec![], " \n", &[]),
            turn(vec![], "done", &["functions.read:0"]),
        ]
    };
    insta::assert_snapshot!(shown(Api::OpenaiCompletions, kinds()), @r#"
    {"role":"user","content":"go"}
    {"role":"assistant","content":"","tool_calls":[{"type":"function","id":"a","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"type":"function","id":"b","function":{"name":"read","arguments":"{\"path\":\"b\"}"}},{"type":"function","id":"call_1_2","function":{"name":"read","arguments":"{\"path\":\"call_1_2\"}"}}]}
    {"role":"tool","content":"text","tool_call_id":"a"}
    {"role":"tool","content":"error: no such file","tool_call_id":"b"}
    {"role":"tool","content":"error: not run","tool_call_id":"call_1_2"}
    {"role":"user","content":"wait"}
    {"role":"assistant","content":"done","tool_calls":[{"type":"function","id":"functions.read:0","function":{"name":"read","arguments":"{\"path\":\"functions.read:0\"}"}}]}
    {"role":"tool","content":"error: not run","tool_call_id":"functions.read:0"}
    "#);
    insta::assert_snapshot!(shown(Api::OpenaiResponses, kinds()), @r#"
    {"role":"user","content":"go"}
    {"type":"function_call","call_id":"a","name":"read","arguments":"{\"path\":\"a\"}"}
    {"type":"function_call","call_id":"b","name":"read","arguments":"{\"path\":\"b\"}"}
    {"type":"function_call","call_id":"call_1_2","name":"read","arguments":"{\"path\":\"call_1_2\"}"}
    {"type":"function_call_output","call_id":"a","output":"text"}
    {"type":"function_call_output","call_id":"b","output":"error: no such file"}
    {"type":"function_call_output","call_id":"call_1_2","output":"error: not run"}
    {"role":"user","content":"wait"}
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}
    {"type":"function_call","call_id":"functions.read:0","name":"read","arguments":"{\"path\":\"functions.read:0\"}"}
    {"type":"function_call_output","call_id":"functions.read:0","output":"error: not run"}
    "#);
    insta::assert_snapshot!(shown(Api::AnthropicMessages, kinds()), @r#"
    {"role":"user","content":[{"type":"text","text":"go"}]}
    {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"b","name":"read","input":{"path":"b"}},{"type":"tool_use","id":"call_1_2","name":"read","input":{"path":"call_1_2"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"text"},{"type":"tool_result","tool_use_id":"b","content":"no such file","is_error":true},{"type":"tool_result","tool_use_id":"call_1_2","content":"not run","is_error":true}]}
    {"role":"user","content":[{"type":"text","text":"wait"}]}
    {"role":"assistant","content":[{"type":"text","text":"done"},{"type":"tool_use","id":"functions_read_0","name":"read","input":{"path":"functions.read:0"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_read_0","content":"not run","is_error":true,"cache_control":{"type":"ephemeral"}}]}
    "#);
    insta::assert_snapshot!(shown(Api::GoogleGenerativeAi, kinds()), @r#"
    {"role":"user","parts":[{"text":"go"}]}
    {"role":"model","parts":[{"functionCall":{"id":"a","name":"read","args":{"path":"a"}}},{"functionCall":{"id":"b","name":"read","args":{"path":"b"}}},{"functionCall":{"name":"read","args":{"path":"call_1_2"}}}]}
    {"role":"user","parts":[{"functionResponse":{"id":"a","name":"read","response":{"output":"text"}}},{"functionResponse":{"id":"b","name":"read","response":{"error":"no such file"}}},{"functionResponse":{"name":"read","response":{"error":"not run"}}}]}
    {"role":"user","parts":[{"text":"wait"}]}
    {"role":"model","parts":[{"text":"done"},{"functionCall":{"id":"functions.read:0","name":"read","args":{"path":"functions.read:0"}}}]}
    {"role":"user","parts":[{"functionResponse":{"id":"functions.read:0","name":"read","response":{"error":"not run"}}}]}
    "#);
}

#[test]
fn arguments_that_were_no_json_go_back_in_an_object() {
    for api in Api::REMOTE {
        let mut kind = turn(vec![], "", &["a"]);
        if let RecordKind::Assistant(turn) = &mut kind {
            turn.calls[0].args = json!("{\"path\": ");
        }
        let text = shown(api, vec![user("go"), kind]).replace('\\', "");
        assert!(
            text.contains(r#"{"unreadable":"{"path": "}"#),
            "{api} {text}"
        );
    }
}

#[test]
fn sealed_thoughts_go_back_in_their_places() {
    let kinds = || {
        vec![
            user("go"),
            turn(
                vec![
                    signed("first", "s0", 0),
                    Thought {
                        redacted: Some("blob".into()),
                        after: 0,
                        ..Thought::default()
                    },
                    signed("", "s1", 1),
                    signed("", "s3", 3),
                    unsigned("mute", "reasoning_content"),
                ],
                "words",
                &["a", "b"],
            ),
            turn(vec![signed("alone", "s4", 0)], "", &[]),
        ]
    };
    insta::assert_snapshot!(shown(Api::OpenaiCompletions, kinds()), @r#"
    {"role":"user","content":"go"}
    {"role":"assistant","content":"words","tool_calls":[{"type":"function","id":"a","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"type":"function","id":"b","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}],"reasoning_content":"mute"}
    {"role":"tool","content":"error: not run","tool_call_id":"a"}
    {"role":"tool","content":"error: not run","tool_call_id":"b"}
    "#);
    insta::assert_snapshot!(shown(Api::OpenaiResponses, kinds()), @r#"
    {"role":"user","content":"go"}
    {"type":"reasoning","summary":[{"type":"summary_text","text":"first"}],"encrypted_content":"s0"}
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"words"}]}
    {"type":"reasoning","summary":[],"encrypted_content":"s1"}
    {"type":"function_call","call_id":"a","name":"read","arguments":"{\"path\":\"a\"}"}
    {"type":"function_call","call_id":"b","name":"read","arguments":"{\"path\":\"b\"}"}
    {"type":"function_call_output","call_id":"a","output":"error: not run"}
    {"type":"function_call_output","call_id":"b","output":"error: not run"}
    "#);
    insta::assert_snapshot!(shown(Api::AnthropicMessages, kinds()), @r#"
    {"role":"user","content":[{"type":"text","text":"go"}]}
    {"role":"assistant","content":[{"type":"thinking","thinking":"first","signature":"s0"},{"type":"redacted_thinking","data":"blob"},{"type":"text","text":"words"},{"type":"thinking","thinking":"","signature":"s1"},{"type":"tool_use","id":"a","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"b","name":"read","input":{"path":"b"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"not run","is_error":true},{"type":"tool_result","tool_use_id":"b","content":"not run","is_error":true,"cache_control":{"type":"ephemeral"}}]}
    "#);
    insta::assert_snapshot!(shown(Api::GoogleGenerativeAi, kinds()), @r#"
    {"role":"user","parts":[{"text":"go"}]}
    {"role":"model","parts":[{"text":"first","thought":true,"thoughtSignature":"s0"},{"text":"words"},{"functionCall":{"id":"a","name":"read","args":{"path":"a"}},"thoughtSignature":"s1"},{"functionCall":{"id":"b","name":"read","args":{"path":"b"}}},{"text":"","thoughtSignature":"s3"}]}
    {"role":"user","parts":[{"functionResponse":{"id":"a","name":"read","response":{"error":"not run"}}},{"functionResponse":{"id":"b","name":"read","response":{"error":"not run"}}}]}
    "#);
    for api in Api::REMOTE {
        let all = json!(messages(api, 1, kinds())).to_string();
        for sealed in ["s0", "s1", "s3", "s4", "blob", "first"] {
            assert!(
                !all.contains(sealed),
                "{api} gives {sealed} to another candidate"
            );
        }
    }
}

#[test]
fn unsigned_thinking_goes_back_where_a_call_is_at_work() {
    let kinds = vec![
        user("go"),
        turn(vec![unsigned("old", "reasoning")], "", &["a"]),
        user("on"),
        turn(
            vec![unsigned("new", "reasoning"), unsigned("newer", "reasoning")],
            "",
            &["b"],
        ),
        turn(vec![unsigned("last", "reasoning")], "text", &[]),
    ];
    insta::assert_snapshot!(shown(Api::OpenaiCompletions, kinds.clone()), @r#"
    {"role":"user","content":"go"}
    {"role":"assistant","content":"","tool_calls":[{"type":"function","id":"a","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}
    {"role":"tool","content":"error: not run","tool_call_id":"a"}
    {"role":"user","content":"on"}
    {"role":"assistant","content":"","tool_calls":[{"type":"function","id":"b","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}],"reasoning":"new\nnewer"}
    {"role":"tool","content":"error: not run","tool_call_id":"b"}
    {"role":"assistant","content":"text"}
    "#);
    for api in Api::REMOTE.into_iter().skip(1) {
        let text = shown(api, kinds.clone());
        assert!(!text.contains("old") && !text.contains("new"), "{text}");
    }
}

/// The values of `key` anywhere in `json`, in order.
fn values(json: &Value, key: &str, found: &mut Vec<String>) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| values(item, key, found)),
        Value::Object(fields) => {
            found.extend(fields.get(key).and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| values(value, key, found));
        }
        _ => {}
    }
}

/// The ids of calls and of answers.
fn halves(messages: &Value, key: &str) -> (Vec<String>, Vec<String>) {
    let (mut made, mut answered) = (Vec::new(), Vec::new());
    for message in messages.as_array().unwrap() {
        let is_answer = message.to_string().contains("function_call_output")
            || message.to_string().contains("functionResponse");
        values(
            message,
            key,
            if is_answer { &mut answered } else { &mut made },
        );
    }
    (made, answered)
}

fn any_kind() -> impl Strategy<Value = RecordKind> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    let thought = ("[a-z]{0,2}", prop::option::of("[s-z]{1,2}"), 0_usize..4);
    let thought = thought.prop_map(|(text, signature, after)| Thought {
        text,
        signature,
        after,
        ..Thought::default()
    });
    prop_oneof![
        "[a-z]{0,3}".prop_map(|text| user(&text)),
        (
            prop::collection::vec(thought, 0..3),
            prop::collection::btree_set(id.clone(), 0..3),
            "[a-z ]{0,3}"
        )
            .prop_map(|(thoughts, ids, text)| {
                turn(thoughts, &text, &ids.into_iter().collect::<Vec<_>>())
            }),
        (id, any::<bool>()).prop_map(|(id, ok)| result(id, ok, "text")),
    ]
}

proptest! {
    #[test]
    fn no_conversation_leaves_a_call_open(kinds in prop::collection::vec(any_kind(), 0..12)) {
        let calls: Vec<String> = kinds
            .iter()
            .filter_map(|kind| match kind {
                RecordKind::Assistant(turn) => Some(turn.calls.iter().map(|call| call.id.clone())),
                _ => None,
            })
            .flatten()
            .collect();
        for api in Api::REMOTE {
            let messages = json!(messages(api, 0, kinds.clone()));
            let ids = |key: &str| {
                let mut found = Vec::new();
                values(&messages, key, &mut found);
                found
            };
            let (made, answered) = match api {
                Api::OpenaiCompletions => (ids("id"), ids("tool_call_id")),
                Api::AnthropicMessages => (ids("id"), ids("tool_use_id")),
                // Both sides have the id under one name, a turn's calls before their answers.
                Api::OpenaiResponses => halves(&messages, "call_id"),
                Api::GoogleGenerativeAi | Api::Script => halves(&messages, "id"),
            };
            prop_assert_eq!(&made, &calls, "{}", api);
            prop_assert_eq!(&answered, &calls, "{}", api);
        }
    }
}

#[test]
fn a_tool_that_a_model_made_up_has_a_name_that_every_api_takes() {
    let name = |name: &str| {
        tool(&ToolCall {
            id: "c".into(),
            name: name.into(),
            args: json!({}),
        })
    };
    assert_eq!(name("read"), "read");
    assert_eq!(name("functions.read file"), "functions_read_file");
    assert_eq!(name(""), "unnamed");
    assert_eq!(name(&"x".repeat(300)).len(), 64);
}
