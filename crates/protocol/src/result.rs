//! What a caller gets back.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentSource, Api, Outcome, ProblemRow, RunId, SchemaMode, SchemaSource, TaskId, Thinking, Usage,
};

/// What `sortie run --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// The run; `None` when nothing ran.
    pub run: Option<RunId>,
    /// Where everything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_dir: Option<PathBuf>,
    /// The tasks, in the order in which they were asked for.
    pub tasks: Vec<TaskResult>,
    /// Why nothing ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<RunProblem>,
}

/// A reason why nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunProblem {
    /// The file.
    pub file: Option<PathBuf>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column, from 1.
    pub column: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl From<ProblemRow> for RunProblem {
    fn from(row: ProblemRow) -> Self {
        Self {
            file: row.path,
            line: row.line,
            column: row.column,
            message: row.message,
            help: row.help,
        }
    }
}

/// One task: how it ended, what it made, and what really ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskResult {
    /// The task.
    pub id: TaskId,
    /// What people see instead of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The agent.
    pub agent: String,
    /// Where the agent was found.
    pub agent_source: AgentSource,
    /// The agent's file; `None` for a bundled agent.
    pub agent_file: Option<PathBuf>,
    /// The tools it had.
    pub tools: Vec<String>,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The result as text, or what could be saved of it.
    pub output: Option<String>,
    /// The result as data, when a schema was asked for.
    pub structured: Option<Structured>,
    /// The model that really answered.
    pub model: ModelReceipt,
    /// What it used, without its children.
    pub usage: Usage,
    /// How many model requests it sent.
    pub requests: u64,
    /// From its start to its end, without waiting for its first slot.
    pub duration_ms: u64,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// What became of an isolated task's changes.
    pub isolation: Option<Value>,
    /// Where its files are.
    pub artifacts: Artifacts,
    /// The tasks it dispatched.
    pub children: Vec<TaskResult>,
}

/// A structured result and how it was checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Structured {
    /// Who asked for the schema.
    pub source: SchemaSource,
    /// How strictly it bound.
    pub mode: SchemaMode,
    /// Whether the data fits.
    pub status: StructuredStatus,
    /// The data.
    pub data: Option<Value>,
    /// What does not fit.
    pub error: Option<String>,
}

/// Whether data fits its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StructuredStatus {
    /// It does.
    Valid,
    /// It does not.
    Invalid,
    /// There is none.
    Unavailable,
}

/// What was asked for and what ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelReceipt {
    /// What was asked for, as written.
    pub requested: Option<String>,
    /// The model that answered last, without its level.
    pub selector: String,
    /// The effort it was asked for.
    pub effort: Option<Thinking>,
    /// The API it was spoken to in.
    pub api: Api,
    /// What was tried or skipped before it, in order.
    pub attempts: Vec<Attempt>,
}

/// A model that was tried or skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// The model, without its level.
    pub selector: String,
    /// The effort it was asked for.
    pub effort: Option<Thinking>,
    /// How many requests it was sent; 0: it was skipped.
    pub requests: u64,
    /// Why it was left.
    pub left: String,
}

/// Where a task's files are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Artifacts {
    /// The whole output.
    pub output: Option<PathBuf>,
    /// The transcript.
    pub transcript: Option<PathBuf>,
    /// An isolated task's changes.
    pub patch: Option<PathBuf>,
}
