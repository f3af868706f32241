//! One turn and one conversation over each protocol, spoken over a plain socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};
use sortie_protocol::Api;
use sortie_testkit::{ModelServer, Turn};

/// Posts `body` and returns the whole answer, head and all.
fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let url = server.base_url(Api::AnthropicMessages);
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    // An error has a length, and a stream a last chunk.
    let mut answer = String::new();
    let mut byte = [0];
    let is_over = |answer: &str| {
        answer.ends_with("\r\n0\r\n\r\n")
            || answer.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                head.ends_with(&format!("content-length: {}", body.len()))
            })
    };
    while !is_over(&answer) && stream.read(&mut byte).unwrap() == 1 {
        answer.push(char::from(byte[0]));
    }
    answer
}

/// The lines of the frames, without their framing.
fn frames(answer: &str) -> String {
    let lines = answer
        .lines()
        .filter(|line| line.starts_with("data: ") || line.starts_with("event: "));
    lines.collect::<Vec<_>>().join("\n")
}

fn whole_turn() -> Turn {
    Turn::thinking("hm")
        .signed("sig")
        .and_redacted("dark")
        .and_text("ok")
        .and_tool("read", json!({"a": 1}))
        .usage(10, 5)
        .cache_read(90)
        .cache_write(7)
        .reasoning(2)
}

const GEMINI: &str = "/v1beta/models/small:streamGenerateContent?alt=sse";

#[test]
fn a_turn_over_responses() {
    let server = ModelServer::start([whole_turn()]);
    let body =
        json!({"model": "small", "stream": true, "input": [{"role": "user", "content": "go"}]});
    insta::assert_snapshot!(frames(&post(&server, "/v1/responses", &body)), @r#"
    event: response.created
    data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_0","object":"response","created_at":1700000000,"model":"small","status":"in_progress","output":[],"error":null,"incomplete_details":null}}
    event: response.output_item.added
    data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"reasoning","id":"rs_0_0","summary":[]}}
    event: response.reasoning_summary_text.delta
    data: {"type":"response.reasoning_summary_text.delta","sequence_number":2,"output_index":0,"item_id":"rs_0_0","content_index":0,"summary_index":0,"delta":"h"}
    event: response.reasoning_summary_text.delta
    data: {"type":"response.reasoning_summary_text.delta","sequence_number":3,"output_index":0,"item_id":"rs_0_0","content_index":0,"summary_index":0,"delta":"m"}
    event: response.output_item.done
    data: {"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"type":"reasoning","id":"rs_0_0","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"sig"}}
    event: response.output_item.added
    data: {"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{"type":"message","id":"msg_0","role":"assistant","status":"in_progress","content":[]}}
    event: response.output_text.delta
    data: {"type":"response.output_text.delta","sequence_number":6,"output_index":1,"item_id":"msg_0","content_index":0,"summary_index":0,"delta":"o"}
    event: response.output_text.delta
    data: {"type":"response.output_text.delta","sequence_number":7,"output_index":1,"item_id":"msg_0","content_index":0,"summary_index":0,"delta":"k"}
    event: response.output_item.done
    data: {"type":"response.output_item.done","sequence_number":8,"output_index":1,"item":{"type":"message","id":"msg_0","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}}
    event: response.output_item.added
    data: {"type":"response.output_item.added","sequence_number":9,"output_index":2,"item":{"type":"function_call","id":"fc_0_0","call_id":"call_0_0","name":"read","arguments":"","status":"in_progress"}}
    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":10,"output_index":2,"item_id":"fc_0_0","content_index":0,"summary_index":0,"delta":"{\""}
    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":11,"output_index":2,"item_id":"fc_0_0","content_index":0,"summary_index":0,"delta":"a\""}
    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":12,"output_index":2,"item_id":"fc_0_0","content_index":0,"summary_index":0,"delta":":1"}
    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":13,"output_index":2,"item_id":"fc_0_0","content_index":0,"summary_index":0,"delta":"}"}
    event: response.output_item.done
    data: {"type":"response.output_item.done","sequence_number":14,"output_index":2,"item":{"type":"function_call","id":"fc_0_0","call_id":"call_0_0","name":"read","arguments":"{\"a\":1}","status":"completed"}}
    event: response.completed
    data: {"type":"response.completed","sequence_number":15,"response":{"id":"resp_0","object":"response","created_at":1700000000,"model":"small","status":"completed","output":[{"type":"reasoning","id":"rs_0_0","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"sig"},{"type":"message","id":"msg_0","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]},{"type":"function_call","id":"fc_0_0","call_id":"call_0_0","name":"read","arguments":"{\"a\":1}","status":"completed"}],"error":null,"incomplete_details":null,"usage":{"input_tokens":107,"output_tokens":5,"total_tokens":112,"input_tokens_details":{"cached_tokens":90},"output_tokens_details":{"reasoning_tokens":2}}}}
    "#);
}

