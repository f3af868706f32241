//! What a person reads when a run is over.

use std::{fmt::Write as _, path::Path};

use sortie_protocol::{
    Outcome, OutcomeKind, RunId, RunResult, StructuredStatus, TaskId, TaskResult,
};

use super::{
    Look,
    figures::{count, duration, money},
    table::Table,
    text::on_one_line,
};
use crate::exit::{is_accepted, is_completed_with_invalid_data};

/// The run, a line a task with nested tasks under the one that dispatched them, and where to find the rest.
///
/// `asked` is how many tasks the run was asked for, of which those without a result are not in `result`; `elapsed_ms` is
/// how long the whole run took, where that is known.
pub(crate) fn summary(
    result: &RunResult,
    asked: usize,
    elapsed_ms: Option<u64>,
    look: Look,
) -> String {
    let tasks = flat(&result.tasks, 0);
    let mut table = Table::default();
    for &(task, depth) in &tasks {
        table.push(row(task, depth));
    }
    let mut text = String::new();
    for (line, (task, depth)) in table.lines().into_iter().zip(&tasks) {
        let line = if is_accepted(task) {
            line.replacen('✓', &look.style().green().apply_to('✓').to_string(), 1)
        } else {
            line.replacen('✗', &look.style().red().apply_to('✗').to_string(), 1)
        };
        text.push_str(&line);
        text.push('\n');
        for detail in details(task, *depth == 0) {
            let indent = depth * 2 + 2;
            let width = look.width.saturating_sub(indent).max(20);
            let detail = on_one_line(&detail, width);
            let _ = writeln!(
                text,
                "{:indent$}{}",
                "",
                look.style().dim().apply_to(detail)
            );
        }
    }
    if !tasks.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{}", totals(result, asked, &tasks, elapsed_ms));
    if let Some(dir) = &result.run_dir {
        let _ = writeln!(text, "everything is in {}", dir.display());
    }
    text
}

/// How a task is called on the command line: by its run's id where runs are looked for, else by its run's folder.
pub(crate) fn address(run: &RunId, dir: &Path, task: &TaskId) -> String {
    if dir.file_name().is_some_and(|name| name == run.as_str()) {
        format!("{run}/{task}")
    } else {
        format!("{}/{task}", dir.display())
    }
}

/// How to read an output whole, where a line shows but its beginning: shown with the first task that has one.
pub(crate) fn whole_output(result: &RunResult) -> Option<String> {
    let tasks = flat(&result.tasks, 0);
    let mut with_output = tasks
        .iter()
        .filter(|(task, _)| task.artifacts.output.is_some());
    let (task, _) = with_output.next()?;
    let address = address(result.run.as_ref()?, result.run_dir.as_deref()?, &task.id);
    Some(format!("an output whole: sortie runs output {address}\n"))
}

/// Every task with its depth, each before the tasks it dispatched.
fn flat(tasks: &[TaskResult], depth: usize) -> Vec<(&TaskResult, usize)> {
    tasks
        .iter()
        .flat_map(|task| {
            let mut family = vec![(task, depth)];
            family.extend(flat(&task.children, depth + 1));
            family
        })
        .collect()
}

fn row(task: &TaskResult, depth: usize) -> Vec<String> {
    let mark = if is_accepted(task) { '✓' } else { '✗' };
    let tokens = task.usage.tokens();
    vec![
        format!(
            "{:indent$}{mark} {}",
            "",
            task.id.name(),
            indent = depth * 2
        ),
        state(task),
        on_one_line(&task.agent, 24),
        on_one_line(&task.model.selector, 32),
        count(task.requests, "request"),
        tokens
            .map(|tokens| count(tokens, "token"))
            .unwrap_or_default(),
        duration(task.duration_ms),
        file_name(task),
    ]
}

/// The outcome, its word, and whether the data fits.
fn state(task: &TaskResult) -> String {
    let mut text = ending(&task.outcome);
    if is_completed_with_invalid_data(task) {
        text.push_str(", data invalid");
    }
    text
}

/// An outcome, and its reason where that is another word.
pub(crate) fn ending(outcome: &Outcome) -> String {
    let mut text = outcome.kind.to_string();
    let reason = outcome.reason.as_ref();
    if let Some(reason) = reason.filter(|&reason| *reason != text) {
        let _ = write!(text, " ({})", on_one_line(reason, 40));
    }
    text
}

