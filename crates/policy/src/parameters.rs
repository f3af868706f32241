//! The arguments of the tools, as JSON Schemas.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::{Map, Value, json};
use sortie_protocol::{SpawnRule, tool::YIELD};

use crate::effective::EffectivePolicy;

/// The arguments of the tool `name`, as the model of `policy` sees them; `None` for a tool that is not built.
pub(crate) fn of(name: &str, policy: &EffectivePolicy) -> Option<Arc<Value>> {
    match name {
        "task" => Some(task(policy).into()),
        YIELD => Some(hand_in(policy).into()),
        _ => SHARED.get(name).map(Arc::clone),
    }
}

/// Of the tools that are the same for everybody. Every plan holds all of its tools, so these are made once.
static SHARED: LazyLock<BTreeMap<&str, Arc<Value>>> = LazyLock::new(|| {
    [
        ("read", read()),
        ("grep", grep()),
        ("glob", glob()),
        ("write", write()),
        ("edit", edit()),
        ("bash", bash()),
        ("todo", todo()),
    ]
    .map(|(name, arguments)| (name, arguments.into()))
    .into()
});

fn object(properties: Value, required: &[&str]) -> Value {
    let mut object = json!({"type": "object"});
    object["properties"] = properties;
    object["required"] = required.into();
    object["additionalProperties"] = false.into();
    object
}

fn read() -> Value {
    object(
        json!({
            "path": {"type": "string", "description": "the file or folder, or an address as `agent://ID`"},
            "range": {"type": "string", "description": "lines, as `10-40`, `10-`, or `10`; or bytes of one line, as `10:2001-4000`"},
        }),
        &["path"],
    )
}

fn glob() -> Value {
    object(
        json!({
            "pattern": {"type": "string", "description": "the glob, as `src/**/*.rs`"},
            "path": {"type": "string", "description": "the folder to start from"},
            "limit": {"type": "integer", "minimum": 1, "description": "paths to show at most; 500 without it"},
        }),
        &["pattern"],
    )
}

fn write() -> Value {
    object(
        json!({
            "path": {"type": "string", "description": "the file"},
            "content": {"type": "string", "description": "all of its text"},
        }),
        &["path", "content"],
    )
}

fn edit() -> Value {
    let edit = object(
        json!({
            "oldText": {"type": "string", "description": "text that occurs exactly once"},
            "newText": {"type": "string", "description": "what stands there afterwards"},
        }),
        &["oldText", "newText"],
    );
    object(
        json!({
            "path": {"type": "string", "description": "the file"},
            "edits": {"type": "array", "minItems": 1, "items": edit},
        }),
        &["path", "edits"],
    )
}

fn bash() -> Value {
    object(
        json!({
            "command": {"type": "string", "description": "what bash runs"},
            "timeoutS": {"type": "number", "description": "seconds it may take"},
        }),
        &["command"],
    )
}

fn todo() -> Value {
    let item = object(
        json!({
            "text": {"type": "string", "description": "the step"},
            "done": {"type": "boolean"},
        }),
        &["text"],
    );
    object(
        json!({"items": {"type": "array", "items": item}}),
        &["items"],
    )
}

fn grep() -> Value {
    object(
        json!({
            "pattern": {"type": "string", "description": "the regular expression"},
            "path": {"type": "string", "description": "the file or folder to search"},
            "glob": {"type": "string", "description": "which files of the folder, as `*.rs` or `!*.lock`"},
            "context": {"type": "integer", "minimum": 0, "description": "lines to show around a match"},
            "before": {"type": "integer", "minimum": 0, "description": "lines to show before a match"},
            "after": {"type": "integer", "minimum": 0, "description": "lines to show after a match"},
            "ignoreCase": {"type": "boolean"},
            "literal": {"type": "boolean", "description": "`pattern` is plain text"},
            "multiline": {"type": "boolean", "description": "a match may go over the ends of lines"},
            "show": {"enum": ["lines", "files"], "description": "`lines`, or the files and how many of their lines match"},
            "limit": {"type": "integer", "minimum": 1, "description": "matching lines, or files, to show at most; 200 without it"},
        }),
        &["pattern"],
    )
}

