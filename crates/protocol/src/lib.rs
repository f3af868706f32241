//! The words that cross a process boundary.
//!
//! A root and its children agree on these types and on nothing else: a child is started from a
//! [`SessionPlan`], speaks [`Up`] and hears [`Down`] on one pipe pair (see [`codec`]), and ends with a
//! [`Report`]. Callers hand in a [`Batch`] and get back a [`RunResult`].
//!
//! Data only: nothing here opens a file, reads a clock, or decides.

pub mod codec;
mod effort;
mod event;
mod id;
mod model;
mod outcome;
mod plan;
mod problem;
mod record;
pub mod redact;
mod report;
mod result;
pub mod schemas;
pub mod script;
mod task;
pub mod tool;
mod usage;
mod wire;

pub use effort::{Effort, EffortHint, EffortWord, Thinking, UnknownEffort, WireEffort};
pub use event::{Event, EventKind, RunEvent, RunEventKind};
pub use id::{NameFault, RunId, TaskId, check_name};
pub use model::{Api, Candidate, Price};
pub use outcome::{BudgetKind, Clock, Outcome, OutcomeKind};
pub use plan::{
    AgentRef, AgentSource, Budgets, Clocks, PlannedSchema, PlannedTool, ReadOptions, Retry,
    SchemaSource, SessionPlan, SpawnRule,
};
pub use problem::{ProblemRow, Severity};
pub use record::{
    AssistantTurn, Origin, Record, RecordKind, StopReason, Thought, ToolCall, ToolResult,
};
pub use report::{Ending, Report, Section};
pub use result::{
    Artifacts, Attempt, ModelReceipt, RunProblem, RunResult, Structured, StructuredStatus,
    TaskResult,
};
pub use task::{Batch, Mode, SchemaMode, TaskRequest};
pub use usage::Usage;
pub use wire::{
    Call, Down, Ended, EndedStatus, Finished, Hello, PROTOCOL_VERSION, Reply, Secrets, Start, Up,
};
