//! `sortie task`: one task, and its output on stdout.

use std::path::PathBuf;

use sortie_config::Problem;
use sortie_executor::RunOptions;
use sortie_protocol::{Batch, RunResult, SchemaMode, TaskRequest, TaskResult};

use crate::{
    answer,
    cli::{Show, TaskArgs},
    dry_run,
    exit::Exit,
    inputs,
    report::{Look, print::Shown, summary::summary, without_controls},
    watch::{self, Order},
};

/// Runs one task.
pub(crate) fn task(args: &TaskArgs) -> Exit {
    let show = Show::from(args.show);
    if args.show.dry_run {
        return dry_run::enter(show, || order(args));
    }
    watch::enter(show, || order(args), present)
}

fn order(args: &TaskArgs) -> Result<Order, Vec<Problem>> {
    let enable_effort = args.effort.is_some();
    let config = inputs::load_config(&args.how, enable_effort)?;
    let record = inputs::recording_file(&args.how).map_err(|problem| vec![problem])?;
    let output_schema = args.schema.as_deref().map(inputs::read_schema);
    let request = TaskRequest {
        name: args.name.clone(),
        agent: args.agent.clone(),
        task: args.text.clone(),
        output_schema: output_schema.transpose().map_err(|problem| vec![problem])?,
        schema_mode: args.strict.then_some(SchemaMode::Strict),
        effort: args.effort.map(Into::into),
        ..TaskRequest::default()
    };
    Ok(Order {
        config,
        batch: Batch {
            tasks: vec![request],
            ..Batch::default()
        }
        .into(),
        record,
        options: RunOptions {
            run_dir: args.how.run_dir.clone(),
            model: args.how.model.clone(),
            mode: args.how.mode(),
            beside: PathBuf::from("."),
            ..RunOptions::default()
        },
    })
}

/// The output on stdout; on stderr how the task ended, which is all there is when it has no output.
fn present(result: &RunResult, elapsed_ms: u64) -> Shown {
    Shown {
        out: result.tasks.first().and_then(output).unwrap_or_default(),
        err: summary(result, result.tasks.len(), Some(elapsed_ms), Look::stderr()),
    }
}

/// The data where a schema was asked for, else the text. Output that was not accepted is only for whoever looks into
/// the run: a pipe must not take it for a result.
fn output(task: &TaskResult) -> Option<String> {
    if !task.outcome.is_completed() {
        return None;
    }
    let data = task
        .structured
        .as_ref()
        .and_then(|structured| structured.data.as_ref());
    let mut text = match (data, &task.output) {
        (Some(data), _) => return answer::json(data).ok(),
        (None, Some(text)) if Look::stdout().terminal => without_controls(text).into_owned(),
        (None, text) => text.clone()?,
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn data_wins_over_text_and_failure_has_no_output() {
        let tasks = samples::result().tasks;
        assert_eq!(
            output(&tasks[0]).unwrap(),
            "{\n  \"summary\": \"two crates\"\n}\n"
        );
        assert_eq!(
            output(&tasks[1]).unwrap(),
            "All links work.\n\nNone was changed.\n"
        );
        assert_eq!(output(&tasks[2]), None);
    }
}
