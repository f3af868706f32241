//! Every run in a line.

use std::{fmt::Write as _, path::PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use sortie_executor::history::{RunState, StoredRun, StoredTask, TaskState};
use sortie_protocol::{RunId, TaskResult};

use crate::{
    exit::is_completed_with_invalid_data,
    report::{Look, figures::duration, summary::with_invalid, table::Table},
};

/// How many characters of an id are shown at least.
const SHORTEST: usize = 8;

/// What `runs list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RunListing")]
pub(crate) struct Listing {
    /// This project's runs, the newest first.
    runs: Vec<Row>,
}

/// One run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RunRow")]
struct Row {
    /// Its id.
    run: RunId,
    /// Where its files are.
    run_dir: PathBuf,
    /// Milliseconds since 1970.
    started_at: u64,
    /// How far it is.
    state: State,
    /// How many tasks it was asked for.
    tasks: usize,
    /// How many of these completed.
    completed: usize,
    /// How many of those have data that does not fit.
    invalid: usize,
    /// How many more its tasks dispatched.
    nested: usize,
}

/// How far a run, or a task of it, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It is going on.
    Going,
    /// It is over.
    Finished,
    /// Its root was killed.
    Interrupted,
}

impl State {
    /// How far `task` of `run` is. Going, while it may still come to an end.
    pub(super) fn of_task(run: &StoredRun, task: &StoredTask) -> Self {
        match (&task.state, run.state) {
            (TaskState::Ended(_), _) => Self::Finished,
            (TaskState::Queued | TaskState::Started, RunState::Going) => Self::Going,
            (TaskState::Queued | TaskState::Started, _) => Self::Interrupted,
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Going => "going",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<RunState> for State {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Going => Self::Going,
            RunState::Finished => Self::Finished,
            RunState::Interrupted => Self::Interrupted,
        }
    }
}

impl Listing {
    /// A row for each of `runs`.
    pub(super) fn of(runs: &[StoredRun]) -> Self {
        Self {
            runs: runs.iter().map(Row::of).collect(),
        }
    }

    /// For people, who see ids only as far as they differ.
    pub(super) fn text(&self, now_ms: u64, look: Look) -> String {
        let mut table = Table::under(["RUN", "STARTED", "STATE", "TASKS"]);
        for row in &self.runs {
            let invalid = with_invalid(row.invalid);
            let mut tasks = format!("{} of {} completed{invalid}", row.completed, row.tasks);
            if row.nested > 0 {
                let _ = write!(tasks, ", {} nested", row.nested);
            }
            table.push(vec![
                self.shortened(&row.run).to_owned(),
                format!("{} ago", duration(now_ms.saturating_sub(row.started_at))),
                row.state.as_str().to_owned(),
                tasks,
            ]);
        }
        table.text(look)
    }

    /// The beginning of an id that no other one has.
    fn shortened<'a>(&self, run: &'a RunId) -> &'a str {
        let id = run.as_str();
        let shared = self
            .runs
            .iter()
            .filter(|other| other.run != *run)
            .map(|other| {
                let pairs = id.bytes().zip(other.run.as_str().bytes());
                pairs.take_while(|(a, b)| a == b).count()
            });
        let length = (shared.max().unwrap_or_default() + 1).max(SHORTEST);
        id.get(..length).unwrap_or(id)
    }
}

impl Row {
    fn of(run: &StoredRun) -> Self {
        let own = || run.tasks.iter().filter(|task| task.id.parent().is_none());
        let which = |is_so: fn(&TaskResult) -> bool| {
            own()
                .filter(|task| matches!(&task.state, TaskState::Ended(result) if is_so(result)))
                .count()
        };
        Self {
            run: run.run.clone(),
            run_dir: run.dir.clone(),
            started_at: run.started_at,
            state: run.state.into(),
            tasks: own().count(),
            completed: which(|result| result.outcome.is_completed()),
            invalid: which(is_completed_with_invalid_data),
            nested: run.tasks.len() - own().count(),
        }
    }
}
