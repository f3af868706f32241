use serde_json::json;
use sortie_protocol::{AssistantTurn, RecordKind, StopReason, Thought, Usage, WireEffort};

use super::*;
use crate::model::genai::{
    asking::{candidate, records, request},
    hearing::{End, Heard},
};

fn heard(api: Api, frames: &[Value]) -> Heard {
    let mut listener = listener(api);
    let mut heard = Heard::default();
    for frame in frames {
        listener.frame(frame, &mut heard);
    }
    heard
}

/// What was heard goes into a record, through JSON, and back into a request.
fn replayed(api: Api, heard: &Heard, text: &str, calls: &[&str]) -> Value {
    let mut candidate = candidate("http://localhost/v1");
    candidate.api = api;
    let turn = RecordKind::Assistant(AssistantTurn {
        candidate: 0,
        thoughts: heard.thoughts.clone(),
        text: text.into(),
        calls: calls
            .iter()
            .map(|id| sortie_protocol::ToolCall {
                id: (*id).into(),
                name: "read".into(),
                args: json!({}),
            })
            .collect(),
        stop: StopReason::ToolUse,
        usage: heard.usage,
    });
    let stored = serde_json::to_string(&records([turn])).unwrap();
    let transcript: Vec<_> = serde_json::from_str(&stored).unwrap();
    let body = body(&request(&candidate, &transcript));
    body.into()
}

fn sealed(signature: &str, text: &str, after: usize) -> Thought {
    Thought {
        text: text.into(),
        signature: Some(signature.into()),
        after,
        ..Thought::default()
    }
}

#[test]
fn anthropic_thinking_is_heard_block_by_block() {
    let start =
        |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let stop = || json!({"type": "content_block_stop", "index": 0});
    let heard = heard(
        Api::AnthropicMessages,
        &[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 7, "output_tokens": 1}}}),
            start(json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(json!({"type": "thinking_delta", "thinking": "let me "})),
            delta(json!({"type": "thinking_delta", "thinking": "see"})),
            delta(json!({"type": "signature_delta", "signature": "c2lnbmF0"})),
            delta(json!({"type": "signature_delta", "signature": "dXJl=="})),
            stop(),
            start(json!({"type": "redacted_thinking", "data": "YmxvYg"})),
            stop(),
            start(json!({"type": "text", "text": ""})),
            delta(json!({"type": "text_delta", "text": "I read"})),
            stop(),
            start(json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(json!({"type": "signature_delta", "signature": "c2Vjb25k"})),
            stop(),
            start(json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}})),
            delta(json!({"type": "input_json_delta", "partial_json": "{}"})),
            stop(),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 40,
                "output_tokens_details": {"thinking_tokens": 30}}}),
        ],
    );
    assert_eq!(heard.end, Some(End::Done));
    assert_eq!(
        heard.usage,
        Usage {
            input: Some(3),
            output: Some(40),
            cache_read: Some(0),
            cache_write: Some(7),
            reasoning: Some(30),
            cost: None,
        }
    );
    let body = replayed(Api::AnthropicMessages, &heard, "I read", &["toolu_1"]);
    insta::assert_snapshot!(body["messages"][0]["content"], @r#"[{"type":"thinking","thinking":"let me see","signature":"c2lnbmF0dXJl=="},{"type":"redacted_thinking","data":"YmxvYg"},{"type":"text","text":"I read"},{"type":"thinking","thinking":"","signature":"c2Vjb25k"},{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]"#);
}

