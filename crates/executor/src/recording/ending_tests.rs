use serde_json::{Value, json};

use super::*;

fn result(kind: &str, reason: &str) -> TaskResult {
    serde_json::from_value(json!({
        "id": "A", "agent": "task", "agentSource": "bundled", "agentFile": null, "tools": [], "outcome": kind,
        "reason": reason, "message": "the words of the outcome", "output": null, "structured": null,
        "model": {"requested": null, "selector": "p/a", "effort": null, "api": "script", "attempts": []},
        "usage": Value::from(serde_json::Map::new()),
        "requests": 2, "durationMs": 1, "warnings": [], "isolation": null,
        "artifacts": {"output": null, "transcript": null, "patch": null}, "children": [],
    }))
    .unwrap()
}

fn told(kind: &str, reason: &str, known: Known<'_>) -> String {
    let how = match Ending::of(&result(kind, reason), known) {
        Ending::Answered => "as it was answered".to_owned(),
        Ending::Lost => "lost".to_owned(),
        Ending::By(turn) => serde_json::to_string(&turn).unwrap(),
    };
    format!("{kind}, {reason}: {how}")
}

fn after(kind: &str, reason: &str, failure: &EndedStatus) -> String {
    let failure = Some(failure);
    told(
        kind,
        reason,
        Known {
            failure,
            ..Known::default()
        },
    )
}

#[test]
fn a_failure_comes_again_at_once_and_for_good() {
    let refused = |http| EndedStatus::Refused {
        http,
        message: "no".into(),
    };
    let broken = EndedStatus::Broken {
        message: "the answer cannot be used".into(),
    };
    let told = [
        after("failed", "provider_error", &refused(401)),
        after("failed", "provider_error", &refused(307)),
        after("failed", "provider_error", &broken),
        after("failed", "rate_limited", &refused(403)),
        told("failed", "rate_limited", Known::default()),
        after("failed", "connection", &broken),
        told(
            "failed",
            "connection",
            Known {
                failure: Some(&broken),
                partial: Some("so far"),
                ..Known::default()
            },
        ),
        after("failed", "script_ended", &broken),
        after("failed", "request", &broken),
        told("failed", "spawn_failed", Known::default()),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    failed, provider_error: {"error":{"status":401,"message":"no"},"repeat":true}
    failed, provider_error: {"error":{"status":400,"message":"no"},"repeat":true}
    failed, provider_error: {"error":{"status":500,"message":"the answer cannot be used"},"repeat":true}
    failed, rate_limited: {"error":{"status":429,"message":"no"},"repeat":true}
    failed, rate_limited: {"error":{"status":429,"message":"the words of the outcome"},"repeat":true}
    failed, connection: {"cut":true,"repeat":true}
    failed, connection: {"text":"so far","cut":true,"repeat":true}
    failed, script_ended: as it was answered
    failed, request: lost
    failed, spawn_failed: lost
    "#);
}

#[test]
fn a_clock_runs_out_again_where_it_did() {
    let partial = Known {
        partial: Some("so far"),
        ..Known::default()
    };
    let below = Known {
        is_below_a_timeout: true,
        ..Known::default()
    };
    let told = [
        told("timed_out", "first_activity", Known::default()),
        told("timed_out", "idle", partial),
        told("timed_out", "idle", Known::default()),
        told("timed_out", "total", Known::default()),
        told("cancelled", "cancelled", below),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    timed_out, first_activity: {"stall":true}
    timed_out, idle: {"text":"so far","stall":true}
    timed_out, idle: {"think":"(no text)","stall":true}
    timed_out, total: {"think":"(no text)","stall":true}
    cancelled, cancelled: {"think":"(no text)","stall":true}
    "#);
}

#[test]
fn what_no_model_did_is_lost() {
    let answers = |answers| Known {
        answers,
        ..Known::default()
    };
    let told = [
        told("completed", "", Known::default()),
        told("crashed", "SIGKILL", Known::default()),
        told("cancelled", "cancelled", Known::default()),
        told("budget", "requests", answers(2)),
        told("budget", "requests", answers(1)),
        told("budget", "tokens", answers(1)),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    completed, : as it was answered
    crashed, SIGKILL: lost
    cancelled, cancelled: lost
    budget, requests: as it was answered
    budget, requests: lost
    budget, tokens: as it was answered
    ");
}
