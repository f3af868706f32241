//! The transcript: one record a line, whole, in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Usage;

/// One line of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Counts up from 1 within one task, without gaps.
    pub n: u64,
    /// Milliseconds since 1970, by the child's clock.
    pub at: u64,
    /// What it holds.
    #[serde(flatten)]
    pub kind: RecordKind,
}

/// What a record holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum RecordKind {
    /// Something said to the model.
    User {
        /// Who said it.
        origin: Origin,
        /// The text.
        text: String,
    },
    /// A whole turn of the model.
    Assistant(AssistantTurn),
    /// A tool is about to start. The child waits until this is on disk.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
}

/// Who said something to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The assignment.
    Assignment,
    /// Somebody steered the running turn.
    Steer,
    /// The session asked for a report.
    Reminder,
    /// A job result or a message.
    Delivery,
}

/// One complete answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantTurn {
    /// Which model: a place in the plan's `candidates`.
    pub candidate: usize,
    /// Thinking, with what the provider needs to see again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<Thought>,
    /// What it said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tools it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it used.
    #[serde(default)]
    pub usage: Usage,
}

/// A piece of thinking, or what a provider has signed in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thought {
    /// The text; empty when the provider hides it.
    pub text: String,
    /// The provider's signature, or its thinking in a form that only it can read. Goes back as it came, to the
    /// candidate that made it and to no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The whole of a piece that its provider has blacked out. Goes back like a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<String>,
    /// The field of a message that it came in over chat completions, where it is unsigned. Providers call it
    /// `reasoning_content` or `reasoning`, and it goes back under the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// How many other pieces of the turn came before it: the text is one, and so is each call. What a provider signed
    /// has to go back in its place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as `serde` calls it")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    Stop,
    /// It wants tools run.
    ToolUse,
    /// It ran into its output limit.
    Length,
    /// It declined.
    Refusal,
}

/// A model's wish to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The provider's id of the call, or ours where it has none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: an object, or the text as it came when that was no JSON.
    pub args: Value,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    /// The call it answers.
    pub call: String,
    /// The tool.
    pub name: String,
    /// Whether it did what was asked.
    pub ok: bool,
    /// The text for the model.
    pub text: String,
}
