//! A run as a script that replays it, offline.
//!
//! Made of two things: what the run left on disk, which holds every answer, and what was heard while it went on, which
//! holds the requests that got none. An answer becomes a turn of its own child. A request without one becomes a turn
//! only where nothing came after it: whoever replays has one model, and no reason to wait for it.

mod failure;
mod file;
mod turn;

use std::{collections::HashMap, fs, path::Path};

use serde_json::Value;
use sortie_config::{Scripts, Unwritable};
use sortie_protocol::{
    EndedStatus, OutcomeKind, RecordKind, RunEvent, RunEventKind, TaskId,
    script::{ScriptEntry, Turn, When, mark_scratch},
};

pub use file::RecordingFile;

use self::failure::Failure;
use crate::{
    history::{StoredRun, StoredTask, TaskState},
    transcript::Transcript,
};

/// How each recording begins, behind the `# ` of a comment.
const SIGN: &str = "Recorded from run ";

/// What is heard of a run that will be written as a script.
#[derive(Debug, Default)]
pub struct Recording {
    /// The requests of each task since its last answer.
    failures: HashMap<TaskId, Vec<Failure>>,
}

impl Recording {
    /// Hears an event. Those of the run itself are never left out, so none of its requests is missed.
    pub fn hear(&mut self, event: &RunEvent) {
        let (
            Some(task),
            RunEventKind::Answered {
                model,
                status,
                retry_after_ms,
                ..
            },
        ) = (&event.task, &event.kind)
        else {
            return;
        };
        let failures = self.failures.entry(task.clone()).or_default();
        // Whoever replays has only the model that was left with.
        if failures.last().is_some_and(|last| last.model != *model) {
            failures.clear();
        }
        match status {
            EndedStatus::Answered => failures.clear(),
            status => failures.push(Failure {
                model: model.clone(),
                status: status.clone(),
                retry_after_ms: *retry_after_ms,
            }),
        }
    }

    /// The script `name` of `run`, with an entry for each task that asked a model anything, and a preface that says how
    /// to replay it and what that cannot show.
    pub fn script(&self, run: &StoredRun, name: &str) -> Result<String, Unwritable> {
        let entries: Vec<_> = run
            .tasks
            .iter()
            .map(|task| ScriptEntry {
                when: When {
                    task: Some(task.id.to_string()),
                    ..When::default()
                },
                turns: self.turns(&run.dir, task),
            })
            .filter(|entry| !entry.turns.is_empty())
            .collect();
        Scripts::text(&preface(run, name), &entries)
    }

    fn turns(&self, dir: &Path, task: &StoredTask) -> Vec<Turn> {
        // A task that has none asked nothing.
        let transcript =
            Transcript::load(&dir.join(format!("{}.jsonl", task.id))).unwrap_or_default();
        let scratch = scratch(dir, &task.id).unwrap_or_default();
        let records = transcript.records.iter();
        let answers = records.filter_map(|record| match &record.kind {
            RecordKind::Assistant(answer) => Some(turn::of(answer)),
            _ => None,
        });
        let mut turns: Vec<Turn> = answers
            .map(|turn| turn.map_text(&|text| mark_scratch(text, &scratch)))
            .collect();
        if let TaskState::Ended(result) = &task.state {
            let failures = self.failures.get(&task.id);
            let failures = failures.into_iter().flatten();
            turns.extend(failures.filter_map(|failure| failure.turn(&result.outcome)));
        }
        turns
    }
}

/// The folder of its own that a task was given, as its plan names it.
fn scratch(dir: &Path, task: &TaskId) -> Option<String> {
    let stored = fs::read(dir.join(format!("plans/{task}.json"))).ok()?;
    let stored: Value = serde_json::from_slice(&stored).ok()?;
    Some(stored.pointer("/plan/scratch")?.as_str()?.to_owned())
}

fn preface(run: &StoredRun, name: &str) -> String {
    let mut lines = vec![
        format!("{SIGN}{}. Beside its batch it replays by", run.run),
        format!("  sortie run BATCH --model script/{name}"),
        "Every task says and calls what it said and called then; tools really run.".to_owned(),
    ];
    let lost: Vec<_> = run.tasks.iter().filter_map(lost).collect();
    if !lost.is_empty() {
        lines.push("How these ended was not a model's doing, and does not come again:".to_owned());
        lines.extend(lost);
    }
    lines.join("\n")
}

/// The end of a task that no script can bring about.
fn lost(task: &StoredTask) -> Option<String> {
    let ended = match &task.state {
        TaskState::Ended(result) => result.outcome.kind,
        TaskState::Queued | TaskState::Started => return Some(format!("  {}: no end", task.id)),
    };
    let is_lost = match ended {
        OutcomeKind::Crashed | OutcomeKind::Cancelled => true,
        OutcomeKind::TimedOut => task_reason(task) == Some("total"),
        _ => false,
    };
    is_lost.then(|| format!("  {}: {}", task.id, ended.as_str()))
}

fn task_reason(task: &StoredTask) -> Option<&str> {
    match &task.state {
        TaskState::Ended(result) => result.outcome.reason.as_deref(),
        TaskState::Queued | TaskState::Started => None,
    }
}

#[cfg(test)]
#[path = "recording_tests.rs"]
mod tests;
