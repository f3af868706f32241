use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    time::Duration,
};

use serde_json::json;
use sortie_config::Problem;
use sortie_testkit::alive::{Process, descendants, wait_until_none};

use super::*;
use crate::{Run, RunOptions, fake::Fake, stage::Stage, unix};

const LIMIT: Duration = Duration::from_secs(20);

/// Leaves somebody in its group, somebody there who has lost his parent, and two in a session of their own, and goes
/// on when all of them are there.
fn mess(folder: &Path) -> String {
    let fifo = folder.join("fifo").display().to_string();
    "mkfifo FIFO; sleep 1000 & (sleep 1000 &); \
     setsid sh -c 'sleep 1000 & echo up > FIFO; exec sleep 1000' & read -r up < FIFO"
        .replace("FIFO", &fifo)
}

/// Everybody below this test, the dead not counted.
fn below() -> Vec<Process> {
    descendants(std::process::id())
}

/// Starts a run whose model has this command for its key.
fn start_run(stage: &Stage, command: &str) -> Result<Run, Vec<Problem>> {
    let mess = mess(stage.project.root());
    let models = json!({"providers": {"local": {
        "baseUrl": "http://127.0.0.1:9/v1",
        "api": "openai-completions",
        "apiKey": format!("!{mess}; {command}"),
        "models": [{"id": "small"}],
    }}});
    fs::write(
        stage.project.agent_dir().join("models.yml"),
        models.to_string(),
    )
    .unwrap();
    let options = RunOptions {
        model: Some("local/small".into()),
        ..stage.options()
    };
    let fake = Fake::new(async |child| child.stay().await);
    stage.start_with(
        &fake,
        json!({"tasks": [{"agent": "n", "task": "x"}]}),
        options,
    )
}

/// A command that has made its mess and goes on.
fn guarded(folder: &Path) -> Guarded {
    let nursery = Arc::new(Nursery::new("SORTIE_SESSION=keys/".into()));
    let mut guarded = Guarded::start(
        &nursery,
        Command::new("sh")
            .args(["-c", &format!("{}; echo up; exec sleep 1000", mess(folder))])
            .env("SORTIE_SESSION", "keys/")
            .stdout(Stdio::piped()),
    )
    .unwrap();
    let mut line = String::new();
    BufReader::new(guarded.stdout().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "up\n");
    guarded
}

#[tokio::test]
async fn nothing_of_a_command_that_printed_a_key_is_left() {
    unix::adopt_orphans().unwrap();
    let run = start_run(&Stage::new(""), "echo sk-printed-key").unwrap();
    assert_eq!(below(), []);
    drop(run);
}

#[tokio::test]
async fn nothing_of_a_command_that_failed_is_left() {
    unix::adopt_orphans().unwrap();
    let stage = Stage::new("");
    let problems = start_run(&stage, "exit 3").unwrap_err();
    insta::assert_snapshot!(stage.shown(&problems), @"the command for `local.apiKey` failed: exit status: 3");
    assert_eq!(below(), []);
}

#[test]
fn nothing_of_a_command_that_is_given_up_is_left() {
    unix::adopt_orphans().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut running = guarded(folder.path());
    assert_eq!(running.ended().unwrap(), None);
    // The guard, the command, and its mess.
    assert_eq!(below().len(), 6);
    drop(running);
    assert_eq!(below(), []);
}

#[test]
fn a_command_s_group_ends_with_whoever_started_it() {
    unix::adopt_orphans().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut running = guarded(folder.path());
    // Takes the pipe and lets it go, as the end of this process would.
    assert!(running.0[1].pipes().is_none());
    let of_the_group = || {
        let mut left = below();
        left.retain(|process| process.pid == running.0[1].id() || process.pid == running.0[0].id());
        left
    };
    wait_until_none(LIMIT, of_the_group);
    drop(running);
    assert_eq!(below(), []);
}

#[test]
fn a_sweep_spares_a_command_and_its_group() {
    unix::adopt_orphans().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut running = guarded(folder.path());
    // Of the same run, while the command goes on: only the session that got away is nobody's.
    let nursery = Nursery::new("SORTIE_SESSION=keys/".into());
    while nursery.sweep() > 0 {}
    assert!(running.ended().unwrap().is_none());
    assert!(
        below()
            .iter()
            .any(|process| process.pid == running.0[0].id())
    );
}
