//! A conversation of two turns over every API: what was signed comes back as it was.

use serde_json::{Value, json};
use sortie_protocol::{Api, AssistantTurn, Record, RecordKind, ToolResult};
use sortie_testkit::{ModelServer, Turn};

use super::asking::{Asking, effort, read_tool};
use crate::model::Answer;

/// The record of `answer` after what was said, and a result for each of its calls; as a child that is revived reads it
/// from disk.
fn stored(mut transcript: Vec<Record>, answer: Answer) -> Vec<Record> {
    let results = answer.calls.clone().into_iter().map(|call| {
        RecordKind::ToolResult(ToolResult {
            text: format!("of {}", call.args),
            call: call.id,
            name: call.name,
            ok: true,
        })
    });
    let turn = RecordKind::Assistant(AssistantTurn {
        candidate: 0,
        thoughts: answer.thoughts,
        text: answer.text,
        calls: answer.calls,
        stop: answer.stop,
        usage: answer.usage,
    });
    for kind in [turn].into_iter().chain(results) {
        let n = transcript.len() as u64 + 1;
        transcript.push(Record { n, at: 0, kind });
    }
    let lines = serde_json::to_string(&transcript).unwrap();
    serde_json::from_str(&lines).unwrap()
}

/// The messages of a body but the first, one a line.
fn after_the_first(body: &Value) -> String {
    let messages = ["messages", "input", "contents"];
    let messages = messages.iter().find_map(|key| body[*key].as_array());
    let lines: Vec<_> = messages
        .unwrap()
        .iter()
        .filter(|message| message["role"] != "system")
        .skip(1)
        .map(Value::to_string)
        .collect();
    lines.join("\n")
}

async fn second_request(api: Api, first: Turn, place: usize) -> sortie_testkit::Request {
    let server = ModelServer::start([first, Turn::text("done")]);
    let mut asking = Asking::of(&server, api);
    asking.candidate.wire_effort = Some(effort(api));
    asking.tools = vec![read_tool()];
    let answer = asking.answer().await.unwrap();
    asking.transcript = stored(asking.transcript, answer);
    asking.place = place;
    asking.answer().await.unwrap();
    server.requests().pop().unwrap()
}

fn signed_turn() -> Turn {
    Turn::thinking("let me see")
        .signed("c2lnbmVk/+==")
        .and_text("I read two")
        .and_tool("read", json!({"path": "a"}))
        .and_tool("read", json!({"path": "b"}))
}

#[tokio::test]
async fn signed_thinking_comes_back_to_its_candidate() {
    let mut told = Vec::new();
    for api in Api::REMOTE {
        let request = second_request(api, signed_turn(), 0).await;
        told.push(after_the_first(&request.body));
        let signatures: &[&str] = match api {
            Api::OpenaiCompletions => &[],
            _ => &["c2lnbmVk/+=="],
        };
        assert_eq!(request.signatures(), signatures, "{api}");
    }
    insta::assert_snapshot!(told.join("\n\n"), @r#"
    {"role":"assistant","content":"I read two","tool_calls":[{"type":"function","id":"call_0_0","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"type":"function","id":"call_0_1","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}],"reasoning_content":"let me see"}
    {"role":"tool","content":"of {\"path\":\"a\"}","tool_call_id":"call_0_0"}
    {"role":"tool","content":"of {\"path\":\"b\"}","tool_call_id":"call_0_1"}

    {"type":"reasoning","summary":[{"type":"summary_text","text":"let me see"}],"encrypted_content":"c2lnbmVk/+=="}
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read two"}]}
    {"type":"function_call","call_id":"call_0_0","name":"read","arguments":"{\"path\":\"a\"}"}
    {"type":"function_call","call_id":"call_0_1","name":"read","arguments":"{\"path\":\"b\"}"}
    {"type":"function_call_output","call_id":"call_0_0","output":"of {\"path\":\"a\"}"}
    {"type":"function_call_output","call_id":"call_0_1","output":"of {\"path\":\"b\"}"}

    {"role":"assistant","content":[{"type":"thinking","thinking":"let me see","signature":"c2lnbmVk/+=="},{"type":"text","text":"I read two"},{"type":"tool_use","id":"toolu_0_0","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"toolu_0_1","name":"read","input":{"path":"b"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0_0","content":"of {\"path\":\"a\"}"},{"type":"tool_result","tool_use_id":"toolu_0_1","content":"of {\"path\":\"b\"}","cache_control":{"type":"ephemeral"}}]}

    {"role":"model","parts":[{"text":"I read two"},{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"c2lnbmVk/+=="},{"functionCall":{"name":"read","args":{"path":"b"}}}]}
    {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"of {\"path\":\"a\"}"}}},{"functionResponse":{"name":"read","response":{"output":"of {\"path\":\"b\"}"}}}]}
    "#);
}

#[tokio::test]
async fn another_candidate_gets_none_of_it() {
    for api in Api::REMOTE {
        let request = second_request(api, signed_turn(), 1).await;
        let text = request.body.to_string();
        assert!(!text.contains("c2lnbmVk"), "{api} {text}");
        assert_eq!(request.results().len(), 2, "{api}");
    }
}

#[tokio::test]
async fn redacted_and_mute_blocks_of_anthropic_keep_their_order() {
    let turn = Turn::thinking("first")
        .signed("czE=")
        .and_redacted("YmxvYjE=")
        .and_thinking("")
        .signed("czI=")
        .and_redacted("YmxvYjI=")
        .and_tool("read", json!({"path": "a"}));
    let request = second_request(Api::AnthropicMessages, turn, 0).await;
    let wanted = ["czE=", "YmxvYjE=", "czI=", "YmxvYjI="];
    assert_eq!(request.signatures(), wanted);
}
