//! `sortie runs`: what earlier runs left on disk.

mod listing;
mod sheet;

use std::{fs, time::SystemTime};

use sortie_config::{Places, Problem};
use sortie_executor::history::{self, HistoryError, StoredRun, StoredTask, TaskState};
use sortie_protocol::{TaskId, TaskResult};

use self::{listing::Listing, sheet::RunSheet};
use crate::{
    answer,
    cli::RunsCommand,
    exit::Exit,
    inputs,
    report::{Look, few, without_controls},
};

/// Lists the runs, or shows one, or a task of one.
pub(crate) fn runs(command: &RunsCommand) -> Exit {
    let places = match inputs::look_at_config() {
        Ok(config) => config.places,
        Err(problem) => {
            answer::warn(&[problem]);
            return Exit::NothingRan;
        }
    };
    let answer = match command {
        RunsCommand::List { json } => Ok(list(&places, *json)),
        RunsCommand::Show { id, json } => show(&places, id, *json),
        RunsCommand::Output { id } => output(&places, id),
    };
    answer.unwrap_or_else(answer::not_found)
}

fn list(places: &Places, json: bool) -> Exit {
    let listing = Listing::of(&history::list(places));
    if json {
        return answer::print_json(&listing);
    }
    let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let now_ms = u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX);
    answer::print(&listing.text(now_ms, Look::stdout()))
}

fn show(places: &Places, id: &str, json: bool) -> Result<Exit, Problem> {
    let (run, task) = find(places, id)?;
    let Some(task) = task else {
        let sheet = RunSheet::of(&run);
        return Ok(if json {
            answer::print_json(&sheet)
        } else {
            answer::print(&sheet.text(Look::stdout()))
        });
    };
    let result = ended(&run, &task)?;
    Ok(if json {
        answer::print_json(&sheet::with_children(&run, result))
    } else {
        answer::print(&sheet::task_text(result, Look::stdout()))
    })
}

fn output(places: &Places, id: &str) -> Result<Exit, Problem> {
    let (run, task) = find(places, id)?;
    let task = match task {
        Some(task) => task,
        None => only_task(&run)?,
    };
    let result = ended(&run, &task)?;
    let Some(file) = result
        .artifacts
        .output
        .as_deref()
        .and_then(|path| path.file_name())
    else {
        let how = result
            .outcome
            .message
            .as_deref()
            .unwrap_or(result.outcome.kind.as_str());
        return Err(Problem::error(format!("`{task}` has no output: {how}")));
    };
    // Beside the journal, wherever the folder is by now.
    let file = run.dir.join(file);
    let text = fs::read_to_string(&file)
        .map_err(|error| Problem::error(format!("cannot be read: {error}")).in_file(&file))?;
    // To a pipe goes what is stored, byte for byte.
    if !Look::stdout().terminal {
        return Ok(answer::print(&text));
    }
    let text = without_controls(&text);
    Ok(answer::print(&format!("{}\n", text.trim_end_matches('\n'))))
}

fn find(places: &Places, id: &str) -> Result<(StoredRun, Option<TaskId>), Problem> {
    history::find(places, id).map_err(|error| {
        let help = match &error {
            HistoryError::Unknown(_) => "`sortie runs list` shows this project's runs",
            HistoryError::Ambiguous { .. } => "write more of the run's id",
            HistoryError::NoTask { .. } => "`sortie runs show RUN` lists its tasks",
            _ => "is it a run's folder, whole and readable?",
        };
        let message = match &error {
            HistoryError::Ambiguous { prefix, runs } => format!(
                "`{prefix}` is the beginning of {} runs: {}",
                runs.len(),
                few(runs.iter().map(String::as_str))
            ),
            error => chain(error),
        };
        Problem::error(message).help(help)
    })
}

/// The words of an error and of everything that led to it.
fn chain(error: &HistoryError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The task of a run that has only one.
fn only_task(run: &StoredRun) -> Result<TaskId, Problem> {
    let tasks: Vec<_> = run.tasks.iter().map(|task| &task.id).collect();
    match tasks.as_slice() {
        [task] => Ok((*task).clone()),
        [] => Err(Problem::error(format!("run `{}` has no tasks", run.run))),
        [first, ..] => Err(Problem::error(format!(
            "run `{}` has {} tasks: {}",
            run.run,
            tasks.len(),
            few(tasks.iter().map(|task| task.as_str()))
        ))
        .help(format!("name one of them, as in `{}/{first}`", run.run))),
    }
}

/// The result of a task that is over.
fn ended<'a>(run: &'a StoredRun, id: &TaskId) -> Result<&'a TaskResult, Problem> {
    let task = run.task(id.as_str());
    match task.map(|task: &StoredTask| &task.state) {
        Some(TaskState::Ended(result)) => Ok(result),
        Some(TaskState::Queued) => Err(Problem::error(format!("`{id}` never started"))),
        Some(TaskState::Started) => Err(Problem::error(format!(
            "`{id}` has no result: it started and never ended"
        ))
        .help(format!(
            "its transcript is in `{}`",
            run.dir.join(format!("{id}.jsonl")).display()
        ))),
        None => Err(Problem::error(format!(
            "run `{}` has no task `{id}`",
            run.run
        ))),
    }
}

#[cfg(test)]
#[path = "runs/tests.rs"]
mod tests;
