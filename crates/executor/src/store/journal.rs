//! What happened in a run, one line each, in order.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use sortie_protocol::{RunId, TaskId, TaskResult};

use super::{Redactor, StoreError, io_error, sync::Syncer};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "entry",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Entry {
    /// The run began.
    Started {
        /// Its id.
        run: RunId,
        /// The folder it works in.
        cwd: PathBuf,
    },
    /// A task passed preflight. Its plan is stored when it starts.
    Accepted {
        /// The task.
        id: TaskId,
        /// Its agent.
        agent: String,
        /// What people see instead of the id.
        label: Option<String>,
    },
    /// A task's process exists.
    Launched {
        /// The task.
        id: TaskId,
        /// Its process id, where it is a process of this machine.
        pid: Option<u32>,
    },
    /// A task is over, and all that it made is stored. Its children have entries of their own.
    Ended {
        /// Everything about it, without its children.
        result: Box<TaskResult>,
    },
    /// The run is over.
    Finished,
    /// Something that a later version writes down.
    #[serde(other)]
    Unknown,
}

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Milliseconds since 1970.
    pub at: u64,
    /// What happened.
    #[serde(flatten)]
    pub entry: Entry,
}

#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Arc<File>,
    /// One line at a time.
    writing: Mutex<()>,
}

impl Journal {
    pub(super) fn create(path: &Path, sync: &Syncer) -> Result<Self, StoreError> {
        let file = File::options()
            .append(true)
            .create(true)
            .open(path)
            .map_err(io_error("make", path))?;
        let file = Arc::new(file);
        sync.appended(&file).map_err(io_error("flush", path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            writing: Mutex::default(),
        })
    }

    pub(super) fn append(
        &self,
        entry: &Entry,
        redactor: &Redactor,
        sync: &Syncer,
    ) -> Result<(), StoreError> {
        let line = serde_json::to_string(&Line {
            at: now(),
            entry: entry.clone(),
        })
        .map_err(|source| StoreError::Json {
            path: self.path.clone(),
            source,
        })?;
        let mut line = redactor.clean(&line).into_owned();
        line.push('\n');
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        (&*self.file)
            .write_all(line.as_bytes())
            .map_err(io_error("write", &self.path))?;
        sync.appended(&self.file)
            .map_err(io_error("flush", &self.path))
    }
}

/// A journal, as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// Its lines.
    pub lines: Vec<Line>,
    /// The numbers, from 1, of lines that are damaged. One that a kill cut off at the end is not among them.
    pub damaged: Vec<usize>,
}

/// Reads a journal. A damaged line costs what it told, and not the rest.
pub fn read_journal(path: &Path) -> Result<Read, StoreError> {
    let bytes = fs::read(path).map_err(io_error("read", path))?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut journal = Read::default();
    for (number, line) in (1..).zip(whole.lines()) {
        match serde_json::from_str(line) {
            Ok(line) => journal.lines.push(line),
            Err(_) => journal.damaged.push(number),
        }
    }
    Ok(journal)
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