#[test]
fn a_turn_over_messages() {
    let server = ModelServer::start([whole_turn()]);
    let body = json!({
        "model": "small", "stream": true, "max_tokens": 100, "messages": [{"role": "user", "content": "go"}],
    });
    insta::assert_snapshot!(frames(&post(&server, "/v1/messages", &body)), @r#"
    event: message_start
    data: {"type":"message_start","message":{"id":"msg_0","type":"message","role":"assistant","model":"small","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":90,"cache_creation_input_tokens":7}}}
    event: ping
    data: {"type":"ping"}
    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}
    event: content_block_stop
    data: {"type":"content_block_stop","index":0}
    event: content_block_start
    data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"dark"}}
    event: content_block_stop
    data: {"type":"content_block_stop","index":1}
    event: content_block_start
    data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"o"}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"k"}}
    event: content_block_stop
    data: {"type":"content_block_stop","index":2}
    event: content_block_start
    data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_0_0","name":"read","input":{}}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\""}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"a\""}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":":1"}}
    event: content_block_delta
    data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"}"}}
    event: content_block_stop
    data: {"type":"content_block_stop","index":3}
    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}
    event: message_stop
    data: {"type":"message_stop"}
    "#);
}

#[test]
fn a_turn_over_gemini() {
    let server = ModelServer::start([whole_turn()]);
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}]});
    insta::assert_snapshot!(frames(&post(&server, GEMINI, &body)), @r#"
    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"h","thought":true}]}}],"usageMetadata":{"promptTokenCount":107,"candidatesTokenCount":3,"totalTokenCount":112,"cachedContentTokenCount":90,"thoughtsTokenCount":2}}
    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"m","thought":true}]}}],"usageMetadata":{"promptTokenCount":107,"candidatesTokenCount":3,"totalTokenCount":112,"cachedContentTokenCount":90,"thoughtsTokenCount":2}}
    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"o"}]}}],"usageMetadata":{"promptTokenCount":107,"candidatesTokenCount":3,"totalTokenCount":112,"cachedContentTokenCount":90,"thoughtsTokenCount":2}}
    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"k"}]}}],"usageMetadata":{"promptTokenCount":107,"candidatesTokenCount":3,"totalTokenCount":112,"cachedContentTokenCount":90,"thoughtsTokenCount":2}}
    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"a":1}},"thoughtSignature":"sig"}]}}],"usageMetadata":{"promptTokenCount":107,"candidatesTokenCount":3,"totalTokenCount":112,"cachedContentTokenCount":90,"thoughtsTokenCount":2}}
    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":107,"candidatesTokenCount":3,"totalTokenCount":112,"cachedContentTokenCount":90,"thoughtsTokenCount":2}}
    "#);
}

#[test]
fn a_conversation_is_read_the_same_over_each() {
    let args = json!({"path": "a"});
    let bodies = [
        (
            "/v1/responses",
            json!({
                "model": "small", "stream": true, "instructions": "be kind", "reasoning": {"effort": "low"},
                "tools": [{"type": "function", "name": "read"}],
                "input": [
                    {"role": "user", "content": "go"},
                    {"type": "reasoning", "encrypted_content": "sig", "summary": []},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
                    {"type": "function_call", "call_id": "read", "name": "read", "arguments": args.to_string()},
                    {"type": "function_call_output", "call_id": "read", "output": "fn add"},
                ],
            }),
        ),
        (
            "/v1/messages",
            json!({
                "model": "small", "stream": true, "max_tokens": 100, "system": [{"type": "text", "text": "be kind"}],
                "output_config": {"effort": "low"}, "tools": [{"name": "read"}],
                "messages": [
                    {"role": "user", "content": "go"},
                    {"role": "assistant", "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "sig"},
                        {"type": "text", "text": "so"},
                        {"type": "tool_use", "id": "read", "name": "read", "input": args},
                    ]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "read", "content": "fn add"}]},
                ],
            }),
        ),
        (
            GEMINI,
            json!({
                "systemInstruction": {"parts": [{"text": "be kind"}]},
                "generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}},
                "tools": [{"functionDeclarations": [{"name": "read"}]}],
                "contents": [
                    {"role": "user", "parts": [{"text": "go"}]},
                    {"role": "model", "parts": [
                        {"text": "hm", "thought": true},
                        {"text": "so"},
                        {"functionCall": {"name": "read", "args": args}, "thoughtSignature": "sig"},
                    ]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"result": "fn add"}}}]},
                ],
            }),
        ),
    ];
    let server = ModelServer::answering(|_| Turn::text("done"));
    for (path, body) in &bodies {
        post(&server, path, body);
    }
    server.verify();
    let requests = server.requests();
    assert_eq!(requests.len(), bodies.len());
    for request in &requests {
        assert_eq!(request.steps(), requests[0].steps(), "{}", request.path);
        assert_eq!(request.turn(), 1);
        assert_eq!(request.system(), "be kind");
        assert_eq!(request.task(), "go");
        assert_eq!(request.results(), ["fn add"]);
        assert_eq!(request.tools(), ["read"]);
        assert_eq!(request.model(), "small");
        assert_eq!(request.signatures(), ["sig"]);
        assert!(request.effort().to_string().contains("low"));
    }
}

