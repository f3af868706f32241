//! `--dry-run`: what a run would do, and why, with nothing started.

mod sheet;

use schemars::JsonSchema;
use serde::Serialize;
use sortie_config::Problem;
use sortie_executor::{DryRun, PlannedTask};
use sortie_protocol::ProblemRow;

use crate::{answer, cli::Show, exit::Exit, report::Look, watch::Order};

/// What `--dry-run --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Plans<'a> {
    /// A plan a task, in the order in which they were asked for: each is what a run stores as `plans/ID.json`.
    plans: Vec<PlannedTask<'a>>,
    /// What its author should know of the settings and of the models.
    problems: Vec<ProblemRow>,
}

/// Learns what to run from `order`, and shows the plans. What would keep it from running ends it as it would a run.
pub(crate) fn enter(show: Show, order: impl FnOnce() -> Result<Order, Vec<Problem>>) -> Exit {
    order()
        .and_then(|order| plan(order, show))
        .unwrap_or_else(|problems| answer::nothing_ran(&problems, show))
}

fn plan(order: Order, show: Show) -> Result<Exit, Vec<Problem>> {
    let problems = order.config.problems.iter().map(Problem::row).collect();
    let dry = DryRun::plan(order.config, order.batch, order.options)?;
    let text = match show {
        Show::Json => answer::json(&Plans {
            plans: dry.tasks().collect(),
            problems,
        }),
        Show::Text | Show::Events => Ok(sheet::text(&dry, Look::stdout())),
    };
    Ok(match text {
        Ok(text) => answer::print(&dry.redactor().clean(&text)),
        Err(error) => answer::written(Err(error.into())),
    })
}
