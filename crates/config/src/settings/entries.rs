//! Settings that hold a value for each of some names.

use std::{collections::BTreeMap, ops::Deref};

use serde_json::{Value, json};

use super::{
    Setting,
    layer::{Trust, Written},
    table::Project,
    value::{SettingValue, Shape},
};
use crate::{Node, Problem};

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
