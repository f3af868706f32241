//! Which dialect a schema is written in.

use serde_json::Value;

use crate::path::child;

/// Keywords that only JTD has.
const JTD_ONLY: [&str; 8] = [
    "optionalProperties",
    "elements",
    "values",
    "discriminator",
    "mapping",
    "ref",
    "nullable",
    "metadata",
];

/// Types that only JTD has.
const JTD_TYPES: [&str; 9] = [
    "timestamp",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
];

/// Keywords that only JSON Schema has, of any draft.
const JSON_ONLY: [&str; 58] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];

/// What tells the dialects apart in one schema and in all schemas within it.
///
/// Only places where a schema stands are looked at, so the name of a property is never taken for a keyword.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    /// The first place that only JTD could have.
    pub(crate) jtd: Option<String>,
    /// The first place that only JSON Schema could have.
    pub(crate) json_schema: Option<String>,
    /// The first `optionalProperties`, which no JSON Schema has by accident.
    pub(crate) optional_properties: Option<String>,
}

impl Signs {
    /// Reads the signs in `schema`.
    pub(crate) fn of(schema: &Value) -> Self {
        let mut signs = Self::default();
        signs.look(schema, "");
        signs
    }

    /// Whether the schema is JTD: it has a sign of it, and none of JSON Schema.
    pub(crate) fn is_jtd(&self) -> bool {
        self.jtd.is_some() && self.json_schema.is_none()
    }

    fn look(&mut self, schema: &Value, path: &str) {
        let Some(keywords) = schema.as_object() else {
            return;
        };
        for (keyword, value) in keywords {
            let place = child(path, keyword);
            match keyword.as_str() {
                "type" if is_jtd_type(value) => keep(&mut self.jtd, &place),
                "type" if is_json_schema_type(value) => keep(&mut self.json_schema, &place),
                "additionalProperties" if value.is_object() => keep(&mut self.json_schema, &place),
                word if JTD_ONLY.contains(&word) => keep(&mut self.jtd, &place),
                word if JSON_ONLY.contains(&word) => keep(&mut self.json_schema, &place),
                _ => {}
            }
            match keyword.as_str() {
                "properties" | "optionalProperties" | "definitions" | "mapping" => {
                    if keyword == "optionalProperties" {
                        keep(&mut self.optional_properties, &place);
                    }
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        self.look(schema, &child(&place, name));
                    }
                }
                "elements" | "values" => self.look(value, &place),
                _ => {}
            }
        }
    }
}

fn keep(first: &mut Option<String>, place: &str) {
    first.get_or_insert_with(|| place.to_owned());
}

fn is_jtd_type(value: &Value) -> bool {
    value.as_str().is_some_and(|word| JTD_TYPES.contains(&word))
}

fn is_json_schema_type(value: &Value) -> bool {
    match value {
        Value::String(word) => matches!(word.as_str(), "object" | "array" | "null"),
        other => other.is_array(),
    }
}
