//! Maps whose keys are known, read key by key.

use std::ops::Range;

use crate::{Kind, Node, Problem, Source, nearest};

/// A part of a file that does not fit, before anybody has said how bad that is.
#[derive(Clone, Debug)]
pub(crate) struct Misfit {
    message: String,
    span: Range<usize>,
    help: Option<String>,
}

impl Misfit {
    /// `message`, about `node`.
    pub(crate) fn new(message: impl Into<String>, node: &Node) -> Self {
        Self {
            message: message.into(),
            span: node.span.clone(),
            help: None,
        }
    }

    /// `what` wants something other than `found`.
    pub(crate) fn wants(what: &str, wanted: &str, found: &Node) -> Self {
        let shown = match found.as_text() {
            Some(text) => format!("`{text}`"),
            None => found.noun().to_owned(),
        };
        Self::new(format!("`{what}` wants {wanted}, not {shown}"), found)
    }

    /// Says what to do.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// As something that cannot be used.
    pub(crate) fn error(self, source: &Source) -> Problem {
        let problem = Problem::error(self.message).at(source, self.span);
        match self.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }

    /// As something to know about, where `so` says what was done.
    pub(crate) fn warning(self, source: &Source, so: &str) -> Problem {
        let problem = Problem::warning(format!("{}{so}", self.message)).at(source, self.span);
        match self.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

/// A map whose keys are known. Keys without a value are absent.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    what: &'static str,
    entries: &'a [(Node, Node)],
}

impl<'a> Fields<'a> {
    /// `node` as the map that `what` (`a model`) is.
    pub(crate) fn of(node: &'a Node, what: &'static str) -> Result<Self, Misfit> {
        match node.as_map() {
            Some(entries) => Ok(Self { what, entries }),
            None => Err(Misfit::new(
                format!("{what} is a map, not {}", node.noun()),
                node,
            )),
        }
    }

    /// The keys that are not among `known`, with what was probably meant.
    pub(crate) fn unknown(&self, known: &'static [&'static str]) -> impl Iterator<Item = Misfit> {
        let what = self.what;
        self.entries.iter().filter_map(move |(key, _)| {
            let name = key.as_text().unwrap_or_default();
            if known.contains(&name) {
                return None;
            }
            let misfit = Misfit::new(format!("`{name}` is no key of {what}"), key);
            Some(match nearest(name, known.iter().copied()) {
                Some(meant) => misfit.help(format!("did you mean `{meant}`?")),
                None => misfit.help(format!("its keys are {}", known.join(", "))),
            })
        })
    }

    /// What stands under `key`, even when it is nothing.
    pub(crate) fn written(&self, key: &str) -> Option<&'a Node> {
        self.entries
            .iter()
            .find(|(name, _)| name.as_text() == Some(key))
            .map(|(_, value)| value)
    }

    /// What stands under `key`, unless it is nothing.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        self.written(key).filter(|node| !node.is_null())
    }

    /// What stands under `key`, as `read` understands it.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&'a Node) -> Option<T>,
    ) -> Result<Option<T>, Misfit> {
        self.get(key)
            .map(|node| read(node).ok_or_else(|| Misfit::wants(key, wanted, node)))
            .transpose()
    }

    /// Text that is not empty.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, Misfit> {
        self.read(key, "text", |node| {
            node.as_text().filter(|text| !text.is_empty())
        })
    }

    /// A whole number that is at least `least`.
    pub(crate) fn whole(&self, key: &str, least: u64) -> Result<Option<u64>, Misfit> {
        let wanted = format!("a whole number, {least} or more");
        self.read(key, &wanted, |node| match &node.kind {
            Kind::Number(number, _) => number.as_u64().filter(|number| *number >= least),
            _ => None,
        })
    }

    /// A number that is not negative.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, Misfit> {
        self.read(key, "a number, 0 or more", |node| match &node.kind {
            Kind::Number(number, _) => number.as_f64().filter(|number| *number >= 0.0),
            _ => None,
        })
    }

    /// `true` or `false`.
    pub(crate) fn switch(&self, key: &str) -> Result<Option<bool>, Misfit> {
        self.read(key, "`true` or `false`", |node| match node.kind {
            Kind::Bool(on) => Some(on),
            _ => None,
        })
    }

    /// The items of a list; none when it is absent.
    pub(crate) fn list(&self, key: &str) -> Result<&'a [Node], Misfit> {
        let items = self.read(key, "a list", Node::as_list)?;
        Ok(items.unwrap_or_default())
    }

    /// The map under `key`, which is `what`.
    pub(crate) fn map(&self, key: &str, what: &'static str) -> Result<Option<Self>, Misfit> {
        self.get(key).map(|node| Self::of(node, what)).transpose()
    }

    /// Its entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a Node, &'a Node)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}
