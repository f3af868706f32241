//! Which keys there are, where, and for whom.

use sortie_config::{Node, nearest};

use super::Door;

/// What a batch looks like, for whoever wrote something else.
pub(super) const SHAPE: &str =
    "write `tasks: [{task: \"what to do\"}]`, or `task: what to do` for a lone one";

const BATCH: [&str; 6] = [
    "context",
    "model",
    "mode",
    "outputSchema",
    "schemaMode",
    "tasks",
];

const TASK: [&str; 9] = [
    "name",
    "label",
    "agent",
    "task",
    "outputSchema",
    "schemaMode",
    "effort",
    "isolated",
    "tools",
];

/// Words of other harnesses.
const ALIASES: [(&str, &str); 6] = [
    ("prompt", "task"),
    ("subagent_type", "agent"),
    ("agentId", "agent"),
    ("agent_type", "agent"),
    ("description", "label"),
    ("title", "label"),
];

/// Keys of a task that another door will offer, and what does the same here.
const CLOSED: [(&str, &str); 4] = [
    (
        "model",
        "`model` of the batch is for all its tasks; the setting `task.agentModelOverrides` is for one agent",
    ),
    ("apply", "leave it out; isolated tasks are not built yet"),
    ("merge", "leave it out; isolated tasks are not built yet"),
    (
        "timeout",
        "the setting `task.maxRuntimeMs` limits every task",
    ),
];

/// Where a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// In a batch.
    Batch,
    /// In one of its tasks.
    Task,
    /// In a lone task, which is a batch as well.
    Lone,
}

/// What a key means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// This key.
    Key(&'static str),
    /// Nothing here: why, and what to do.
    Refused(String, String),
}

impl Scope {
    /// What `key` means in this place to somebody who came by `door`.
    pub(super) fn meaning(self, key: &str, door: Door) -> Meaning {
        let real = ALIASES.iter().find(|(alias, _)| *alias == key);
        let real = real.map_or(key, |(_, real)| real);
        let offered = self.offered(door);
        if let Some(found) = offered.iter().find(|offered| **offered == real) {
            return Meaning::Key(found);
        }
        let refused = |why: &str, help: &str| Meaning::Refused(why.to_owned(), help.to_owned());
        match self {
            Self::Task | Self::Lone if key == "effort" => refused(
                "is switched off",
                "leave it out; the setting `task.enableEffort` switches it on",
            ),
            Self::Task if BATCH.contains(&key) && key != "model" => refused(
                "belongs to the batch, and not to a task",
                "put it beside `tasks`",
            ),
            Self::Batch if TASK.contains(&real) => refused(
                "belongs to a task, and not to the batch",
                "put it into each of the `tasks`",
            ),
            Self::Batch | Self::Lone if BATCH.contains(&key) => refused(
                "is not offered to a model",
                "leave it out; the run decides it",
            ),
            _ => match CLOSED.iter().find(|(closed, _)| *closed == key) {
                // What a person could set in its place is out of a model's reach.
                Some(_) if matches!(door, Door::Model { .. }) => refused(
                    "is not offered to a model",
                    "leave it out; the run decides it",
                ),
                Some((_, help)) => refused("is not offered here", help),
                None => refused("is no key", &suggestion(key, &offered)),
            },
        }
    }

    fn offered(self, door: Door) -> Vec<&'static str> {
        let is_open = |key: &&'static str| match (*key, door) {
            ("model" | "mode", Door::Model { .. }) => false,
            ("effort", Door::Model { effort }) => effort,
            _ => true,
        };
        let keys = match self {
            Self::Batch => BATCH.to_vec(),
            Self::Task => TASK.to_vec(),
            Self::Lone => BATCH[..3].iter().chain(&TASK).copied().collect(),
        };
        keys.into_iter().filter(is_open).collect()
    }
}

fn suggestion(key: &str, offered: &[&'static str]) -> String {
    let aliases = ALIASES.iter().filter(|(_, real)| offered.contains(real));
    let known = offered
        .iter()
        .copied()
        .chain(aliases.map(|(alias, _)| *alias));
    let meant = match key {
        "schema" | "output" | "output_schema" => Some("outputSchema"),
        _ => nearest(key, known),
    };
    if let Some(meant) = meant {
        return format!("did you mean `{meant}`?");
    }
    let offered: Vec<_> = offered.iter().map(|key| format!("`{key}`")).collect();
    format!("the keys are {}", offered.join(", "))
}

/// Whether a key was probably meant to be `tasks`.
pub(super) fn is_nearly_tasks(key: &Node) -> bool {
    key.as_text()
        .is_some_and(|key| nearest(key, ["tasks", "task"]).is_some())
}
