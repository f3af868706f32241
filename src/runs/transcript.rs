//! What was said in one task.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use sortie_config::Problem;
use sortie_executor::{
    history::{StoredRun, StoredTask, TaskState},
    transcript::{self, Detail},
};
use sortie_protocol::{Record, RunId, TaskId};

use super::listing::State;
use crate::report::{Look, without_controls};

/// What `runs transcript TASK --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Transcript {
    /// The run.
    run: RunId,
    /// The task.
    task: TaskId,
    /// Its agent.
    agent: String,
    /// How far the task is.
    state: State,
    /// What was said, in order.
    records: Vec<Record>,
    /// The numbers of lines, from 1, that are damaged, so that what they told is missing here.
    damaged: Vec<usize>,
    /// Whether the last line was not yet, or never, written to its end.
    torn: bool,
}

impl Transcript {
    /// Reads what was said in `task`.
    pub(super) fn of(run: &StoredRun, task: &StoredTask) -> Result<Self, Problem> {
        let path = run.dir.join(format!("{}.jsonl", task.id));
        let state = State::of_task(run, task);
        let read = match transcript::Transcript::load(&path) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(none(task, state));
            }
            Err(error) => {
                return Err(Problem::error(format!("cannot be read: {error}")).in_file(path));
            }
        };
        Ok(Self {
            run: run.run.clone(),
            task: task.id.clone(),
            agent: task.agent.clone(),
            state,
            records: read.records,
            damaged: read.damaged,
            torn: read.torn,
        })
    }

    /// For people: who said what. What is long is cut unless it is wanted whole.
    pub(super) fn text(&self, detail: Detail, look: Look) -> String {
        let told = transcript::Transcript {
            records: self.records.clone(),
            damaged: self.damaged.clone(),
            // That it is being written is no damage.
            torn: self.torn && self.state != State::Going,
        };
        let heading = look.style().cyan().bold();
        let mut text = String::new();
        for passage in told.passages(detail) {
            if !text.is_empty() {
                text.push('\n');
            }
            if !passage.heading.is_empty() {
                let _ = writeln!(text, "{}", heading.apply_to(shown(&passage.heading, look)));
            }
            text.push_str(&shown(&passage.body, look));
        }
        let remark = match self.state {
            State::Going if self.records.is_empty() => "nothing was said so far",
            State::Going => "the task is still at work",
            State::Interrupted => "the task has no result: its run was interrupted",
            State::Finished if self.records.is_empty() => "nothing was said",
            State::Finished => return text,
        };
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}[{remark}]");
        text
    }
}

/// Why there is no transcript of `task`.
fn none(task: &StoredTask, state: State) -> Problem {
    let id = &task.id;
    let why = match &task.state {
        TaskState::Ended(result) => {
            let outcome = &result.outcome;
            let kind = outcome.kind.as_str();
            outcome.message.as_deref().unwrap_or(kind).to_owned()
        }
        TaskState::Queued if state == State::Going => "it is queued".to_owned(),
        TaskState::Queued => "it never started".to_owned(),
        TaskState::Started => "its file is gone".to_owned(),
    };
    Problem::error(format!("`{id}` has no transcript: {why}"))
}

/// `text` as a terminal may see it. To a pipe goes what is stored.
fn shown(text: &str, look: Look) -> std::borrow::Cow<'_, str> {
    if look.terminal {
        without_controls(text)
    } else {
        text.into()
    }
}
