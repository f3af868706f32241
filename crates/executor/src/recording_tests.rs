use std::fs;

use sortie_protocol::{
    AssistantTurn, Outcome, Record, RunId, StopReason, TaskResult, ToolCall, Usage,
};

use super::*;
use crate::history::{RunState, StoredTask};

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

/// An event of the task `A`: what became of a request.
fn over(status: EndedStatus) -> RunEvent {
    RunEvent {
        seq: 1,
        at_ms: 0,
        task: Some(TaskId::from("A".to_owned())),
        kind: RunEventKind::Answered {
            model: "p/a".into(),
            n: 1,
            status,
            retry_after_ms: None,
            usage: Usage::default(),
            tokens: None,
            cost: None,
        },
    }
}

#[test]
fn only_what_ended_a_task_fails_again() {
    let refused = EndedStatus::Refused {
        http: 401,
        message: "no".into(),
    };
    let turns = |heard: &[EndedStatus]| {
        let mut recording = Recording::default();
        for status in heard {
            recording.hear(&over(status.clone()));
        }
        let folder = tempfile::tempdir().unwrap();
        let task = ended(OutcomeKind::Failed, "provider_error");
        let TaskState::Ended(result) = &task.state else {
            panic!("it ended");
        };
        let results = HashMap::from([(&task.id, result.as_ref())]);
        let part = recording.part(folder.path(), &task.id, &results);
        serde_json::to_string(&part.turns).unwrap()
    };
    let gone = EndedStatus::Broken {
        message: "gone".into(),
    };
    let told = [
        turns(&[refused.clone(), gone.clone()]),
        turns(&[gone, EndedStatus::Answered, refused]),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    [{"error":{"status":500,"message":"gone"},"repeat":true}]
    [{"error":{"status":401,"message":"no"},"repeat":true}]
    "#);
}

#[test]
fn the_text_of_an_answer_that_broke_off_is_the_output_that_no_answer_is() {
    let said = |text: &str| AssistantTurn {
        candidate: 0,
        thoughts: Vec::new(),
        text: text.into(),
        calls: Vec::new(),
        stop: StopReason::Stop,
        usage: Usage::default(),
    };
    let TaskState::Ended(mut result) = ended(OutcomeKind::TimedOut, "idle").state else {
        panic!("it ended");
    };
    assert_eq!(partial(&result, &[]), None);
    result.output = Some("so far".into());
    assert_eq!(partial(&result, &[said("before")]), Some("so far"));
    assert_eq!(partial(&result, &[said(" so far\n"), said("")]), None);
    let mut part = said("");
    part.calls.push(ToolCall {
        id: "c".into(),
        name: "yield".into(),
        args: serde_json::json!({"type": ["a"], "data": 1}),
    });
    assert_eq!(partial(&result, &[part]), None);
}

#[test]
fn a_timeout_takes_along_whoever_is_below() {
    let timed_out = ended(OutcomeKind::TimedOut, "total");
    let TaskState::Ended(result) = &timed_out.state else {
        panic!("it ended");
    };
    let results = HashMap::from([(&timed_out.id, result.as_ref())]);
    let below = |id: &str| is_below_a_timeout(&TaskId::from(id.to_owned()), &results);
    assert!(below("A.B") && below("A.B.C"));
    assert!(!below("A") && !below("B.A") && !below("AB.C"));
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
    # How these ended was not a model's doing, and does not come again; who asks for more than is here ends as `script_ended`:
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
