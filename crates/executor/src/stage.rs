//! A place to run batches in: a project, a user, and a scripted model that nobody asks.

use std::sync::Arc;

use serde_json::Value;
use sortie_config::{Config, LoadOptions, Problem};
use sortie_protocol::{OutcomeKind, RunId, RunResult, TaskResult};
use sortie_testkit::Project;

use crate::{
    Run, RunOptions,
    fake::Fake,
    store::{Entry, read_journal},
};

/// A project, and a user who has settings.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) project: Project,
}

impl Stage {
    /// A stage with these settings, and the agent `n`, which may dispatch itself.
    pub(crate) fn new(settings: &str) -> Self {
        let project = Project::new();
        project
            .config(&format!("store.sync: never\n{settings}"))
            .file("s.yaml", "[]\n")
            .agent(
                "n",
                "---\nname: n\ndescription: a node\ntools: [read, task]\nspawns: [n]\n---\nBe a node.\n",
            );
        Self { project }
    }

    pub(crate) fn config(&self) -> Config {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment = [
            ("HOME", self.project.home().into()),
            (
                "SORTIE_AGENT_DIR",
                self.project.agent_dir().into_os_string(),
            ),
            ("PATH", path),
            ("LOCAL_KEY", "sk-marked-key".into()),
        ];
        let config = Config::load(LoadOptions {
            cwd: self.project.root().to_owned(),
            environment: environment.into_iter().collect(),
            ..LoadOptions::default()
        });
        let config = config.unwrap();
        assert!(config.problems.is_empty(), "{:?}", config.problems);
        config
    }

    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            model: Some("script/s".into()),
            beside: self.project.root().to_owned(),
            run_dir: Some(self.project.path("run")),
            ..RunOptions::default()
        }
    }

    /// Starts `batch` with children of `fake`.
    pub(crate) fn start(&self, fake: &Fake, batch: Value) -> Result<Run, Vec<Problem>> {
        self.start_with(fake, batch, self.options())
    }

    pub(crate) fn start_with(
        &self,
        fake: &Fake,
        batch: Value,
        options: RunOptions,
    ) -> Result<Run, Vec<Problem>> {
        let batch: sortie_protocol::Batch = serde_json::from_value(batch).unwrap();
        let launcher = Arc::new(fake.clone());
        Run::start_on(launcher, RunId::generate(), self.config(), batch, options)
    }

    /// Runs `batch` to its end with children of `fake`.
    pub(crate) async fn run(&self, fake: &Fake, batch: Value) -> RunResult {
        self.start(fake, batch).unwrap().finish().await
    }

    /// Problems, one a line, as a terminal would show them in short.
    pub(crate) fn shown(&self, problems: &[Problem]) -> String {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        self.without_places(&lines.join("\n"))
    }

    /// `text` with `[HOME]` and `[PROJECT]` for where those are.
    pub(crate) fn without_places(&self, text: &str) -> String {
        let [home, root] =
            [self.project.home(), self.project.root()].map(|path| path.display().to_string());
        text.replace(&home, "[HOME]").replace(&root, "[PROJECT]")
    }

    /// The journal of the run, a line an entry: what happened, and to whom.
    pub(crate) fn journal(&self) -> Vec<String> {
        let lines = read_journal(&self.project.path("run/journal.jsonl"))
            .unwrap()
            .lines;
        let shown = |entry: &Entry| match entry {
            Entry::Started { .. } => "started".to_owned(),
            Entry::Accepted { id, .. } => format!("accepted {id}"),
            Entry::Launched { id, .. } => format!("launched {id}"),
            Entry::Ended { result } => format!("ended {} {}", result.id, result.outcome.kind),
            Entry::Finished => "finished".to_owned(),
            Entry::Unknown => "unknown".to_owned(),
        };
        lines.iter().map(|line| shown(&line.entry)).collect()
    }

    /// The files of the run, by their names in order, without those of the run itself.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.project.path("run"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| {
                !["run.json", "run.lock", "journal.jsonl", "plans", "scratch"]
                    .contains(&name.as_str())
            })
            .collect();
        names.sort_unstable();
        names
    }
}

/// How a task ended, in a line.
pub(crate) fn ending(result: &TaskResult) -> String {
    let outcome = &result.outcome;
    let mut text = format!("{} {}", result.id, outcome.kind);
    if outcome.kind != OutcomeKind::Completed {
        let [reason, message] = [&outcome.reason, &outcome.message]
            .map(|part| part.as_deref().unwrap_or("-").to_owned());
        text = format!("{text} {reason}: {message}");
    }
    text
}

/// The same for every task of a run, nested ones below the tasks that dispatched them.
pub(crate) fn endings(results: &[TaskResult]) -> String {
    let mut lines = Vec::new();
    for result in results {
        lines.push(ending(result));
        lines.extend(
            endings(&result.children)
                .lines()
                .map(|line| format!("  {line}")),
        );
    }
    lines.join("\n")
}
