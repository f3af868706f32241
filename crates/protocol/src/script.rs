//! A scripted model: what a `script/NAME` provider answers, turn by turn.

use std::{ops::Deref, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::Usage;

/// The entries of one script. Copies share them: a recorded run has an entry for each of its tasks, and each task that
/// waits holds the script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<ScriptEntry>", into = "Vec<ScriptEntry>")]
pub struct Script(Arc<[ScriptEntry]>);

impl Deref for Script {
    type Target = [ScriptEntry];

    fn deref(&self) -> &[ScriptEntry] {
        &self.0
    }
}

impl From<Vec<ScriptEntry>> for Script {
    fn from(entries: Vec<ScriptEntry>) -> Self {
        Self(entries.into())
    }
}

impl From<Script> for Vec<ScriptEntry> {
    fn from(script: Script) -> Self {
        script.to_vec()
    }
}

impl FromIterator<ScriptEntry> for Script {
    fn from_iter<I: IntoIterator<Item = ScriptEntry>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// Turns for the requests that `when` matches. Entries are tried in file order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptEntry {
    /// Which requests these turns answer; empty matches every request.
    #[serde(default)]
    pub when: When,
    /// The turns, used up one a request.
    pub turns: Vec<Turn>,
}

/// Which requests an entry answers. Every condition that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct When {
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The task's id, as a glob: `*` is any text, `?` any character.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The task's depth; 1 is a task of the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The number of the request within its child, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
}

impl When {
    /// Whether the conditions that do not change within a child hold.
    pub fn matches_child(&self, agent: &str, task: &str, depth: u32) -> bool {
        self.agent.as_deref().is_none_or(|wanted| wanted == agent)
            && self.depth.is_none_or(|wanted| wanted == depth)
            && self
                .task
                .as_deref()
                .is_none_or(|pattern| glob(pattern.as_bytes(), task.as_bytes()))
    }
}

/// Whether `text` matches `pattern`, where `*` is any text and `?` any byte.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skip| glob(rest, &text[skip..])),
        Some((b'?', rest)) => !text.is_empty() && glob(rest, &text[1..]),
        Some((byte, rest)) => text.first() == Some(byte) && glob(rest, &text[1..]),
    }
}

/// What stands in a script's strings for the child's own folder.
const SCRATCH: &str = "{scratch}";

/// `text` with `scratch` in the place of each `${scratch}`. `$${scratch}` is the text `${scratch}` itself, and so on:
/// of two or more `$` one is taken away.
pub fn fill_scratch(text: &str, scratch: &str) -> String {
    at_dollars(text, |dollars| match dollars {
        1 => scratch.to_owned(),
        more => "$".repeat(more - 1) + SCRATCH,
    })
}

/// The opposite of [`fill_scratch`]: the text of a script that says `text` in a child whose folder is `scratch`, and
/// the same of its own folder in any other. A folder behind a `$` stays as it is: there is no way to say it.
pub fn mark_scratch(text: &str, scratch: &str) -> String {
    let escaped = |text: &str| at_dollars(text, |dollars| "$".repeat(dollars + 1) + SCRATCH);
    if scratch.is_empty() {
        return escaped(text);
    }
    let mut marked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(scratch) {
        let (before, found) = rest.split_at(at);
        let (folder, after) = found.split_at(scratch.len());
        marked.push_str(&escaped(before));
        marked.push_str(if before.ends_with('$') {
            folder
        } else {
            "${scratch}"
        });
        rest = after;
    }
    marked + &escaped(rest)
}

/// `text` with each run of `$` before `{scratch}`, and that, replaced by what `instead` makes of their number.
fn at_dollars(text: &str, instead: impl Fn(usize) -> String) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(SCRATCH) {
        let before = &rest[..at];
        let kept = before.trim_end_matches('$');
        made.push_str(kept);
        match before.len() - kept.len() {
            0 => made.push_str(SCRATCH),
            dollars => made.push_str(&instead(dollars)),
        }
        rest = &rest[at + SCRATCH.len()..];
    }
    made + rest
}

/// One answer of a scripted model.
///
/// A turn may think, say something, and call tools, in that order; then it ends well, or with
/// one of `error`, `cut`, and `stall`. In everything it says `${scratch}` is the child's own folder; see
/// [`fill_scratch`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Turn {
    /// Thinking text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<String>,
    /// Answer text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The name of a tool to call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The arguments of `tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// Several tool calls in one turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ScriptCall>,
    /// A call of `yield`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// Answer with an HTTP error instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptError>,
    /// Break the stream off after what was said.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Never send another byte after what was said.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stall: bool,
    /// The stop reason to claim: `stop`, `length`, or `refusal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The usage to report; absent reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether the turn is never used up: every further request that its entry answers gets it too. What fails so
    /// fails for good, and is neither tried again nor waited for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
}

