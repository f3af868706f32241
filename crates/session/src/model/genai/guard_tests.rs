//! Against a provider that cuts, stalls, and refuses. The numbers are those of the guards in the module's head.

use std::{net::TcpListener, time::Duration};

use futures_util::StreamExt;
use serde_json::json;
use sortie_protocol::{Price, StopReason, Usage, WireEffort};
use sortie_testkit::{ModelServer, Turn};

use super::asking::{Asking, read_tool};
use crate::model::{Chunk, ModelError};

/// Waits until `n` clients have hung up. Connections are closed by a task of the test's runtime, so its thread must not
/// be the one that waits.
async fn hangups(server: ModelServer, n: usize) {
    let wait = tokio::task::spawn_blocking(move || server.wait_for_hangups(n));
    assert_eq!(wait.await.unwrap().len(), n);
}

// 1

#[tokio::test]
async fn a_base_url_keeps_its_last_part_and_its_query() {
    let server = ModelServer::answering(|_| Turn::text("hi"));
    for end in ["", "/", "//", "?api-version=2", "/?api-version=2"] {
        let mut asking = Asking::at("http://unused.invalid/");
        asking.secrets.insert("URL", server.url() + end);
        asking.candidate.url_secret = Some("URL".into());
        asking.answer().await.unwrap();
    }
    let paths: Vec<_> = server
        .requests()
        .into_iter()
        .map(|request| request.path)
        .collect();
    let (plain, with_query) = ("/v1/chat/completions", "/v1/chat/completions?api-version=2");
    assert_eq!(paths, [plain, plain, plain, with_query, with_query]);
}

// 2

#[tokio::test]
async fn everything_that_a_model_does_arrives() {
    let args = json!({"path": "src/a rather long path to stream in pieces.rs"});
    let server = ModelServer::start([Turn::thinking("let me see")
        .and_text("I will read it")
        .and_tool("read", args.clone())
        .and_tool("read", json!({}))
        .usage(1_200, 40)]);
    let mut asking = Asking::of(&server);
    asking.tools = vec![read_tool()];
    asking.candidate.price = Some(Price {
        input: 1.0,
        output: 10.0,
        ..Price::default()
    });
    let mut chunks = asking.chunks().await.unwrap();
    let Some(Chunk::End(answer)) = chunks.pop() else {
        panic!("it ends with the answer");
    };
    let (mut text, mut thought, mut progress) = (String::new(), String::new(), 0);
    for chunk in chunks {
        match chunk {
            Chunk::Text(piece) => text += &piece,
            Chunk::Thought(piece) => thought += &piece,
            Chunk::Progress => progress += 1,
            Chunk::End(_) => panic!("there is one end"),
        }
    }
    assert_eq!(
        (text.as_str(), thought.as_str()),
        ("I will read it", "let me see")
    );
    assert!(progress > 3, "{progress}");
    assert_eq!(answer.text, "I will read it");
    assert_eq!(answer.thoughts[0].text, "let me see");
    let calls: Vec<_> = answer
        .calls
        .iter()
        .map(|call| (call.name.as_str(), &call.args))
        .collect();
    assert_eq!(calls, [("read", &args), ("read", &json!({}))]);
    assert_ne!(answer.calls[0].id, answer.calls[1].id);
    assert_eq!(answer.stop, StopReason::ToolUse);
    assert_eq!(
        (answer.usage.input, answer.usage.output),
        (Some(1_200), Some(40))
    );
    let cost = answer.usage.cost.unwrap();
    assert!((cost - 0.0016).abs() < 1e-12, "{cost}");
}

#[tokio::test]
async fn limits_and_refusals_are_told() {
    let server = ModelServer::start([Turn::length(), Turn::refusal(), Turn::empty()]);
    let asking = Asking::of(&server);
    assert_eq!(asking.answer().await.unwrap().stop, StopReason::Length);
    assert_eq!(asking.answer().await.unwrap().stop, StopReason::Refusal);
    let empty = asking.answer().await.unwrap();
    assert_eq!(
        (empty.stop, empty.usage),
        (StopReason::Stop, Usage::default())
    );
}

// 3

