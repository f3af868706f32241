//! The plan of one child: everything it will do, decided before it exists.

use std::{path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Candidate, RunId, SchemaMode, TaskId};

/// All that a child needs to know. It reads no settings, no catalogue, and no agent file.
///
/// Holds no secret; those are named here and travel beside it in `start`. Made only by `policy`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionPlan {
    /// The run it belongs to.
    pub run: RunId,
    /// Its task.
    pub id: TaskId,
    /// How far below the root it is; 1 for a task of the root.
    pub depth: u32,
    /// Which definition it came from.
    pub agent: AgentRef,
    /// The system prompt, complete.
    pub system: String,
    /// The tools it has, as its model sees them.
    pub tools: Vec<PlannedTool>,
    /// The models it may use, best first. Never empty.
    pub candidates: Vec<Candidate>,
    /// The shape of its result.
    pub schema: Option<PlannedSchema>,
    /// Whom it may spawn. The root holds it to this; the child only shows it.
    pub spawns: SpawnRule,
    /// The agent that it may not spawn, as `PI_BLOCKED_AGENT` says.
    pub blocked_agent: Option<String>,
    /// When it must stop for cost.
    pub budgets: Budgets,
    /// When it must stop for time.
    pub clocks: Clocks,
    /// How it treats requests that fail.
    pub retry: Retry,
    /// How its `read` tool shows files.
    pub read: ReadOptions,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// A folder of its own, kept with the run.
    pub scratch: PathBuf,
    /// Whether prose without a `yield` counts as a report (`task.acceptProse`).
    pub accept_prose: bool,
}

/// Which definition a child came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRef {
    /// The agent's name.
    pub name: String,
    /// Where it was found.
    pub source: AgentSource,
    /// Its file; `None` for a bundled agent.
    pub file: Option<PathBuf>,
}

/// Where an agent's definition was found.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum AgentSource {
    /// In the project.
    Project,
    /// In the user's own folder.
    User,
    /// In this program.
    Bundled,
    /// Made by the caller for one dispatch.
    Adhoc,
}

impl AgentSource {
    /// The word that results and listings use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Bundled => "bundled",
            Self::Adhoc => "adhoc",
        }
    }
}

/// One tool as this agent's model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTool {
    /// Its name in the tool table.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments. Most plans of a run have the same.
    pub parameters: Arc<Value>,
}

/// The shape of a child's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedSchema {
    /// Who asked for it.
    pub source: SchemaSource,
    /// How strictly it binds.
    pub mode: SchemaMode,
    /// The JSON Schema, as written. Results are checked against this one.
    pub schema: Value,
}

/// Who asked for a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SchemaSource {
    /// The caller, for this task.
    Caller,
    /// The agent's file.
    Agent,
    /// The session that dispatched it.
    Session,
}

/// Whom an agent may spawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpawnRule {
    /// Nobody.
    None,
    /// Anybody.
    Any,
    /// These agents; the first is the default.
    Only(Vec<String>),
}

impl SpawnRule {
    /// Whether `agent` may be spawned.
    pub fn allows(&self, agent: &str) -> bool {
        match self {
            Self::None => false,
            Self::Any => true,
            Self::Only(names) => names.iter().any(|name| name == agent),
        }
    }
}

/// Limits on what one child may use; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Budgets {
    /// After this many requests the child is asked to wrap up (`task.softRequestBudget`).
    pub soft_requests: Option<u64>,
    /// Requests (`task.budget.requests`).
    pub requests: Option<u64>,
    /// Tokens (`task.budget.tokens`).
    pub tokens: Option<u64>,
    /// US dollars (`task.budget.cost`).
    pub cost: Option<f64>,
}

/// How long things may take, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Clocks {
    /// To the first byte of an answer; 0 is no limit.
    pub first_activity_ms: u64,
    /// Between two bytes of an answer; 0 is no limit.
    pub idle_ms: u64,
    /// From the start of the process to its end; 0 is no limit.
    pub total_ms: u64,
    /// From being asked to stop to being killed.
    pub kill_grace_ms: u64,
    /// One `bash` call that names no timeout of its own.
    pub bash_timeout_ms: u64,
}

/// How failed requests are repeated (`retry.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// How often the last candidate is tried again.
    pub max_retries: u32,
    /// The first wait, in milliseconds; it doubles.
    pub base_delay_ms: u64,
    /// The longest wait, in milliseconds; a provider that asks for more is given up on.
    pub max_delay_ms: u64,
}

/// How the `read` tool shows files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadOptions {
    /// Whether long source files are summarised (`read.summarize.enabled`, `read-summarize`).
    pub summarize: bool,
}
