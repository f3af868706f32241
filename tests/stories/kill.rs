//! Who is killed takes everything below along, and nobody else.

use std::{fs, path::Path, process::Command, time::Duration};

use nix::sys::signal::Signal;
use sortie_testkit::{Project, Unprivileged, alive, alive::Process};

use crate::support::{Running, SORTIE, end_of, run_dir, send, sortie, survivors, wait_for_file};

/// How long what hangs on a killed root may live on.
const AT_MOST: Duration = Duration::from_secs(2);

/// Three tasks whose commands do not end: one that waits for its program, one that sets it apart, and one that leaves it
/// behind.
const SLEEPERS: &str = r#"
- when: {task: Plain}
  turns: [{tool: bash, args: {command: "sleep 1000"}}]
- when: {task: Apart}
  turns: [{tool: bash, args: {command: "setsid sleep 1000"}}]
- when: {task: Left}
  turns: [{tool: bash, args: {command: "(sleep 1000 &); sleep 1000"}}]
"#;

const SLEEPERS_BATCH: &str = r"
model: script/play
tasks:
  - {name: Plain, task: x}
  - {name: Apart, task: x}
  - {name: Left, task: x}
";

#[test]
fn a_killed_child_is_crashed_and_the_others_complete() {
    let project = Project::new();
    project
        .file("batch.yaml", "model: script/play\ntasks: [{name: A, task: x}, {name: B, task: x}, {name: C, task: x}]\n")
        .file(
            "play.yaml",
            r#"
- when: {task: A}
  turns: [{text: "so far so good", tool: bash, args: {command: "(sleep 1000 &); touch a; setsid sleep 1000"}}]
- turns:
    - {tool: bash, args: {command: "until [ -e go ]; do sleep 0.01; done"}}
    - {finish: {text: done}}
"#,
        );
    let run = Running::start(
        &project,
        &mut project.sortie(SORTIE, ["run", "batch.yaml", "--json"]),
    );
    wait_for_file(&project.path("a"));
    for task in ["B", "C"] {
        run.process_of(task);
    }
    let below = run.descendants();
    send(Signal::SIGKILL, run.process_of("A"));
    project.file("go", "");
    let ended = run.end().expect(1);

    assert_eq!(survivors(&below), []);
    let killed = ended.task("A");
    assert_eq!(end_of(&killed), ("crashed".into(), Some("SIGKILL")));
    assert!(killed.outcome.message.as_ref().unwrap().contains("SIGKILL"));
    for task in ["B", "C"] {
        assert!(ended.task(task).outcome.is_completed());
    }
}

#[test]
fn nothing_outlives_a_killed_root() {
    let project = Project::new();
    project
        .file("batch.yaml", SLEEPERS_BATCH)
        .file("play.yaml", SLEEPERS);
    let run = Running::start(&project, &mut project.sortie(SORTIE, ["run", "batch.yaml"]));
    kill_the_root(run);
}

fn kill_the_root(run: Running) {
    let id = run.run();
    let below = run.descendants_with(4, "sleep");
    assert_eq!(sessions(&below).len(), 3, "{below:#?}");
    run.signal(Signal::SIGKILL);
    alive::wait_until_none(AT_MOST, || survivors(&below));
    alive::wait_until_none(AT_MOST, || alive::in_session_of_run(&id));
    assert_eq!(run.end().code, None);
}

fn sessions(below: &[Process]) -> Vec<&Process> {
    let is_session = |process: &&Process| process.comm == "sortie:session";
    below.iter().filter(is_session).collect()
}

#[test]
fn what_a_command_leaves_behind_lives_as_long_as_its_session() {
    let project = Project::new();
    project
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: One, task: x}]\n",
        )
        .file(
            "play.yaml",
            r#"
- turns:
    - {tool: bash, args: {command: "(sleep 1000 &); echo hi"}}
    - {tool: bash, args: {command: "touch second; until [ -e go ]; do sleep 0.01; done"}}
    - {finish: {text: done}}
"#,
        );
    let run = Running::start(
        &project,
        &mut project.sortie(SORTIE, ["run", "batch.yaml", "--json"]),
    );
    // The first command was answered although somebody still holds its stdout open.
    wait_for_file(&project.path("second"));
    let is_left_behind = |process: &Process| process.cmdline == "sleep 1000";
    let below = run.descendants();
    assert!(below.iter().any(is_left_behind), "{below:#?}");
    project.file("go", "");
    let ended = run.end().expect(0);
    assert_eq!(survivors(&below), []);
    let transcript = fs::read_to_string(ended.task("One").artifacts.transcript.unwrap()).unwrap();
    assert!(transcript.contains("hi\\n"), "{transcript}");
}

