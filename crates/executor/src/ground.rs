//! What a decision about a task of this run rests on, known before anything of the run exists.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use sortie_config::Config;
use sortie_protocol::{RunId, TaskId, script::Script};

use crate::names::Names;

/// The run, its settings, and who was dispatched so far.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) run: RunId,
    /// Where the run's files are, or will be.
    pub(crate) dir: PathBuf,
    pub(crate) config: Config,
    /// The scripted models that the run's owner named, by name.
    pub(crate) scripts: BTreeMap<String, Script>,
    roster: Mutex<Roster>,
}

/// Who was dispatched so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    pub(crate) names: Names,
    /// How many tasks, at all depths.
    pub(crate) count: u64,
}

impl Ground {
    pub(crate) fn new(
        run: RunId,
        dir: PathBuf,
        config: Config,
        scripts: BTreeMap<String, Script>,
    ) -> Self {
        Self {
            run,
            dir,
            config,
            scripts,
            roster: Mutex::default(),
        }
    }

    pub(crate) fn roster(&self) -> MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder that is a task's own.
    pub(crate) fn scratch(&self, id: &TaskId) -> PathBuf {
        self.dir.join("scratch").join(id.as_str())
    }
}
