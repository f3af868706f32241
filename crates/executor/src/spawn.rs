//! A `task` call of a child: the same dispatch, and the results as text for its model.

use std::fmt::Write;

use serde_json::Value;
use sortie_config::{Node, Problem};
use sortie_discovery::Catalog;
use sortie_policy::Grant;
use sortie_protocol::{Reply, TaskId, TaskResult};

use crate::{
    dispatch::{self, Caller},
    family::Family,
    job::Job,
    request::{Door, read_batch_node},
};

/// How much of an output a parent's model is shown, in bytes. All of it is on disk.
const PREVIEW: usize = 5_000;

/// Checks what a child's model asked for. The error is text for that model.
pub(crate) fn check(
    family: &Family,
    grant: &Grant,
    parent: &TaskId,
    args: Value,
) -> Result<Vec<Job>, String> {
    let door = Door::Model {
        effort: family.ground.config.settings.task_enable_effort.value,
    };
    let draft = read_batch_node(&Node::from(args), None, door);
    let batch = draft.batch();
    let caller = Caller {
        grant: &grant.for_batch(batch.output_schema.clone(), batch.schema_mode),
        id: Some(parent),
        agents: &Catalog::discover(&family.ground.config.places),
    };
    let jobs = dispatch::preflight(&family.ground, &caller, &draft)
        .map_err(|problems| refusal(&problems))?;
    for job in &jobs {
        family.store.redactor().learn(&job.secrets);
    }
    Ok(jobs)
}

/// What a child's model is told of the tasks that it dispatched.
pub(crate) fn answer(results: &[TaskResult]) -> Reply {
    let texts: Vec<String> = results.iter().map(envelope).collect();
    Reply::Text {
        ok: results.iter().all(|result| result.outcome.is_completed()),
        text: texts.join("\n\n"),
    }
}

fn refusal(problems: &[Problem]) -> String {
    let mut text = "nothing was started:".to_owned();
    for problem in problems {
        let _ = write!(text, "\n- {}", problem.message());
        if let Some(help) = problem.advice() {
            let _ = write!(text, " ({help})");
        }
    }
    text
}

/// One result as its parent's model sees it.
fn envelope(result: &TaskResult) -> String {
    let mut text = format!(
        "<task-result id=\"{}\" agent=\"{}\" outcome=\"{}\">\n",
        result.id, result.agent, result.outcome.kind
    );
    if let Some(message) = &result.outcome.message {
        let _ = writeln!(text, "{message}");
    }
    for warning in &result.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    match result.output.as_deref().map(str::trim_end) {
        None | Some("") => text.push_str("(no output)\n"),
        Some(output) => {
            if !result.outcome.is_completed() {
                text.push_str("what there was of its output:\n");
            }
            let shown = preview(output);
            text.push_str(shown);
            if shown.len() < output.len() {
                let _ = write!(
                    text,
                    "\n[{} of {} bytes; read `agent://{}` for all of it]",
                    shown.len(),
                    output.len(),
                    result.id
                );
            }
            text.push('\n');
        }
    }
    text.push_str("</task-result>");
    text
}

/// The beginning of `output`, to the end of a line where one ends in its second half.
fn preview(output: &str) -> &str {
    if output.len() <= PREVIEW {
        return output;
    }
    let head = &output[..output.floor_char_boundary(PREVIEW)];
    match head.rfind('\n') {
        Some(end) if end > PREVIEW / 2 => &head[..end],
        _ => head,
    }
}

#[cfg(test)]
#[path = "spawn_tests.rs"]
mod tests;