#[test]
fn a_session_without_a_root_leaves() {
    let project = Project::new();
    // It reads nothing on its stdin but the end.
    let ended = sortie(&project, &["session"]).expect(143);
    assert!(ended.stdout.contains("\"hello\""), "{ended:?}");
}

/// A user without rights, with the program and a folder of its own.
struct Nobody {
    program: Unprivileged,
}

impl Nobody {
    fn new() -> Self {
        Self {
            program: Unprivileged::copy_of(SORTIE),
        }
    }

    fn dir(&self) -> &Path {
        self.program.dir()
    }

    fn file(&self, name: &str, text: &str) -> &Self {
        fs::write(self.dir().join(name), text).unwrap();
        self
    }

    fn sortie(&self, args: &[&str]) -> Command {
        let mut command = self.program.command();
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir())
            .args(args);
        command
    }
}

#[test]
fn a_user_without_rights_runs_a_batch() {
    let nobody = Nobody::new();
    nobody
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: One, task: x}, {name: Two, task: y}]\n",
        )
        .file(
            "play.yaml",
            r#"
- turns:
    - {tool: bash, args: {command: "id -u > ${scratch}/id"}}
    - {finish: {text: done}}
"#,
        );
    let dir = nobody.dir().join("run");
    let mut command = nobody.sortie(&["run", "batch.yaml", "--json", "--run-dir", "run"]);
    let ended = Running::start_in(&dir, &mut command).end().expect(0);
    assert_eq!(ended.result().tasks.len(), 2);
    let id = fs::read_to_string(dir.join("scratch/One/id")).unwrap();
    assert_ne!(id, "0\n");
}

#[test]
fn nothing_outlives_the_killed_root_of_a_user_without_rights() {
    let nobody = Nobody::new();
    nobody
        .file("batch.yaml", SLEEPERS_BATCH)
        .file("play.yaml", SLEEPERS);
    let mut command = nobody.sortie(&["run", "batch.yaml", "--run-dir", "run"]);
    kill_the_root(Running::start_in(&nobody.dir().join("run"), &mut command));
}

#[test]
fn nobody_reads_the_environment_of_a_root_or_a_session() {
    let nobody = Nobody::new();
    nobody
        .file("batch.yaml", SLEEPERS_BATCH)
        .file("play.yaml", SLEEPERS);
    let mut command = nobody.sortie(&["run", "batch.yaml", "--run-dir", "run"]);
    let run = Running::start_in(&nobody.dir().join("run"), &mut command);
    let below = run.descendants_with(4, "sleep");
    let cat = Unprivileged::copy_of("/bin/cat");
    let can_read = |pid: u32| {
        let path = format!("/proc/{pid}/environ");
        cat.command().arg(path).output().unwrap().status.success()
    };
    // A program that a task started is a program like any other.
    let sleep = below
        .iter()
        .find(|process| process.comm == "sleep")
        .unwrap();
    assert!(can_read(sleep.pid));
    assert!(!can_read(run.pid()));
    for session in sessions(&below) {
        assert!(!can_read(session.pid));
    }
}

#[test]
fn a_run_inside_a_session_is_refused() {
    let project = Project::new();
    let command = format!(
        "{SORTIE} run inner.yaml > run.out 2>&1; echo $? >> run.out; \
         {SORTIE} task x --json > task.out 2> /dev/null; \
         {SORTIE} agents list > agents.out && {SORTIE} runs list > runs.out && {SORTIE} --help > help.out"
    );
    let turns = serde_json::json!([{"turns": [
        {"tool": "bash", "args": {"command": command}},
        {"finish": {"text": "done"}},
    ]}]);
    project
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: One, task: x}]\n",
        )
        .file("inner.yaml", "model: script/play\ntask: y\n")
        .file("play.yaml", turns.to_string());
    sortie(
        &project,
        &[
            "run",
            "batch.yaml",
            "--run-dir",
            &run_dir(&project).display().to_string(),
        ],
    )
    .expect(0);
    let refusal = project.read("run.out");
    for words in ["inside a session of sortie", "`task` tool"] {
        assert!(refusal.contains(words), "{refusal}");
    }
    assert!(refusal.ends_with("\n2\n"), "{refusal}");
    assert!(project.read("task.out").contains("inside a session"));
    assert!(project.read("agents.out").contains("scout"));
    for out in ["runs.out", "help.out"] {
        assert!(!project.read(out).is_empty(), "{out}");
    }
}