/// The output's file within the run's folder.
fn file_name(task: &TaskResult) -> String {
    let name = task
        .artifacts
        .output
        .as_deref()
        .and_then(|path| path.file_name());
    name.map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// What is said under a task's line: why it did not complete, the beginning of its output, its warnings.
fn details(task: &TaskResult, with_output: bool) -> Vec<String> {
    let mut details = Vec::new();
    details.extend(task.outcome.message.clone());
    let structured = task.structured.as_ref();
    if let Some(fault) = structured
        .filter(|structured| structured.status != StructuredStatus::Valid)
        .and_then(|structured| structured.error.as_ref())
    {
        details.push(format!("data: {fault}"));
    }
    if with_output && task.outcome.is_completed() {
        let data = structured.and_then(|structured| structured.data.as_ref());
        details.extend(match data {
            Some(data) => Some(data.to_string()),
            None => task.output.clone(),
        });
    }
    details.extend(
        task.warnings
            .iter()
            .map(|warning| format!("warning: {warning}")),
    );
    details
}

/// What follows the number of completed tasks when the data of some of them does not fit.
pub(crate) fn with_invalid(tasks: usize) -> String {
    match tasks {
        0 => String::new(),
        _ => format!(", {tasks} with invalid data"),
    }
}

fn totals(
    result: &RunResult,
    asked: usize,
    tasks: &[(&TaskResult, usize)],
    elapsed_ms: Option<u64>,
) -> String {
    let nested = tasks.len() - result.tasks.len();
    let cancelled = tasks
        .iter()
        .any(|(task, _)| task.outcome.kind == OutcomeKind::Cancelled);
    let mut parts = vec![if asked == 0 {
        "no task was accepted so far".to_owned()
    } else {
        let own = || result.tasks.iter();
        let completed = own().filter(|task| task.outcome.is_completed()).count();
        let asked = count(u64::try_from(asked).unwrap_or(u64::MAX), "task");
        let invalid = own()
            .filter(|task| is_completed_with_invalid_data(task))
            .count();
        format!("{completed} of {asked} completed{}", with_invalid(invalid))
    }];
    if nested > 0 {
        parts.push(format!("{nested} nested"));
    }
    if cancelled {
        parts.push("stopped early".to_owned());
    }
    let every = || tasks.iter().map(|(task, _)| task);
    if !tasks.is_empty() {
        parts.push(count(every().map(|task| task.requests).sum(), "request"));
    }
    let tokens = every().filter_map(|task| task.usage.tokens());
    parts.extend(
        tokens
            .reduce(u64::saturating_add)
            .map(|tokens| count(tokens, "token")),
    );
    let costs: Vec<f64> = every().filter_map(|task| task.usage.cost).collect();
    if !costs.is_empty() {
        parts.push(money(costs.iter().sum()));
    }
    parts.extend(elapsed_ms.map(duration));
    let run = result
        .run
        .as_ref()
        .map(|run| format!("run {run}: "))
        .unwrap_or_default();
    run + &parts.join(", ")
}

#[cfg(test)]
mod tests {
    use sortie_protocol::Usage;

    use super::*;
    use crate::report::samples;

    #[test]
    fn a_run_reads_like_a_list_of_its_tasks() {
        let text = summary(&samples::result(), 3, Some(64_000), Look::PLAIN);
        insta::assert_snapshot!(text, @r#"
        ✓ Map      completed                   scout  local/small  3 requests  1,250 tokens  2.2 s  Map.md
          {"summary":"two crates"}
        ✓ Split    completed                   task   local/small  3 requests  1,250 tokens  2.2 s  Split.md
          All links work. None was changed.
          ✓ Left   completed                   sonic  local/small  3 requests  1,250 tokens  2.2 s  Split.Left.md
          ✗ Right  crashed (SIGKILL)           sonic  local/small  1 request   1,250 tokens  2.2 s
            the process was killed by SIGKILL
        ✗ Port     timed_out (first_activity)  task   local/small  3 requests                2.2 s
          no byte came for 120 s after a request (`task.firstActivityMs`)
          warning: the tool `lsp` is not built yet and was left out

        run 01990000-0000-7000-8000-000000000001: 2 of 3 tasks completed, 2 nested, 13 requests, 5,000 tokens, $0.0016, 1 min 04 s
        everything is in /runs/01990000-0000-7000-8000-000000000001
        "#);
    }

    #[test]
    fn data_that_does_not_fit_is_said() {
        let mut result = samples::result();
        result.tasks.truncate(1);
        let structured = result.tasks[0].structured.as_mut().unwrap();
        structured.status = StructuredStatus::Invalid;
        structured.error = Some("`files`: missing".into());
        let text = summary(&result, 1, None, Look::PLAIN);
        insta::assert_snapshot!(text, @r#"
        ✗ Map  completed, data invalid  scout  local/small  3 requests  1,250 tokens  2.2 s  Map.md
          data: `files`: missing
          {"summary":"two crates"}

        run 01990000-0000-7000-8000-000000000001: 1 of 1 task completed, 1 with invalid data, 3 requests, 1,250 tokens, $0.0016
        everything is in /runs/01990000-0000-7000-8000-000000000001
        "#);
    }

    #[test]
    fn a_reason_is_not_the_outcome_once_more() {
        let outcome = |reason: &str| Outcome::new(OutcomeKind::Cancelled, reason, "stopped");
        assert_eq!(ending(&outcome("cancelled")), "cancelled");
        assert_eq!(ending(&outcome("parent")), "cancelled (parent)");
    }

    #[test]
    fn what_nobody_counted_is_not_shown() {
        let mut result = samples::result();
        result.tasks.truncate(1);
        result.tasks[0].usage = Usage::default();
        let text = summary(&result, 1, None, Look::PLAIN);
        assert!(!text.contains("token"), "{text}");
    }

    #[test]
    fn a_run_without_results_yet_claims_nothing() {
        let mut result = samples::result();
        result.tasks.clear();
        result.run_dir = None;
        insta::assert_snapshot!(summary(&result, 3, None, Look::PLAIN), @"run 01990000-0000-7000-8000-000000000001: 0 of 3 tasks completed");
        insta::assert_snapshot!(summary(&result, 0, None, Look::PLAIN), @"run 01990000-0000-7000-8000-000000000001: no task was accepted so far");
    }

    #[test]
    fn colour_is_only_for_those_who_want_it() {
        let plain = summary(&samples::result(), 3, None, Look::PLAIN);
        assert!(!plain.contains('\x1b'));
        let look = Look {
            color: true,
            ..Look::PLAIN
        };
        let coloured = summary(&samples::result(), 3, None, look);
        assert_eq!(console::strip_ansi_codes(&coloured), plain);
        assert_ne!(coloured, plain);
    }
}
