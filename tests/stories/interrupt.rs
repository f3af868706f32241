//! Ctrl-C, `SIGTERM`, and `SIGHUP`.

use nix::sys::signal::Signal;
use serde_json::json;
use sortie_protocol::OutcomeKind;
use sortie_testkit::{Project, child};

use crate::support::{Running, SORTIE, end_of, run_dir, survivors, wait_for_file};

/// One task that is done at once, and one that works and has said something.
fn working() -> Project {
    let project = Project::new();
    project
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: Done, task: x}, {name: Busy, task: x}]\n",
        )
        .file(
            "play.yaml",
            r#"
- when: {task: Done}
  turns: [{finish: {text: all of it}}]
- turns:
    - {finish: {section: findings, data: one}}
    - {text: half of it, tool: bash, args: {command: "touch busy; setsid sleep 1000"}}
"#,
        );
    project
}

fn stopped_by(signal: Signal, code: i32) {
    let project = working();
    let run = Running::start(
        &project,
        &mut project.sortie(SORTIE, ["run", "batch.yaml", "--json"]),
    );
    wait_for_file(&project.path("busy"));
    wait_for_file(&run_dir(&project).join("Done.md"));
    let below = run.descendants_with(1, "sleep");
    run.signal(signal);
    let ended = run.end().expect(code);

    assert_eq!(survivors(&below), []);
    assert!(ended.task("Done").outcome.is_completed());
    let busy = ended.task("Busy");
    assert_eq!(end_of(&busy), ("cancelled".into(), Some("cancelled")));
    // What it had is told and kept.
    let output = busy.output.unwrap();
    assert_eq!(output, "## findings\n\none\n\nhalf of it");
    let stored = std::fs::read_to_string(busy.artifacts.output.unwrap()).unwrap();
    assert_eq!(stored, output);
}

#[test]
fn one_ctrl_c_asks_the_tasks_to_report() {
    stopped_by(Signal::SIGINT, 130);
}

#[test]
fn a_sigterm_asks_the_tasks_to_report() {
    stopped_by(Signal::SIGTERM, 143);
}

#[test]
fn a_closed_terminal_asks_the_tasks_to_report() {
    stopped_by(Signal::SIGHUP, 129);
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let project = working();
    project.file(
        "play.yaml",
        r#"
- turns:
    - {tool: bash, args: {command: "touch busy; until [ -e go ]; do sleep 0.01; done"}}
    - {finish: {text: all of it}}
"#,
    );
    let mut command = project.sortie("nohup", [SORTIE, "run", "batch.yaml", "--json"]);
    let run = Running::start(&project, &mut command);
    wait_for_file(&project.path("busy"));
    run.signal(Signal::SIGHUP);
    project.file("go", "");
    let ended = run.end().expect(0);
    assert!(ended.task("Busy").outcome.is_completed());
}

#[test]
fn a_second_ctrl_c_waits_for_nobody() {
    let project = Project::new();
    let engine = child::binary();
    // A grace that no test would wait for.
    project
        .config(&format!(
            "engine: {}\ntask.killGraceMs: 600000\n",
            engine.display()
        ))
        .file("play.yaml", "[]")
        .file(
            "batch.yaml",
            json!({"model": "script/play", "tasks": [
                {"name": "Deaf", "task": json!({"do": "ignore-term"}).to_string()},
            ]})
            .to_string(),
        );
    let run = Running::start(
        &project,
        &mut project.sortie(SORTIE, ["run", "batch.yaml", "--json"]),
    );
    run.process_of("Deaf");
    let below = run.descendants();
    run.signal(Signal::SIGINT);
    run.wait_until_it_says("stopping");
    run.signal(Signal::SIGINT);
    let ended = run.end().expect(130);
    assert_eq!(survivors(&below), []);
    assert_eq!(ended.task("Deaf").outcome.kind, OutcomeKind::Cancelled);
}
