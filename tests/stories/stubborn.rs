//! A process that ignores `SIGTERM`, holds its stdout open, and writes to a file as long as it lives.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;
use serde_json::json;
use sortie_testkit::{Project, alive, alive::Process, child};

use crate::support::{Ended, Running, SORTIE, end_of, survivors, wait_for_file};

/// `task.killGraceMs` of these tests.
const GRACE: Duration = Duration::from_secs(1);

/// A child that ends on `SIGTERM`, with a child of its own that does not; two of a kind, and one that only finishes.
struct Stage {
    project: Project,
    began: Instant,
}

impl Stage {
    fn new(more_config: &str) -> Self {
        let project = Project::new();
        let stubborn = |name: &str, escape: bool| {
            let file = project.path(format!("{name}.log"));
            let orders = json!({"do": "leave-on-term", "file": file, "escape": escape});
            json!({"name": name, "task": orders.to_string()})
        };
        let batch = json!({"model": "script/play", "tasks": [stubborn("Near", false), stubborn("Apart", true)]});
        let engine = child::binary();
        project
            .config(&format!(
                "engine: {}\ntask.killGraceMs: {}\n{more_config}",
                engine.display(),
                GRACE.as_millis()
            ))
            .file("play.yaml", "[]")
            .file("batch.json", batch.to_string());
        Self {
            project,
            began: Instant::now(),
        }
    }

    /// Starts the run, and waits until both files grow.
    fn start(&mut self) -> (Running, Vec<Process>) {
        let mut command = self.project.sortie(SORTIE, ["run", "batch.json", "--json"]);
        let run = Running::start(&self.project, &mut command);
        for file in self.files() {
            wait_for_file(&file);
        }
        let below = run.descendants();
        assert_eq!(below.len(), 4, "{below:#?}");
        self.began = Instant::now();
        (run, below)
    }

    fn files(&self) -> [PathBuf; 2] {
        ["Near.log", "Apart.log"].map(|name| self.project.path(name))
    }

    /// Sees that the run came back in time with nobody left, and that both tasks ended so.
    fn finish(&self, run: Running, below: &[Process], code: i32) -> Ended {
        let ended = run.end().expect(code);
        let took = self.began.elapsed();
        assert!(took < GRACE + Duration::from_secs(1), "{took:?}");
        assert_eq!(survivors(below), []);
        ended
    }
}

#[test]
fn it_does_not_outlive_a_cancelled_task() {
    let mut stage = Stage::new("");
    let (run, below) = stage.start();
    run.signal(Signal::SIGINT);
    let ended = stage.finish(run, &below, 130);
    for task in ["Near", "Apart"] {
        let task = ended.task(task);
        assert_eq!(end_of(&task), ("cancelled".into(), Some("cancelled")));
    }
}

#[test]
fn it_does_not_outlive_a_task_whose_time_is_over_and_the_next_starts_at_once() {
    let mut stage = Stage::new("task: {maxRuntimeMs: 700, maxConcurrency: 2}\n");
    let text = stage.project.read("batch.json");
    let mut batch: serde_json::Value = serde_json::from_str(&text).unwrap();
    let next = json!({"name": "Next", "task": json!({"do": "finish"}).to_string()});
    batch["tasks"].as_array_mut().unwrap().push(next);
    stage.project.file("batch.json", batch.to_string());
    let (run, below) = stage.start();
    let ended = stage.finish(run, &below, 1);
    for task in ["Near", "Apart"] {
        let task = ended.task(task);
        assert_eq!(end_of(&task), ("timed_out".into(), Some("total")));
    }
    assert!(ended.task("Next").outcome.is_completed());
}

#[test]
fn it_does_not_outlive_a_terminated_run() {
    let mut stage = Stage::new("");
    let (run, below) = stage.start();
    run.signal(Signal::SIGTERM);
    stage.finish(run, &below, 143);
}

#[test]
fn a_command_of_that_kind_does_not_outlive_a_killed_run() {
    let project = Project::new();
    let command = |name: &str, before: &str| {
        let forever =
            format!("trap \"\" TERM HUP INT; while :; do echo . >> {name}.log; sleep 0.05; done");
        json!({"when": {"task": name}, "turns": [
            {"tool": "bash", "args": {"command": format!("{before} bash -c '{forever}'")}}
        ]})
    };
    project
        .file(
            "play.yaml",
            json!([command("Near", ""), command("Apart", "setsid")]).to_string(),
        )
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: Near, task: x}, {name: Apart, task: x}]\n",
        );
    let run = Running::start(&project, &mut project.sortie(SORTIE, ["run", "batch.yaml"]));
    for file in ["Near.log", "Apart.log"] {
        wait_for_file(&project.path(file));
    }
    let id = run.run();
    let below = run.descendants();
    run.signal(Signal::SIGKILL);
    let limit = Duration::from_secs(2);
    alive::wait_until_none(limit, || survivors(&below));
    alive::wait_until_none(limit, || alive::in_session_of_run(&id));
}
