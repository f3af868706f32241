use std::time::Duration;

use genai::chat::{ChatMessage, ChatRole};
use proptest::prelude::*;
use sortie_protocol::{Origin, StopReason, Thought, Usage};

use super::*;
use crate::model::{Patience, genai::asking::candidate};

fn records(kinds: Vec<RecordKind>) -> Vec<Record> {
    let numbered = (1..).zip(kinds);
    numbered
        .map(|(n, kind)| Record { n, at: 0, kind })
        .collect()
}

fn user(text: &str) -> RecordKind {
    RecordKind::User {
        origin: Origin::Steer,
        text: text.into(),
    }
}

fn turn(thoughts: &[(&str, Option<&str>)], text: &str, calls: &[&str]) -> RecordKind {
    RecordKind::Assistant(AssistantTurn {
        candidate: 0,
        thoughts: thoughts
            .iter()
            .map(|(text, signature)| Thought {
                text: (*text).into(),
                signature: signature.map(str::to_owned),
                ..Thought::default()
            })
            .collect(),
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

fn messages(api: Api, kinds: Vec<RecordKind>) -> Vec<ChatMessage> {
    let mut candidate = candidate("http://localhost/v1");
    candidate.api = api;
    let transcript = records(kinds);
    let request = ModelRequest {
        n: 1,
        candidate: &candidate,
        system: "",
        transcript: &transcript,
        tools: &[],
        must_call: None,
        patience: Patience {
            first: Duration::ZERO,
            idle: Duration::ZERO,
        },
    };
    chat(&request).messages
}

/// One line a part.
fn shown(api: Api, kinds: Vec<RecordKind>) -> String {
    let mut lines = Vec::new();
    for message in messages(api, kinds) {
        for part in message.content {
            let part = match part {
                ContentPart::Text(text) => text,
                ContentPart::ToolCall(call) => format!("{} {}", call.call_id, call.fn_arguments),
                ContentPart::ToolResponse(answer) => {
                    format!("{} {}", answer.call_id, answer.content)
                }
                ContentPart::ThoughtSignature(signature) => format!("signature {signature}"),
                ContentPart::ReasoningContent(text) => format!("thought {text}"),
                ContentPart::Custom(custom) => custom.data.to_string(),
                ContentPart::Binary(_) => "binary".into(),
            };
            lines.push(format!("{}: {part}", message.role));
        }
    }
    lines.join("\n")
}

#[test]
fn every_call_is_answered_before_anybody_speaks() {
    let kinds = vec![
        user("go"),
        turn(&[], "", &["a", "b", "c"]),
        result("b", false, "no such file"),
        user("wait"),
        result("a", true, "text"),
        result("stray", true, "of nobody"),
        turn(&[], "", &[]),
        turn(&[], "done", &["a"]),
    ];
    insta::assert_snapshot!(shown(Api::OpenaiCompletions, kinds.clone()), @r#"
    User: go
    Assistant: a {"path":"a"}
    Assistant: b {"path":"b"}
    Assistant: c {"path":"c"}
    Tool: a text
    Tool: b error: no such file
    Tool: c error: not run
    User: wait
    Assistant: done
    Assistant: a {"path":"a"}
    Tool: a error: not run
    "#);
    insta::assert_snapshot!(shown(Api::AnthropicMessages, kinds), @r#"
    User: go
    Assistant: a {"path":"a"}
    Assistant: b {"path":"b"}
    Assistant: c {"path":"c"}
    Tool: a text
    Tool: {"type":"tool_result","tool_use_id":"b","is_error":true,"content":"no such file"}
    Tool: {"type":"tool_result","tool_use_id":"c","is_error":true,"content":"not run"}
    User: wait
    Assistant: done
    Assistant: a {"path":"a"}
    Tool: {"type":"tool_result","tool_use_id":"a","is_error":true,"content":"not run"}
    "#);
}

#[test]
fn arguments_that_were_no_json_go_back_in_an_object() {
    let mut kind = turn(&[], "", &["a"]);
    if let RecordKind::Assistant(turn) = &mut kind {
        turn.calls[0].args = json!("{\"path\": ");
    }
    insta::assert_snapshot!(shown(Api::OpenaiCompletions, vec![user("go"), kind]), @r#"
    User: go
    Assistant: a {"unreadable":"{\"path\": "}
    Tool: a error: not run
    "#);
}

#[test]
fn thinking_goes_back_where_it_is_wanted() {
    let kinds = vec![
        user("go"),
        turn(&[("old", None)], "", &["a"]),
        turn(&[("alone", Some("s0"))], "", &[]),
        user("on"),
        turn(
            &[("mute", None), ("signed", Some("s1")), ("", Some("s2"))],
            "",
            &["b"],
        ),
        turn(&[("last", None)], "text", &[]),
    ];
    insta::assert_snapshot!(shown(Api::OpenaiCompletions, kinds.clone()), @r#"
    User: go
    Assistant: a {"path":"a"}
    Tool: a error: not run
    User: on
    Assistant: thought mute
    Assistant: signature s1
    Assistant: thought signed
    Assistant: signature s2
    Assistant: b {"path":"b"}
    Tool: b error: not run
    Assistant: text
    "#);
    insta::assert_snapshot!(shown(Api::AnthropicMessages, kinds), @r#"
    User: go
    Assistant: a {"path":"a"}
    Tool: {"type":"tool_result","tool_use_id":"a","is_error":true,"content":"not run"}
    User: on
    Assistant: signature s1
    Assistant: thought signed
    Assistant: signature s2
    Assistant: b {"path":"b"}
    Tool: {"type":"tool_result","tool_use_id":"b","is_error":true,"content":"not run"}
    Assistant: text
    "#);
}

fn any_kind() -> impl Strategy<Value = RecordKind> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        "[a-z]{0,3}".prop_map(|text| user(&text)),
        (prop::collection::btree_set(id.clone(), 0..3), "[a-z]{0,3}").prop_map(|(ids, text)| {
            turn(&[("t", None)], &text, &ids.into_iter().collect::<Vec<_>>())
        }),
        (id, any::<bool>()).prop_map(|(id, ok)| result(id, ok, "text")),
    ]
}

proptest! {
    #[test]
    fn no_conversation_leaves_a_call_open(kinds in prop::collection::vec(any_kind(), 0..12)) {
        for api in [Api::OpenaiCompletions, Api::AnthropicMessages] {
            let messages = messages(api, kinds.clone());
            let mut open: Vec<String> = Vec::new();
            for message in &messages {
                let answers = message.content.parts().iter().filter_map(|part| match part {
                    ContentPart::ToolResponse(answer) => Some(answer.call_id.clone()),
                    ContentPart::Custom(custom) => custom.data["tool_use_id"].as_str().map(str::to_owned),
                    _ => None,
                });
                if message.role == ChatRole::Tool {
                    prop_assert_eq!(answers.collect::<Vec<_>>(), std::mem::take(&mut open));
                } else {
                    prop_assert!(open.is_empty());
                    prop_assert!(message.role == ChatRole::User || !message.content.parts().is_empty());
                    open = message.content.tool_calls().iter().map(|call| call.call_id.clone()).collect();
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
