//! What a run leaves on disk, read back.

use std::fs;

use nix::sys::signal::Signal;
use sortie_testkit::Project;

use crate::support::{Running, SORTIE, run_dir, sortie, wait_for_file};

fn project() -> Project {
    let project = Project::new();
    project
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: Quick, task: x}, {name: Slow, task: x}]\n",
        )
        .file(
            "play.yaml",
            r#"
- when: {task: Quick}
  turns: [{finish: {text: the whole output}}]
- turns:
    - {tool: bash, args: {command: "until [ -e go ]; do sleep 0.01; done"}}
    - {finish: {data: {answer: 42}}}
"#,
        );
    project
}

#[test]
fn runs_are_listed_and_their_outputs_are_found_by_id() {
    let project = project();
    project.file("go", "");
    assert_eq!(
        sortie(&project, &["runs", "list", "--json"])
            .expect(0)
            .json()["runs"],
        serde_json::json!([])
    );
    let first = sortie(&project, &["run", "batch.yaml", "--json"]).expect(0);
    let second = sortie(&project, &["run", "batch.yaml", "--json"]).expect(0);
    let id = |ended: &crate::support::Ended| ended.result().run.unwrap().to_string();

    let list = sortie(&project, &["runs", "list", "--json"])
        .expect(0)
        .json();
    let rows = list["runs"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    // The newest first.
    assert_eq!(rows[0]["run"], id(&second));
    assert_eq!(rows[1]["run"], id(&first));
    assert_eq!(rows[0]["state"], "finished");
    assert_eq!(rows[0]["completed"], 2);

    // What a run printed is what is shown of it later.
    let shown = sortie(&project, &["runs", "show", &id(&first), "--json"])
        .expect(0)
        .json();
    assert_eq!(shown["tasks"], first.json()["tasks"]);
    let task = format!("{}/Slow", id(&second));
    let shown = sortie(&project, &["runs", "show", &task, "--json"])
        .expect(0)
        .json();
    assert_eq!(shown, second.json()["tasks"][1]);

    for id in ["Quick".to_owned(), format!("{}/Quick", id(&first))] {
        let output = sortie(&project, &["runs", "output", &id]).expect(0);
        assert_eq!(output.stdout.trim_end(), "the whole output");
    }
    // A prefix that both share is no id.
    let both = id(&first)[..2].to_owned();
    let ambiguous = sortie(&project, &["runs", "show", &both]).expect(1);
    assert!(
        ambiguous.stderr.contains(&id(&second)[..8]),
        "{ambiguous:?}"
    );
    sortie(&project, &["runs", "output", "Nobody"]).expect(1);
}

#[test]
fn what_was_finished_before_the_root_was_killed_is_still_there() {
    let project = project();
    let run = Running::start(&project, &mut project.sortie(SORTIE, ["run", "batch.yaml"]));
    wait_for_file(&run_dir(&project).join("Quick.md"));
    let dir = run_dir(&project).display().to_string();
    let going = sortie(&project, &["runs", "show", &dir, "--json"])
        .expect(0)
        .json();
    assert_eq!(going["state"], "going");
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().code, None);

    let shown = sortie(&project, &["runs", "show", &dir, "--json"])
        .expect(0)
        .json();
    assert_eq!(shown["state"], "interrupted", "{shown}");
    let output = fs::read_to_string(run_dir(&project).join("Quick.md")).unwrap();
    assert_eq!(output, "the whole output");
    // And every line of the journal is whole.
    let journal = fs::read_to_string(run_dir(&project).join("journal.jsonl")).unwrap();
    assert_eq!(
        journal.lines().count(),
        crate::support::journal(&run_dir(&project)).len()
    );
    let text = sortie(&project, &["runs", "show", &dir]).expect(0).stdout;
    assert!(text.contains("Quick") && text.contains("Slow"), "{text}");
}

#[test]
fn large_outputs_and_artifacts_are_whole_on_disk() {
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
    - {tool: bash, args: {command: "seq 1 200000"}}
    - {finish: {text: done}}
"#,
        );
    let dir = run_dir(&project);
    let args = [
        "run",
        "batch.yaml",
        "--json",
        "--run-dir",
        &dir.display().to_string(),
    ];
    sortie(&project, &args).expect(0);
    let kept: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let text = fs::read_to_string(&kept[0]).unwrap();
    assert_eq!(text.lines().count(), 200_000);
    for (n, line) in (1..).zip(text.lines()) {
        assert_eq!(line, n.to_string());
    }
}
