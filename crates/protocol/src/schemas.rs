//! The JSON Schemas of everything that crosses a process boundary.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use crate::{
    Batch, Down, Record, RunEvent, RunResult, SessionPlan, TaskResult, Up, script::ScriptEntry,
};

/// A schema that has a name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// What it describes, as a fragment.
    pub about: &'static str,
    /// Makes it.
    pub schema: fn() -> Value,
}

impl Named {
    /// The schema that `schema` makes.
    pub const fn new(name: &'static str, about: &'static str, schema: fn() -> Value) -> Self {
        Self {
            name,
            about,
            schema,
        }
    }
}

/// Every schema of this room, in alphabetical order.
pub const ALL: [Named; 9] = [
    Named::new("batch", "what `sortie run` reads", read::<Batch>),
    Named::new("event", "a line of `--events`", written::<RunEvent>),
    Named::new("record", "a line of a task's transcript", written::<Record>),
    Named::new(
        "result",
        "what `--json` of a run prints",
        written::<RunResult>,
    ),
    Named::new("script", "a scripted model", read::<Vec<ScriptEntry>>),
    Named::new(
        "session-plan",
        "all that a child will do",
        written::<SessionPlan>,
    ),
    Named::new(
        "task-result",
        "what `sortie runs show TASK --json` prints",
        written::<TaskResult>,
    ),
    Named::new(
        "wire-down",
        "a line from the root to a child",
        written::<Down>,
    ),
    Named::new("wire-up", "a line from a child to the root", written::<Up>),
];

/// The schema of what we read: a field that may be left out is not required.
pub fn read<T: JsonSchema>() -> Value {
    of::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of what we write: a field that is always there is required.
pub fn written<T: JsonSchema>() -> Value {
    of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    SchemaGenerator::new(settings)
        .into_root_schema_for::<T>()
        .to_value()
}
