//! A batch that is planned and not started.

use std::path::{Path, PathBuf};

use sortie_config::{Config, Problem};
use sortie_protocol::{RunId, SessionPlan};

use crate::{
    dispatch,
    groundwork::Groundwork,
    job::{Job, PlannedTask},
    request::Draft,
    run::{self, RunOptions},
    store::{Redactor, Store},
};

/// What stands for the id of a run that there is not.
const NO_RUN: &str = "dry-run";

/// A batch that passed, as it would run.
///
/// Its plans are made by the code that makes those of a run, from the same decisions. Nothing was started or written,
/// no model was asked, and no command that prints a key was run.
#[derive(Debug)]
pub struct DryRun {
    tasks: Vec<(Job, SessionPlan)>,
    cwd: PathBuf,
    redactor: Redactor,
}

impl DryRun {
    /// Checks `batch` whole, as [`Run::start`](crate::Run::start) does, and plans each of its tasks. The problems are
    /// those that a run would tell.
    pub fn plan(
        config: Config,
        batch: impl Into<Draft>,
        options: RunOptions,
    ) -> Result<Self, Vec<Problem>> {
        let run = RunId::from(NO_RUN.to_owned());
        let groundwork = Groundwork::lay(run, config, batch.into(), options)?;
        let Groundwork { ground, draft, .. } = &groundwork;
        let (jobs, _) = dispatch::decide(ground, &groundwork.caller(), draft, &ground.roster())?;
        Store::could_be_at(&ground.dir).map_err(|error| vec![run::not_stored(&error)])?;
        let planned = jobs.into_iter().map(|job| {
            let plan = job.plan(ground);
            (job, plan)
        });
        Ok(Self {
            tasks: planned.collect(),
            cwd: ground.config.places.cwd.clone(),
            redactor: Redactor::new(&ground.config.models.all_secrets()),
        })
    }

    /// Every task, in the order in which they were asked for.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = PlannedTask<'_>> {
        self.tasks.iter().map(|(job, plan)| job.planned(plan))
    }

    /// The folder in which they would work.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// What keeps keys out of whatever is shown of it: a file may hold one.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use sortie_protocol::Batch;

    use super::*;
    use crate::{fake::Fake, stage::Stage};

    fn batch() -> Batch {
        let tasks = json!([
            {"name": "One", "agent": "n", "task": "x", "tools": ["read"]},
            {"agent": "n", "task": "y", "outputSchema": {"type": "object"}},
            {"agent": "scout", "task": "z"},
        ]);
        serde_json::from_value(json!({"context": "sk-marked-key", "tasks": tasks})).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn its_plans_are_those_of_a_run() {
        let stage = Stage::new("");
        let planned = DryRun::plan(stage.config(), batch(), stage.options()).unwrap();
        assert!(!stage.project.path("run").exists());
        let fake = Fake::new(async |mut child| {
            child.hello().await;
            child.finish("done").await
        });
        stage.run(&fake, json!(batch())).await;
        let of = |text: &str| {
            let mut task: Value = serde_json::from_str(text).unwrap();
            task["plan"]["run"] = Value::Null;
            task
        };
        assert_eq!(planned.tasks().len(), 3);
        for task in planned.tasks() {
            let path = format!("run/plans/{}.json", task.plan.id);
            let text = serde_json::to_string(&task).unwrap();
            assert_eq!(
                of(&planned.redactor().clean(&text)),
                of(&stage.project.read(path))
            );
        }
    }

    #[test]
    fn it_refuses_what_a_run_would() {
        let stage = Stage::new("");
        let refused = |batch: Value| {
            let batch: Batch = serde_json::from_value(batch).unwrap();
            let problems = DryRun::plan(stage.config(), batch, stage.options()).unwrap_err();
            stage.shown(&problems)
        };
        let lost = json!({"tasks": [{"agent": "nn", "task": "x"}, {"agent": "n", "task": ""}]});
        insta::assert_snapshot!(refused(lost), @"
        `tasks[1].task` is empty
        `tasks[0]`: there is no agent `nn`
        ");
        std::fs::create_dir(stage.project.path("run")).unwrap();
        std::fs::write(stage.project.path("run/run.json"), "{}").unwrap();
        let good = json!({"tasks": [{"agent": "n", "task": "x"}]});
        insta::assert_snapshot!(refused(good), @"`[PROJECT]/run` holds an earlier run");
    }
}
