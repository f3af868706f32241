//! From JTD (RFC 8927) to JSON Schema.
//!
//! Read with three liberties that other harnesses take: the types `number` and `integer`, `enum` beside
//! `type: string`, and `metadata.description`, which becomes `description`.

mod objects;

use serde_json::{Map, Value, json};

use crate::{
    SchemaFault, SchemaFaults,
    dialect::Signs,
    path::{child, item},
    words::{described, names},
};

/// `schema` as JSON Schema: converted when it is JTD, and as it was in every other case.
///
/// It is JTD only when it has a keyword or a type word that only JTD has, and nothing that only JSON Schema has, at
/// any place where a schema stands. A property that is named like a keyword is no keyword. What comes back of a JSON
/// Schema has not been checked; see [`check`](crate::check).
pub fn to_json_schema(schema: &Value) -> Result<Value, SchemaFaults> {
    let signs = Signs::of(schema);
    if signs.is_jtd() {
        return convert(schema);
    }
    match (signs.json_schema, signs.optional_properties) {
        // JSON Schema would skip it without a word, and with it everything that it asks for.
        (Some(sign), Some(place)) => Err(SchemaFaults::one(
            &place,
            format!(
                "this is JTD, but `{sign}` is JSON Schema, and a schema is one or the other; list the names that \
                 must be there under `required`, or use JTD keywords alone (`metadata.description` for a description)"
            ),
        )),
        _ => Ok(schema.clone()),
    }
}

fn convert(schema: &Value) -> Result<Value, SchemaFaults> {
    let definitions = schema.get("definitions").and_then(Value::as_object);
    let mut conversion = Conversion {
        definitions,
        faults: Vec::new(),
    };
    let mut converted = conversion.schema(schema, "");
    if let Some(definitions) = definitions {
        let definitions: Map<_, _> = definitions
            .iter()
            .map(|(name, schema)| {
                let place = child("definitions", name);
                (name.clone(), conversion.schema(schema, &place).into())
            })
            .collect();
        converted.insert("$defs".to_owned(), definitions.into());
    }
    SchemaFaults::unless_empty(conversion.faults).map(|()| converted.into())
}

const KEYWORDS: [&str; 13] = [
    "type",
    "enum",
    "elements",
    "properties",
    "optionalProperties",
    "additionalProperties",
    "values",
    "discriminator",
    "mapping",
    "ref",
    "definitions",
    "nullable",
    "metadata",
];

/// The shape that a JTD schema describes. It has one of them, or none: then it takes anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Ref,
    Type,
    Enum,
    Elements,
    Properties,
    Values,
    Discriminator,
}

impl Form {
    fn of(keyword: &str) -> Option<Self> {
        Some(match keyword {
            "ref" => Self::Ref,
            "type" => Self::Type,
            "enum" => Self::Enum,
            "elements" => Self::Elements,
            "properties" | "optionalProperties" | "additionalProperties" => Self::Properties,
            "values" => Self::Values,
            "discriminator" | "mapping" => Self::Discriminator,
            _ => return None,
        })
    }
}

/// The field that tells shapes apart, and its value in one of them.
#[derive(Clone, Copy)]
struct Tag<'a> {
    field: &'a str,
    value: &'a str,
}

struct Conversion<'a> {
    definitions: Option<&'a Map<String, Value>>,
    faults: Vec<SchemaFault>,
}