#[test]
fn what_only_one_provider_refuses_is_a_fault() {
    let server = ModelServer::answering(|_| Turn::empty());
    let user = json!([{"role": "user", "content": "go"}]);
    for rest in [
        json!({}),
        json!({"max_tokens": 1024, "thinking": {"type": "enabled", "budget_tokens": 1024}}),
        json!({"max_tokens": 9, "thinking": {"type": "adaptive"}, "tool_choice": {"type": "tool"}, "temperature": 1}),
        json!({"max_tokens": 9, "messages": [{"role": "assistant", "content": "x"}]}),
    ] {
        let mut body = json!({"model": "m", "stream": true, "messages": user});
        for (key, value) in rest.as_object().unwrap() {
            body[key] = value.clone();
        }
        post(&server, "/v1/messages", &body);
    }
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"const": 1}}}, "additionalProperties": false});
    let call = json!({"functionCall": {"name": "f", "args": {}}});
    post(
        &server,
        &GEMINI.replace("?alt=sse", ""),
        &json!({
            "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}, {"name": "g", "parametersJsonSchema": schema}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [call, call]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
                {"role": "model", "parts": []},
            ],
        }),
    );
    insta::assert_snapshot!(server.take_faults().join("\n"), @r#"
    request 1: `max_tokens` is missing
    request 2: `thinking.budget_tokens` is 1024: not from 1024 up to `max_tokens`, 1024
    request 3: thinking does not go with a forced tool
    request 3: thinking does not go with a temperature
    request 4: the first message is not the user's
    request 5: it does not ask for a stream
    request 5: 2 calls are followed by 1 answers, not by as many in one turn
    request 5: a turn has no parts
    request 5: the `parameters` of `"f"` have keywords that are not of OpenAPI: additionalProperties, const
    "#);
}

#[test]
fn errors_are_in_the_words_of_each_provider() {
    let server = ModelServer::answering(|_| Turn::status(429));
    let told: Vec<String> = [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
        GEMINI,
    ]
    .into_iter()
    .map(|path| {
        let answer = post(&server, path, &json!({"stream": true}));
        answer.lines().last().unwrap().to_owned()
    })
    .collect();
    // The bodies are too short for a provider; only the answers matter here.
    server.take_faults();
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"error":{"message":"the scripted refusal","type":"rate_limit_exceeded","param":null,"code":"rate_limit_exceeded"}}
    {"error":{"message":"the scripted refusal","type":"rate_limit_exceeded","param":null,"code":"rate_limit_exceeded"}}
    {"type":"error","error":{"type":"rate_limit_error","message":"the scripted refusal"}}
    {"error":{"code":429,"message":"the scripted refusal","status":"RESOURCE_EXHAUSTED"}}
    "#);
}

#[test]
fn an_error_in_the_middle_of_a_stream_tells_its_status_where_the_protocol_does() {
    let server = ModelServer::answering(|_| Turn::text("ab").failing_after(0, 503));
    let paths = [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
        GEMINI,
    ];
    let told = paths.map(|path| frames(&post(&server, path, &json!({"stream": true}))));
    // The bodies are too short for a provider; only the answers matter here.
    server.take_faults();
    insta::assert_snapshot!(told.join("\n"), @r#"
    data: {"error":{"message":"the scripted error","type":"server_error","param":null,"code":503}}
    event: error
    data: {"type":"error","code":"server_error","message":"the scripted error","param":null}
    event: error
    data: {"type":"error","error":{"type":"api_error","message":"the scripted error"}}
    data: {"error":{"code":503,"message":"the scripted error","status":"UNAVAILABLE"}}
    "#);
}
