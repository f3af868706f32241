use sortie_protocol::{
    AssistantTurn, Outcome, Record, RunId, StopReason, TaskResult, ToolCall, Usage,
};

use super::*;
use crate::history::RunState;

/// What became of one request of the task `A`.
fn over(model: &str, status: EndedStatus, retry_after_ms: Option<u64>) -> RunEvent {
    RunEvent {
        seq: 1,
        at_ms: 0,
        task: Some(TaskId::from("A".to_owned())),
        kind: RunEventKind::Answered {
            model: model.into(),
            n: 1,
            status,
            retry_after_ms,
            usage: Usage::default(),
            tokens: None,
            cost: None,
        },
    }
}

fn refused(http: u16) -> EndedStatus {
    EndedStatus::Refused {
        http,
        message: "no".into(),
    }
}

fn broken() -> EndedStatus {
    EndedStatus::Broken {
        message: "cut".into(),
    }
}

/// The turns of the task `A` that ended so, after these requests.
fn failures(kind: OutcomeKind, reason: &str, events: &[RunEvent]) -> String {
    let mut recording = Recording::default();
    for event in events {
        recording.hear(event);
    }
    let folder = tempfile::tempdir().unwrap();
    let turns = recording.turns(folder.path(), &ended(kind, reason));
    serde_json::to_string(&turns).unwrap()
}

fn ended(kind: OutcomeKind, reason: &str) -> StoredTask {
    let result: TaskResult = serde_json::from_value(serde_json::json!({
        "id": "A", "agent": "task", "agentSource": "bundled", "agentFile": null, "tools": [], "outcome": "failed",
        "reason": null, "message": null, "output": null, "structured": null,
        "model": {"requested": null, "selector": "p/a", "effort": null, "api": "script", "attempts": []},
        "usage": {"input": null, "output": null, "cacheRead": null, "cacheWrite": null, "reasoning": null, "cost": null},
        "requests": 1, "durationMs": 1, "warnings": [], "isolation": null,
        "artifacts": {"output": null, "transcript": null, "patch": null}, "children": [],
    }))
    .unwrap();
    StoredTask {
        id: result.id.clone(),
        agent: result.agent.clone(),
        label: None,
        state: TaskState::Ended(Box::new(TaskResult {
            outcome: Outcome {
                kind,
                reason: Some(reason.into()),
                ..result.outcome.clone()
            },
            ..result
        })),
    }
}

#[test]
fn only_what_ended_a_task_fails_again() {
    use OutcomeKind::{Completed, Failed, TimedOut};
    let told = [
        // An answer came after it.
        failures(
            Completed,
            "",
            &[
                over("p/a", refused(500), None),
                over("p/a", EndedStatus::Answered, None),
            ],
        ),
        // Another model was left to try.
        failures(
            Failed,
            "provider_error",
            &[
                over("p/a", refused(401), None),
                over("p/b", refused(500), None),
                over("p/b", refused(500), None),
            ],
        ),
        failures(
            Failed,
            "rate_limited",
            &[over("p/a", refused(403), Some(1_500))],
        ),
        failures(Failed, "provider_error", &[over("p/a", refused(307), None)]),
        failures(Failed, "connection", &[over("p/a", broken(), None)]),
        failures(Failed, "provider_error", &[over("p/a", broken(), None)]),
        failures(
            TimedOut,
            "idle",
            &[over("p/a", EndedStatus::Abandoned, None)],
        ),
        failures(
            TimedOut,
            "total",
            &[over("p/a", EndedStatus::Abandoned, None)],
        ),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    []
    [{"error":{"status":500}},{"error":{"status":500}}]
    [{"error":{"status":429,"retryAfterS":1.5}}]
    [{"error":{"status":400}}]
    [{"cut":true}]
    [{"error":{"status":500}}]
    [{"stall":true}]
    []
    "#);
}

#[test]
fn a_run_becomes_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = "/old/scratch/A";
    fs::create_dir(folder.path().join("plans")).unwrap();
    let plan = serde_json::json!({"plan": {"scratch": scratch}});
    fs::write(folder.path().join("plans/A.json"), plan.to_string()).unwrap();
    let said = AssistantTurn {
        candidate: 0,
        thoughts: Vec::new(),
        text: "not ${scratch}".into(),
        calls: vec![ToolCall {
            id: "c1".into(),
            name: "write".into(),
            args: serde_json::json!({"path": format!("{scratch}/a"), "content": "x"}),
        }],
        stop: StopReason::ToolUse,
        usage: Usage::default(),
    };
    let record = Record {
        n: 1,
        at: 0,
        kind: RecordKind::Assistant(said),
    };
    // The last line was never written to its end.
    let transcript = format!("{}\n{{\"n\": 2, ", serde_json::to_string(&record).unwrap());
    fs::write(folder.path().join("A.jsonl"), transcript).unwrap();
    let queued = |id: &str, state| StoredTask {
        id: TaskId::from(id.to_owned()),
        agent: "task".into(),
        label: None,
        state,
    };
    let run = StoredRun {
        run: RunId::from("r1".to_owned()),
        dir: folder.path().to_owned(),
        cwd: "/work".into(),
        started_at: 0,
        state: RunState::Interrupted,
        tasks: vec![
            ended(OutcomeKind::Crashed, "SIGKILL"),
            queued("B", TaskState::Queued),
        ],
        damaged: Vec::new(),
    };
    insta::assert_snapshot!(Recording::default().script(&run, "monday").unwrap(), @"
    # Recorded from run r1. Beside its batch it replays by
    #   sortie run BATCH --model script/monday
    # Every task says and calls what it said and called then; tools really run.
    # How these ended was not a model's doing, and does not come again:
    #   A: crashed
    #   B: no end
    - when:
        task: A
      turns:
      - text: not $${scratch}
        tool: write
        args:
          path: ${scratch}/a
          content: x
    ");
}
