//! `--record` at the doors: what it refuses, what it replaces, and a lone task.

use std::fs;

use serde_json::json;
use sortie_testkit::Project;

use crate::support::{sortie, without_paths};

fn project() -> Project {
    let project = Project::new();
    project
        .file("play.yaml", "- turns: [{finish: {text: done}}]\n")
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: One, task: x}]\n",
        );
    project
}

#[test]
fn a_recording_that_cannot_be_written_is_found_before_anything_runs() {
    let project = project();
    let refused = |file: &str| {
        let ended = sortie(&project, &["run", "batch.yaml", "--record", file]).expect(2);
        assert_eq!(ended.stdout, "");
        without_paths(&project, &ended.stderr)
    };
    insta::assert_snapshot!(refused("again"), @"
    × again: a recording is a script, and that is a file `NAME.yaml`
    help: `--record monday.yaml` replays by `--model script/monday`
    ");
    insta::assert_snapshot!(refused("none/again.yaml"), @"
    × none/again.yaml: a recording cannot be written here: no such file or directory
    help: name a file in a folder that is there and that you may write to
    ");
    insta::assert_snapshot!(refused("play.yaml"), @"
    × play.yaml: the file is there, and is no recording of an earlier run
    help: choose another name, or remove it
    ");
    assert_eq!(
        project.read("play.yaml"),
        "- turns: [{finish: {text: done}}]\n"
    );
    assert!(!project.agent_dir().join("runs").exists());
    let json = sortie(
        &project,
        &["run", "batch.yaml", "--record", "again", "--json"],
    )
    .expect(2);
    assert_eq!(json.json()["run"], json!(null));
    // With the faults of the batch, all at once.
    project.file("bad.yaml", "tasks: [{task: ''}]\n");
    let both = sortie(&project, &["run", "bad.yaml", "--record", "again"]).expect(2);
    assert!(
        both.stderr.contains("a recording is a script"),
        "{}",
        both.stderr
    );
    assert!(both.stderr.contains("is empty"), "{}", both.stderr);
}

#[test]
fn a_recording_is_replaced_by_the_next() {
    let project = project();
    let record = || {
        sortie(&project, &["run", "batch.yaml", "--record", "again.yml"]).expect(0);
        project.read("again.yml")
    };
    let first = record();
    assert_ne!(first, record());
    let left: Vec<_> = fs::read_dir(project.root()).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_lone_task_is_recorded_and_replayed() {
    let project = project();
    let task = |more: &[&str]| {
        let args = [&["task", "do it", "--model"], more].concat();
        sortie(&project, &args).expect(0).stdout
    };
    let said = task(&["script/play", "--record", "again.yaml"]);
    assert_eq!(said, "done\n");
    assert_eq!(task(&["script/again"]), said);
}
