//! A run as a script that replays it, offline.
//!
//! Made of two things: what the run left on disk, which holds every answer, and what was heard while it went on, which
//! holds the requests that got none. An answer becomes a turn of its own child. A request without one becomes a turn
//! only where it ended its task: whoever replays has one model, and no reason to wait for it.

mod ending;
mod file;
mod folders;
mod preface;
mod turn;

use std::{collections::HashMap, path::Path};

use serde_json::Value;
use sortie_config::{Scripts, Unwritable};
use sortie_protocol::{
    AssistantTurn, EndedStatus, OutcomeKind, RecordKind, RunEvent, RunEventKind, TaskId,
    TaskResult,
    script::{ScriptEntry, Turn, When},
    tool::YIELD,
};

pub use file::RecordingFile;

use self::{
    ending::{Ending, Known},
    folders::Folders,
};
use crate::{
    history::{StoredRun, TaskState},
    transcript::Transcript,
};

/// What is heard of a run that will be written as a script.
#[derive(Debug, Default)]
pub struct Recording {
    /// What became of the last request of each task whose last request got no answer.
    failures: HashMap<TaskId, EndedStatus>,
}

/// One task of a run, as a script has it.
#[derive(Debug)]
struct Part<'a> {
    task: &'a TaskId,
    turns: Vec<Turn>,
    /// How the task ended, where no turn brings that about.
    lost: Option<&'static str>,
}

impl Recording {
    /// Hears an event. Those of the run itself are never left out, so none of its requests is missed.
    pub fn hear(&mut self, event: &RunEvent) {
        match (&event.task, &event.kind) {
            (Some(task), RunEventKind::Answered { status, .. })
                if *status == EndedStatus::Answered =>
            {
                self.failures.remove(task);
            }
            (Some(task), RunEventKind::Answered { status, .. }) => {
                self.failures.insert(task.clone(), status.clone());
            }
            _ => {}
        }
    }

    /// The script `name` of `run`, with an entry for each task that was answered or that failed for want of an answer,
    /// and a preface that says how to replay it and what that cannot show.
    pub fn script(&self, run: &StoredRun, name: &str) -> Result<String, Unwritable> {
        let results: HashMap<&TaskId, &TaskResult> = run
            .tasks
            .iter()
            .filter_map(|task| match &task.state {
                TaskState::Ended(result) => Some((&task.id, &**result)),
                TaskState::Queued | TaskState::Started => None,
            })
            .collect();
        let parts: Vec<_> = run
            .tasks
            .iter()
            .map(|task| self.part(&run.dir, &task.id, &results))
            .collect();
        let preface = preface::of(run, name, &parts);
        let entries: Vec<_> = parts
            .into_iter()
            .filter(|part| !part.turns.is_empty())
            .map(|part| ScriptEntry {
                when: When {
                    task: Some(part.task.to_string()),
                    ..When::default()
                },
                turns: part.turns,
            })
            .collect();
        Scripts::text(&preface, &entries)
    }

    fn part<'a>(
        &self,
        dir: &Path,
        task: &'a TaskId,
        results: &HashMap<&TaskId, &TaskResult>,
    ) -> Part<'a> {
        let answers = answers(dir, task);
        let folders = Folders::of(dir, task);
        let mut turns: Vec<Turn> = answers
            .iter()
            .map(|answer| turn::of(answer).map_text(&|text| folders.mark(text)))
            .collect();
        let Some(result) = results.get(task) else {
            let lost = Some("no end");
            return Part { task, turns, lost };
        };
        let known = Known {
            failure: self.failures.get(task),
            partial: partial(result, &answers),
            answers: answers.len() as u64,
            is_below_a_timeout: is_below_a_timeout(task, results),
        };
        let lost = match Ending::of(result, known) {
            Ending::Answered => None,
            Ending::By(turn) => {
                turns.push(turn.map_text(&|text| folders.mark(text)));
                None
            }
            Ending::Lost => Some(result.outcome.kind.as_str()),
        };
        Part { task, turns, lost }
    }
}

/// What a task was answered, as far as that can be read.
fn answers(dir: &Path, task: &TaskId) -> Vec<AssistantTurn> {
    // A task without a transcript asked nothing.
    let transcript = Transcript::load(&dir.join(format!("{task}.jsonl"))).unwrap_or_default();
    let records = transcript.records.into_iter();
    records
        .filter_map(|record| match record.kind {
            RecordKind::Assistant(answer) => Some(answer),
            _ => None,
        })
        .collect()
}

/// The text of an answer that broke off, which is all that a result says of it: its output, where that is none of the
/// whole answers.
fn partial<'a>(result: &'a TaskResult, answers: &[AssistantTurn]) -> Option<&'a str> {
    let hands_in_a_part = |answer: &AssistantTurn| {
        let mut calls = answer.calls.iter();
        calls.any(|call| call.name == YIELD && call.args.get("type").is_some_and(Value::is_array))
    };
    let output = result.output.as_deref()?;
    let mut texts = answers.iter().rev().map(|answer| answer.text.trim());
    let last = texts.find(|text| !text.is_empty());
    let is_known = last == Some(output) || answers.iter().any(hands_in_a_part);
    (!is_known).then_some(output)
}

/// Whether a task above this one ran out of time, and took it along.
fn is_below_a_timeout(task: &TaskId, results: &HashMap<&TaskId, &TaskResult>) -> bool {
    let mut above = std::iter::successors(task.parent(), TaskId::parent);
    above.any(|task| {
        results
            .get(&task)
            .is_some_and(|result| result.outcome.kind == OutcomeKind::TimedOut)
    })
}

#[cfg(test)]
#[path = "recording_tests.rs"]
mod tests;
