//! The model server, spoken to over a plain socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{Arc, Barrier},
    thread,
};

use serde_json::{Value, json};
use sortie_testkit::{ModelServer, Turn};

/// A client that keeps its connection.
struct Client(TcpStream);

impl Client {
    fn of(server: &ModelServer) -> Self {
        let url = server.url();
        let address = url
            .strip_prefix("http://")
            .unwrap()
            .strip_suffix("/v1")
            .unwrap();
        Self(TcpStream::connect(address).unwrap())
    }

    fn send(&mut self, body: &Value) {
        self.send_with(
            "authorization: Bearer sk-a-key-of-some-length\r\n",
            &body.to_string(),
        );
    }

    fn send_with(&mut self, headers: &str, body: &str) {
        let len = body.len();
        write!(
            self.0,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n{headers}content-length: {len}\r\n\r\n{body}"
        )
        .unwrap();
    }

    /// What comes, up to and including `end`, or all until the server closes.
    fn read_to(&mut self, end: &str) -> String {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(end.as_bytes()) || end.is_empty() {
            match self.0.read(&mut byte).unwrap() {
                0 => break,
                _ => bytes.push(byte[0]),
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    fn ask(&mut self, body: &Value) -> String {
        self.send(body);
        self.read_to("\r\n0\r\n\r\n")
    }
}

fn request(messages: &Value) -> Value {
    json!({
        "model": "small", "stream": true, "stream_options": {"include_usage": true}, "messages": messages,
        "tools": [{"type": "function", "function": {"name": "read"}}],
    })
}

fn first() -> Value {
    request(&json!([{"role": "system", "content": "be kind"}, {"role": "user", "content": "go"}]))
}

/// The data of each frame.
fn data(answer: &str) -> Vec<Value> {
    answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn joined(answer: &str, pick: impl Fn(&Value) -> &Value) -> String {
    data(answer)
        .iter()
        .filter_map(|frame| {
            pick(&frame["choices"][0]["delta"])
                .as_str()
                .map(str::to_owned)
        })
        .collect()
}

#[test]
fn a_conversation_runs_over_one_connection() {
    let server = ModelServer::start([
        Turn::thinking("hm").and_tool("read", json!({"path": "a.rs"})),
        Turn::text("It adds two numbers.").usage(1_200, 40),
    ]);
    let mut client = Client::of(&server);
    let answer = client.ask(&first());
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert_eq!(joined(&answer, |delta| &delta["reasoning_content"]), "hm");
    let args = joined(
        &answer,
        |delta| &delta["tool_calls"][0]["function"]["arguments"],
    );
    assert_eq!(args, r#"{"path":"a.rs"}"#);
    let id = data(&answer)
        .iter()
        .find_map(|frame| {
            frame["choices"][0]["delta"]["tool_calls"][0]["id"]
                .as_str()
                .map(str::to_owned)
        })
        .unwrap();
    assert!(answer.contains(r#""finish_reason":"tool_calls""#));

    let answer = client.ask(&request(&json!([
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": null, "tool_calls": [{"id": id}]},
        {"role": "tool", "tool_call_id": id, "content": "fn add"},
    ])));
    assert_eq!(
        joined(&answer, |delta| &delta["content"]),
        "It adds two numbers."
    );
    assert!(answer.contains(r#""finish_reason":"stop""#));
    let frames = data(&answer);
    assert_eq!(frames.last().unwrap()["usage"]["prompt_tokens"], 1_200);
    assert!(answer.contains("data: [DONE]\n\n"));

    let requests = server.wait_for_requests(2);
    assert_eq!(requests[0].turn(), 0);
    assert_eq!(requests[1].turn(), 1);
    assert_eq!(requests[1].task(), "go");
    assert_eq!(requests[1].system(), "be kind");
    assert_eq!(requests[1].results(), ["fn add"]);
    assert_eq!(requests[1].tools(), ["read"]);
    assert_eq!(requests[1].model(), "small");
    assert_eq!(requests[0].header("host"), Some("x"));
    assert!(requests[0].at <= requests[1].at);
    server.verify();
}

#[test]
fn it_refuses_with_a_status_and_a_time_to_wait() {
    let server = ModelServer::start([Turn::status(429).retry_after(7), Turn::text("now")]);
    let mut client = Client::of(&server);
    client.send(&first());
    let answer = client.read_to("}}");
    assert!(
        answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n"),
        "{answer}"
    );
    assert!(answer.contains("\r\nretry-after: 7\r\n"), "{answer}");
    assert!(answer.contains("rate_limit_exceeded"), "{answer}");
    assert_eq!(
        joined(&client.ask(&first()), |delta| &delta["content"]),
        "now"
    );
}

#[test]
fn a_cut_is_a_clean_end_and_a_tear_is_not() {
    let server = ModelServer::start([
        Turn::cut_after(2),
        Turn::tool("read", json!({})).tearing_after(1),
        Turn::cut_after(99),
    ]);
    let cut = |server| {
        let mut client = Client::of(server);
        client.send(&first());
        client.read_to("")
    };
    let answer = cut(&server);
    assert_eq!(data(&answer).len(), 2, "{answer}");
    assert!(
        !answer.contains("chunked") && !answer.contains("[DONE]"),
        "{answer}"
    );
    let answer = cut(&server);
    assert!(
        answer.contains("chunked") && !answer.ends_with("\r\n"),
        "{answer}"
    );
    // All of it, and only the terminator is one frame more than a test can count on.
    assert!(cut(&server).contains("\"stop\""));
}

#[test]
fn who_waits_in_vain_and_hangs_up_is_noted() {
    let server = ModelServer::start([
        Turn::stall(),
        Turn::silent(),
        Turn::text("abc").stalling_after(2),
    ]);
    let mut client = Client::of(&server);
    client.send(&first());
    let head = client.read_to("\r\n\r\n");
    assert!(head.contains("text/event-stream"), "{head}");
    drop(client);
    assert_eq!(server.wait_for_hangups(1)[0].request, 0);

    let mut client = Client::of(&server);
    client.send(&first());
    server.wait_for_requests(2);
    drop(client);
    assert_eq!(server.wait_for_hangups(2)[1].request, 1);

    let mut client = Client::of(&server);
    client.send(&first());
    let answer = client.read_to("\"a\"},\"finish_reason\":null}]}\n\n");
    assert_eq!(joined(&answer, |delta| &delta["content"]), "a");
    // Ends with the server, which nobody hung up on.
    assert_eq!(server.hangups().len(), 2);
}

#[test]
fn the_odd_ends_of_an_answer() {
    let server = ModelServer::start([
        Turn::error_event("overloaded_error"),
        Turn::bad_json(),
        Turn::length(),
        Turn::refusal(),
        Turn::empty(),
        Turn::tools([("read", json!({"n": 1})), ("read", json!({"n": 2}))]),
    ]);
    let mut client = Client::of(&server);
    assert!(
        client
            .ask(&first())
            .contains(r#""type":"overloaded_error""#)
    );
    assert!(client.ask(&first()).contains("data: {\"choices\": [{\n\n"));
    assert!(client.ask(&first()).contains(r#""finish_reason":"length""#));
    let answer = client.ask(&first());
    assert!(answer.contains(r#""finish_reason":"content_filter""#));
    assert_eq!(
        joined(&answer, |delta| &delta["refusal"]),
        "I will not do that."
    );
    assert_eq!(data(&client.ask(&first())).len(), 2);
    let answer = client.ask(&first());
    assert!(
        answer.contains("\"call_5_0\"") && answer.contains("\"call_5_1\""),
        "{answer}"
    );
}

#[test]
fn what_no_provider_accepts_is_a_fault() {
    let server = ModelServer::answering(|_| Turn::empty()).guarding("hunter2");
    let mut client = Client::of(&server);
    client.ask(&request(&json!([
        {"role": "user", "content": "my key is hunter2"},
        {"role": "tool", "tool_call_id": "nobody", "content": ""},
        {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "tool_calls": [{"id": "c"}]},
    ])));
    client.ask(&json!({"messages": [{"role": "user", "content": "sk-a-key-of-some-length"}]}));
    client.send_with("", "{no json");
    client.read_to("\r\n0\r\n\r\n");
    assert_eq!(
        server.take_faults(),
        [
            "request 1: a result for `nobody` answers no open call",
            "request 1: a result for `b` answers no open call",
            "request 1: the call `a` has no result",
            "request 1: the call `c` has no result",
            "request 1: the key `hunter2` is in the body",
            "request 2: it does not ask for a stream",
            "request 2: the key `sk-a-key-of-some-length` is in the body",
            "request 3: the body is no JSON: {no json",
        ]
    );
}

#[test]
fn a_request_too_many_and_a_wrong_path_are_faults() {
    let server = ModelServer::start([]);
    let mut client = Client::of(&server);
    client.send(&first());
    assert!(client.read_to("}}").starts_with("HTTP/1.1 500"));
    write!(client.0, "GET /v1/models HTTP/1.1\r\n\r\n").unwrap();
    assert!(client.read_to("\r\n\r\n").starts_with("HTTP/1.1 404"));
    assert_eq!(
        server.take_faults(),
        [
            "request 1: came after the last turn",
            "no provider answers GET /v1/models",
        ]
    );
}

#[test]
#[should_panic(expected = "request 1: came after the last turn")]
fn dropping_it_tells_of_faults() {
    let server = ModelServer::start([]);
    let mut client = Client::of(&server);
    client.send(&first());
    client.read_to("}}");
}

#[test]
fn conversations_run_side_by_side() {
    // Nobody is answered before all have asked.
    let everybody = Arc::new(Barrier::new(4));
    let server = ModelServer::answering({
        let everybody = Arc::clone(&everybody);
        move |request| {
            everybody.wait();
            Turn::text(format!("answer to {}", request.task()))
        }
    });
    thread::scope(|scope| {
        for n in 0..4 {
            let mut client = Client::of(&server);
            scope.spawn(move || {
                let answer = client.ask(&request(
                    &json!([{"role": "user", "content": format!("task {n}")}]),
                ));
                assert_eq!(
                    joined(&answer, |delta| &delta["content"]),
                    format!("answer to task {n}")
                );
            });
        }
    });
    assert_eq!(server.requests().len(), 4);
}
