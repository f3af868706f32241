//! What every kind of setting can do: be read, be narrowed, and describe itself.

use serde_json::Value;

use super::{
    Setting,
    layer::{Trust, Written},
    table::Project,
};
use crate::{Node, Problem};

/// Whether a setting holds one value, or one for each of some names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One value.
    One,
    /// A value a name. Dotted keys reach into it.
    Keyed,
}

/// A kind of setting.
pub(crate) trait SettingValue: Clone + PartialEq {
    /// What it is, in words: for messages and the docs page.
    const NOUN: &'static str;
    /// How a project may narrow it, in words that follow `may only`.
    const NARROWING: &'static str = "lower it";
    /// Whether it is one value.
    const SHAPE: Shape = Shape::One;

    /// Reads it. The error is the node that does not fit.
    fn read(node: &Node) -> Result<Self, &Node>;

    /// What `wanted` makes of this value, or `None` when it would not be narrower or equal.
    fn narrow(&self, wanted: Self) -> Option<Self>;

    /// It as a JSON Schema.
    fn schema() -> Value;

    /// It as JSON.
    fn to_json(&self) -> Value;

    /// A node for the text of a variable.
    fn parse_variable(text: &str) -> Node {
        let source = crate::Source::new("", text);
        Node::parse(&source).unwrap_or_else(|_| Value::from(text).into())
    }

    /// Lays what one layer says on what the layers below said.
    fn lay(setting: &mut Setting<Self>, written: &Written<'_>) -> Vec<Problem> {
        let node = written.node::<Self>();
        let wanted = match Self::read(&node) {
            Ok(wanted) => wanted,
            Err(misfit) => return vec![written.misfit(Self::NOUN, misfit)],
        };
        let value = match written.trust() {
            Trust::Full => wanted,
            Trust::Narrow if wanted == setting.value => return Vec::new(),
            Trust::Narrow if written.row.project == Project::Fixed => {
                return vec![written.ignored()];
            }
            Trust::Narrow => match setting.value.narrow(wanted) {
                Some(narrower) => narrower,
                None => {
                    return vec![written.not_narrower(Self::NARROWING, &setting.value.to_json())];
                }
            },
        };
        *setting = Setting {
            value,
            origin: written.origin.clone(),
        };
        Vec::new()
    }
}
