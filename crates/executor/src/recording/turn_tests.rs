use serde_json::json;
use sortie_protocol::Thought;

use super::*;

fn answer(text: &str, calls: &[(&str, Value)], stop: StopReason) -> AssistantTurn {
    AssistantTurn {
        candidate: 0,
        thoughts: Vec::new(),
        text: text.into(),
        calls: calls
            .iter()
            .map(|(name, args)| ToolCall {
                id: "c".into(),
                name: (*name).into(),
                args: args.clone(),
            })
            .collect(),
        stop,
        usage: Usage::default(),
    }
}

fn told(text: &str, calls: &[(&str, Value)], stop: StopReason) -> String {
    serde_json::to_string(&of(&answer(text, calls, stop))).unwrap()
}

#[test]
fn an_answer_becomes_the_shortest_turn_that_says_it() {
    use StopReason::{Length, Refusal, Stop, ToolUse};
    let read = ("read", json!({"path": "a"}));
    let turns = [
        told("hi", &[], Stop),
        told("", &[], Stop),
        told("as much as", &[], Length),
        told("no", &[], Refusal),
        told("so", std::slice::from_ref(&read), ToolUse),
        told("", std::slice::from_ref(&read), Stop),
        told("", &[read.clone(), ("", json!("{\"pa"))], ToolUse),
        told("all", &[("yield", json!({"type": "text"}))], ToolUse),
        told("", &[("yield", json!({"type": "text"}))], ToolUse),
        told(
            "all",
            &[read.clone(), ("yield", json!({"data": null}))],
            ToolUse,
        ),
        told(
            "",
            &[("yield", json!({"data": 1, "type": ["part"]}))],
            ToolUse,
        ),
        told("", &[("yield", json!({"error": "no"}))], ToolUse),
        // Nothing in a script means quite the same as these.
        told("", &[("yield", json!({"error": "no", "data": 1}))], ToolUse),
        told(
            "",
            &[("yield", json!({"data": 1, "type": "text"}))],
            ToolUse,
        ),
        told("", &[("yield", json!({}))], ToolUse),
        told("", &[("yield", json!("{\"data"))], ToolUse),
        told("", &[("yield", json!({"data": 1})), read], ToolUse),
    ];
    insta::assert_snapshot!(turns.join("\n"), @r#"
    {"text":"hi"}
    {}
    {"text":"as much as","end":"length"}
    {"text":"no","end":"refusal"}
    {"text":"so","tool":"read","args":{"path":"a"}}
    {"tool":"read","args":{"path":"a"},"end":"stop"}
    {"tools":[{"tool":"read","args":{"path":"a"}},{"tool":"nameless","args":"{\"pa"}]}
    {"finish":{"text":"all"}}
    {"finish":{"text":""}}
    {"text":"all","tool":"read","args":{"path":"a"},"finish":{"data":null}}
    {"finish":{"data":1,"section":"part"}}
    {"finish":{"error":"no"}}
    {"tool":"yield","args":{"error":"no","data":1}}
    {"tool":"yield","args":{"data":1,"type":"text"}}
    {"tool":"yield","args":{}}
    {"tool":"yield","args":"{\"data"}
    {"tools":[{"tool":"yield","args":{"data":1}},{"tool":"read","args":{"path":"a"}}]}
    "#);
}

#[test]
fn thinking_is_kept_and_what_was_signed_is_not() {
    let mut answer = answer("", &[], StopReason::Stop);
    let thought = |text: &str| Thought {
        text: text.into(),
        signature: Some("sig".into()),
        ..Thought::default()
    };
    answer.thoughts = vec![thought("first"), thought(""), thought("then")];
    answer.usage.input = Some(0);
    insta::assert_snapshot!(serde_json::to_string(&of(&answer)).unwrap(), @r#"{"think":"first\n\nthen","usage":{"input":0,"output":null,"cacheRead":null,"cacheWrite":null,"reasoning":null,"cost":null}}"#);
}
