//! `.a.b[0]`: a place in a task's data. The one grammar of `sortie runs output -q` and of `agent://ID?q=`.
//!
//! `.` is all of it. `.name` is a field, `[0]` an item, from 0. A name that holds one of `. [ ] "` is written as a JSON
//! string: `."a.b"`, or `["a.b"]`.

use std::fmt::{self, Write as _};

use serde_json::Value;
use sortie_config::nearest;
use thiserror::Error;

/// How many names are listed where none is near.
const LISTED: usize = 10;

/// A query that finds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// It is not of the grammar.
    #[error("`{query}` is no path in data: {fault}; write one like `.files[0].path`")]
    Syntax {
        /// What was asked.
        query: String,
        /// What is wrong with it.
        fault: String,
    },
    /// There is data, but not there.
    #[error("nothing at `{query}`: {found}")]
    Nothing {
        /// What was asked.
        query: String,
        /// How far it led, and what is there instead.
        found: String,
    },
}

/// One step into data.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// To the field of this name.
    Field(String),
    /// To the item at this place, from 0.
    Item(usize),
}

/// What stands at `query` in `data`.
pub fn select<'a>(data: &'a Value, query: &str) -> Result<&'a Value, QueryError> {
    let steps = parse(query).map_err(|fault| QueryError::Syntax {
        query: query.to_owned(),
        fault,
    })?;
    let mut at = data;
    for (nth, step) in steps.iter().enumerate() {
        at = step.take(at).ok_or_else(|| QueryError::Nothing {
            query: query.to_owned(),
            found: missing(&steps[..nth], at, step),
        })?;
    }
    Ok(at)
}

/// What was found, for a person or a program: text as it is, everything else as JSON.
pub fn found_text(found: &Value) -> String {
    match found {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

impl Step {
    fn take<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Field(name) => value.as_object()?.get(name),
            Self::Item(nth) => value.as_array()?.get(*nth),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) if name.is_empty() || name.contains(['.', '[', ']', '"']) => {
                write!(f, ".{}", Value::from(name.as_str()))
            }
            Self::Field(name) => write!(f, ".{name}"),
            Self::Item(nth) => write!(f, "[{nth}]"),
        }
    }
}

/// The steps of a query, or what is wrong with it.
fn parse(query: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    if query == "." {
        return Ok(steps);
    }
    let mut rest = query;
    while !rest.is_empty() {
        rest = if let Some(inside) = rest.strip_prefix("[") {
            item(inside, &mut steps)?
        } else if let Some(inside) = rest.strip_prefix(".[") {
            item(inside, &mut steps)?
        } else if let Some(after) = rest.strip_prefix('.') {
            field(after, &mut steps)?
        } else if steps.is_empty() {
            return Err("it begins with neither `.` nor `[`".into());
        } else {
            return Err(format!("`{rest}` follows without a `.`"));
        };
    }
    if steps.is_empty() {
        return Err("it is empty".into());
    }
    Ok(steps)
}

/// Reads what follows a `.`, and returns the rest.
fn field<'a>(text: &'a str, steps: &mut Vec<Step>) -> Result<&'a str, String> {
    if text.starts_with('"') {
        let (name, rest) = quoted(text)?;
        steps.push(Step::Field(name));
        return Ok(rest);
    }
    let end = text.find(['.', '[', ']', '"']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return Err("a `.` has no name behind it".into());
    }
    steps.push(Step::Field(name.to_owned()));
    Ok(rest)
}

/// Reads what follows a `[`, and returns the rest.
fn item<'a>(text: &'a str, steps: &mut Vec<Step>) -> Result<&'a str, String> {
    const UNCLOSED: &str = "a `[` is not closed";
    if text.starts_with('"') {
        let (name, rest) = quoted(text)?;
        steps.push(Step::Field(name));
        return rest.strip_prefix(']').ok_or_else(|| UNCLOSED.into());
    }
    let (number, rest) = text.split_once(']').ok_or(UNCLOSED)?;
    let nth = number
        .parse()
        .map_err(|_| format!("`[{number}]` holds neither a number from 0 nor a name in quotes"))?;
    steps.push(Step::Item(nth));
    Ok(rest)
}

/// Reads a JSON string, and returns the rest.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
    match strings.next() {
        Some(Ok(name)) => Ok((name, &text[strings.byte_offset()..])),
        _ => Err("a name in quotes is not closed".into()),
    }
}

/// Why `step` leads nowhere from `at`, which `walked` led to.
fn missing(walked: &[Step], at: &Value, step: &Step) -> String {
    let mut place = String::new();
    for step in walked {
        // Writing to a string cannot fail.
        let _ = write!(place, "{step}");
    }
    let place = if place.is_empty() {
        "the data".to_owned()
    } else {
        format!("`{place}`")
    };
    let count = |n: usize, noun: &str| match n {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    };
    match (at, step) {
        (Value::Object(fields), Step::Field(name)) => {
            match nearest(name, fields.keys().map(String::as_str)) {
                Some(near) => format!("{place} has `{near}`"),
                None if fields.is_empty() => format!("{place} is an object without fields"),
                None => format!("{place} has {}", listed(fields.keys())),
            }
        }
        (Value::Object(fields), Step::Item(_)) => {
            format!(
                "{place} is an object of {}, not a list",
                count(fields.len(), "field")
            )
        }
        (Value::Array(items), Step::Item(_)) => {
            format!("{place} has {}, counted from 0", count(items.len(), "item"))
        }
        (Value::Array(items), Step::Field(_)) => {
            format!("{place} is a list of {}", count(items.len(), "item"))
        }
        (Value::String(_), _) => format!("{place} is text"),
        (Value::Number(_), _) => format!("{place} is a number"),
        (Value::Bool(value), _) => format!("{place} is {value}"),
        (Value::Null, _) => format!("{place} is null"),
    }
}

