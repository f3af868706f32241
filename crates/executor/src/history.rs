//! Earlier runs, read back from what they left on disk.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use sortie_config::Places;
use sortie_protocol::{RunId, TaskId, TaskResult};
use thiserror::Error;

use crate::store::{Entry, Read, StoreError, is_held, read_journal};

/// One run, as its journal tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Its id.
    pub run: RunId,
    /// Where its files are.
    pub dir: PathBuf,
    /// The folder it worked in.
    pub cwd: PathBuf,
    /// When it began, in milliseconds since 1970.
    pub started_at: u64,
    /// Whether it is going on, is over, or was interrupted.
    pub state: RunState,
    /// Its tasks in the order in which they were accepted, nested ones too.
    pub tasks: Vec<StoredTask>,
    /// The numbers of journal lines that are damaged: what they told is missing here.
    pub damaged: Vec<usize>,
}

/// Where a run is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// A root holds its folder.
    Going,
    /// It ended by itself.
    Finished,
    /// Its root is gone, and it never ended.
    Interrupted,
}

/// One task of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTask {
    /// Its id.
    pub id: TaskId,
    /// Its agent.
    pub agent: String,
    /// What people see instead of the id.
    pub label: Option<String>,
    /// How far it came.
    pub state: TaskState,
}

/// How far a task came.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskState {
    /// It was accepted, and had no process.
    Queued,
    /// It had a process.
    Started,
    /// It ended. Without its children, which are tasks of their own.
    Ended(Box<TaskResult>),
}

/// An id that leads to no run, or to several.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// Nothing has that id.
    #[error("no run and no task of this project is called `{0}`")]
    Unknown(String),
    /// Several runs begin so.
    #[error("`{prefix}` is the beginning of {} runs: {}", runs.len(), runs.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// The runs.
        runs: Vec<String>,
    },
    /// The run has no such task.
    #[error("run `{run}` has no task `{task}`")]
    NoTask {
        /// The run.
        run: RunId,
        /// What was asked for.
        task: String,
    },
    /// Its journal cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StoredRun {
    /// Reads the run in `dir`.
    pub fn load(dir: &Path) -> Result<Self, HistoryError> {
        let Read { lines, damaged } = read_journal(&dir.join("journal.jsonl"))?;
        let mut run = Self {
            run: RunId::from(
                dir.file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            ),
            dir: dir.to_owned(),
            cwd: PathBuf::new(),
            started_at: lines.first().map_or(0, |line| line.at),
            state: if is_held(dir) {
                RunState::Going
            } else {
                RunState::Interrupted
            },
            tasks: Vec::new(),
            damaged,
        };
        let mut places = HashMap::new();
        for line in lines {
            let reached = match line.entry {
                Entry::Started { run: id, cwd } => {
                    run.run = id;
                    run.cwd = cwd;
                    continue;
                }
                Entry::Accepted { id, agent, label } => {
                    places.insert(id.clone(), run.tasks.len());
                    run.tasks.push(StoredTask {
                        id,
                        agent,
                        label,
                        state: TaskState::Queued,
                    });
                    continue;
                }
                Entry::Finished => {
                    run.state = RunState::Finished;
                    continue;
                }
                Entry::Unknown => continue,
                Entry::Launched { id, .. } => (id, TaskState::Started),
                Entry::Ended { result } => (result.id.clone(), TaskState::Ended(result)),
            };
            let (id, state) = reached;
            match (places.get(&id), state) {
                (Some(&place), state) => run.tasks[place].state = state,
                // The line that accepted it is damaged; what it made is there all the same.
                (None, TaskState::Ended(result)) => {
                    places.insert(id.clone(), run.tasks.len());
                    run.tasks.push(StoredTask {
                        id,
                        agent: result.agent.clone(),
                        label: result.label.clone(),
                        state: TaskState::Ended(result),
                    });
                }
                (None, TaskState::Queued | TaskState::Started) => {}
            }
        }
        Ok(run)
    }

    /// The task of this id.
    pub fn task(&self, id: &str) -> Option<&StoredTask> {
        self.tasks.iter().find(|task| task.id.as_str() == id)
    }

    /// The results of tasks that ended, whole: nested ones stand below the tasks that dispatched them, and one whose
    /// parent is lost stands at the top.
    pub fn results(&self) -> Vec<TaskResult> {
        let known: HashSet<&TaskId> = self.tasks.iter().map(|task| &task.id).collect();
        let mut below: HashMap<Option<TaskId>, Vec<&StoredTask>> = HashMap::new();
        for task in &self.tasks {
            let parent = task.id.parent().filter(|parent| known.contains(parent));
            below.entry(parent).or_default().push(task);
        }
        results_under(None, &below)
    }
}

