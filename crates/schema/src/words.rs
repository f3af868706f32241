//! Values, types, and lists as messages show them.

use jsonschema::{JsonType, error::TypeKind};
use serde_json::Value;

/// How many allowed values, names, or shapes a message lists.
pub(crate) const LISTED: usize = 24;
/// How many characters of a value a message shows.
const SHOWN: usize = 80;

/// A value with what it is: `the string "x"`, `an array`.
pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => shown(value),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => format!("the string {}", shown(value)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A value as JSON, cut where it is long.
pub(crate) fn shown(value: &Value) -> String {
    clipped(&value.to_string())
}

/// Each value of a list as JSON.
pub(crate) fn values(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut all: Vec<_> = list.iter().take(LISTED).map(shown).collect();
    if list.len() > LISTED {
        all.push(format!("{} more", list.len() - LISTED));
    }
    all
}

/// The head of a text.
pub(crate) fn clipped(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `` `a`, `b` ``
pub(crate) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<_> = names.map(|name| format!("`{}`", clipped(name))).collect();
    match all.len().checked_sub(LISTED) {
        Some(more @ 1..) => format!("{}, {more} more", all[..LISTED].join(", ")),
        _ => all.join(", "),
    }
}

/// `a, b or c`
pub(crate) fn or(words: &[String]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

/// Each type with its article.
pub(crate) fn types(kind: &TypeKind) -> Vec<String> {
    match kind {
        TypeKind::Single(one) => vec![type_word(*one).to_owned()],
        TypeKind::Multiple(several) => several
            .iter()
            .map(|one| type_word(one).to_owned())
            .collect(),
    }
}

const fn type_word(one: JsonType) -> &'static str {
    match one {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// `1 item`, `2 items`
pub(crate) fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
