//! Checking values against a schema.

use serde_json::Value;

use crate::{SchemaFaults, check::compile, explain::explain};

/// A schema, ready to check values.
///
/// Made once and shared: it may be used from several threads. The first one of a process also prepares the
/// meta-schema, which takes a millisecond, so a child makes it while its first request is under way. Each further one
/// takes some ten microseconds.
#[derive(Debug)]
pub struct Validator {
    schema: Value,
    compiled: jsonschema::Validator,
}

impl Validator {
    /// Makes a validator of a JSON Schema, which is checked as by [`check`](crate::check).
    pub fn new(schema: &Value) -> Result<Self, SchemaFaults> {
        Ok(Self {
            schema: schema.clone(),
            compiled: compile(schema)?,
        })
    }

    /// Everything in `value` that does not fit, each as `path.with[0].brackets: what is wrong`. A fault of the value
    /// as a whole has no path. Empty when the value fits.
    pub fn faults(&self, value: &Value) -> Vec<String> {
        if self.compiled.is_valid(value) {
            return Vec::new();
        }
        explain(&self.schema, self.compiled.iter_errors(value))
            .into_iter()
            .map(|(path, message)| match path.as_str() {
                "" => message,
                path => format!("{path}: {message}"),
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "validator_tests.rs"]
mod tests;
