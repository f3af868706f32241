//! Against a provider that cuts, stalls, and refuses. The numbers are those of the guards in the module's head.

use std::{net::TcpListener, time::Duration};

use futures_util::StreamExt;
use serde_json::json;
use sortie_protocol::{
    Api, AssistantTurn, Candidate, Effort, Origin, PlannedTool, Price, Record, StopReason,
    Thinking, ToolCall, ToolResult, Usage,
};
use sortie_testkit::{ModelServer, Turn};

use super::*;
use crate::model::{Answer, Chunk, Patience};

/// A model without levels, prices, and key.
pub(super) fn candidate(base_url: &str) -> Candidate {
    Candidate {
        selector: "local/small".into(),
        provider: "local".into(),
        api: Api::OpenaiCompletions,
        base_url: base_url.into(),
        url_secret: None,
        key: None,
        headers: [].into(),
        wire_name: "small".into(),
        effort: None,
        context_window: None,
        max_tokens: None,
        price: None,
        script: Vec::new(),
    }
}

/// A request to make, and what to make it with.
struct Asking {
    candidate: Candidate,
    secrets: Secrets,
    transcript: Vec<Record>,
    tools: Vec<PlannedTool>,
    must_call: Option<&'static str>,
    patience: Patience,
}

impl Asking {
    fn of(server: &ModelServer) -> Self {
        Self::at(&server.url())
    }

    fn at(url: &str) -> Self {
        let long = Duration::from_mins(1);
        Self {
            candidate: candidate(url),
            secrets: Secrets::default(),
            transcript: records([RecordKind::User {
                origin: Origin::Assignment,
                text: "go".into(),
            }]),
            tools: Vec::new(),
            must_call: None,
            patience: Patience {
                first: long,
                idle: long,
            },
        }
    }

    async fn stream(&self) -> Result<ChunkStream, ModelError> {
        let client = GenaiClient::new(&self.secrets);
        client
            .stream(ModelRequest {
                n: 1,
                candidate: &self.candidate,
                system: "be brief",
                transcript: &self.transcript,
                tools: &self.tools,
                must_call: self.must_call,
                patience: self.patience,
            })
            .await
    }

    async fn chunks(&self) -> Result<Vec<Chunk>, ModelError> {
        let mut stream = self.stream().await?;
        let mut chunks = Vec::new();
        while let Some(chunk) = stream.next().await {
            chunks.push(chunk?);
        }
        Ok(chunks)
    }

    async fn answer(&self) -> Result<Answer, ModelError> {
        match self.chunks().await?.pop() {
            Some(Chunk::End(answer)) => Ok(answer),
            other => panic!("it ended with {other:?}"),
        }
    }
}

fn records(kinds: impl IntoIterator<Item = RecordKind>) -> Vec<Record> {
    let numbered = (1..).zip(kinds);
    numbered
        .map(|(n, kind)| Record { n, at: 0, kind })
        .collect()
}

/// Waits until `n` clients have hung up. Connections are closed by a task of the test's runtime, so its thread must not
/// be the one that waits.
async fn hangups(server: ModelServer, n: usize) {
    let wait = tokio::task::spawn_blocking(move || server.wait_for_hangups(n));
    assert_eq!(wait.await.unwrap().len(), n);
}

