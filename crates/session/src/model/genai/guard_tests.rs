//! Against a provider that cuts, stalls, and refuses, over every API. The numbers are those of the guards in the
//! module's head.

use std::{net::TcpListener, time::Duration};

use futures_util::StreamExt;
use serde_json::json;
use sortie_protocol::{Api, Price, StopReason, Usage, WireEffort};
use sortie_testkit::{ModelServer, Turn};

use super::asking::{Asking, effort, read_tool};
use crate::model::{Chunk, ModelError};

/// Waits until `n` clients have hung up. Connections are closed by a task of the test's runtime, so its thread must not
/// be the one that waits.
async fn hangups(server: ModelServer, n: usize) {
    let wait = tokio::task::spawn_blocking(move || server.wait_for_hangups(n));
    assert_eq!(wait.await.unwrap().len(), n);
}

/// A turn that thinks, speaks, and calls twice.
fn everything() -> Turn {
    let args = json!({"path": "src/a rather long path to stream in pieces.rs"});
    Turn::thinking("let me see")
        .and_text("I will read it")
        .and_tool("read", args)
        .and_tool("read", json!({}))
}

// 1

#[tokio::test]
async fn a_base_url_may_end_in_a_slash_and_keeps_its_query() {
    let mut shown = Vec::new();
    for api in Api::REMOTE {
        let server = ModelServer::answering(|_| Turn::text("hi"));
        for end in ["", "/", "//", "?api-version=2", "/?api-version=2"] {
            for base in [server.base_url(api), server.url()] {
                let mut asking = Asking::of(&server, api);
                asking.secrets.insert("URL", base + end);
                asking.candidate.url_secret = Some("URL".into());
                asking.answer().await.unwrap();
            }
        }
        let requests = server.requests();
        let mut paths: Vec<_> = requests
            .iter()
            .map(|request| request.path.as_str())
            .collect();
        paths.sort_unstable();
        paths.dedup();
        shown.extend(paths.into_iter().map(str::to_owned));
    }
    insta::assert_snapshot!(shown.join("\n"), @"
    /v1/chat/completions
    /v1/chat/completions?api-version=2
    /v1/responses
    /v1/responses?api-version=2
    /v1/messages
    /v1/messages?api-version=2
    /v1/models/small:streamGenerateContent?alt=sse
    /v1/models/small:streamGenerateContent?api-version=2&alt=sse
    /v1beta/models/small:streamGenerateContent?alt=sse
    /v1beta/models/small:streamGenerateContent?api-version=2&alt=sse
    ");
}

// 2

#[tokio::test]
async fn everything_that_a_model_does_arrives() {
    for api in Api::REMOTE {
        let server = ModelServer::start([everything().usage(1_200, 40)]);
        let mut asking = Asking::of(&server, api);
        asking.candidate.wire_effort = Some(effort(api));
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
                Chunk::Progress | Chunk::Used(_) => progress += 1,
                Chunk::End(_) => panic!("there is one end"),
            }
        }
        assert_eq!(
            (text.as_str(), thought.as_str()),
            ("I will read it", "let me see"),
            "{api}"
        );
        // Gemini's calls come in one piece.
        assert!(progress >= 2, "{api} {progress}");
        assert_eq!(answer.text, "I will read it");
        assert_eq!(answer.thoughts[0].text, "let me see", "{api}");
        let calls: Vec<_> = answer
            .calls
            .iter()
            .map(|call| (call.name.as_str(), call.args.to_string()))
            .collect();
        let args = r#"{"path":"src/a rather long path to stream in pieces.rs"}"#;
        assert_eq!(
            calls,
            [("read", args.to_owned()), ("read", "{}".to_owned())],
            "{api}"
        );
        assert_ne!(answer.calls[0].id, answer.calls[1].id);
        assert_eq!(answer.stop, StopReason::ToolUse);
        assert_eq!(
            (answer.usage.input, answer.usage.output),
            (Some(1_200), Some(40)),
            "{api}"
        );
        let cost = answer.usage.cost.unwrap();
        assert!((cost - 0.0016).abs() < 1e-12, "{cost}");
    }
}

