//! One run, or one task of it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use sortie_executor::history::{StoredRun, TaskState};
use sortie_protocol::{RunResult, TaskId, TaskResult};

use super::listing::State;
use crate::report::{
    Look, few,
    figures::{count, duration, grouped, money},
    on_one_line,
    summary::{ending, summary, whole_output},
    table::Table,
};

/// What `runs show RUN --json` prints: what the run itself printed, and how far it came.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunSheet {
    /// What it has made so far.
    #[serde(flatten)]
    result: RunResult,
    /// How far it is.
    state: State,
    /// Milliseconds since 1970.
    started_at: u64,
    /// The tasks that have no result.
    unfinished: Vec<TaskId>,
    /// Of these, the tasks that never had a process.
    never_started: Vec<TaskId>,
    /// The numbers of journal lines that are damaged, so that what they told is missing here.
    damaged: Vec<usize>,
    /// How many tasks it was asked for.
    #[serde(skip)]
    asked: usize,
}

impl RunSheet {
    /// What is known of `run`.
    pub(super) fn of(run: &StoredRun) -> Self {
        let which = |is_so: fn(&TaskState) -> bool| {
            let tasks = run.tasks.iter().filter(|task| is_so(&task.state));
            tasks.map(|task| task.id.clone()).collect()
        };
        Self {
            result: RunResult {
                run: Some(run.run.clone()),
                run_dir: Some(run.dir.clone()),
                tasks: run.results(),
                problems: Vec::new(),
            },
            state: run.state.into(),
            started_at: run.started_at,
            unfinished: which(|state| !matches!(state, TaskState::Ended(_))),
            never_started: which(|state| matches!(state, TaskState::Queued)),
            damaged: run.damaged.clone(),
            asked: run
                .tasks
                .iter()
                .filter(|task| task.id.parent().is_none())
                .count(),
        }
    }

    /// For people: the run as it was shown at its end.
    pub(super) fn text(&self, look: Look) -> String {
        let mut text = summary(&self.result, self.asked, None, look);
        text.extend(whole_output(&self.result));
        let (started, queued) = match self.state {
            State::Going => {
                text.push_str("the run is still going\n");
                ("at work", "queued")
            }
            State::Interrupted => {
                text.push_str("the run was interrupted: its process is gone\n");
                ("started, without a result", "never started")
            }
            State::Finished => ("started, without a result", "never started"),
        };
        let has_started = |id: &&TaskId| !self.never_started.contains(id);
        let ids: Vec<_> = self.unfinished.iter().filter(has_started).collect();
        for (ids, what) in [
            (ids, started),
            (self.never_started.iter().collect(), queued),
        ] {
            if !ids.is_empty() {
                let names = few(ids.iter().map(|id| id.as_str()));
                let _ = writeln!(text, "{what} ({}): {names}", grouped(ids.len() as u64));
            }
        }
        if !self.damaged.is_empty() {
            let numbers: Vec<_> = self.damaged.iter().map(usize::to_string).collect();
            let numbers = few(numbers.iter().map(String::as_str));
            let _ = writeln!(
                text,
                "damaged lines of `journal.jsonl`, which may have told more: {numbers}"
            );
        }
        text
    }
}

/// The result of a task with the tasks below it, which a journal tells one by one.
pub(super) fn with_children(run: &StoredRun, result: &TaskResult) -> TaskResult {
    fn find(tasks: Vec<TaskResult>, id: &TaskId) -> Option<TaskResult> {
        tasks.into_iter().find_map(|task| {
            if task.id == *id {
                Some(task)
            } else {
                find(task.children, id)
            }
        })
    }
    find(run.results(), &result.id).unwrap_or_else(|| result.clone())
}

/// One task, for people: how it ended, and what really ran.
pub(super) fn task_text(task: &TaskResult, look: Look) -> String {
    let mut table = Table::default();
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            table.push(vec![name.to_owned(), value]);
        }
    };
    let outcome = &task.outcome;
    row("task", task.id.to_string());
    row(
        "label",
        on_one_line(task.label.as_deref().unwrap_or_default(), 200),
    );
    row("outcome", ending(outcome));
    row(
        "message",
        on_one_line(outcome.message.as_deref().unwrap_or_default(), 2_000),
    );
    row(
        "agent",
        match &task.agent_file {
            Some(file) => format!("{} ({})", task.agent, file.display()),
            None => format!("{} ({})", task.agent, task.agent_source.as_str()),
        },
    );
    row("tools", task.tools.join(", "));
    row("model", model(task));
    for attempt in &task.model.attempts {
        let left = on_one_line(&attempt.left, 200);
        row("before it", format!("{}: {left}", attempt.selector));
    }
    row("used", used(task));
    if let Some(structured) = &task.structured {
        let fits = serde_json::to_value(structured.status);
        let fits = fits
            .ok()
            .and_then(|word| Some(word.as_str()?.to_owned()))
            .unwrap_or_default();
        let fault = structured
            .error
            .as_ref()
            .map(|fault| format!(": {}", on_one_line(fault, 400)));
        row("data", fits + &fault.unwrap_or_default());
    }
    for warning in &task.warnings {
        row("warning", on_one_line(warning, 2_000));
    }
    let files = [
        &task.artifacts.output,
        &task.artifacts.transcript,
        &task.artifacts.patch,
    ];
    for (name, file) in ["output", "transcript", "patch"].iter().zip(files) {
        row(
            name,
            file.as_ref()
                .map(|file| file.display().to_string())
                .unwrap_or_default(),
        );
    }
    table.text(look)
}

fn model(task: &TaskResult) -> String {
    let mut text = task.model.selector.clone();
    if let Some(effort) = task.model.effort {
        let _ = write!(text, ":{effort}");
    }
    let _ = write!(text, " ({})", task.model.api);
    if let Some(requested) = task
        .model
        .requested
        .as_ref()
        .filter(|&name| *name != task.model.selector)
    {
        let _ = write!(text, ", asked for as {requested}");
    }
    text
}

fn used(task: &TaskResult) -> String {
    let mut parts = vec![count(task.requests, "request")];
    parts.extend(task.usage.tokens().map(|tokens| count(tokens, "token")));
    parts.extend(task.usage.cost.map(money));
    parts.push(duration(task.duration_ms));
    parts.join(", ")
}