#[tokio::test]
async fn an_answer_without_its_end_is_none() {
    let server = ModelServer::start([
        Turn::cut_after(0),
        Turn::cut_after(3),
        Turn::text("whole text, cut terminator").cutting_after(6),
        Turn::text("it breaks").tearing_after(2),
    ]);
    let asking = Asking::of(&server);
    for _ in 0..3 {
        assert_eq!(asking.answer().await, Err(ModelError::Truncated));
    }
    let broken = asking.answer().await.unwrap_err();
    assert!(matches!(broken, ModelError::Connection(_)), "{broken:?}");
}

// 4

#[tokio::test]
async fn a_refusal_keeps_its_status_and_its_wait() {
    let server = ModelServer::start([
        Turn::status(429).retry_after(7),
        Turn::status(503).header("retry-after-ms", "250"),
        Turn::status(401),
        Turn::error_event("overloaded_error"),
        Turn::error_event("server_error"),
        Turn::bad_json(),
    ]);
    let asking = Asking::of(&server);
    let mut told = Vec::new();
    for _ in 0..6 {
        let error = asking.answer().await.unwrap_err();
        let wait = match &error {
            ModelError::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        told.push(format!("{error} {wait:?}"));
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    the provider answered 429: the scripted refusal Some(7s)
    the provider answered 503: the scripted refusal Some(250ms)
    the provider answered 401: the scripted refusal None
    the provider answered 529: the scripted error None
    the answer cannot be used: the scripted error None
    the answer cannot be used: a piece of it is no JSON: EOF while parsing an object at line 1 column 14 None
    "#);
}

#[tokio::test]
async fn nobody_there_is_a_connection_that_failed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut asking = Asking::at("http://unused.invalid/");
    let url = format!("http://127.0.0.1:{port}/v1?key=very-secret");
    asking.secrets.insert("URL", url);
    asking.candidate.url_secret = Some("URL".into());
    let error = asking.answer().await.unwrap_err();
    insta::assert_snapshot!(error, @"the connection failed: no connection: Connection refused (os error 111)");
}

// 5 and 6

#[tokio::test]
async fn what_is_sent_is_what_was_written() {
    let server = ModelServer::answering(|_| Turn::text("hi"));
    let names = [
        "small",
        "my-model-max",
        "qwen-low",
        "vendor::model-x",
        "a::b::c-high",
        "gpt-5.6",
        "claude-fable-5",
        "gemini-3-pro",
    ];
    let effort = WireEffort::Word("of their own".into());
    for name in names {
        for effort in [None, Some(WireEffort::Off), Some(effort.clone())] {
            let mut asking = Asking::of(&server);
            asking.candidate.wire_name = name.into();
            asking.candidate.wire_effort = effort;
            asking.answer().await.unwrap();
            let request = server.requests().pop().unwrap();
            assert_eq!(request.body, asking.body());
            assert_eq!(request.model(), name);
        }
    }
}

// 7

#[tokio::test]
async fn silence_has_a_limit_before_and_within_an_answer() {
    let server = ModelServer::start([Turn::silent(), Turn::text("one moment").stalling_after(2)]);
    let mut asking = Asking::of(&server);
    let short = Duration::from_millis(50);
    asking.patience.first = short;
    assert_eq!(asking.answer().await, Err(ModelError::Stalled));
    asking.patience.first = Duration::from_mins(1);
    asking.patience.idle = short;
    assert_eq!(asking.answer().await, Err(ModelError::Stalled));
    hangups(server, 2).await;
}

#[tokio::test]
async fn dropping_the_answer_hangs_up() {
    let server = ModelServer::start([Turn::text("one moment").stalling_after(2)]);
    let mut stream = Asking::of(&server).stream().await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(Chunk::Text(_)))));
    drop(stream);
    hangups(server, 1).await;
}

// 8

#[tokio::test]
async fn nothing_is_repeated() {
    let server = ModelServer::start([Turn::status(500)]);
    let asking = Asking::of(&server);
    let mut stream = asking.stream().await.unwrap();
    assert!(matches!(
        stream.next().await,
        Some(Err(ModelError::Status { http: 500, .. }))
    ));
    assert!(stream.next().await.is_none());
    assert_eq!(server.requests().len(), 1);
}