#[tokio::test]
async fn figures_are_told_as_they_were() {
    for api in Api::REMOTE {
        let server = ModelServer::start([
            Turn::text("hi")
                .usage(100, 40)
                .cache_read(900)
                .reasoning(30),
            Turn::text("hi").usage(100, 40).cache_read(0),
            Turn::text("hi"),
        ]);
        let asking = Asking::of(&server, api);
        let wanted = Usage {
            input: Some(100),
            output: Some(40),
            cache_read: Some(900),
            cache_write: None,
            // It has no figure for that.
            reasoning: (api != Api::AnthropicMessages).then_some(30),
            cost: None,
        };
        assert_eq!(asking.answer().await.unwrap().usage, wanted, "{api}");
        let none = asking.answer().await.unwrap().usage;
        assert_eq!((none.cache_read, none.reasoning), (Some(0), None), "{api}");
        assert_eq!(
            asking.answer().await.unwrap().usage,
            Usage::default(),
            "{api}"
        );
    }
    let server = ModelServer::start([Turn::text("hi")
        .usage(100, 40)
        .cache_read(900)
        .cache_write(50)]);
    let mut asking = Asking::of(&server, Api::AnthropicMessages);
    asking.candidate.price = Some(Price {
        input: 1.0,
        output: 10.0,
        cache_read: 0.1,
        cache_write: 2.0,
    });
    let usage = asking.answer().await.unwrap().usage;
    assert_eq!((usage.input, usage.cache_write), (Some(100), Some(50)));
    let cost = usage.cost.unwrap();
    assert!(
        (cost - (100.0 + 400.0 + 90.0 + 100.0) / 1e6).abs() < 1e-12,
        "{cost}"
    );
}

#[tokio::test]
async fn limits_refusals_and_empty_answers_are_told() {
    for api in Api::REMOTE {
        let server = ModelServer::start([Turn::length(), Turn::refusal(), Turn::empty()]);
        let asking = Asking::of(&server, api);
        assert_eq!(
            asking.answer().await.unwrap().stop,
            StopReason::Length,
            "{api}"
        );
        assert_eq!(
            asking.answer().await.unwrap().stop,
            StopReason::Refusal,
            "{api}"
        );
        let empty = asking.answer().await.unwrap();
        assert_eq!(
            (empty.stop, empty.text.as_str(), empty.calls, empty.usage),
            (StopReason::Stop, "", vec![], Usage::default()),
            "{api}"
        );
    }
}

// 3

#[tokio::test]
async fn an_answer_without_its_end_is_none_wherever_it_is_cut() {
    for api in Api::REMOTE {
        let server = ModelServer::answering(|request| {
            let after = request.system().parse().unwrap();
            everything().cutting_after(after)
        });
        let mut asking = Asking::of(&server, api);
        asking.tools = vec![read_tool()];
        let mut cuts = 0;
        loop {
            asking.system = cuts.to_string();
            match asking.answer().await {
                Err(ModelError::Truncated) => cuts += 1,
                // Before the first frame it may as well be the wrong address.
                Err(ModelError::Connection(_)) if cuts == 0 => cuts += 1,
                Ok(_) => break,
                Err(other) => panic!("{api} {cuts} {other:?}"),
            }
        }
        // In the thought, the text, and a call.
        assert!(cuts > 5, "{api} {cuts}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_told_from_an_end() {
    for api in Api::REMOTE {
        let server = ModelServer::start([everything().tearing_after(2)]);
        let broken = Asking::of(&server, api).answer().await.unwrap_err();
        assert!(
            matches!(broken, ModelError::Connection(_)),
            "{api} {broken:?}"
        );
    }
}

// 4

#[tokio::test]
async fn a_refusal_keeps_its_status_and_its_wait() {
    let mut told = Vec::new();
    for api in Api::REMOTE {
        let server = ModelServer::start([
            Turn::status(429).retry_after(7),
            Turn::status(503).header("retry-after-ms", "250"),
            Turn::status(401),
            Turn::error_event("overloaded_error"),
            Turn::error_event("server_error"),
            Turn::bad_json(),
        ]);
        let asking = Asking::of(&server, api);
        told.push(api.to_string());
        for _ in 0..6 {
            let error = asking.answer().await.unwrap_err();
            let wait = match &error {
                ModelError::Status { retry_after, .. } => *retry_after,
                _ => None,
            };
            told.push(format!("  {error} {wait:?}"));
        }
    }
    insta::assert_snapshot!(told.join("\n"), @"
    openai-completions
      the provider answered 429: the scripted refusal Some(7s)
      the provider answered 503: the scripted refusal Some(250ms)
      the provider answered 401: the scripted refusal None
      the provider answered 529: the scripted error None
      the answer cannot be used: the scripted error None
      the answer cannot be used: a piece of it is no JSON None
    openai-responses
      the provider answered 429: the scripted refusal Some(7s)
      the provider answered 503: the scripted refusal Some(250ms)
      the provider answered 401: the scripted refusal None
      the provider answered 529: the scripted error None
      the answer cannot be used: the scripted error None
      the answer cannot be used: a piece of it is no JSON None
    anthropic-messages
      the provider answered 429: the scripted refusal Some(7s)
      the provider answered 503: the scripted refusal Some(250ms)
      the provider answered 401: the scripted refusal None
      the provider answered 529: the scripted error None
      the answer cannot be used: the scripted error None
      the answer cannot be used: a piece of it is no JSON None
    google-generative-ai
      the provider answered 429: the scripted refusal Some(7s)
      the provider answered 503: the scripted refusal Some(250ms)
      the provider answered 401: the scripted refusal None
      the provider answered 529: the scripted error None
      the provider answered 500: the scripted error None
      the answer cannot be used: a piece of it is no JSON None
    ");
}

#[tokio::test]
async fn nobody_there_is_a_connection_that_failed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for api in Api::REMOTE {
        let mut asking = Asking::at("http://unused.invalid/", api);
        let url = format!("http://127.0.0.1:{port}/v1?key=very-secret");
        asking.secrets.insert("URL", url);
        asking.candidate.url_secret = Some("URL".into());
        let error = asking.answer().await.unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @"the connection failed: no connection: Connection refused (os error 111)");
        }
    }
}

