//! What a caller may ask for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::EffortHint;

/// A batch of tasks, as every door accepts it.
///
/// Read through `executor`'s request reader, which knows aliases and names every fault; the derived reader is for
/// data that we wrote ourselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Batch {
    /// Background that every task of the batch gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The active model of the run: a selector, or a role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the parent may do itself, which no child may exceed.
    pub mode: Mode,
    /// The schema of tasks that name none themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// How strictly the schema binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_mode: Option<SchemaMode>,
    /// The tasks, in the order in which results come back.
    pub tasks: Vec<TaskRequest>,
}

/// The mode of the parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// No ceiling.
    #[default]
    Normal,
    /// The parent is planning: reading tools only, no spawns.
    Plan,
    /// No tool that writes.
    ReadOnly,
}

impl Mode {
    /// The one of two that leaves less: planning leaves less than reading, and that less than anything.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let rank = |mode| match mode {
            Self::Normal => 0,
            Self::ReadOnly => 1,
            Self::Plan => 2,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }
}

/// What happens to a report that does not fit its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SchemaMode {
    /// After three tries it is accepted and marked invalid.
    #[default]
    Permissive,
    /// After three tries the task is a schema violation.
    Strict,
}

impl SchemaMode {
    /// The word that requests and results use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Permissive => "permissive",
            Self::Strict => "strict",
        }
    }
}

/// One task of a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskRequest {
    /// Names the task within its parent; generated where absent. `[A-Za-z0-9_-]{1,48}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What people see; never sent to a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The agent's name; absent is the default of the parent's spawn policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The assignment.
    pub task: String,
    /// The schema of the result; wins over the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// How strictly the schema binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_mode: Option<SchemaMode>,
    /// A hint, where `task.enableEffort` is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortHint>,
    /// Work on a copy of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolated: Option<bool>,
    /// Narrow the agent's tools to these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// A model for this task alone. Only some doors offer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Apply an isolated task's changes. Only some doors offer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apply: Option<bool>,
    /// Merge an isolated task's changes. Only some doors offer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge: Option<bool>,
    /// Seconds that the task may take. Only some doors offer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_only_ever_narrowed() {
        use Mode::{Normal, Plan, ReadOnly};
        for (one, other, both) in [
            (Normal, ReadOnly, ReadOnly),
            (ReadOnly, Plan, Plan),
            (Plan, Normal, Plan),
        ] {
            assert_eq!(one.stricter(other), both);
            assert_eq!(other.stricter(one), both);
            assert_eq!(both.stricter(both), both);
        }
    }
}