impl Conversion<'_> {
    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(SchemaFault {
            path: path.into(),
            message: message.into(),
        });
    }

    /// The JSON Schema of one JTD schema. Where that has faults they are noted, and what comes back is of no use.
    fn schema(&mut self, schema: &Value, path: &str) -> Map<String, Value> {
        self.tagged(schema, path, None)
    }

    /// The same, of a shape among others that a `tag` tells apart.
    fn tagged(&mut self, schema: &Value, path: &str, tag: Option<Tag<'_>>) -> Map<String, Value> {
        let Some(keywords) = schema.as_object() else {
            self.fault(
                path,
                format!("a JTD schema is an object; this is {}", described(schema)),
            );
            return Map::new();
        };
        for keyword in keywords.keys() {
            if !KEYWORDS.contains(&keyword.as_str()) {
                let known = names(KEYWORDS.into_iter());
                self.fault(
                    child(path, keyword),
                    format!("this is no keyword of JTD, which has {known}"),
                );
            }
        }
        if keywords.contains_key("definitions") && !path.is_empty() {
            self.fault(
                child(path, "definitions"),
                "definitions stand only at the top of a schema",
            );
        }
        let mut converted = Map::new();
        if let Some(text) = self.description(keywords, path) {
            converted.insert("description".to_owned(), text.into());
        }
        converted.extend(self.form(keywords, path, tag));
        match keywords.get("nullable") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => allow_null(&mut converted),
            Some(other) => self.fault(
                child(path, "nullable"),
                format!("should be a boolean, but is {}", described(other)),
            ),
        }
        converted
    }

    fn description(&mut self, keywords: &Map<String, Value>, path: &str) -> Option<String> {
        match keywords.get("metadata")? {
            Value::Object(metadata) => metadata
                .get("description")
                .and_then(Value::as_str)
                .map(str::to_owned),
            other => {
                self.fault(
                    child(path, "metadata"),
                    format!("should be an object, but is {}", described(other)),
                );
                None
            }
        }
    }

    fn form(
        &mut self,
        keywords: &Map<String, Value>,
        path: &str,
        tag: Option<Tag<'_>>,
    ) -> Map<String, Value> {
        let mut forms: Vec<(Form, &str)> = Vec::new();
        for keyword in keywords.keys() {
            if let Some(form) = Form::of(keyword)
                && !forms.iter().any(|(other, _)| *other == form)
            {
                forms.push((form, keyword));
            }
        }
        if keywords.contains_key("enum") && keywords.get("type") == Some(&"string".into()) {
            // The type says no more than the list of texts beside it.
            forms.retain(|(form, _)| *form != Form::Type);
        }
        let form = match forms[..] {
            [] if tag.is_some() => Form::Properties,
            [] => return Map::new(),
            [(form, _)] => form,
            [..] => {
                let found = names(forms.iter().map(|(_, keyword)| *keyword));
                self.fault(
                    path,
                    format!("has {found}, of which a JTD schema has only one"),
                );
                return Map::new();
            }
        };
        let at = |keyword: &str| child(path, keyword);
        let converted = match form {
            Form::Ref => self.reference(&keywords["ref"], &at("ref")),
            Form::Type => self.primitive(&keywords["type"], &at("type")),
            Form::Enum => self.words(&keywords["enum"], &at("enum")),
            Form::Elements => {
                let items = self.schema(&keywords["elements"], &at("elements"));
                json!({"type": "array", "items": items})
            }
            Form::Values => {
                let values = self.schema(&keywords["values"], &at("values"));
                json!({"type": "object", "additionalProperties": values})
            }
            Form::Properties => self.properties(keywords, path, tag),
            Form::Discriminator => self.discriminator(keywords, path),
        };
        match converted {
            Value::Object(converted) => converted,
            _ => Map::new(),
        }
    }

    fn reference(&mut self, target: &Value, path: &str) -> Value {
        match target.as_str() {
            Some(name) if self.definitions.is_some_and(|all| all.contains_key(name)) => {
                json!({"$ref": format!("#/$defs/{}", escaped(name))})
            }
            Some(name) => {
                let known = self.definitions.into_iter().flat_map(Map::keys);
                let known = names(known.map(String::as_str));
                let message = match known.as_str() {
                    "" => format!("`{name}` is not defined; this schema has no `definitions`"),
                    known => format!("`{name}` is not defined; defined: {known}"),
                };
                self.fault(path, message);
                Value::Null
            }
            None => {
                self.fault(
                    path,
                    format!(
                        "should be a name under `definitions`, but is {}",
                        described(target)
                    ),
                );
                Value::Null
            }
        }
    }

    fn primitive(&mut self, word: &Value, path: &str) -> Value {
        let integer = |minimum: i64, maximum: i64| json!({"type": "integer", "minimum": minimum, "maximum": maximum});
        match word.as_str().unwrap_or_default() {
            word @ ("boolean" | "string" | "number" | "integer") => json!({"type": word}),
            "float32" | "float64" => json!({"type": "number"}),
            "timestamp" => json!({"type": "string", "format": "date-time"}),
            "int8" => integer(i8::MIN.into(), i8::MAX.into()),
            "uint8" => integer(0, u8::MAX.into()),
            "int16" => integer(i16::MIN.into(), i16::MAX.into()),
            "uint16" => integer(0, u16::MAX.into()),
            "int32" => integer(i32::MIN.into(), i32::MAX.into()),
            "uint32" => integer(0, u32::MAX.into()),
            _ => {
                self.fault(
                    path,
                    format!(
                        "{} is no type of JTD, which has `boolean`, `string`, `timestamp`, `number`, `float32`, \
                         `float64`, `integer`, `int8`, `uint8`, `int16`, `uint16`, `int32`, `uint32`",
                        described(word)
                    ),
                );
                Value::Null
            }
        }
    }

    fn words(&mut self, list: &Value, path: &str) -> Value {
        let Some(list) = list.as_array().filter(|list| !list.is_empty()) else {
            self.fault(path, "should be a list of at least one string");
            return Value::Null;
        };
        for (i, word) in list.iter().enumerate() {
            if !word.is_string() {
                self.fault(
                    item(path, i),
                    format!("should be a string, but is {}", described(word)),
                );
            } else if list[..i].contains(word) {
                self.fault(item(path, i), format!("{word} is listed twice"));
            }
        }
        json!({"type": "string", "enum": list})
    }
}

/// Lets `null` pass too.
fn allow_null(schema: &mut Map<String, Value>) {
    if schema.keys().all(|keyword| keyword == "description") {
        return;
    }
    if let Some(kind) = schema.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
        if let Some(Value::Array(list)) = schema.get_mut("enum") {
            list.push(Value::Null);
        }
        return;
    }
    let description = schema.shift_remove("description");
    let mut shapes = match schema.shift_remove("anyOf") {
        Some(Value::Array(shapes)) => shapes,
        _ => vec![Value::Object(std::mem::take(schema))],
    };
    shapes.push(json!({"type": "null"}));
    *schema = Map::new();
    if let Some(description) = description {
        schema.insert("description".to_owned(), description);
    }
    schema.insert("anyOf".to_owned(), shapes.into());
}

fn hex(digit: u8) -> char {
    char::from_digit(digit.into(), 16).unwrap_or('0')
}

/// A name as it stands in the fragment of a `$ref`.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'~' => text.push_str("~0"),
            b'/' => text.push_str("~1"),
            b'-' | b'.' | b'_' => text.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => text.push(byte.into()),
            _ => text.extend(['%', hex(byte >> 4), hex(byte & 15)]),
        }
    }
    text
}

#[cfg(test)]
#[path = "jtd_tests.rs"]
mod tests;
