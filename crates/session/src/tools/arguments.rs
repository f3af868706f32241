//! The arguments of a call, read field by field so that a refusal can name the field.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use similar::TextDiff;

/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f32 = 0.7;

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
            let meant = nearest(other, known)
                .map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
            return Err(format!(
                "unknown argument `{other}`{meant}, expected {}",
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

    /// A text that may be absent and is one of `words`.
    pub(super) fn word(
        self,
        name: &str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, String> {
        let Some(text) = self.optional_text(name)? else {
            return Ok(None);
        };
        let found = words.iter().find(|word| **word == text);
        found
            .map(|word| Some(*word))
            .ok_or_else(|| format!("`{name}` is `{text}`, expected one of {}", listed(words)))
    }

    /// A flag; absent is false.
    pub(super) fn flag(self, name: &str) -> Result<bool, String> {
        let Some(value) = self.optional(name) else {
            return Ok(false);
        };
        value
            .as_bool()
            .ok_or_else(|| wrong(name, value, "true or false"))
    }

    /// A whole number within `range` that may be absent. Some providers write every number with a point.
    pub(super) fn number(
        self,
        name: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, String> {
        let Some(value) = self.optional(name) else {
            return Ok(None);
        };
        let whole = value.as_u64().or_else(|| {
            let number = value.as_f64().filter(|number| number.fract() == 0.0);
            number.and_then(|number| number.to_string().parse().ok())
        });
        let found = whole.and_then(|number| u32::try_from(number).ok());
        found
            .filter(|number| range.contains(number))
            .map(Some)
            .ok_or_else(|| {
                let expected = format!("a whole number from {} to {}", range.start(), range.end());
                wrong(name, value, &expected)
            })
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

/// `args` with the names that this tool gives its arguments, where other tools of its kind give them others: `aliases`
/// holds those and what they stand for here.
pub(super) fn renamed(args: &Value, aliases: &[(&str, &str)]) -> Result<Value, String> {
    let Value::Object(fields) = args else {
        return Ok(args.clone());
    };
    let mut fields = fields.clone();
    for (alias, name) in aliases {
        let Some(value) = fields.shift_remove(*alias) else {
            continue;
        };
        match fields.get(*name) {
            _ if value.is_null() => {}
            Some(other) if !other.is_null() && *other != value => {
                return Err(format!(
                    "`{alias}` stands for `{name}`, which is there too and says something else"
                ));
            }
            _ => {
                fields.insert((*name).to_owned(), value);
            }
        }
    }
    Ok(Value::Object(fields))
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

fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let word = plain(word);
    let alike = |name: &'a str| {
        let ratio = TextDiff::from_chars(word.as_str(), plain(name).as_str()).ratio();
        (ratio, name)
    };
    let best = known
        .iter()
        .map(|name| alike(name))
        .filter(|(ratio, _)| *ratio >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, name)| name)
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
    fn words_flags_and_numbers_are_read() {
        let known = ["show", "ignoreCase", "limit"];
        let read = |args: Value| {
            let args = Arguments::read(&args, &known)?;
            Ok::<_, String>((
                args.word("show", &["lines", "files"])?,
                args.flag("ignoreCase")?,
                args.number("limit", 1..=20)?,
            ))
        };
        assert_eq!(read(json!({"limit": null})), Ok((None, false, None)));
        assert_eq!(
            read(json!({"show": "files", "ignoreCase": true, "limit": 20.0})),
            Ok((Some("files"), true, Some(20)))
        );
        let refusals: Vec<_> = [
            json!({"show": "count"}),
            json!({"ignoreCase": "yes"}),
            json!({"limit": 0}),
            json!({"limit": 2.5}),
            json!({"limit": "5"}),
            json!({"ignore_case": true}),
        ]
        .map(|args| read(args).unwrap_err())
        .into();
        insta::assert_snapshot!(refusals.join("\n"), @"
        `show` is `count`, expected one of `lines`, `files`
        `ignoreCase` is a text, expected true or false
        `limit` is `0`, expected a whole number from 1 to 20
        `limit` is `2.5`, expected a whole number from 1 to 20
        `limit` is a text, expected a whole number from 1 to 20
        unknown argument `ignore_case` (did you mean `ignoreCase`?), expected `show`, `ignoreCase`, `limit`
        ");
    }

    #[test]
    fn names_of_other_tools_are_understood() {
        let renamed = |args: Value| renamed(&args, &[("query", "pattern"), ("-i", "ignoreCase")]);
        let ours = json!({"path": "a", "pattern": "x", "ignoreCase": true});
        assert_eq!(
            renamed(json!({"path": "a", "query": "x", "-i": true})).unwrap(),
            ours
        );
        assert_eq!(
            renamed(json!({"path": "a", "query": "x", "pattern": "x", "-i": true})).unwrap(),
            ours
        );
        assert_eq!(renamed(json!({"query": null})).unwrap(), json!({}));
        insta::assert_snapshot!(
            renamed(json!({"query": "x", "pattern": "y"})).unwrap_err(),
            @"`query` stands for `pattern`, which is there too and says something else"
        );
    }

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
