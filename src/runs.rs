//! `sortie runs`: what earlier runs left on disk.

mod listing;
mod sheet;
mod transcript;

use std::{fs, io::ErrorKind, time::SystemTime};

use serde_json::Value;
use sortie_config::{Places, Problem};
use sortie_executor::{
    history::{self, HistoryError, StoredRun, TaskState},
    store::{QueryError, found_text, select},
    transcript::Detail,
};
use sortie_protocol::{TaskId, TaskResult};

use self::listing::State;
pub(crate) use self::{listing::Listing, sheet::RunSheet, transcript::Transcript};
use crate::{
    answer,
    cli::RunsCommand,
    exit::Exit,
    inputs,
    report::{Look, few, summary::address, without_controls},
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
        RunsCommand::Output { id, query: None } => output(&places, id),
        RunsCommand::Output {
            id,
            query: Some(query),
        } => data(&places, id, query),
        RunsCommand::Transcript { id, whole, json } => {
            let detail = if *whole { Detail::Whole } else { Detail::Short };
            transcript(&places, id, (!json).then_some(detail))
        }
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
    let (run, task) = find_task(places, id)?;
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

/// Prints a place in a task's data: text as it is, so that a shell can use it, and everything else as JSON.
fn data(places: &Places, id: &str, query: &str) -> Result<Exit, Problem> {
    let (run, task) = find_task(places, id)?;
    ended(&run, &task)?;
    let file = run.dir.join(format!("{task}.json"));
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let help = format!(
                "only a task with a schema hands in data; `sortie runs output {id}` prints the text, if there is one"
            );
            return Err(Problem::error(format!("`{task}` has no data")).help(help));
        }
        Err(error) => {
            return Err(Problem::error(format!("cannot be read: {error}")).in_file(file));
        }
    };
    let data: Value = serde_json::from_str(&text)
        .map_err(|error| Problem::error(format!("is no JSON: {error}")).in_file(&file))?;
    let found = select(&data, query).map_err(|fault| match &fault {
        QueryError::Nothing { .. } => {
            Problem::error(format!("the data of `{task}`: {fault}")).help("`-q .` prints all of it")
        }
        _ => Problem::error(fault.to_string()),
    })?;
    let mut text = found_text(found);
    if Look::stdout().terminal {
        text = without_controls(&text).into_owned();
    }
    text.push('\n');
    Ok(answer::print(&text))
}

/// Shows what was said in a task: as text in this detail, or as JSON.
fn transcript(places: &Places, id: &str, text: Option<Detail>) -> Result<Exit, Problem> {
    let (run, id) = find_task(places, id)?;
    let task = run.task(id.as_str()).ok_or_else(|| no_task(&run, &id))?;
    let transcript = Transcript::of(&run, task)?;
    Ok(match text {
        Some(detail) => answer::print(&transcript.text(detail, Look::stdout())),
        None => answer::print_json(&transcript),
    })
}

/// Finds a task, which a run that has only one stands for.
fn find_task(places: &Places, id: &str) -> Result<(StoredRun, TaskId), Problem> {
    let (run, task) = find(places, id)?;
    let task = match task {
        Some(task) => task,
        None => only_task(&run)?,
    };
    Ok((run, task))
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
    let task = run.task(id.as_str()).ok_or_else(|| no_task(run, id))?;
    let is_going = State::of_task(run, task) == State::Going;
    let why = match &task.state {
        TaskState::Ended(result) => return Ok(result),
        TaskState::Queued if is_going => "it is queued",
        TaskState::Queued => return Err(Problem::error(format!("`{id}` never started"))),
        TaskState::Started if is_going => "it is still at work",
        TaskState::Started => "it started and never ended",
    };
    let problem = Problem::error(format!("`{id}` has no result: {why}"));
    Err(match task.state {
        TaskState::Queued => problem,
        _ => problem.help(format!(
            "`sortie runs transcript {}` shows what was said in it",
            address(&run.run, &run.dir, id)
        )),
    })
}

fn no_task(run: &StoredRun, id: &TaskId) -> Problem {
    Problem::error(format!("run `{}` has no task `{id}`", run.run))
}

#[cfg(test)]
#[path = "runs/tests.rs"]
mod tests;
