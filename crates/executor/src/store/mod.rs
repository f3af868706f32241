//! What a run leaves on disk. Only the root writes it, and it writes before it tells.
//!
//! ```text
//! RUN/run.json          the request
//! RUN/journal.jsonl     what happened, append-only
//! RUN/plans/ID.json     what was asked of a task, why it got what it got, and its plan
//! RUN/ID.jsonl          its transcript      RUN/ID.md     its whole output
//! RUN/ID.json           its data            RUN/ID.log    its standard error
//! RUN/ID.NAME.txt       a tool's whole output
//! RUN/scratch/ID/       a folder of its own
//! ```

mod address;
mod journal;
mod query;
mod roster;
mod sync;
mod task;

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;
use sortie_config::StoreSync;
use thiserror::Error;

pub use address::{AddressError, Stored};
pub use journal::{Entry, Line, Read, read_journal};
pub use query::{QueryError, found_text, select};
pub use sortie_protocol::redact::Redactor;
pub(crate) use sortie_protocol::redact::Stream;
pub(crate) use task::TaskFiles;

use journal::Journal;
use roster::Roster;
use sync::Syncer;

/// Something could not be stored, so it did not happen.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system would not do it.
    #[error("could not {what} `{}`", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Another root works in this run directory.
    #[error("`{}` belongs to a run that is still going", path.display())]
    Locked {
        /// The run directory.
        path: PathBuf,
    },
    /// The run directory holds a run already.
    #[error("`{}` holds an earlier run", path.display())]
    Occupied {
        /// The run directory.
        path: PathBuf,
    },
    /// It is no JSON.
    #[error("could not write `{}` as JSON", path.display())]
    Json {
        /// With which file.
        path: PathBuf,
        /// What the writer said.
        #[source]
        source: serde_json::Error,
    },
}

fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io {
        what,
        path: path.to_owned(),
        source,
    }
}

fn unoccupied(dir: &Path) -> Result<(), StoreError> {
    if dir.join("run.json").exists() {
        return Err(StoreError::Occupied {
            path: dir.to_owned(),
        });
    }
    Ok(())
}

/// Whether a root holds the run directory.
pub(crate) fn is_held(dir: &Path) -> bool {
    // A lock that cannot be looked at belongs to nobody that we could wait for.
    File::open(dir.join("run.lock")).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// One run directory, held by its root.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    redactor: Redactor,
    journal: Journal,
    sync: Syncer,
    roster: Roster,
    /// Held, so that no second root writes here.
    _lock: File,
}

impl Store {
    /// Takes `dir` for a new run, with `request` as its `run.json`.
    pub fn create(
        dir: &Path,
        request: &impl Serialize,
        redactor: Redactor,
        sync: StoreSync,
    ) -> Result<Self, StoreError> {
        let dir = std::path::absolute(dir).map_err(io_error("find", dir))?;
        let plans = dir.join("plans");
        fs::create_dir_all(&plans).map_err(io_error("make", &plans))?;
        let lock_path = dir.join("run.lock");
        let lock = File::create(&lock_path).map_err(io_error("make", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { path: dir }),
            Err(TryLockError::Error(error)) => return Err(io_error("lock", &lock_path)(error)),
        }
        unoccupied(&dir)?;
        let sync = Syncer::new(sync);
        let journal = Journal::create(&dir.join("journal.jsonl"), &sync)?;
        let store = Self {
            dir,
            redactor,
            journal,
            sync,
            roster: Roster::default(),
            _lock: lock,
        };
        store.write_json(&store.dir.join("run.json"), request)?;
        Ok(store)
    }

    /// Whether a new run could take `dir`, of which nothing is made.
    pub(crate) fn could_be_at(dir: &Path) -> Result<(), StoreError> {
        if is_held(dir) {
            return Err(StoreError::Locked {
                path: dir.to_owned(),
            });
        }
        unoccupied(dir)
    }

    /// The run directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What keeps keys out.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The path of a file of this run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Writes down that something happened.
    pub fn journal(&self, entry: &Entry) -> Result<(), StoreError> {
        self.journal.append(entry, &self.redactor, &self.sync)?;
        self.roster.note(entry);
        Ok(())
    }

    /// Writes a whole file: beside, then renamed, so that it is never seen half written.
    pub(crate) fn write_whole(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        let beside = path.with_added_extension("part");
        let mut file = File::create(&beside).map_err(io_error("make", &beside))?;
        file.write_all(self.redactor.clean(text).as_bytes())
            .map_err(io_error("write", &beside))?;
        self.sync.whole(&file).map_err(io_error("flush", &beside))?;
        fs::rename(&beside, path).map_err(io_error("replace", path))
    }

    /// Writes a whole file as JSON for people.
    pub(crate) fn write_json(&self, path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
        let mut text = serde_json::to_string_pretty(value).map_err(|source| StoreError::Json {
            path: path.to_owned(),
            source,
        })?;
        text.push('\n');
        self.write_whole(path, &text)
    }

    /// Waits until everything is flushed, as far as `store.sync` asks for it.
    pub fn flush(&self) {
        self.sync.flush();
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