#[test]
fn reasoning_of_responses_is_heard_item_by_item() {
    let done = |place: u64, item: Value| json!({"type": "response.output_item.done", "output_index": place, "item": item});
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"});
    let heard = heard(
        Api::OpenaiResponses,
        &[
            done(
                0,
                json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "b25l", "summary": [
                    {"type": "summary_text", "text": "first"}, {"type": "summary_text", "text": "then"}]}),
            ),
            // Out of order.
            done(
                2,
                json!({"type": "reasoning", "id": "rs_2", "encrypted_content": "dHdv", "summary": []}),
            ),
            done(1, call("c1")),
            done(3, call("c2")),
            json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [],
                "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                    "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 0}}}}),
        ],
    );
    assert_eq!(heard.end, Some(End::Done));
    assert_eq!(
        heard.thoughts,
        [sealed("b25l", "first\n\nthen", 0), sealed("dHdv", "", 1)]
    );
    assert_eq!(
        heard.usage,
        Usage {
            input: Some(6),
            output: Some(5),
            cache_read: Some(4),
            cache_write: None,
            reasoning: Some(0),
            cost: None,
        }
    );
    let body = replayed(Api::OpenaiResponses, &heard, "", &["c1", "c2"]);
    let items: Vec<_> = body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    insta::assert_snapshot!(items.join("\n"), @r#"
    {"type":"reasoning","summary":[{"type":"summary_text","text":"first\n\nthen"}],"encrypted_content":"b25l"}
    {"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}
    {"type":"reasoning","summary":[],"encrypted_content":"dHdv"}
    {"type":"function_call","call_id":"c2","name":"read","arguments":"{}"}
    {"type":"function_call_output","call_id":"c1","output":"error: not run"}
    {"type":"function_call_output","call_id":"c2","output":"error: not run"}
    "#);
}

#[test]
fn signatures_of_gemini_are_heard_part_by_part() {
    let frame =
        |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let heard = heard(
        Api::GoogleGenerativeAi,
        &[
            frame(json!([{"text": "let me ", "thought": true}])),
            frame(json!([{"text": "see", "thought": true}])),
            frame(json!([{"text": "I "}])),
            frame(json!([{"text": "read"}])),
            frame(json!([{"text": "", "thoughtSignature": "dGV4dA=="}])),
            frame(json!([
                {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "Y2FsbA=="},
                {"functionCall": {"name": "read", "args": {}}}
            ])),
            json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10,
                "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 22}}),
        ],
    );
    assert_eq!(heard.end, Some(End::Done));
    assert_eq!(heard.thoughts.len(), 3);
    assert_eq!(
        (
            heard.thoughts[0].text.as_str(),
            &heard.thoughts[0].signature
        ),
        ("let me see", &None)
    );
    assert_eq!(
        heard.usage,
        Usage {
            input: Some(6),
            output: Some(12),
            cache_read: Some(4),
            cache_write: None,
            reasoning: Some(7),
            cost: None,
        }
    );
    let body = replayed(
        Api::GoogleGenerativeAi,
        &heard,
        "I read",
        &["call_1_0", "call_1_1"],
    );
    let parts: Vec<_> = body["contents"][0]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    insta::assert_snapshot!(parts.join("\n"), @r#"
    {"text":"I read","thoughtSignature":"dGV4dA=="}
    {"functionCall":{"name":"read","args":{}},"thoughtSignature":"Y2FsbA=="}
    {"functionCall":{"name":"read","args":{}}}
    "#);
}

#[test]
fn a_call_without_a_signature_has_a_stand_in_where_one_is_wanted() {
    let mut candidate = candidate("http://localhost/v1");
    candidate.api = Api::GoogleGenerativeAi;
    candidate.wire_effort = Some(WireEffort::Word("LOW".into()));
    let call = |id: &str| sortie_protocol::ToolCall {
        id: id.into(),
        name: "read".into(),
        args: json!({}),
    };
    let transcript = records([RecordKind::Assistant(AssistantTurn {
        candidate: 1,
        thoughts: vec![sealed("of another", "", 0)],
        text: String::new(),
        calls: vec![call("a"), call("b")],
        stop: StopReason::ToolUse,
        usage: Usage::default(),
    })]);
    let body = body(&request(&candidate, &transcript));
    let signatures: Vec<_> = body["contents"][0]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part.get("thoughtSignature").cloned())
        .collect();
    assert_eq!(
        signatures,
        [Some("skip_thought_signature_validator".into()), None]
    );
}

#[test]
fn every_end_is_heard() {
    let finish = |reason: &str| json!({"choices": [{"delta": {}, "finish_reason": reason}]});
    let stop = |reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}});
    let gemini = |reason: &str| json!({"candidates": [{"finishReason": reason}]});
    let incomplete = |reason: &str| json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}});
    let table = [
        (Api::OpenaiCompletions, finish("stop"), End::Done),
        (Api::OpenaiCompletions, finish("tool_calls"), End::Done),
        (Api::OpenaiCompletions, finish("length"), End::Length),
        (
            Api::OpenaiCompletions,
            finish("content_filter"),
            End::Refusal,
        ),
        (
            Api::OpenaiResponses,
            incomplete("max_output_tokens"),
            End::Length,
        ),
        (
            Api::OpenaiResponses,
            incomplete("content_filter"),
            End::Refusal,
        ),
        (Api::AnthropicMessages, stop("end_turn"), End::Done),
        (Api::AnthropicMessages, stop("max_tokens"), End::Length),
        (
            Api::AnthropicMessages,
            stop("model_context_window_exceeded"),
            End::Length,
        ),
        (Api::AnthropicMessages, stop("refusal"), End::Refusal),
        (Api::GoogleGenerativeAi, gemini("STOP"), End::Done),
        (Api::GoogleGenerativeAi, gemini("MAX_TOKENS"), End::Length),
        (Api::GoogleGenerativeAi, gemini("SAFETY"), End::Refusal),
        (
            Api::GoogleGenerativeAi,
            gemini("PROHIBITED_CONTENT"),
            End::Refusal,
        ),
        (
            Api::GoogleGenerativeAi,
            json!({"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {}}),
            End::Refusal,
        ),
    ];
    for (api, frame, end) in table {
        assert_eq!(
            heard(api, std::slice::from_ref(&frame)).end,
            Some(end),
            "{frame}"
        );
    }
    let malformed = heard(
        Api::GoogleGenerativeAi,
        &[gemini("MALFORMED_FUNCTION_CALL")],
    );
    insta::assert_snapshot!(malformed.fault.unwrap(), @r#""the model could not write its call: MALFORMED_FUNCTION_CALL""#);
    let failed = json!({"type": "response.failed", "response": {"error": null}});
    assert_eq!(
        heard(Api::OpenaiResponses, &[failed]).fault,
        Some("it failed".into())
    );
}

#[test]
fn figures_of_completions_stand_in_many_places() {
    let told = json!({"prompt_tokens": 105, "completion_tokens": 40, "prompt_tokens_details":
        {"cached_tokens": 90, "cache_write_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 30}});
    let wanted = Usage {
        input: Some(10),
        output: Some(40),
        cache_read: Some(90),
        cache_write: Some(5),
        reasoning: Some(30),
        cost: None,
    };
    for frame in [
        json!({"choices": [], "usage": told}),
        json!({"choices": [{"delta": {}, "usage": told}]}),
        json!({"choices": [{"delta": {}}], "x_groq": {"usage": told}}),
    ] {
        let later = json!({"choices": [{"delta": {}}], "usage": null});
        assert_eq!(heard(Api::OpenaiCompletions, &[frame, later]).usage, wanted);
    }
    let few = json!({"usage": {"prompt_tokens": 9, "completion_tokens": 0, "prompt_cache_hit_tokens": 0}});
    let usage = heard(Api::OpenaiCompletions, &[few]).usage;
    assert_eq!(
        (usage.input, usage.output, usage.cache_read, usage.reasoning),
        (Some(9), Some(0), Some(0), None)
    );
}

#[test]
fn a_refusal_is_heard_in_its_own_words() {
    let words = json!({"choices": [{"delta": {"refusal": "I will not"}}]});
    assert_eq!(
        heard(Api::OpenaiCompletions, &[words]).refusal,
        "I will not"
    );
    let item = json!({"type": "message", "content": [{"type": "refusal", "refusal": "I cannot"}]});
    let frames = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {}}),
    ];
    assert_eq!(heard(Api::OpenaiResponses, &frames).refusal, "I cannot");
}

#[test]
fn thinking_of_completions_goes_back_under_the_name_that_it_came_by() {
    let delta = |delta: Value| json!({"choices": [{"delta": delta}]});
    let sent = |frames: &[Value]| {
        let heard = heard(Api::OpenaiCompletions, frames);
        let body = replayed(Api::OpenaiCompletions, &heard, "", &["a"]);
        let message = body["messages"][0].as_object().unwrap();
        let fields = message
            .iter()
            .filter(|(name, _)| name.contains("reasoning"));
        fields
            .map(|(name, text)| format!("{name} {text}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let both = [
        delta(json!({"reasoning_content": "let me ", "reasoning": "let me "})),
        delta(json!({"reasoning_content": "see", "reasoning": "see"})),
        delta(json!({"content": "x", "reasoning_content": null, "reasoning": ""})),
    ];
    assert_eq!(sent(&both), r#"reasoning_content "let me see""#);
    assert_eq!(
        sent(&[delta(json!({"reasoning": "hm"}))]),
        r#"reasoning "hm""#
    );
    // Mistral's, who refuses both of the fields.
    let list = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]);
    assert_eq!(sent(&[delta(json!({"content": list}))]), "");
}