fn listed<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let shown: Vec<_> = names.take(LISTED).map(|name| format!("`{name}`")).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn data() -> Value {
        json!({
            "files": [{"path": "x.rs", "a.b": {"\"": 1}}, {"path": "y.rs"}],
            "count": 2,
            "done": true,
            "none": null,
            "nothing": {},
        })
    }

    #[test]
    fn a_path_leads_into_data() {
        let data = data();
        for (path, found) in [
            (".", &data),
            (".count", &json!(2)),
            (".files[1].path", &json!("y.rs")),
            (".files.[1].path", &json!("y.rs")),
            (".files[0].\"a.b\"[\"\\\"\"]", &json!(1)),
            ("[\"files\"][0][\"path\"]", &json!("x.rs")),
            (".none", &Value::Null),
        ] {
            assert_eq!(select(&data, path), Ok(found), "{path}");
        }
        assert_eq!(select(&json!([7]), "[0]"), Ok(&json!(7)));
        assert_eq!(select(&json!([7]), ".[0]"), Ok(&json!(7)));
    }

    #[test]
    fn what_is_there_instead_is_named() {
        let data = data();
        let faults: Vec<_> = [
            ".fils",
            ".x",
            ".files[2]",
            ".files.path",
            ".count.x",
            ".files[0].path[0]",
            ".done.x",
            ".none.x",
            ".nothing.x",
            "[0]",
        ]
        .into_iter()
        .map(|path| select(&data, path).unwrap_err().to_string())
        .collect();
        insta::assert_snapshot!(faults.join("\n"), @"
        nothing at `.fils`: the data has `files`
        nothing at `.x`: the data has `files`, `count`, `done`, `none`, `nothing`
        nothing at `.files[2]`: `.files` has 2 items, counted from 0
        nothing at `.files.path`: `.files` is a list of 2 items
        nothing at `.count.x`: `.count` is a number
        nothing at `.files[0].path[0]`: `.files[0].path` is text
        nothing at `.done.x`: `.done` is true
        nothing at `.none.x`: `.none` is null
        nothing at `.nothing.x`: `.nothing` is an object without fields
        nothing at `[0]`: the data is an object of 5 fields, not a list
        ");
        let many: Value = (0..12)
            .map(|n| (format!("key{n:02}xyz"), json!(n)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        insta::assert_snapshot!(select(&many, ".q").unwrap_err(), @"nothing at `.q`: the data has `key00xyz`, `key01xyz`, `key02xyz`, `key03xyz`, `key04xyz`, `key05xyz`, `key06xyz`, `key07xyz`, `key08xyz`, `key09xyz`, and 2 more");
    }

    #[test]
    fn what_is_no_path_says_why() {
        let faults: Vec<_> = [
            "",
            "files",
            ".files[",
            ".files[x]",
            ".files[-1]",
            "..a",
            ".a.",
            ".a]",
            ".\"a",
            ".a[\"b\"",
            ".a\"b\"",
            "[0]a",
        ]
        .into_iter()
        .map(|path| select(&data(), path).unwrap_err().to_string())
        .collect();
        insta::assert_snapshot!(faults.join("\n"), @r#"
        `` is no path in data: it is empty; write one like `.files[0].path`
        `files` is no path in data: it begins with neither `.` nor `[`; write one like `.files[0].path`
        `.files[` is no path in data: a `[` is not closed; write one like `.files[0].path`
        `.files[x]` is no path in data: `[x]` holds neither a number from 0 nor a name in quotes; write one like `.files[0].path`
        `.files[-1]` is no path in data: `[-1]` holds neither a number from 0 nor a name in quotes; write one like `.files[0].path`
        `..a` is no path in data: a `.` has no name behind it; write one like `.files[0].path`
        `.a.` is no path in data: a `.` has no name behind it; write one like `.files[0].path`
        `.a]` is no path in data: `]` follows without a `.`; write one like `.files[0].path`
        `."a` is no path in data: a name in quotes is not closed; write one like `.files[0].path`
        `.a["b"` is no path in data: a `[` is not closed; write one like `.files[0].path`
        `.a"b"` is no path in data: `"b"` follows without a `.`; write one like `.files[0].path`
        `[0]a` is no path in data: `a` follows without a `.`; write one like `.files[0].path`
        "#);
    }

    proptest! {
        #[test]
        fn every_name_can_be_written(names in prop::collection::vec(".*", 1..4), nth in 0_usize..3) {
            let mut steps: Vec<_> = names.into_iter().map(Step::Field).collect();
            steps.push(Step::Item(nth));
            let written: String = steps.iter().map(Step::to_string).collect();
            prop_assert_eq!(parse(&written), Ok(steps));
        }

        #[test]
        fn no_text_is_too_odd_to_be_refused(path in ".*") {
            let _ = select(&data(), &path);
        }
    }
}