fn task(policy: &EffectivePolicy) -> Value {
    let mut agent = json!({"type": "string", "description": "who does it"});
    if let SpawnRule::Only(names) = policy.spawns() {
        let blocked = policy.blocked_agent();
        agent["enum"] = names
            .iter()
            .filter(|name| blocked != Some(name))
            .cloned()
            .collect();
    }
    let mut item = json!({
        "name": {"type": "string", "description": "a short name: letters, digits, `_`, `-`"},
        "agent": agent,
        "task": {"type": "string", "description": "the assignment, complete in itself"},
        "outputSchema": {"type": "object", "description": "a JSON Schema that the result has to fit"},
        "schemaMode": {"enum": ["permissive", "strict"]},
        "tools": {"type": "array", "items": {"type": "string"}, "description": "give it no other tools than these of its own"},
        "label": {"type": "string", "description": "what people see"},
    });
    if policy.hints {
        item["effort"] = json!({"enum": ["lo", "med", "hi"], "description": "how hard to think"});
    }
    let mut tasks = json!({"type": "array", "minItems": 1});
    tasks["items"] = object(item, &["task"]);
    let mut properties = json!({
        "context": {"type": "string", "description": "background that every one of them needs"},
    });
    properties["tasks"] = tasks;
    object(properties, &["context", "tasks"])
}

fn hand_in(policy: &EffectivePolicy) -> Value {
    let data = match policy.schema() {
        Some(planned) => moved(&planned.schema),
        None => json!({"description": "your result"}),
    };
    object(
        json!({
            "type": {
                "anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1},
                ],
                "description": "`text` for prose; a list with one label for a part",
            },
            "data": data,
            "error": {"type": "string", "description": "why it cannot be done"},
        }),
        &[],
    )
}

/// Where a schema stands within the arguments of `yield`.
const PLACE: &str = "#/properties/data";

/// `schema` as a part of a larger one: references that start at its top start where it now stands. One that has an
/// address of its own is left as it is.
fn moved(schema: &Value) -> Value {
    match schema {
        Value::Object(map) if map.contains_key("$id") || map.contains_key("id") => schema.clone(),
        Value::Object(_) => moved_within(schema),
        // `true` and `false` are schemas, but providers want an object.
        _ => json!({"description": "your result"}),
    }
}

fn moved_within(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("$ref", Value::String(target)) => moved_reference(target).into(),
                    // Values, not schemas.
                    ("enum" | "const" | "default" | "examples", _) => value.clone(),
                    (
                        "properties" | "$defs" | "definitions" | "patternProperties",
                        Value::Object(named),
                    ) => named
                        .iter()
                        .map(|(name, schema)| (name.clone(), moved_within(schema)))
                        .collect::<Map<_, _>>()
                        .into(),
                    _ => moved_within(value),
                };
                (key.clone(), value)
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(moved_within).collect(),
        _ => schema.clone(),
    }
}

fn moved_reference(target: &str) -> String {
    match target.strip_prefix('#') {
        Some(path) if path.is_empty() || path.starts_with('/') => format!("{PLACE}{path}"),
        _ => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_follow_a_schema_to_its_new_place() {
        let schema = json!({
            "$defs": {"person": {"type": "object", "properties": {"$ref": {"type": "string"}}}},
            "properties": {"owner": {"$ref": "#/$defs/person"}, "self": {"$ref": "#"}},
            "enum": [{"$ref": "#/left/alone"}],
        });
        assert_eq!(
            moved(&schema),
            json!({
                "$defs": {"person": {"type": "object", "properties": {"$ref": {"type": "string"}}}},
                "properties": {
                    "owner": {"$ref": "#/properties/data/$defs/person"},
                    "self": {"$ref": "#/properties/data"},
                },
                "enum": [{"$ref": "#/left/alone"}],
            })
        );
        let anchored = json!({"$id": "x", "$ref": "#/a"});
        assert_eq!(moved(&anchored), anchored);
    }
}
