//! The plans of a batch, for people.

use std::fmt::Write as _;

use serde_json::Value;
use sortie_executor::{DryRun, PlannedTask, Reason};
use sortie_protocol::{Candidate, SessionPlan};

use crate::report::{
    Look,
    figures::{count, duration, grouped, money},
    on_one_line,
    table::Table,
};

const AGENT: &str = "agent";

/// What comes first, in this order.
const FIRST: [&str; 6] = [AGENT, "model", "not used", "effort", "tools", "left out"];

/// Every task with what it would get, and why.
pub(super) fn text(dry: &DryRun, look: Look) -> String {
    let mut text = String::new();
    for task in dry.tasks() {
        text.push_str(&task_text(&task, look));
        text.push('\n');
    }
    let tasks = count(dry.tasks().len() as u64, "task");
    let _ = writeln!(
        text,
        "{tasks} would run in {}; nothing was started",
        dry.cwd().display()
    );
    text
}

fn task_text(task: &PlannedTask<'_>, look: Look) -> String {
    let id = look.style().bold().apply_to(task.plan.id.as_str());
    let said = task.request.label.as_ref().unwrap_or(&task.request.task);
    let said = on_one_line(
        said,
        look.width.saturating_sub(task.plan.id.as_str().len() + 2),
    );
    let mut table = Table::default();
    for row in rows(task) {
        let cells = [format!("  {}", row.name), row.value, row.why];
        table.push(cells.map(|cell| on_one_line_of(&cell)).to_vec());
    }
    format!("{id}: {said}\n{}", table.text(look))
}

/// `cell` on one line, with the blanks that it begins with.
fn on_one_line_of(cell: &str) -> String {
    let indent = cell.len() - cell.trim_start_matches(' ').len();
    format!("{:indent$}{}", "", on_one_line(cell, 400))
}

/// One decision.
#[derive(Debug)]
struct Row {
    name: &'static str,
    value: String,
    why: String,
}

/// The decisions that say what a task gets and what it does without: those that most people ask for first, and then the
/// others in the order in which they were made.
fn rows(task: &PlannedTask<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for reason in task.why {
        let Some((name, value)) = shown(reason, task.plan) else {
            continue;
        };
        let mut why = why(reason);
        if name == AGENT {
            let agent = &task.plan.agent;
            let place = match &agent.file {
                Some(file) => file.display().to_string(),
                None => agent.source.as_str().to_owned(),
            };
            why = format!("{why} ({place})");
        }
        let is_figure = reason.value.is_number();
        let like = |row: &&mut Row| row.name == name && (is_figure || row.why == why);
        match rows.iter_mut().find(like) {
            // A later decision about a figure overrules an earlier one.
            Some(row) if is_figure => *row = Row { name, value, why },
            Some(row) => {
                let _ = write!(row.value, ", {value}");
            }
            None => rows.push(Row { name, value, why }),
        }
    }
    rows.sort_by_key(|row| {
        FIRST
            .iter()
            .position(|name| *name == row.name)
            .unwrap_or(FIRST.len())
    });
    rows.extend(task.warnings.iter().map(|warning| Row {
        name: "warning",
        value: warning.clone(),
        why: String::new(),
    }));
    rows
}

/// What a decision is called, and what was decided. `None` where it is but a step to another one, or takes nothing away.
fn shown(reason: &Reason, plan: &SessionPlan) -> Option<(&'static str, String)> {
    let value = value(reason);
    Some(match reason.field {
        "model" => {
            let models: Vec<_> = plan.candidates.iter().map(model).collect();
            ("model", models.join(", then "))
        }
        "model.skipped" => ("not used", value),
        "withheld" => ("left out", value),
        "spawns" if value.is_empty() => return None,
        "spawns" if value == "*" => ("spawns", "anybody".to_owned()),
        "mode" if value == "normal" => return None,
        "schema" if reason.value.is_null() => return None,
        "depth" | "tools.asked" | "spawns.asked" | "blockedAgent" => return None,
        field => (field, value),
    })
}

fn model(candidate: &Candidate) -> String {
    let mut text = candidate.selector.clone();
    if let Some(effort) = candidate.effort {
        let _ = write!(text, ":{effort}");
    }
    let _ = write!(text, " ({})", candidate.api);
    text
}

fn value(reason: &Reason) -> String {
    match &reason.value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items = items.iter().map(|item| match item {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            items.collect::<Vec<_>>().join(", ")
        }
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(ms), _) if reason.field.ends_with("Ms") => duration(ms),
            (Some(n), _) => grouped(n),
            (None, Some(cost)) if reason.field.ends_with("cost") => money(cost),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

fn why(reason: &Reason) -> String {
    let why = &reason.why;
    match (&why.file, why.line) {
        (Some(file), Some(line)) => format!("{} ({}:{line})", why.text, file.display()),
        (Some(file), None) => format!("{} ({})", why.text, file.display()),
        (None, _) => why.text.clone(),
    }
}
