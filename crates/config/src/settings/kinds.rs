//! Settings that are switches, words, paths, and lists.

use std::{ops::Deref, path::PathBuf};

use serde_json::{Value, json};
use sortie_protocol::{Effort, Thinking};

use super::value::SettingValue;
use crate::{Kind, Node, places::OWN_DIR};

/// Names of folders: plain names, without a path in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderNames(Vec<String>);

impl Default for FolderNames {
    fn default() -> Self {
        Self([OWN_DIR, ".omp", ".musepi"].map(str::to_owned).to_vec())
    }
}

impl Deref for FolderNames {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

/// When records of a run are flushed to disk (`store.sync`). They are always written before anybody hears of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreSync {
    /// In groups, soon after they are written.
    Batch,
    /// Each before anything depends on it.
    Always,
    /// When the system likes to.
    Never,
}

impl SettingValue for bool {
    const NOUN: &'static str = "`true` or `false`";
    const NARROWING: &'static str = "turn it off";

    fn read(node: &Node) -> Result<Self, &Node> {
        match node.kind {
            Kind::Bool(value) => Ok(value),
            _ => Err(node),
        }
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        (!wanted).then_some(false)
    }

    fn schema() -> Value {
        json!({"type": "boolean"})
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }
}

/// One of a few words, low to high.
fn word<T>(node: &Node, read: impl Fn(&str) -> Option<T>) -> Result<T, &Node> {
    node.as_text().and_then(read).ok_or(node)
}

impl SettingValue for Effort {
    const NOUN: &'static str = "one of minimal, low, medium, high, xhigh, max";

    fn read(node: &Node) -> Result<Self, &Node> {
        word(node, |text| text.parse().ok())
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        (wanted <= *self).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"enum": Self::ALL})
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }
}

impl SettingValue for Thinking {
    const NOUN: &'static str = "one of off, minimal, low, medium, high, xhigh, max";

    fn read(node: &Node) -> Result<Self, &Node> {
        word(node, |text| match text {
            "off" => Some(Self::Off),
            _ => text.parse().ok().map(Self::Level),
        })
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        let narrower = match (wanted, self) {
            (Self::Off, _) => true,
            (Self::Level(_), Self::Off) => false,
            (Self::Level(wanted), Self::Level(now)) => wanted <= *now,
        };
        narrower.then_some(wanted)
    }

    fn schema() -> Value {
        let mut words = vec![json!(Self::Off)];
        words.extend(Effort::ALL.map(|level| json!(level)));
        json!({"enum": words})
    }

    fn to_json(&self) -> Value {
        self.to_string().into()
    }
}

impl SettingValue for StoreSync {
    const NOUN: &'static str = "one of batch, always, never";

    fn read(node: &Node) -> Result<Self, &Node> {
        word(node, |text| match text {
            "batch" => Some(Self::Batch),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        })
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        (wanted == *self).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"enum": ["batch", "always", "never"]})
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Batch => "batch",
            Self::Always => "always",
            Self::Never => "never",
        }
        .into()
    }
}

impl SettingValue for Option<PathBuf> {
    const NOUN: &'static str = "a path";

    fn read(node: &Node) -> Result<Self, &Node> {
        match node.as_text() {
            Some(text) if !text.is_empty() => Ok(Some(PathBuf::from(text))),
            _ => Err(node),
        }
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        wanted.is_none().then_some(None)
    }

    fn schema() -> Value {
        json!({"type": "string", "minLength": 1})
    }

    fn to_json(&self) -> Value {
        self.as_ref()
            .map_or(Value::Null, |path| path.display().to_string().into())
    }

    fn parse_variable(text: &str) -> Node {
        Value::from(text).into()
    }
}

impl SettingValue for Vec<String> {
    const NOUN: &'static str = "a list of names, or one text with commas between them";
    const NARROWING: &'static str = "add to it";

    fn read(node: &Node) -> Result<Self, &Node> {
        let Some(items) = node.as_list() else {
            let text = node.as_text().ok_or(node)?;
            let names = text.split(',').map(str::trim);
            return Ok(names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect());
        };
        let name = |item| {
            Node::as_text(item)
                .map(str::trim)
                .filter(|name| !name.is_empty())
        };
        items
            .iter()
            .map(|item| name(item).map(str::to_owned).ok_or(item))
            .collect()
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        let mut all = self.clone();
        for name in wanted {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        Some(all)
    }

    fn schema() -> Value {
        json!({"type": ["array", "string"], "items": {"type": "string", "minLength": 1}})
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn parse_variable(text: &str) -> Node {
        let source = crate::Source::new("", text);
        match Node::parse(&source) {
            Ok(node) if node.as_list().is_some() => node,
            _ => Value::from(text).into(),
        }
    }
}

impl SettingValue for FolderNames {
    const NOUN: &'static str = "a list of folder names, without a path in them";

    fn read(node: &Node) -> Result<Self, &Node> {
        let names = Vec::<String>::read(node)?;
        let plain = |name: &String| !matches!(name.as_str(), "." | "..") && !name.contains('/');
        match names.iter().position(|name| !plain(name)) {
            None => Ok(Self(names)),
            Some(at) => Err(node.as_list().map_or(node, |items| &items[at])),
        }
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        (wanted == *self).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"type": ["array", "string"], "items": {"type": "string", "pattern": "^[^/]+$"}})
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }

    fn parse_variable(text: &str) -> Node {
        Vec::<String>::parse_variable(text)
    }
}