// 5 and 6

#[tokio::test]
async fn what_is_sent_is_what_was_written() {
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
    for api in Api::REMOTE {
        let server = ModelServer::answering(|_| Turn::text("hi"));
        for name in names {
            for effort in [None, Some(WireEffort::Off), Some(effort(api))] {
                let mut asking = Asking::of(&server, api);
                asking.candidate.wire_name = name.into();
                asking.candidate.wire_effort = effort;
                asking.answer().await.unwrap();
                let request = server.requests().pop().unwrap();
                assert_eq!(request.body, asking.body());
                assert_eq!(request.model(), name);
            }
        }
    }
}

#[tokio::test]
async fn a_model_of_gemini_may_be_named_as_its_lists_do() {
    let server = ModelServer::start([Turn::text("hi")]);
    let mut asking = Asking::of(&server, Api::GoogleGenerativeAi);
    asking.candidate.wire_name = "models/x".into();
    asking.answer().await.unwrap();
    assert_eq!(server.requests()[0].model(), "x");
}

// 7

#[tokio::test]
async fn silence_has_a_limit_before_and_within_an_answer() {
    for api in Api::REMOTE {
        let server = ModelServer::start([Turn::silent(), everything().stalling_after(3)]);
        let mut asking = Asking::of(&server, api);
        let short = Duration::from_millis(50);
        asking.patience.first = short;
        assert_eq!(asking.answer().await, Err(ModelError::Stalled), "{api}");
        asking.patience.first = Duration::from_mins(1);
        asking.patience.idle = short;
        assert_eq!(asking.answer().await, Err(ModelError::Stalled), "{api}");
        hangups(server, 2).await;
    }
}

#[tokio::test]
async fn dropping_the_answer_hangs_up() {
    for api in Api::REMOTE {
        let server = ModelServer::start([Turn::thinking("one moment please").stalling_after(5)]);
        let mut stream = Asking::of(&server, api).stream().await.unwrap();
        // Pings may come first.
        while !matches!(stream.next().await.unwrap(), Ok(Chunk::Thought(_))) {}
        drop(stream);
        hangups(server, 1).await;
    }
}

// 8

#[tokio::test]
async fn nothing_is_repeated() {
    for api in Api::REMOTE {
        let server = ModelServer::start([Turn::status(500)]);
        let asking = Asking::of(&server, api);
        let mut stream = asking.stream().await.unwrap();
        assert!(matches!(
            stream.next().await,
            Some(Err(ModelError::Status { http: 500, .. }))
        ));
        assert!(stream.next().await.is_none());
        assert_eq!(server.requests().len(), 1);
    }
}
