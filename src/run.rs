//! `sortie run`: a batch of tasks, side by side, and what became of each.

use sortie_config::Problem;
use sortie_executor::{Door, RunOptions, read_batch};
use sortie_protocol::RunResult;

use crate::{
    cli::{RunArgs, Show},
    dry_run,
    exit::Exit,
    inputs,
    report::{
        Look,
        print::Shown,
        summary::{summary, whole_output},
    },
    watch::{self, Order},
};

/// Runs a batch.
pub(crate) fn run(args: &RunArgs) -> Exit {
    let show = Show::from(args.show);
    if args.show.dry_run {
        return dry_run::enter(show, || order(args));
    }
    watch::enter(show, || order(args), present)
}

/// What was asked for. The faults of the settings and of the batch are found together.
fn order(args: &RunArgs) -> Result<Order, Vec<Problem>> {
    let config = inputs::load_config(&args.how, false);
    let record = inputs::recording_file(&args.how);
    let batch = inputs::read_batch_file(&args.file)
        .map(|file| (read_batch(&file.source, Door::CommandLine), file.beside));
    match (config, record, batch) {
        (Ok(config), Ok(record), Ok((batch, beside))) => Ok(Order {
            config,
            batch,
            record,
            options: RunOptions {
                run_dir: args.how.run_dir.clone(),
                model: args.how.model.clone(),
                mode: args.how.mode(),
                beside,
                ..RunOptions::default()
            },
        }),
        (config, record, batch) => {
            let mut problems = config.err().unwrap_or_default();
            problems.extend(record.err());
            match batch {
                Ok((batch, _)) => problems.extend_from_slice(batch.problems()),
                Err(problem) => problems.push(problem),
            }
            Err(problems)
        }
    }
}

fn present(result: &RunResult, elapsed_ms: u64) -> Shown {
    let mut out = summary(result, result.tasks.len(), Some(elapsed_ms), Look::stdout());
    out.extend(whole_output(result));
    Shown {
        out,
        ..Shown::default()
    }
}
