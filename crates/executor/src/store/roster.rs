//! Which tasks a run has, and how far each of them is, as the journal tells it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use sortie_config::nearest;
use sortie_protocol::{OutcomeKind, TaskId};

use super::Entry;

/// How many ids are listed where none is near.
const LISTED: usize = 10;

/// Every task of the run.
#[derive(Debug, Default)]
pub(super) struct Roster(Mutex<BTreeMap<String, Standing>>);

/// How far a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It waits for its process.
    Queued,
    /// It has a process.
    Going,
    /// It is over, and everything of it is stored.
    Ended {
        /// How.
        how: OutcomeKind,
        /// Why, where there is more to say.
        message: Option<String>,
    },
}

impl Roster {
    /// Hears of what was written down.
    pub(super) fn note(&self, entry: &Entry) {
        let (id, standing) = match entry {
            Entry::Accepted { id, .. } => (id, Standing::Queued),
            Entry::Launched { id, .. } => (id, Standing::Going),
            Entry::Ended { result } => (
                &result.id,
                Standing::Ended {
                    how: result.outcome.kind,
                    message: result.outcome.message.clone(),
                },
            ),
            Entry::Started { .. } | Entry::Finished | Entry::Unknown => return,
        };
        self.tasks().insert(id.to_string(), standing);
    }

    /// How far the task `id` is; `None` when there is none.
    pub(super) fn standing(&self, id: &str) -> Option<Standing> {
        self.tasks().get(id).cloned()
    }

    /// What to say to somebody who asked for `id`, which no task has: the ids that may have been meant.
    pub(super) fn instead_of(&self, id: &str) -> String {
        let tasks = self.tasks();
        let ids = || tasks.keys().map(String::as_str);
        // `x` for `A.x`: a child's name, without the way to it.
        let by_name = ids().find(|known| {
            let known = TaskId::from((*known).to_owned());
            known.name().eq_ignore_ascii_case(id)
        });
        if let Some(near) = by_name.or_else(|| nearest(id, ids())) {
            return format!("the nearest is `{near}`");
        }
        let listed: Vec<_> = ids().take(LISTED).map(|id| format!("`{id}`")).collect();
        match tasks.len() - listed.len() {
            0 => format!("there are {}", listed.join(", ")),
            more => format!("there are {}, and {more} more", listed.join(", ")),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<String, Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
