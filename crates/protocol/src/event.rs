//! Progress, for people. Any event may be coalesced with its neighbour, or dropped.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EndedStatus, RunId, TaskId, TaskResult, Usage};

/// Something a child did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What a child did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// Answer text, as it arrives.
    Text {
        /// The piece.
        text: String,
    },
    /// Thinking text, as it arrives.
    Thought {
        /// The piece.
        text: String,
    },
    /// Bytes of an answer that are neither text nor thinking. Keeps the idle clock wound.
    Streaming,
    /// A tool started.
    ToolStarted {
        /// The id of the call, the same in its start and its end. Other calls of one task may have it later.
        call: String,
        /// The tool.
        tool: String,
        /// Its most telling argument, shortened.
        detail: String,
    },
    /// A tool ended.
    ToolEnded {
        /// The id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// Whether it did what was asked.
        ok: bool,
        /// How long it took.
        ms: u64,
    },
    /// A request failed and will be sent again.
    RetryWait {
        /// How long from now.
        ms: u64,
        /// What failed.
        why: String,
    },
    /// Another model takes over.
    Switch {
        /// The model that is left.
        from: String,
        /// The model that takes over.
        to: String,
        /// Why.
        why: String,
    },
    /// The model was reminded to hand in its report.
    Reminder {
        /// Which reminder, from 1.
        n: u32,
    },
    /// A part of the report was handed in.
    Section {
        /// Its label.
        label: String,
    },
    /// Something worth showing.
    Notice {
        /// The text.
        text: String,
    },
}

/// One line of `--events`: something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunEvent {
    /// Counts up from 1 within one run.
    pub seq: u64,
    /// Milliseconds since the run started, by a clock that never goes back.
    pub at_ms: u64,
    /// The task it is about; `None` is the run itself.
    pub task: Option<TaskId>,
    /// What happened.
    #[serde(flatten)]
    pub kind: RunEventKind,
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum RunEventKind {
    /// The run began.
    Started {
        /// Its id.
        run: RunId,
        /// Where its files are.
        run_dir: PathBuf,
    },
    /// A task was accepted and waits for a slot.
    Queued {
        /// The agent.
        agent: String,
        /// The first model of its plan.
        model: String,
        /// What people see instead of the id.
        label: Option<String>,
    },
    /// A task's process exists.
    Launched {
        /// Its process id.
        pid: u32,
    },
    /// A model request went out.
    Requested {
        /// The model.
        model: String,
        /// Which request of the task, from 1.
        n: u64,
    },
    /// A model request is over, with or without an answer.
    Answered {
        /// The model.
        model: String,
        /// Which request of the task, from 1.
        n: u64,
        /// How it ended.
        #[serde(flatten)]
        status: EndedStatus,
        /// How long its provider asked to wait, in milliseconds.
        retry_after_ms: Option<u64>,
        /// What it used.
        usage: Usage,
        /// All tokens of the task so far; `None` when nobody reported any.
        tokens: Option<u64>,
        /// All money of the task so far; `None` when no price is known.
        cost: Option<f64>,
    },
    /// The task gave its slot back and waits for its children.
    Waiting,
    /// Progress of the child.
    Progress {
        /// The event.
        progress: EventKind,
    },
    /// The task is over, and stored.
    Ended {
        /// Everything about it. The tasks that it dispatched are not in it: they have events of their own.
        #[serde(flatten)]
        result: Box<TaskResult>,
    },
    /// The run is over.
    Finished,
}