fn results_under(
    parent: Option<&TaskId>,
    below: &HashMap<Option<TaskId>, Vec<&StoredTask>>,
) -> Vec<TaskResult> {
    let tasks = below.get(&parent.cloned()).map_or(&[][..], Vec::as_slice);
    tasks
        .iter()
        .filter_map(|task| match &task.state {
            TaskState::Ended(result) => {
                let mut result = TaskResult::clone(result);
                result.children = results_under(Some(&task.id), below);
                Some(result)
            }
            TaskState::Queued | TaskState::Started => None,
        })
        .collect()
}

/// Every run of this project, newest first. A folder that is no run is passed over.
pub fn list(places: &Places) -> Vec<StoredRun> {
    folders(places)
        .iter()
        .filter_map(|dir| StoredRun::load(dir).ok())
        .collect()
}

/// The run folders of this project, newest first: the names are ids that sort by age.
fn folders(places: &Places) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(places.runs_dir())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("journal.jsonl").is_file())
        .collect();
    folders.sort_unstable_by(|a, b| b.cmp(a));
    folders
}

/// Finds a run, or a task of one: `RUN`, `RUN/TASK` with RUN by any unique prefix, a run directory, or a bare TASK of
/// the newest run that has it.
pub fn find(places: &Places, id: &str) -> Result<(StoredRun, Option<TaskId>), HistoryError> {
    let path = Path::new(id);
    if path.join("journal.jsonl").is_file() {
        return Ok((StoredRun::load(path)?, None));
    }
    if let (Some(dir), Some(task)) = (path.parent(), path.file_name())
        && dir.join("journal.jsonl").is_file()
    {
        return with_task(StoredRun::load(dir)?, &task.to_string_lossy());
    }
    if let Some((run, task)) = id.split_once('/') {
        let run = by_prefix(places, run)?.ok_or_else(|| HistoryError::Unknown(id.to_owned()))?;
        return with_task(run, task);
    }
    if let Some(run) = by_prefix(places, id)? {
        return Ok((run, None));
    }
    folders(places)
        .iter()
        .filter_map(|dir| StoredRun::load(dir).ok())
        .find_map(|run| {
            let task = run.task(id)?.id.clone();
            Some((run, Some(task)))
        })
        .ok_or_else(|| HistoryError::Unknown(id.to_owned()))
}

fn with_task(run: StoredRun, task: &str) -> Result<(StoredRun, Option<TaskId>), HistoryError> {
    match run.task(task).map(|task| task.id.clone()) {
        Some(id) => Ok((run, Some(id))),
        None => Err(HistoryError::NoTask {
            run: run.run,
            task: task.to_owned(),
        }),
    }
}

fn by_prefix(places: &Places, prefix: &str) -> Result<Option<StoredRun>, HistoryError> {
    let name = |dir: &PathBuf| {
        dir.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let matching: Vec<PathBuf> = folders(places)
        .into_iter()
        .filter(|dir| !prefix.is_empty() && name(dir).starts_with(prefix))
        .collect();
    match matching.as_slice() {
        [] => Ok(None),
        [dir] => Ok(Some(StoredRun::load(dir)?)),
        several => Err(HistoryError::Ambiguous {
            prefix: prefix.to_owned(),
            runs: several.iter().map(name).collect(),
        }),
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
