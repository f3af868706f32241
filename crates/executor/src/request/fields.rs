//! The keys of one map, found by what they mean.

use std::{borrow::Cow, collections::BTreeMap, fmt, ops::Range};

use sortie_config::{Kind, Node, Problem};

use super::{
    Reader,
    keys::{Meaning, Scope},
};

/// How many characters of a value a message shows.
const SHOWN: usize = 60;

/// A value and the key that it was written under.
#[derive(Clone, Debug)]
pub(super) struct Field<'n> {
    path: String,
    node: &'n Node,
}

impl<'n> Field<'n> {
    pub(super) fn node(&self) -> &'n Node {
        self.node
    }

    /// An item of the list that this is.
    pub(super) fn item<'i>(&self, index: usize, node: &'i Node) -> Field<'i> {
        Field {
            path: format!("{}[{index}]", self.path),
            node,
        }
    }

    /// What was written: the text where it is short, and else what it is.
    pub(super) fn shown(&self) -> String {
        match self.node.as_text() {
            Some("") => "empty".to_owned(),
            Some(text) if text.chars().count() <= SHOWN => format!("`{}`", text.escape_debug()),
            Some(_) => "longer text".to_owned(),
            None => self.node.noun().to_owned(),
        }
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.path)
    }
}

/// What one map holds.
#[derive(Debug, Default)]
pub(super) struct Fields<'n>(BTreeMap<&'static str, Field<'n>>);

impl<'n> Fields<'n> {
    pub(super) fn get(&self, key: &str) -> Option<&Field<'n>> {
        self.0.get(key)
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Field<'n>> {
        self.0.remove(key)
    }
}

impl Reader<'_> {
    /// Sorts the entries of a map by what their keys mean there. A null is as good as no entry.
    pub(super) fn fields<'n>(
        &mut self,
        entries: &'n [(Node, Node)],
        scope: Scope,
        path: &str,
    ) -> Fields<'n> {
        let mut fields = Fields::default();
        for (key, node) in entries.iter().filter(|(_, node)| !node.is_null()) {
            let Some(written) = key.as_text() else {
                let problem = format!("a key should be text, and this is {}", key.noun());
                self.fault(key, Problem::error(problem));
                continue;
            };
            let path = match path {
                "" => written.to_owned(),
                path => format!("{path}.{written}"),
            };
            let field = Field { path, node };
            match scope.meaning(written, self.door) {
                Meaning::Refused(why, help) => {
                    self.fault(key, Problem::error(format!("{field} {why}")).help(help));
                }
                Meaning::Key(meant) => match fields.0.get(meant) {
                    Some(other) if other.node.to_json() == node.to_json() => {}
                    Some(other) => {
                        let problem = format!("{field} differs from {other}, which means the same");
                        let help = format!("write `{meant}` alone");
                        self.fault(key, Problem::error(problem).help(help));
                    }
                    None => {
                        fields.0.insert(meant, field);
                    }
                },
            }
        }
        fields
    }
}

/// The value, or the list or map that it holds as JSON text: models write those so at times. Only one layer is
/// taken off, and whatever is in it stands where the text stands.
pub(super) fn unwrapped(node: &Node) -> Cow<'_, Node> {
    let Kind::Text(text) = &node.kind else {
        return Cow::Borrowed(node);
    };
    if !text.trim_start().starts_with(['{', '[']) && !matches!(text.trim(), "true" | "false") {
        return Cow::Borrowed(node);
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => Cow::Owned(placed(Node::from(value), &node.span)),
        Err(_) => Cow::Borrowed(node),
    }
}

fn placed(node: Node, span: &Range<usize>) -> Node {
    let kind = match node.kind {
        Kind::List(items) => Kind::List(items.into_iter().map(|item| placed(item, span)).collect()),
        Kind::Map(entries) => Kind::Map(
            entries
                .into_iter()
                .map(|(key, value)| (placed(key, span), placed(value, span)))
                .collect(),
        ),
        kind => kind,
    };
    Node {
        span: span.clone(),
        kind,
    }
}

/// `a, b or c`
pub(super) fn or(words: &[String]) -> String {
    match words {
        [head @ .., last] if !head.is_empty() => format!("{} or {last}", head.join(", ")),
        words => words.concat(),
    }
}
