//! The arguments of a call, read field by field so that a refusal can name the field.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The arguments of one call of one tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments<'a> {
    fields: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Reads `args` as the arguments of a tool that takes `known`. Another field is refused: what is not done must not
    /// pass in silence.
    pub(super) fn read(args: &'a Value, known: &[&str]) -> Result<Self, String> {
        let Value::Object(fields) = args else {
            return Err(format!(
                "expected an object with {}, found {}",
                listed(known),
                kind(args)
            ));
        };
        if let Some(other) = fields.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!(
                "unknown argument `{other}`, expected {}",
                listed(known)
            ));
        }
        Ok(Self { fields })
    }

    /// A field that must be there. `null` is absent.
    pub(super) fn required(self, name: &str, expected: &str) -> Result<&'a Value, String> {
        self.optional(name)
            .ok_or_else(|| format!("`{name}` is missing, expected {expected}"))
    }

    /// A field that may be absent. `null` is absent.
    pub(super) fn optional(self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// A text that must be there; it may be empty.
    pub(super) fn text(self, name: &str) -> Result<&'a str, String> {
        let value = self.required(name, "a text")?;
        value.as_str().ok_or_else(|| wrong(name, value, "a text"))
    }

    /// A text that may be absent.
    pub(super) fn optional_text(self, name: &str) -> Result<Option<&'a str>, String> {
        self.optional(name)
            .map(|value| value.as_str().ok_or_else(|| wrong(name, value, "a text")))
            .transpose()
    }

    /// A list that must be there.
    pub(super) fn list(self, name: &str, expected: &str) -> Result<&'a [Value], String> {
        let value = self.required(name, expected)?;
        value
            .as_array()
            .map(Vec::as_slice)
            .ok_or_else(|| wrong(name, value, expected))
    }

    /// The field `path`, taken from `cwd` when it is relative.
    pub(super) fn path(self, cwd: &Path) -> Result<Named<'a>, String> {
        let text = self.text("path")?;
        if text.is_empty() {
            return Err("`path` is empty, expected the path of a file".into());
        }
        Ok(Named {
            text,
            path: cwd.join(text),
        })
    }
}

/// A path as the model wrote it, and where it leads.
#[derive(Clone, Debug)]
pub(super) struct Named<'a> {
    /// As it was written; answers use it.
    pub(super) text: &'a str,
    /// Absolute, as far as the working folder is.
    pub(super) path: PathBuf,
}

/// A field that holds something else than it should.
pub(super) fn wrong(name: &str, value: &Value, expected: &str) -> String {
    format!("`{name}` is {}, expected {expected}", kind(value))
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(value) => format!("`{value}`"),
        Value::String(_) => "a text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn listed(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_names_the_field_and_what_was_expected() {
        let read = |args: Value| {
            Arguments::read(&args, &["path", "range"]).and_then(|args| {
                args.text("path")?;
                args.optional_text("range")?;
                Ok(())
            })
        };
        let refusals: Vec<_> = [
            json!("{\"path\": "),
            json!({"file": "a"}),
            json!({"path": null}),
            json!({"path": 3}),
            json!({"path": "a", "range": [1, 2]}),
        ]
        .map(|args| read(args).unwrap_err())
        .into();
        insta::assert_snapshot!(refusals.join("\n"), @r#"
    expected an object with `path`, `range`, found a text
    unknown argument `file`, expected `path`, `range`
    `path` is missing, expected a text
    `path` is `3`, expected a text
    `range` is a list, expected a text
    "#);
        assert_eq!(read(json!({"path": "a", "range": null})), Ok(()));
    }
}
