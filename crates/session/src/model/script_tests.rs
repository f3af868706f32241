use serde_json::{Value, json};
use sortie_protocol::Price;

use super::*;
use crate::{model::Patience, root_double};

fn candidate(script: &Value) -> Candidate {
    let mut candidate: Candidate =
        serde_json::from_value(root_double::candidate("script/a", &json!([]))).unwrap();
    candidate.script = serde_json::from_value(script.clone()).unwrap();
    candidate
}

fn client() -> ScriptClient {
    ScriptClient::new("/run/scratch/T".into())
}

async fn ask(
    client: &ScriptClient,
    candidate: &Candidate,
    n: u64,
) -> Result<Vec<Result<Chunk, ModelError>>, ModelError> {
    let patience = Patience {
        first: Duration::MAX,
        idle: Duration::MAX,
    };
    let request = ModelRequest {
        n,
        candidate,
        place: 0,
        system: "",
        transcript: &[],
        tools: &[],
        must_call: None,
        patience,
    };
    Ok(client.stream(request).await?.collect().await)
}

async fn answer(client: &ScriptClient, candidate: &Candidate, n: u64) -> Answer {
    match ask(client, candidate, n).await.unwrap().pop() {
        Some(Ok(Chunk::End(answer))) => answer,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_request_takes_the_next_turn_of_the_first_entry_that_matches() {
    let candidate = candidate(&json!([
        {"when": {"request": 2}, "turns": [{"text": "second"}]},
        {"turns": [{"text": "a"}, {"text": "b"}]},
        {"turns": [{"text": "c"}]},
    ]));
    let client = client();
    let mut texts = Vec::new();
    for n in 1..=4 {
        texts.push(answer(&client, &candidate, n).await.text);
    }
    assert_eq!(texts, ["a", "second", "b", "c"]);
    assert_eq!(
        ask(&client, &candidate, 5).await,
        Err(ModelError::ScriptEnded(5))
    );
}

#[tokio::test]
async fn two_candidates_walk_their_own_scripts() {
    let first = candidate(&json!([{"turns": [{"text": "a"}]}]));
    let second = Candidate {
        selector: "script/b".into(),
        ..first.clone()
    };
    let client = client();
    assert_eq!(answer(&client, &first, 1).await.text, "a");
    assert_eq!(answer(&client, &second, 2).await.text, "a");
    assert!(ask(&client, &first, 3).await.is_err());
}

#[tokio::test]
async fn a_turn_thinks_speaks_calls_and_hands_in() {
    let candidate = candidate(&json!([{"turns": [{
        "think": "hm", "text": "look at ${scratch}",
        "tool": "write", "args": {"path": "${scratch}/x", "deep": [{"a": "${scratch}"}, 1]},
        "tools": [{"tool": "bash", "args": {"command": "ls ${scratch}"}}],
        "finish": {"text": "done in ${scratch}"},
        "usage": {"input": 1_000_000, "output": 1},
    }]}]));
    let candidate = Candidate {
        price: Some(Price {
            input: 2.0,
            ..Price::default()
        }),
        ..candidate
    };
    let chunks = ask(&client(), &candidate, 1).await.unwrap();
    insta::assert_debug_snapshot!(chunks, @r#"
    [
        Ok(
            Thought(
                "hm",
            ),
        ),
        Ok(
            Text(
                "look at /run/scratch/T\n\ndone in /run/scratch/T",
            ),
        ),
        Ok(
            End(
                Answer {
                    thoughts: [
                        Thought {
                            text: "hm",
                            signature: None,
                            redacted: None,
                            field: None,
                            after: 0,
                        },
                    ],
                    text: "look at /run/scratch/T\n\ndone in /run/scratch/T",
                    calls: [
                        ToolCall {
                            id: "script-1-1",
                            name: "write",
                            args: Object {
                                "path": String("/run/scratch/T/x"),
                                "deep": Array [
                                    Object {
                                        "a": String("/run/scratch/T"),
                                    },
                                    Number(1),
                                ],
                            },
                        },
                        ToolCall {
                            id: "script-1-2",
                            name: "bash",
                            args: Object {
                                "command": String("ls /run/scratch/T"),
                            },
                        },
                        ToolCall {
                            id: "script-1-3",
                            name: "yield",
                            args: Object {
                                "type": String("text"),
                            },
                        },
                    ],
                    stop: ToolUse,
                    usage: Usage {
                        input: Some(
                            1000000,
                        ),
                        output: Some(
                            1,
                        ),
                        cache_read: None,
                        cache_write: None,
                        reasoning: None,
                        cost: Some(
                            2.0,
                        ),
                    },
                },
            ),
        ),
    ]
    "#);
}

#[tokio::test]
async fn a_turn_may_end_badly_after_what_it_said() {
    let candidate = candidate(&json!([{"turns": [
        {"text": "half", "cut": true},
        {"text": "half", "cut": true, "error": {"status": 503}},
        {"error": {"status": 429, "retryAfterS": 1.5}},
        {"end": "length", "text": "x"},
        {"end": "refusal"},
        {"end": "sideways"},
    ]}]));
    let client = client();
    let half = Ok(Chunk::Text("half".into()));
    assert_eq!(
        ask(&client, &candidate, 1).await.unwrap(),
        [half.clone(), Err(ModelError::Truncated)]
    );
    let refused = |http, retry_after| ModelError::Status {
        http,
        message: "the script says so".into(),
        retry_after,
    };
    assert_eq!(
        ask(&client, &candidate, 2).await.unwrap(),
        [half, Err(refused(503, None))]
    );
    assert_eq!(
        ask(&client, &candidate, 3).await,
        Err(refused(429, Some(Duration::from_millis(1500))))
    );
    assert_eq!(
        answer(&client, &candidate, 4).await.stop,
        StopReason::Length
    );
    assert_eq!(
        answer(&client, &candidate, 5).await.stop,
        StopReason::Refusal
    );
    insta::assert_snapshot!(ask(&client, &candidate, 6).await.unwrap_err(), @"the request cannot be made: `end: sideways` in the script; it is `stop`, `length` or `refusal`");
}

#[tokio::test(start_paused = true)]
async fn a_stall_never_ends() {
    let candidate = candidate(&json!([{"turns": [{"text": "half", "stall": true}]}]));
    let client = client();
    let day = Duration::from_hours(24);
    assert!(
        tokio::time::timeout(day, ask(&client, &candidate, 1))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_turn_that_repeats_is_never_used_up() {
    let candidate = candidate(&json!([
        {"turns": [{"text": "a"}, {"text": "b", "repeat": true}, {"text": "never"}]},
    ]));
    let client = client();
    for (n, said) in [(1, "a"), (2, "b"), (3, "b"), (4, "b")] {
        assert_eq!(answer(&client, &candidate, n).await.text, said);
    }
}

#[tokio::test]
async fn what_repeats_and_fails_fails_for_good() {
    let of = async |turn: Value| {
        let candidate = candidate(&json!([{"turns": [turn]}]));
        ask(&client(), &candidate, 1).await.unwrap_err()
    };
    let refused = ModelError::Status {
        http: 403,
        message: "not you".into(),
        retry_after: None,
    };
    let error = json!({"status": 403, "message": "not you"});
    assert_eq!(of(json!({"error": error})).await, refused);
    assert_eq!(
        of(json!({"error": error, "repeat": true})).await,
        ModelError::ForGood(Box::new(refused))
    );
    assert_eq!(
        of(json!({"cut": true, "repeat": true})).await,
        ModelError::ForGood(Box::new(ModelError::Truncated))
    );
}
