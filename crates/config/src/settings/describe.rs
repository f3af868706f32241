//! The table of settings, for editors and for readers.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{
    layer::variable_name,
    table::{Project, ROWS, Row},
};

/// The JSON Schema of a `config.yml`.
pub fn settings_schema() -> Value {
    let mut root = group();
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("sortie settings");
    // Dotted keys are read as well as nested ones, so what is unknown here may still be a setting.
    root["additionalProperties"] = json!(true);
    for row in ROWS {
        let mut parts: Vec<&str> = row.key.split('.').collect();
        let Some(last) = parts.pop() else { continue };
        let mut at = &mut root;
        for part in parts {
            let properties = &mut at["properties"];
            if properties.get(part).is_none() {
                properties[part] = group();
            }
            at = &mut properties[part];
        }
        let mut schema = (row.schema)();
        schema["description"] = text(row).into();
        match (row.default)() {
            Value::Null => {}
            default => schema["default"] = default,
        }
        at["properties"][last] = schema;
    }
    root
}

fn group() -> Value {
    json!({"type": "object", "properties": Map::new(), "additionalProperties": false})
}

/// The page of the documentation that lists every setting.
pub fn settings_markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    for row in ROWS {
        let default = match (row.default)() {
            Value::Null => "none".to_owned(),
            Value::String(word) => format!("`{word}`"),
            value => format!("`{value}`"),
        };
        let project = match row.project {
            Project::Fixed => "may not set it".to_owned(),
            Project::Narrows => format!("may only {}", row.narrowing),
        };
        // Writing to a `String` does not fail.
        let _ = write!(
            page,
            "\n## `{}`\n\n{}\n\n- Holds: {}\n- Default: {default}\n- A project: {project}\n- Variable: `{}`\n",
            row.key,
            text(row),
            row.noun,
            variable_name(row.key),
        );
    }
    page
}

fn text(row: &Row) -> String {
    let lines: Vec<&str> = row.doc.lines().map(str::trim).collect();
    lines.join(" ")
}

const INTRODUCTION: &str = "\
# Settings

This page is made from the table of settings in the code.

Settings are read once, when a run starts, from these places. A later one wins.

1. The defaults below.
2. `config.yml` in `~/.sortie/agent/` (`SORTIE_AGENT_DIR` moves that folder).
3. `config.yml` in the project's `.sortie/`: the nearest one from the current folder up to the top of the repository. A
   project is not trusted, so it may only narrow what you allow; what else it says is ignored, with a note.
4. Each file named by `--config`, in order.
5. `SORTIE_*` variables.
6. Flags of the command line.

Names may be nested or dotted: `task: {idleMs: 1000}` and `task.idleMs: 1000` say the same. In maps, a later place adds to
an earlier one name by name, and `null` takes a name out.
";
