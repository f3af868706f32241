use std::time::Duration;

use genai::{ModelIden, adapter::AdapterKind};
use reqwest::{StatusCode, header::HeaderMap};
use serde_json::json;

use super::*;

fn faults() -> Faults {
    let mut secrets = Secrets::default();
    secrets.insert("OPENAI_API_KEY", "sk-very-secret");
    secrets.insert("SHORT", "the");
    Faults::new(&secrets)
}

fn model() -> ModelIden {
    ModelIden::new(AdapterKind::OpenAI, "m")
}

fn refusal(status: u16, body: &str) -> Error {
    let status = StatusCode::from_u16(status).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", "7".parse().unwrap());
    Error::HttpError {
        status,
        canonical_reason: "unused".into(),
        body: body.into(),
        headers: Box::new(headers),
    }
}

#[test]
fn a_status_comes_with_the_providers_words_and_its_wait() {
    let wrapped = Error::WebStream {
        model_iden: model(),
        cause: "HTTP error".into(),
        error: Box::new(refusal(
            429,
            r#"{"error": {"message": "slow down", "type": "x"}}"#,
        )),
    };
    assert_eq!(
        faults().read(&wrapped),
        ModelError::Status {
            http: 429,
            message: "slow down".into(),
            retry_after: Some(Duration::from_secs(7)),
        }
    );
}

#[test]
fn a_wait_may_stand_in_the_body() {
    let body =
        json!({"error": {"code": 429, "message": "quota", "details": [{"retryDelay": "31s"}]}});
    let of_status = Error::HttpError {
        status: StatusCode::TOO_MANY_REQUESTS,
        canonical_reason: "unused".into(),
        body: body.to_string(),
        headers: Box::default(),
    };
    let of_event = Error::ChatResponse {
        model_iden: model(),
        body,
    };
    for error in [of_status, of_event] {
        assert_eq!(
            faults().read(&error),
            ModelError::Status {
                http: 429,
                message: "quota".into(),
                retry_after: Some(Duration::from_secs(31)),
            }
        );
    }
}

#[test]
fn the_words_are_found_wherever_they_are_and_hold_no_key() {
    let long = format!(r#"{{"message": "{}"}}"#, "é".repeat(900));
    let told: Vec<_> = [
        r#"{"error": {"message": "the key sk-very-secret is wrong", "code": "invalid_api_key"}}"#,
        r#"{"error": "no such model"}"#,
        r#"[{"error": {"message": "an array of one"}}]"#,
        r#"{"detail": [{"loc": ["body"], "msg": "field required"}]}"#,
        r#"{"detail": {"error": {"message": "deep"}}}"#,
        "<html>\n<h1>502 Bad\nGateway</h1>\n</html>",
        r#"{"unlike": "anything"}"#,
        "  \n",
    ]
    .map(|body| faults().read(&refusal(502, body)).to_string())
    .into();
    insta::assert_snapshot!(told.join("\n"), @r#"
    the provider answered 502: the key [key OPENAI_API_KEY] is wrong
    the provider answered 502: no such model
    the provider answered 502: an array of one
    the provider answered 502: field required
    the provider answered 502: deep
    the provider answered 502: <html> <h1>502 Bad Gateway</h1> </html>
    the provider answered 502: {"unlike": "anything"}
    the provider answered 502: bad gateway
    "#);
    let ModelError::Status { message, .. } = faults().read(&refusal(502, &long)) else {
        panic!("it is a status");
    };
    assert_eq!(message.chars().count(), 500);
    assert!(message.ends_with('…'));
}

#[test]
fn an_error_in_a_stream_is_a_status_when_it_says_so() {
    let told: Vec<_> = [
        json!({"type": "overloaded_error", "message": "try later"}),
        json!({"type": "rate_limit_error", "message": "too fast"}),
        json!({"code": "rate_limit_exceeded", "message": "too fast"}),
        json!({"code": "insufficient_quota", "message": "pay first"}),
        json!({"code": 502, "message": "upstream broke"}),
        json!({"code": "429", "message": "as text"}),
        json!({"code": 1001, "message": "no HTTP status"}),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        json!({"error": {"code": 503, "message": "the model is overloaded", "status": "UNAVAILABLE"}}),
        json!({"error": {"code": 400, "message": "an overloaded operator", "status": "INVALID_ARGUMENT"}}),
        json!({"type": "server_error", "message": "something broke"}),
        json!("only text"),
        json!(null),
    ]
    .map(|body| {
        let error = Error::ChatResponse {
            model_iden: model(),
            body,
        };
        faults().read(&error).to_string()
    })
    .into();
    insta::assert_snapshot!(told.join("\n"), @"
    the provider answered 529: try later
    the provider answered 429: too fast
    the provider answered 429: too fast
    the provider answered 429: pay first
    the provider answered 502: upstream broke
    the provider answered 429: as text
    the answer cannot be used: no HTTP status
    the provider answered 529: Overloaded
    the provider answered 529: the model is overloaded
    the provider answered 400: an overloaded operator
    the answer cannot be used: something broke
    the answer cannot be used: only text
    the answer cannot be used: null
    ");
}

#[test]
fn silence_and_nonsense_in_a_stream_are_told_apart() {
    let wrap = |error: genai::BoxError| Error::WebStream {
        model_iden: model(),
        cause: error.to_string(),
        error,
    };
    let silence = faults().read(&wrap(Box::new(StreamTimeout::Read)));
    assert_eq!(silence, ModelError::Stalled);
    let bytes = String::from_utf8(vec![0xff]).unwrap_err();
    let nonsense = faults().read(&wrap(Box::new(bytes)));
    insta::assert_snapshot!(nonsense, @"the answer cannot be used: invalid utf-8 sequence of 1 bytes from index 0");
    let request = faults().read(&Error::RequiresApiKey {
        model_iden: model(),
    });
    insta::assert_snapshot!(request, @"the request cannot be made: Model 'm (adapter: OpenAI)' requires an API key.");
}
