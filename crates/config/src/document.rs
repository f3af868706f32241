//! A YAML or JSON text as a tree in which every value knows where it stands.
//!
//! Settings, catalogues, batches, scripts, and agent headers are all read from this tree, so every reader can name
//! the file, the line, and the column of what it does not like. Text is kept as written: `007` is a number to
//! whoever wants one, and three characters to whoever wants text.

use std::{fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};
use serde_saphyr::{Location, Spanned};

use crate::{Problem, Source};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its bytes in the source; empty for a value that was never written down.
    pub span: Range<usize>,
    /// The value.
    pub kind: Kind,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Nothing, `~`, or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, and how it was written.
    Number(serde_json::Number, String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values, in order. Keys are unique.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Reads `source` whole. Duplicate keys and alias bombs are problems.
    pub fn parse(source: &Source) -> Result<Self, Problem> {
        Self::parse_part(source, 0..source.text().len())
    }

    /// Reads `part` of `source`. Positions are positions in the whole.
    pub fn parse_part(source: &Source, part: Range<usize>) -> Result<Self, Problem> {
        let text = &source.text()[part.clone()];
        match serde_saphyr::from_str::<Raw>(text) {
            Ok(raw) => Ok(raw.place(text, part.start)),
            Err(error) => {
                let problem = || {
                    let at = part.start + error_offset(&error, text);
                    problem_of(&error).at(source, at..at)
                };
                if let serde_saphyr::Error::DuplicateMappingKey { .. } = error.without_snippet() {
                    return Err(problem());
                }
                // JSON that YAML does not read: surrogate pairs, tabs before a key.
                serde_json::from_str::<Value>(text)
                    .map(Self::from)
                    .map_err(|_| problem())
            }
        }
    }

    /// The text, when it is text or was written as a bare number or word.
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) | Kind::Number(_, text) => Some(text),
            Kind::Bool(true) => Some("true"),
            Kind::Bool(false) => Some("false"),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map.
    pub fn as_map(&self) -> Option<&[(Self, Self)]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value under `key` of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let entries = self.as_map()?;
        entries
            .iter()
            .find(|(name, _)| name.as_text() == Some(key))
            .map(|(_, value)| value)
    }

    /// Whether there is nothing here.
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// What it is, in a word: for messages.
    pub fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "a switch",
            Kind::Number(..) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }

    /// The value as JSON, positions forgotten.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number, _) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_json).collect(),
            Kind::Map(entries) => Value::Object(
                entries
                    .iter()
                    .filter_map(|(key, value)| Some((key.as_text()?.to_owned(), value.to_json())))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(value),
            Value::Number(number) => {
                let text = number.to_string();
                Kind::Number(number, text)
            }
            Value::String(text) => Kind::Text(text),
            Value::Array(items) => Kind::List(items.into_iter().map(Self::from).collect()),
            Value::Object(entries) => Kind::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (Self::from(Value::String(key)), Self::from(value)))
                    .collect(),
            ),
        };
        Self { span: 0..0, kind }
    }
}

/// A node as serde gives it: with the parser's positions.
struct Raw(Spanned<RawKind>);

enum RawKind {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Raw>),
    Map(Vec<(Raw, Raw)>),
}

fn offset(location: &Location) -> usize {
    location
        .span()
        .byte_offset()
        .and_then(|at| usize::try_from(at).ok())
        .unwrap_or(0)
}

/// Where an error is, in bytes. The parser counts lines and characters in an error, and bytes only in a value.
fn error_offset(error: &serde_saphyr::Error, text: &str) -> usize {
    let Some(location) = error.location() else {
        return 0;
    };
    let number = |n: u64| usize::try_from(n.saturating_sub(1)).unwrap_or(0);
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines
        .by_ref()
        .take(number(location.line()))
        .map(str::len)
        .sum();
    let line = lines.next().unwrap_or_default();
    let within = line
        .char_indices()
        .nth(number(location.column()))
        .map_or(line.len(), |(at, _)| at);
    before + within
}

/// An error, in our words where the parser speaks to programmers.
fn problem_of(error: &serde_saphyr::Error) -> Problem {
    match error.without_snippet() {
        serde_saphyr::Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_ref().map(|key| format!("`{key}`"));
            let key = key.as_deref().unwrap_or("a key");
            Problem::error(format!("{key} is said twice")).help("keep one of the two")
        }
        serde_saphyr::Error::BinaryNotUtf8 { .. } => {
            Problem::error("a `!!binary` value is not text").help("write it as plain text")
        }
        _ => Problem::error(error_message(error)),
    }
}

/// What an error says, without the position that the parser adds: it counts from the start of a part.
fn error_message(error: &serde_saphyr::Error) -> String {
    let mut message = error.without_snippet().to_string();
    if let Some(location) = error.location() {
        let position = format!(" at line {}, column {}", location.line(), location.column());
        if let Some(bare) = message.strip_suffix(&position) {
            message.truncate(bare.len());
        }
    }
    message
}

impl Raw {
    fn place(self, text: &str, base: usize) -> Node {
        let range = |location: &Location| {
            let start = offset(location).min(text.len());
            let len = location
                .span()
                .byte_len()
                .and_then(|len| usize::try_from(len).ok())
                .unwrap_or(0);
            start..(start + len).min(text.len())
        };
        let Range { start, end } = range(&self.0.referenced);
        // An alias stands elsewhere than what it means was written.
        let written = text.get(range(&self.0.defined)).unwrap_or_default();
        let kind = match self.0.value {
            RawKind::Null => Kind::Null,
            RawKind::Bool(value) => match written.trim() {
                "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Kind::Bool(value),
                // `yes` and `on` are words here, as they are in YAML 1.2.
                word => Kind::Text(word.to_owned()),
            },
            RawKind::Number(number) => Kind::Number(number, written.trim().to_owned()),
            RawKind::Text(text) => Kind::Text(text),
            RawKind::List(items) => Kind::List(
                items
                    .into_iter()
                    .map(|item| item.place(text, base))
                    .collect(),
            ),
            RawKind::Map(entries) => Kind::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (key.place(text, base), value.place(text, base)))
                    .collect(),
            ),
        };
        Node {
            span: base + start..base + end,
            kind,
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RawKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = RawKind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<RawKind, E> {
                Ok(RawKind::Null)
            }

            fn visit_none<E>(self) -> Result<RawKind, E> {
                Ok(RawKind::Null)
            }

            fn visit_some<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<RawKind, D::Error> {
                RawKind::deserialize(deserializer)
            }

            fn visit_bool<E>(self, value: bool) -> Result<RawKind, E> {
                Ok(RawKind::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<RawKind, E> {
                Ok(RawKind::Number(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<RawKind, E> {
                Ok(RawKind::Number(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<RawKind, E> {
                Ok(serde_json::Number::from_f64(value)
                    .map_or_else(|| RawKind::Text(value.to_string()), RawKind::Number))
            }

            fn visit_str<E>(self, text: &str) -> Result<RawKind, E> {
                Ok(RawKind::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<RawKind, E> {
                Ok(RawKind::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RawKind, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(RawKind::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawKind, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    entries.push(entry);
                }
                Ok(RawKind::Map(entries))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
