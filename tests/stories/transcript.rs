//! What was said in a task, and what it handed in, by its id.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sortie_testkit::Project;

use crate::support::{Running, SORTIE, run_dir, sortie, wait_for_file, without_paths};

/// A batch with two slots: one task dispatches another and ends, two hang until there is a file `go`, and one waits.
fn project() -> Project {
    let project = Project::new();
    project
        .config("task.maxConcurrency: 2\n")
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: Lead, agent: task, task: Lead them., outputSchema: {type: object}}, {name: Hang, task: Wait.}, {name: More, task: Wait.}, {name: Late, task: x}]\n",
        )
        .file(
            "play.yaml",
            r#"
- when: {task: Lead}
  turns:
    - text: I ask somebody.
      tool: task
      args: {context: none, tasks: [{name: Deep, agent: task, task: Dig.}]}
    - {finish: {data: {found: [{path: x.rs, lines: 3}], title: "a\nb", "odd key": null}}}
- when: {task: Lead.Deep}
  turns:
    - {think: "hm \u202e", text: "\u001b[2Jdug", finish: {text: dug}}
- turns:
    - {tool: bash, args: {command: "touch ${scratch}/hangs; until [ -e go ]; do sleep 0.01; done"}}
    - {finish: {text: done}}
"#,
        );
    project
}

fn wait_until_they_hang(project: &Project) {
    for task in ["Hang", "More"] {
        wait_for_file(&run_dir(project).join(format!("scratch/{task}/hangs")));
    }
}

/// The transcript of a task, without how long everything took.
#[track_caller]
fn told(project: &Project, task: &str) -> String {
    let id = format!("{}/{task}", run_dir(project).display());
    let ended = sortie(project, &["runs", "transcript", &id]).expect(0);
    let lines = ended.stdout.lines();
    let lines = lines.map(|line| match line.split_once(", after ") {
        Some((heading, _)) if line.starts_with('#') => heading,
        _ => line,
    });
    let text = without_paths(project, &lines.collect::<Vec<_>>().join("\n"));
    text.replace('\u{202e}', "[RLO]").replace('\x1b', "[ESC]")
}

