//! How a task ended.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every way in which a task can end. Exactly one is true of each task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The agent handed in a report that was accepted.
    Completed,
    /// The work could not go on: the provider, the script, or the start of the process failed.
    Failed,
    /// No report that fits the schema, under `strict`.
    SchemaViolation,
    /// A nested task that preflight turned down.
    Refused,
    /// Somebody stopped it.
    Cancelled,
    /// A clock ran out; the reason names it.
    TimedOut,
    /// A budget ran out; the reason names it.
    Budget,
    /// The process ended without a report.
    Crashed,
    /// The agent stopped without handing in a report.
    Incomplete,
    /// The agent handed in an error.
    GaveUp,
    /// Finished, but its changes could not be applied; nothing was changed.
    Conflict,
}

impl OutcomeKind {
    /// The word that results and journals use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::SchemaViolation => "schema_violation",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Budget => "budget",
            Self::Crashed => "crashed",
            Self::Incomplete => "incomplete",
            Self::GaveUp => "gave_up",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a task ended, why in a word, and why in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Which way it ended.
    #[serde(rename = "outcome")]
    pub kind: OutcomeKind,
    /// One word: `SIGKILL`, `idle`, `requests`, `rate_limited`.
    pub reason: Option<String>,
    /// One sentence.
    pub message: Option<String>,
}

impl Outcome {
    /// The agent finished and its report was accepted.
    pub const fn completed() -> Self {
        Self {
            kind: OutcomeKind::Completed,
            reason: None,
            message: None,
        }
    }

    /// An end with a word and a sentence.
    pub fn new(kind: OutcomeKind, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind,
            reason: Some(reason.into()),
            message: Some(message.into()),
        }
    }

    /// Whether the agent's work was accepted.
    pub fn is_completed(&self) -> bool {
        self.kind == OutcomeKind::Completed
    }
}

/// The clocks that can end a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// From a request's going out to its first byte (`task.firstActivityMs`).
    FirstActivity,
    /// Between two bytes of an open request (`task.idleMs`).
    Idle,
    /// From the start of the process to its end (`task.maxRuntimeMs`).
    Total,
}

impl Clock {
    /// The reason of a `timed_out`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstActivity => "first_activity",
            Self::Idle => "idle",
            Self::Total => "total",
        }
    }

    /// The setting that says how long it runs.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::FirstActivity => "task.firstActivityMs",
            Self::Idle => "task.idleMs",
            Self::Total => "task.maxRuntimeMs",
        }
    }
}

/// The budgets that can end a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Model requests.
    Requests,
    /// Tokens, in and out.
    Tokens,
    /// US dollars.
    Cost,
}

impl BudgetKind {
    /// The reason of a `budget` outcome.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
        }
    }
}