impl Turn {
    /// This turn with `change` made to every text that it says: its thinking, its words, and each string in its calls.
    #[must_use]
    pub fn map_text(self, change: &impl Fn(&str) -> String) -> Self {
        let text = |text: Option<String>| text.map(|text| change(&text));
        let value = |value: Option<Value>| value.map(|value| map_strings(value, change));
        Self {
            think: text(self.think),
            text: text(self.text),
            args: value(self.args),
            tools: self
                .tools
                .into_iter()
                .map(|call| ScriptCall {
                    tool: call.tool,
                    args: map_strings(call.args, change),
                })
                .collect(),
            finish: self.finish.map(|finish| Finish {
                data: value(finish.data),
                text: text(finish.text),
                error: text(finish.error),
                section: text(finish.section),
            }),
            ..self
        }
    }
}

fn map_strings(value: Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| map_strings(item, change))
            .collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, map_strings(value, change)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

/// A tool call within a turn of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Value,
}

/// A call of `yield`: one of `data`, `text`, `error`, or `data` under a `section` label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Finish {
    /// The structured result. Null is data too.
    #[serde(
        deserialize_with = "as_written",
        skip_serializing_if = "Option::is_none"
    )]
    pub data: Option<Value>,
    /// Say this text first and hand it in as the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Give up with this reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Hand `data` in as a part with this label, and go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

/// What stands there, even where that is null.
fn as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Finish {
    /// The arguments of the `yield` call that this stands for.
    pub fn arguments(&self) -> Value {
        let mut args = Map::new();
        if let Some(data) = &self.data {
            args.insert("data".into(), data.clone());
        }
        if let Some(error) = &self.error {
            args.insert("error".into(), error.clone().into());
        }
        if let Some(section) = &self.section {
            args.insert("type".into(), Value::Array(vec![section.clone().into()]));
        }
        if self.data.is_none() && self.error.is_none() && self.section.is_none() {
            args.insert("type".into(), "text".into());
        }
        Value::Object(args)
    }
}

/// An HTTP error that a scripted model answers with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptError {
    /// The HTTP status.
    pub status: u16,
    /// What the provider says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The `Retry-After` header, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_folder_of_a_child_can_be_said_and_so_can_the_words_for_it() {
        let fill = |text| fill_scratch(text, "/s/A");
        assert_eq!(fill("a ${scratch}/b ${scratch}"), "a /s/A/b /s/A");
        assert_eq!(fill("$${scratch} $$${scratch}"), "${scratch} $${scratch}");
        assert_eq!(fill("{scratch} ${other} $"), "{scratch} ${other} $");
        assert_eq!(
            mark_scratch("/s/A/x, not ${scratch}", "/s/A"),
            "${scratch}/x, not $${scratch}"
        );
    }

    proptest! {
        #[test]
        fn what_was_marked_says_the_same_when_it_is_filled(text in "(\\$|\\{scratch\\}|/s/A|/|a){0,12}") {
            prop_assert_eq!(fill_scratch(&mark_scratch(&text, "/s/A"), "/s/A"), text);
        }
    }

    #[test]
    fn every_condition_that_is_given_must_hold() {
        let when = When {
            agent: Some("task".into()),
            task: Some("Lead.*".into()),
            depth: Some(2),
            request: None,
        };
        assert!(when.matches_child("task", "Lead.One", 2));
        assert!(!when.matches_child("scout", "Lead.One", 2));
        assert!(!when.matches_child("task", "Lead", 2));
        assert!(!when.matches_child("task", "Lead.One", 3));
        assert!(When::default().matches_child("x", "y", 9));
    }

    #[test]
    fn a_finish_is_a_yield_call() {
        let text = Finish {
            text: Some("done".into()),
            ..Finish::default()
        };
        assert_eq!(text.arguments(), serde_json::json!({"type": "text"}));
        let null = Finish {
            data: Some(Value::Null),
            ..Finish::default()
        };
        let wired = serde_json::to_string(&null).unwrap();
        assert_eq!(serde_json::from_str::<Finish>(&wired).unwrap(), null);
        let section = Finish {
            data: Some(1.into()),
            section: Some("findings".into()),
            ..Finish::default()
        };
        assert_eq!(
            section.arguments(),
            serde_json::json!({"data": 1, "type": ["findings"]})
        );
    }
}