#[test]
fn a_transcript_is_there_for_tasks_that_ended_and_that_work() {
    let project = project();
    let _run = Running::start(&project, &mut project.sortie(SORTIE, ["run", "batch.yaml"]));
    wait_until_they_hang(&project);
    let (dir, text) = (run_dir(&project), |task: &str| told(&project, task));
    let id = |task: &str| format!("{}/{task}", dir.display());
    insta::assert_snapshot!(text("Lead"), @r#"
    #1 assignment
    Lead them.

    #2 assistant
    I ask somebody.
    > 2.1 task
        context: none
        tasks: [{"name":"Deep","agent":"task","task":"Dig."}]

    #4 answer of 2.1 task
    <task-result id="Lead.Deep" agent="task" outcome="completed">
    [ESC][2Jdug

    dug
    </task-result>

    [the task is still at work]
    "#);
    insta::assert_snapshot!(text("Lead.Deep"), @"
    #1 assignment
    Dig.

    #2 assistant
    [thinking] hm [RLO]
    [ESC][2Jdug

    dug
    > 2.1 yield
        type: text

    #4 answer of 2.1 yield
    the session is over
    ");
    insta::assert_snapshot!(text("Hang"), @"
    #1 assignment
    Wait.

    #2 assistant
    > 2.1 bash
        command: touch [HOME]/run/scratch/Hang/hangs; until [ -e go ]; do sleep 0.01; done

    [call 2.1 has no answer]

    [the task is still at work]
    ");
    let document = |task: &str| {
        sortie(&project, &["runs", "transcript", &id(task), "--json"])
            .expect(0)
            .json()
    };
    let hang = document("Hang");
    assert_eq!(
        (&hang["task"], &hang["state"]),
        (&json!("Hang"), &json!("going"))
    );
    let records = fs::read_to_string(dir.join("Lead.jsonl")).unwrap();
    let records: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(document("Lead")["records"], json!(records));

    let late = sortie(&project, &["runs", "transcript", &id("Late")]).expect(1);
    insta::assert_snapshot!(late.stderr, @"  × `Late` has no transcript: it is queued");
    let hang = sortie(&project, &["runs", "output", &id("Hang")]).expect(1);
    insta::assert_snapshot!(without_paths(&project, &hang.stderr), @"
    × `Hang` has no result: it is still at work
    help: `sortie runs transcript [HOME]/run/Hang` shows what was said in it
    ");
    let late = sortie(&project, &["runs", "output", &id("Late")]).expect(1);
    insta::assert_snapshot!(late.stderr, @"  × `Late` has no result: it is queued");
}

#[test]
fn a_transcript_is_there_after_its_run_was_killed() {
    let project = project();
    let run = Running::start(&project, &mut project.sortie(SORTIE, ["run", "batch.yaml"]));
    wait_until_they_hang(&project);
    let (dir, text) = (run_dir(&project), |task: &str| told(&project, task));
    let id = |task: &str| format!("{}/{task}", dir.display());
    let document = |task: &str| {
        sortie(&project, &["runs", "transcript", &id(task), "--json"])
            .expect(0)
            .json()
    };
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().code, None);
    insta::assert_snapshot!(text("Hang"), @"
    #1 assignment
    Wait.

    #2 assistant
    > 2.1 bash
        command: touch [HOME]/run/scratch/Hang/hangs; until [ -e go ]; do sleep 0.01; done

    [call 2.1 has no answer]

    [the task has no result: its run was interrupted]
    ");
    assert_eq!(document("Hang")["state"], "interrupted");
    let late = sortie(&project, &["runs", "transcript", &id("Late")]).expect(1);
    insta::assert_snapshot!(late.stderr, @"  × `Late` has no transcript: it never started");
    // A line that the kill tore, and one that a disk spoiled.
    let mut torn = fs::read_to_string(dir.join("Hang.jsonl")).unwrap();
    torn = torn.replacen('{', "", 1) + "{\"n\": 9, \"at";
    fs::write(dir.join("Hang.jsonl"), torn).unwrap();
    insta::assert_snapshot!(text("Hang"), @"
    #2 assistant
    > 2.1 bash
        command: touch [HOME]/run/scratch/Hang/hangs; until [ -e go ]; do sleep 0.01; done

    [call 2.1 has no answer]
    [line 1 of the transcript is damaged, and left out]
    [the last line of the transcript is not whole, and left out]

    [the task has no result: its run was interrupted]
    ");
    let document = document("Hang");
    assert_eq!(
        (&document["damaged"], &document["torn"]),
        (&json!([1]), &json!(true))
    );
}

#[test]
fn a_place_in_a_tasks_data_is_found() {
    let project = project();
    project.file("go", "");
    sortie(&project, &["run", "batch.yaml"]).expect(0);
    let query = |id: &str, path: &str| sortie(&project, &["runs", "output", id, "-q", path]);
    for (path, printed) in [
        (".title", "a\nb\n"),
        (".found[0].lines", "3\n"),
        (".[\"odd key\"]", "null\n"),
        (".found[0]", "{\n  \"path\": \"x.rs\",\n  \"lines\": 3\n}\n"),
    ] {
        assert_eq!(query("Lead", path).expect(0).stdout, printed);
    }
    let all = sortie(&project, &["runs", "output", "Lead", "--query=."]).expect(0);
    assert_eq!(all.json()["found"][0]["path"], "x.rs");
    let mut faults = String::new();
    for (id, path) in [
        ("Lead", ".titel"),
        ("Lead", ".found[1]"),
        ("Lead", ".title.x"),
        ("Lead", "title"),
        ("Lead", "-x"),
        ("Lead.Deep", ".x"),
        ("Nobody", ".x"),
    ] {
        let ended = query(id, path).expect(1);
        assert_eq!(ended.stdout, "");
        faults += &ended.stderr;
    }
    insta::assert_snapshot!(faults, @"
    × the data of `Lead`: nothing at `.titel`: the data has `title`
    help: `-q .` prints all of it
    × the data of `Lead`: nothing at `.found[1]`: `.found` has 1 item, counted from 0
    help: `-q .` prints all of it
    × the data of `Lead`: nothing at `.title.x`: `.title` is text
    help: `-q .` prints all of it
    × `title` is no path in data: it begins with neither `.` nor `[`; write one like `.files[0].path`
    × `-x` is no path in data: it begins with neither `.` nor `[`; write one like `.files[0].path`
    × `Lead.Deep` has no data
    help: only a task with a schema hands in data; `sortie runs output Lead.Deep` prints the text, if there is one
    × no run and no task of this project is called `Nobody`
    help: `sortie runs list` shows this project's runs
    ");
}

#[test]
fn a_summary_says_where_an_output_is_whole() {
    let project = project();
    project.file("go", "");
    let ended = sortie(&project, &["run", "batch.yaml"]).expect(0);
    let line = ended.stdout.lines().last().unwrap();
    let (_, command) = line.split_once("sortie ").unwrap();
    let args: Vec<_> = command.split(' ').collect();
    let output = sortie(&project, &args).expect(0);
    assert!(output.stdout.contains("x.rs"), "{output:?}");

    let mut command = project.sortie(SORTIE, ["run", "batch.yaml"]);
    let ended = Running::start(&project, &mut command).end().expect(0);
    assert!(
        without_paths(&project, &ended.stdout)
            .ends_with("\nan output whole: sortie runs output [HOME]/run/Lead\n"),
        "{ended:?}"
    );
}

#[test]
fn a_task_that_never_started_has_no_transcript() {
    let project = project();
    let run = Running::start(&project, &mut project.sortie(SORTIE, ["run", "batch.yaml"]));
    wait_until_they_hang(&project);
    run.signal(Signal::SIGTERM);
    run.end().expect(143);
    let id = format!("{}/Late", run_dir(&project).display());
    let late = sortie(&project, &["runs", "transcript", &id]).expect(1);
    insta::assert_snapshot!(late.stderr, @"  × `Late` has no transcript: it was stopped before it started");
    let unknown = sortie(&project, &["runs", "transcript", "Nobody"]).expect(1);
    insta::assert_snapshot!(unknown.stderr, @"
    × no run and no task of this project is called `Nobody`
    help: `sortie runs list` shows this project's runs
    ");
}
