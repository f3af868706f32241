//! The JSON Schemas of everything that crosses a process boundary.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use crate::{Batch, Down, RunEvent, RunResult, SessionPlan, Up, script::ScriptEntry};

/// Every schema by its name, in alphabetical order. The files in `schemas/` are these.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("batch", of::<Batch>()),
        ("event", of::<RunEvent>()),
        ("result", of::<RunResult>()),
        ("script", of::<Vec<ScriptEntry>>()),
        ("session-plan", of::<SessionPlan>()),
        ("wire-down", of::<Down>()),
        ("wire-up", of::<Up>()),
    ]
}

fn of<T: JsonSchema>() -> Value {
    SchemaGenerator::new(SchemaSettings::draft2020_12())
        .into_root_schema_for::<T>()
        .to_value()
}
