//! The shape of a result: who asks for it, and whether it can be used.

use serde_json::{Value, json};
use sortie_config::Problem;
use sortie_discovery::AgentDefinition;
use sortie_protocol::{PlannedSchema, SchemaMode, SchemaSource, TaskRequest};

use crate::{
    grant::Grant,
    why::{Reason, Why},
};

/// The schema of the caller, else of the agent, else of the session, as JSON Schema. One that cannot be used is a
/// fault, whatever the mode.
pub(crate) fn choose(
    grant: &Grant,
    request: &TaskRequest,
    agent: Option<&AgentDefinition>,
    faults: &mut Vec<Problem>,
) -> (Option<PlannedSchema>, Vec<Reason>) {
    let (mode, mode_why) = match (request.schema_mode, grant.schema_mode) {
        (Some(mode), _) => (mode, "the task says so"),
        (None, Some(mode)) => (mode, "the session says so"),
        (None, None) => (
            SchemaMode::default(),
            "nobody says, and this is the default",
        ),
    };
    let output = agent.and_then(|agent| Some((agent, agent.output.as_ref()?)));
    let (source, written, why) = if let Some(schema) = &request.output_schema {
        (
            SchemaSource::Caller,
            schema,
            Why::rule("the task states one"),
        )
    } else if let Some((agent, output)) = output {
        let why = Why::field("output", agent, Some(&output.span));
        (SchemaSource::Agent, &output.value, why)
    } else if let Some(schema) = &grant.schema {
        (
            SchemaSource::Session,
            schema,
            Why::rule("the session states one for its tasks"),
        )
    } else {
        let why = Why::rule("nobody states one");
        return (None, vec![Reason::new("schema", Value::Null, why)]);
    };
    let schema = match usable(written) {
        Ok(schema) => schema,
        Err(reason) => {
            let fault = |words: &str| Problem::error(format!("{words} is no schema: {reason}"));
            faults.push(match (source, output) {
                (SchemaSource::Agent, Some((agent, output))) => {
                    let words = format!("`output` of `{}`", agent.name.value);
                    fault(&words).at(&agent.file, output.span.clone())
                }
                (SchemaSource::Session, _) => fault("`outputSchema` of the batch"),
                _ => fault("`outputSchema`"),
            });
            return (None, Vec::new());
        }
    };
    let reasons = vec![
        Reason::new("schema", json!(source), why),
        Reason::new("schema.mode", mode.as_str(), Why::rule(mode_why)),
    ];
    let planned = PlannedSchema {
        source,
        mode,
        schema,
    };
    (Some(planned), reasons)
}

fn usable(written: &Value) -> Result<Value, sortie_schema::SchemaFaults> {
    // A schema that came as JSON text is unwrapped, once.
    let unwrapped = match written {
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let schema = sortie_schema::to_json_schema(unwrapped.as_ref().unwrap_or(written))?;
    sortie_schema::check(&schema)?;
    Ok(schema)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
