//! The kinds of settings that there are.

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroU64},
    ops::Deref,
    path::PathBuf,
};

use serde_json::{Value, json};
use sortie_protocol::{Effort, Thinking};

use super::{
    Depth, Limit, Setting,
    layer::{Trust, Written},
    table::Project,
    value::{SettingValue, Shape},
};
use crate::{Kind, Node, Problem, places::OWN_DIR};

/// Named values, each with its own origin: layers add to them name by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<T>(BTreeMap<String, Setting<T>>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Deref for Entries<T> {
    type Target = BTreeMap<String, Setting<T>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

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

/// A whole number as it is written: without quotes, a sign, or a fraction.
fn whole(node: &Node) -> Result<u64, &Node> {
    match &node.kind {
        Kind::Number(number, _) => number.as_u64().ok_or(node),
        _ => Err(node),
    }
}

macro_rules! whole_numbers {
    ($($type:ty, $noun:literal, $least:literal, $make:expr, $value:expr;)+) => {$(
        impl SettingValue for $type {
            const NOUN: &'static str = $noun;

            fn read(node: &Node) -> Result<Self, &Node> {
                whole(node).ok().and_then($make).ok_or(node)
            }

            fn narrow(&self, wanted: Self) -> Option<Self> {
                (wanted <= *self).then_some(wanted)
            }

            fn schema() -> Value {
                json!({"type": "integer", "minimum": $least})
            }

            fn to_json(&self) -> Value {
                let value: fn(&Self) -> _ = $value;
                Value::from(value(self))
            }
        }
    )+};
}

whole_numbers! {
    u32, "a whole number, 0 or more", 0, |n| u32::try_from(n).ok(), |n| *n;
    u64, "a whole number, 0 or more", 0, Some, |n| *n;
    NonZeroU32, "a whole number, 1 or more", 1, |n| u32::try_from(n).ok().and_then(NonZeroU32::new), |n| n.get();
    NonZeroU64, "a whole number, 1 or more", 1, NonZeroU64::new, |n| n.get();
}

/// Whether `wanted` is no more than `now`, where `None` is no limit.
fn at_most<N: PartialOrd>(wanted: Option<N>, now: Option<N>) -> bool {
    match (wanted, now) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(wanted), Some(now)) => wanted <= now,
    }
}

impl SettingValue for Limit<u64> {
    const NOUN: &'static str = "a whole number, 0 or more";

    fn read(node: &Node) -> Result<Self, &Node> {
        whole(node).map(|limit| Self((limit != 0).then_some(limit)))
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        at_most(wanted.0, self.0).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"type": "integer", "minimum": 0})
    }

    fn to_json(&self) -> Value {
        self.or_zero().into()
    }
}

impl SettingValue for Limit<f64> {
    const NOUN: &'static str = "a number, 0 or more";

    fn read(node: &Node) -> Result<Self, &Node> {
        match &node.kind {
            Kind::Number(number, _) => number
                .as_f64()
                .filter(|limit| *limit >= 0.0)
                .map(|limit| Self((limit > 0.0).then_some(limit)))
                .ok_or(node),
            _ => Err(node),
        }
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        at_most(wanted.0, self.0).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"type": "number", "minimum": 0})
    }

    fn to_json(&self) -> Value {
        self.or_zero().into()
    }
}

impl SettingValue for Depth {
    const NOUN: &'static str = "a whole number";

    fn read(node: &Node) -> Result<Self, &Node> {
        let Kind::Number(number, _) = &node.kind else {
            return Err(node);
        };
        match number.as_i64().map(u32::try_from) {
            Some(Ok(depth)) => Ok(Self(Some(depth))),
            Some(Err(_)) if number.as_i64() < Some(0) => Ok(Self(None)),
            _ => Err(node),
        }
    }

    fn narrow(&self, wanted: Self) -> Option<Self> {
        at_most(wanted.0, self.0).then_some(wanted)
    }

    fn schema() -> Value {
        json!({"type": "integer"})
    }

    fn to_json(&self) -> Value {
        self.0.map_or(json!(-1), Value::from)
    }
}

/// One of a few words, low to high.
fn word<'a, T>(node: &'a Node, read: impl Fn(&str) -> Option<T>) -> Result<T, &'a Node> {
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

impl<T: SettingValue> SettingValue for Entries<T> {
    const NOUN: &'static str = "a map";
    const NARROWING: &'static str = T::NARROWING;
    const SHAPE: Shape = Shape::Keyed;

    /// Reads the names alone: origins differ from entry to entry, and [`Self::lay`] gives them.
    fn read(node: &Node) -> Result<Self, &Node> {
        node.as_map().map(|_| Self::default()).ok_or(node)
    }

    fn narrow(&self, _: Self) -> Option<Self> {
        None
    }

    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }

    fn to_json(&self) -> Value {
        self.iter()
            .map(|(name, setting)| (name.clone(), setting.value.to_json()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    fn lay(setting: &mut Setting<Self>, written: &Written<'_>) -> Vec<Problem> {
        let node = written.node::<Self>();
        let Some(entries) = node.as_map() else {
            return vec![written.misfit(Self::NOUN, &node)];
        };
        if written.trust() == Trust::Narrow && written.row.project == Project::Fixed {
            return vec![written.ignored()];
        }
        let before = setting.value.clone();
        let mut problems = Vec::new();
        for (key, value) in entries {
            let Some(name) = key.as_text() else {
                problems.push(written.misfit("names as keys", key));
                continue;
            };
            let entry = written.entry(name, value);
            if value.is_null() {
                match entry.trust() {
                    Trust::Full => drop(setting.value.0.remove(name)),
                    Trust::Narrow => problems.push(entry.ignored()),
                }
                continue;
            }
            match setting.value.0.get_mut(name) {
                Some(old) => problems.extend(T::lay(old, &entry)),
                None => match T::read(value) {
                    // A limit where there was none is narrower.
                    Ok(value) => {
                        let origin = entry.origin.clone();
                        setting
                            .value
                            .0
                            .insert(name.to_owned(), Setting { value, origin });
                    }
                    Err(misfit) => problems.push(entry.misfit(T::NOUN, misfit)),
                },
            }
        }
        if setting.value != before {
            setting.origin = written.origin.clone();
        }
        problems
    }
}
