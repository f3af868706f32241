//! A run that never happened, for the tests of this room.

use std::path::{Path, PathBuf};

use serde_json::json;
use sortie_protocol::{
    AgentSource, Api, Artifacts, EndedStatus, EventKind, ModelReceipt, Outcome, OutcomeKind,
    RunEvent, RunEventKind, RunId, RunResult, SchemaMode, SchemaSource, Structured,
    StructuredStatus, TaskResult, Usage,
};

/// An event at `at_ms`.
pub(crate) fn event(at_ms: u64, task: Option<&str>, kind: RunEventKind) -> RunEvent {
    RunEvent {
        seq: at_ms,
        at_ms,
        task: task.map(|id| id.to_owned().into()),
        kind,
    }
}

/// A run in the middle: one task is over, one waits for the task it dispatched, and one is queued.
pub(crate) fn events() -> Vec<RunEvent> {
    let queued = |agent: &str| RunEventKind::Queued {
        agent: agent.into(),
        model: "local/small".into(),
        label: None,
    };
    let requested = |n| RunEventKind::Requested {
        model: "local/small".into(),
        n,
    };
    let answered = |tokens, cost| RunEventKind::Answered {
        model: "local/small".into(),
        n: 1,
        status: EndedStatus::Answered,
        retry_after_ms: None,
        usage: Usage::default(),
        tokens: Some(tokens),
        cost: Some(cost),
    };
    let progress = |progress| RunEventKind::Progress { progress };
    vec![
        event(
            0,
            None,
            RunEventKind::Started {
                run: RunId::from("01990000-0000-7000-8000-000000000001".to_owned()),
                run_dir: run_dir(),
            },
        ),
        event(1, Some("Map"), queued("scout")),
        event(2, Some("Split"), queued("task")),
        event(100, Some("Map"), RunEventKind::Launched { pid: 11 }),
        event(101, Some("Map"), requested(1)),
        event(110, Some("Split"), RunEventKind::Launched { pid: 12 }),
        event(111, Some("Split"), requested(1)),
        event(500, Some("Map"), answered(400, 0.001)),
        event(
            501,
            Some("Map"),
            progress(EventKind::ToolStarted {
                call: "a".into(),
                tool: "read".into(),
                detail: "src/main.rs".into(),
            }),
        ),
        event(
            700,
            Some("Split"),
            progress(EventKind::RetryWait {
                ms: 1_500,
                why: "status 503: overloaded\n".into(),
            }),
        ),
        event(2_000, Some("Split"), answered(800, 0.0005)),
        event(2_001, Some("Split.Left"), queued("sonic")),
        event(2_002, Some("Split"), RunEventKind::Waiting),
        event(2_100, Some("Map"), requested(2)),
        event(2_250, Some("Map"), answered(1_250, 0.0016)),
        event(2_300, Some("Map"), ended("Map", Outcome::completed())),
        event(
            2_400,
            Some("Split.Left"),
            RunEventKind::Launched { pid: 13 },
        ),
        event(2_401, Some("Split.Left"), requested(1)),
        event(
            3_000,
            Some("Split.Left"),
            progress(EventKind::Thought { text: "hm".into() }),
        ),
        event(62_500, Some("Port"), queued("task")),
    ]
}

/// That a task ended so.
pub(crate) fn ended(id: &str, outcome: Outcome) -> RunEventKind {
    let result = TaskResult {
        outcome,
        ..task(id, "task")
    };
    RunEventKind::Ended {
        result: Box::new(result),
    }
}

fn task(id: &str, agent: &str) -> TaskResult {
    TaskResult {
        id: id.to_owned().into(),
        label: None,
        agent: agent.into(),
        agent_source: AgentSource::Bundled,
        agent_file: None,
        tools: vec!["read".into(), "yield".into()],
        outcome: Outcome::completed(),
        output: Some("All links work.\n\nNone was changed.".into()),
        structured: None,
        model: ModelReceipt {
            requested: Some("@smol".into()),
            selector: "local/small".into(),
            effort: None,
            api: Api::OpenaiCompletions,
            attempts: Vec::new(),
        },
        usage: Usage {
            input: Some(1_000),
            output: Some(250),
            ..Usage::default()
        },
        requests: 3,
        duration_ms: 2_200,
        warnings: Vec::new(),
        isolation: None,
        artifacts: Artifacts {
            output: Some(run_dir().join(format!("{id}.md"))),
            transcript: Some(run_dir().join(format!("{id}.jsonl"))),
            patch: None,
        },
        children: Vec::new(),
    }
}

fn run_dir() -> PathBuf {
    Path::new("/runs/01990000-0000-7000-8000-000000000001").into()
}

/// A run that is over: three tasks, two of them accepted, one of these with nested tasks that it did not all need.
pub(crate) fn result() -> RunResult {
    let mut map = task("Map", "scout");
    map.output = Some("{\"summary\": \"two crates\"}".into());
    map.structured = Some(Structured {
        source: SchemaSource::Agent,
        mode: SchemaMode::Permissive,
        status: StructuredStatus::Valid,
        data: Some(json!({"summary": "two crates"})),
        error: None,
    });
    map.usage.cost = Some(0.0016);
    let mut split = task("Split", "task");
    let mut lost = task("Split.Right", "sonic");
    lost.outcome = Outcome::new(
        OutcomeKind::Crashed,
        "SIGKILL",
        "the process was killed by SIGKILL",
    );
    lost.output = None;
    lost.artifacts.output = None;
    lost.requests = 1;
    split.children = vec![task("Split.Left", "sonic"), lost];
    let mut port = task("Port", "task");
    port.outcome = Outcome::new(
        OutcomeKind::TimedOut,
        "first_activity",
        "no byte came for 120 s after a request (`task.firstActivityMs`)",
    );
    port.output = None;
    port.artifacts.output = None;
    port.usage = Usage::default();
    port.warnings = vec!["the tool `lsp` is not built yet and was left out".into()];
    RunResult {
        run: Some(RunId::from(
            "01990000-0000-7000-8000-000000000001".to_owned(),
        )),
        run_dir: Some(run_dir()),
        tasks: vec![map, split, port],
        problems: Vec::new(),
    }
}
