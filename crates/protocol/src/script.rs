//! A scripted model: what a `script/NAME` provider answers, turn by turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Usage;

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

/// One answer of a scripted model.
///
/// A turn may think, say something, and call tools, in that order; then it ends well, or with
/// one of `error`, `cut`, and `stall`.
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
    /// The structured result.
    #[serde(skip_serializing_if = "Option::is_none")]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptError {
    /// The HTTP status.
    pub status: u16,
    /// The `Retry-After` header, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

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