fn read_tool() -> PlannedTool {
    PlannedTool {
        name: "read".into(),
        description: "reads".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }
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

// 5

#[tokio::test]
async fn the_name_and_the_effort_are_sent_as_planned() {
    let server = ModelServer::answering(|_| Turn::text("hi"));
    let names = [
        "small",
        "my-model-max",
        "qwen-low",
        "vendor::model-x",
        "a::b::c-high",
    ];
    let mut efforts = vec![None, Some(Thinking::Off)];
    efforts.extend(Effort::ALL.map(|level| Some(Thinking::Level(level))));
    for name in names {
        for effort in &efforts {
            let mut asking = Asking::of(&server);
            asking.candidate.wire_name = name.into();
            asking.candidate.effort = *effort;
            asking.answer().await.unwrap();
            let request = server.requests().pop().unwrap();
            let sent = request
                .body
                .get("reasoning_effort")
                .and_then(|sent| sent.as_str());
            let wanted = effort.map(|effort| match effort {
                Thinking::Off => "none",
                Thinking::Level(level) => level.as_str(),
            });
            assert_eq!((request.model(), sent), (name, wanted));
        }
    }
}

// 6: `options`, `what_would_be_sent_as_something_else_is_refused`

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

// The rest of a request.

#[tokio::test]
async fn keys_and_headers_come_from_the_secrets() {
    let server = ModelServer::answering(|_| Turn::text("hi"));
    let mut asking = Asking::of(&server);
    asking.answer().await.unwrap();
    asking.candidate.key = Some("KEY".into());
    asking.candidate.headers = [("X-Team".into(), "TEAM".into())].into();
    asking.secrets.insert("KEY", "sk-a-long-secret");
    asking.secrets.insert("TEAM", "seven");
    asking.answer().await.unwrap();
    asking.candidate.headers = [("authorization".into(), "TEAM".into())].into();
    asking.answer().await.unwrap();
    let sent: Vec<_> = server
        .requests()
        .iter()
        .map(|request| {
            let all = request
                .headers
                .iter()
                .filter(|(name, _)| name == "authorization");
            let values: Vec<_> = all.map(|(_, value)| value.clone()).collect();
            (
                values.join(" and "),
                request.header("x-team").map(str::to_owned),
            )
        })
        .collect();
    assert_eq!(
        sent,
        [
            ("Bearer none".into(), None),
            ("Bearer sk-a-long-secret".into(), Some("seven".into())),
            ("seven".into(), None),
        ]
    );
}

#[tokio::test]
async fn a_login_in_the_url_is_sent_as_a_header() {
    let server = ModelServer::answering(|_| Turn::text("hi"));
    let mut asking = Asking::of(&server);
    let url = server.url().replace("http://", "http://me:p%40ss@");
    asking.secrets.insert("URL", url);
    asking.candidate.url_secret = Some("URL".into());
    asking.answer().await.unwrap();
    let request = server.requests().pop().unwrap();
    // `me:p@ss`
    assert_eq!(request.header("authorization"), Some("Basic bWU6cEBzcw=="));
    assert_eq!(request.path, "/v1/chat/completions");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = ModelServer::start([]);
    let server = ModelServer::start([Turn::status(307).header("location", other.url())]);
    let error = Asking::of(&server).answer().await.unwrap_err();
    assert!(
        matches!(error, ModelError::Status { http: 307, .. }),
        "{error:?}"
    );
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn what_cannot_be_asked_is_said() {
    let server = ModelServer::start([]);
    let mut told = Vec::new();
    let mut tell = async |change: fn(&mut Asking)| {
        let mut asking = Asking::of(&server);
        change(&mut asking);
        told.push(asking.answer().await.unwrap_err().to_string());
    };
    tell(|asking| asking.candidate.key = Some("KEY".into())).await;
    tell(|asking| asking.candidate.url_secret = Some("URL".into())).await;
    tell(|asking| asking.candidate.base_url = "localhost:8080/v1".into()).await;
    tell(|asking| asking.candidate.base_url = "/v1".into()).await;
    tell(|asking| asking.candidate.api = Api::Script).await;
    tell(|asking| {
        asking.secrets.insert("VALUE", "two\nlines");
        asking.candidate.headers = [("x-a".into(), "VALUE".into())].into();
    })
    .await;
    insta::assert_snapshot!(told.join("\n"), @r#"
    the request cannot be made: `local/small` needs the secret `KEY`, which did not come with the plan
    the request cannot be made: `local/small` needs the secret `URL`, which did not come with the plan
    the request cannot be made: the base URL of `local` starts with `localhost`, expected http or https
    the request cannot be made: the base URL of `local` is no URL: relative URL without a base
    the request cannot be made: `local/small` is a script, not an endpoint
    the request cannot be made: the address or a header is not valid: failed to parse header value
    "#);
}

#[tokio::test]
async fn a_conversation_is_sent_whole() {
    let server = ModelServer::start([Turn::text("hi")]);
    let mut asking = Asking::of(&server);
    asking.tools = vec![read_tool()];
    asking.must_call = Some("read");
    asking.candidate.max_tokens = Some(8_000);
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "read".into(),
        args: json!({"path": "a"}),
    };
    let result = |id: &str, ok: bool, text: &str| {
        RecordKind::ToolResult(ToolResult {
            call: id.into(),
            name: "read".into(),
            ok,
            text: text.into(),
        })
    };
    asking.transcript = records([
        RecordKind::User {
            origin: Origin::Assignment,
            text: "go".into(),
        },
        RecordKind::Assistant(AssistantTurn {
            candidate: 0,
            thoughts: Vec::new(),
            text: "I will".into(),
            calls: vec![call("a"), call("b"), call("c")],
            stop: StopReason::ToolUse,
            usage: Usage::default(),
        }),
        RecordKind::ToolCall(call("a")),
        result("a", true, "alpha"),
        result("b", false, "no such file"),
        RecordKind::User {
            origin: Origin::Steer,
            text: "hurry".into(),
        },
    ]);
    asking.answer().await.unwrap();
    let body = server.requests().pop().unwrap().body;
    let lines: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"role":"system","content":"be brief"}
    {"role":"user","content":"go"}
    {"role":"assistant","content":"I will","tool_calls":[{"type":"function","id":"a","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"type":"function","id":"b","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"type":"function","id":"c","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}
    {"role":"tool","content":"alpha","tool_call_id":"a"}
    {"role":"tool","content":"error: no such file","tool_call_id":"b"}
    {"role":"tool","content":"error: not run","tool_call_id":"c"}
    {"role":"user","content":"hurry"}
    "#);
    assert_eq!(body["max_tokens"], 8_000);
    assert_eq!(body["tool_choice"]["function"]["name"], "read");
    assert_eq!(
        body["tools"][0]["function"]["parameters"],
        read_tool().parameters
    );
    assert_eq!(body["stream_options"]["include_usage"], true);
}
