//! Whether a JSON Schema can be used.

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::{
    SchemaFault, SchemaFaults,
    explain::explain,
    path::{child, item},
    words::described,
};

/// Whether `schema` is a JSON Schema that values can be checked against: an object or a boolean, valid by the
/// meta-schema of its draft (2020-12 where it names none), with every `$ref` leading to a place in it.
///
/// Written for JSON Schema alone; another dialect goes through [`to_json_schema`](crate::to_json_schema) first.
pub fn check(schema: &Value) -> Result<(), SchemaFaults> {
    compile(schema).map(drop)
}

/// Checks and compiles in one go: compiling includes every check.
pub(crate) fn compile(schema: &Value) -> Result<jsonschema::Validator, SchemaFaults> {
    if !schema.is_object() && !schema.is_boolean() {
        let message = format!(
            "a schema is an object, `true` or `false`; this is {}",
            described(schema)
        );
        return Err(SchemaFaults::one("", message));
    }
    jsonschema::options()
        // Dates and addresses are what authors mean them to be, in every draft.
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| match error.kind() {
            ValidationErrorKind::Referencing(fault) => references(schema, fault),
            _ => against_meta_schema(schema)
                .unwrap_or_else(|| SchemaFaults::one("", error.to_string())),
        })
}

/// The builder stops at the first fault; the meta-schema names them all.
fn against_meta_schema(schema: &Value) -> Option<SchemaFaults> {
    let meta = jsonschema::meta::validator_for(schema).ok()?;
    let faults = explain(&Value::Null, meta.iter_errors(schema))
        .into_iter()
        .map(|(path, message)| SchemaFault { path, message })
        .collect();
    SchemaFaults::unless_empty(faults).err()
}

/// The builder does not say where a bad `$ref` stands, so every one that leads nowhere is looked for here.
fn references(schema: &Value, fault: &jsonschema::ReferencingError) -> SchemaFaults {
    if let jsonschema::ReferencingError::UnknownSpecification { specification } = fault {
        let message = format!(
            "`{specification}` is no known draft; leave `$schema` out, or name \
             `https://json-schema.org/draft/2020-12/schema`"
        );
        return SchemaFaults::one("$schema", message);
    }
    let mut search = Search {
        root: schema,
        anchors: Vec::new(),
        targets: Vec::new(),
    };
    search.visit(schema, "");
    SchemaFaults::unless_empty(search.faults())
        .err()
        .unwrap_or_else(|| SchemaFaults::one("", fault.to_string()))
}

struct Search<'a> {
    root: &'a Value,
    anchors: Vec<&'a str>,
    /// Where each reference stands, and where it leads.
    targets: Vec<(String, &'a str)>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, value: &'a Value, path: &str) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let path = child(path, name);
                    match (name.as_str(), value) {
                        // Data, in which a `$ref` is a name like any other.
                        ("const" | "enum" | "default" | "examples", _) => {}
                        ("$ref" | "$dynamicRef", Value::String(target)) => {
                            self.targets.push((path, target));
                        }
                        ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                            self.anchors.push(name);
                        }
                        _ => self.visit(value, &path),
                    }
                }
            }
            Value::Array(items) => {
                for (i, value) in items.iter().enumerate() {
                    self.visit(value, &item(path, i));
                }
            }
            _ => {}
        }
    }

    fn faults(self) -> Vec<SchemaFault> {
        let fault = |(path, target): &(String, &str)| {
            Some(SchemaFault {
                path: path.clone(),
                message: self.fault(target)?,
            })
        };
        self.targets.iter().filter_map(fault).collect()
    }

    fn fault(&self, target: &str) -> Option<String> {
        let unfit = |c: char| !c.is_ascii_graphic() || "<>\"{}|\\^`".contains(c);
        if let Some(c) = target.chars().find(|&c| unfit(c)) {
            return Some(format!(
                "`{target}` is no URI reference; `{c}` in it has to be percent-encoded"
            ));
        }
        match target.strip_prefix('#') {
            Some("") => None,
            Some(pointer) if pointer.starts_with('/') => {
                let found = self.root.pointer(&unescaped(pointer)).is_some();
                (!found).then(|| format!("`{target}` leads to nothing in this schema"))
            }
            Some(anchor) => (!self.anchors.contains(&anchor))
                .then(|| format!("this schema has no anchor `{target}`")),
            None => Some(format!(
                "`{target}` is outside this schema; put what it means under `$defs` and write \
                 `#/$defs/NAME`"
            )),
        }
    }
}

/// A pointer without its percent escapes.
fn unescaped(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let [first, tail @ ..] = rest {
        let escape = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escape.unwrap_or(*first));
        rest = if escape.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
