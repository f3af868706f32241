//! What is in a request.

use serde_json::json;
use sortie_protocol::{
    Api, AssistantTurn, Origin, RecordKind, StopReason, ToolCall, ToolResult, Usage,
};
use sortie_testkit::{ModelServer, Turn};

use super::asking::{Asking, read_tool, records};
use crate::model::ModelError;

#[tokio::test]
async fn keys_and_headers_come_from_the_secrets() {
    let server = ModelServer::answering(|_| Turn::text("hi"));
    let mut asking = Asking::of(&server, Api::OpenaiCompletions);
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
            (String::new(), None),
            ("Bearer sk-a-long-secret".into(), Some("seven".into())),
            ("seven".into(), None),
        ]
    );
}

#[tokio::test]
async fn a_login_in_the_url_is_sent_as_a_header() {
    let server = ModelServer::answering(|_| Turn::text("hi"));
    let mut asking = Asking::of(&server, Api::OpenaiCompletions);
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
    let error = Asking::of(&server, Api::OpenaiCompletions)
        .answer()
        .await
        .unwrap_err();
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
        let mut asking = Asking::of(&server, Api::OpenaiCompletions);
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
    let mut asking = Asking::of(&server, Api::OpenaiCompletions);
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
        *read_tool().parameters
    );
    assert_eq!(body["stream_options"]["include_usage"], true);
}
