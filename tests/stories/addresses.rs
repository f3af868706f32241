//! What tasks left is read by others of the same run, and long files are read in short.

use serde_json::{Value, json};
use sortie_testkit::Project;

use crate::support::{Ended, run_dir, sortie};

/// Runs `script` with the agents `boss`, who may dispatch `leaf`.
fn played(project: &Project, script: &Value) -> Ended {
    project
        .agent("boss", "---\nname: boss\ndescription: may delegate\ntools: [read, task]\nspawns: [leaf]\n---\nx\n")
        .agent("leaf", "---\nname: leaf\ndescription: works\ntools: [read, bash]\n---\nx\n")
        .config("task.maxRecursionDepth: 2\n")
        .file("play.yaml", script.to_string())
        .file("batch.yaml", "model: script/play\ntasks: [{name: Top, agent: boss, task: go}]\n");
    let dir = run_dir(project).display().to_string();
    sortie(project, &["run", "batch.yaml", "--json", "--run-dir", &dir]).expect(0)
}

/// What tools answered the task `id`, in order.
fn answers(ended: &Ended, id: &str) -> Vec<String> {
    let transcript = ended.task(id).artifacts.transcript.unwrap();
    let text = std::fs::read_to_string(transcript).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["record"] == "tool_result")
        .map(|record| record["text"].as_str().unwrap().to_owned())
        .collect()
}

fn read(path: &str) -> Value {
    json!({"tool": "read", "args": {"path": path}})
}

fn read_range(path: &str, range: &str) -> Value {
    json!({"tool": "read", "args": {"path": path, "range": range}})
}

#[test]
fn a_parent_reads_all_that_its_task_left() {
    let project = Project::new();
    let findings: Vec<_> = (1..=900).map(|n| format!("finding {n}")).collect();
    let task = json!({"name": "Leaf", "agent": "leaf", "task": "look", "outputSchema": {"type": "object"}});
    let script = json!([
        {"when": {"agent": "boss"}, "turns": [
            {"tool": "task", "args": {"context": "all of it", "tasks": [task]}},
            {"tools": [
                read("agent://Top.Leaf"),
                read_range("agent://Top.Leaf", "900-902"),
                read("agent://Top.Leaf?q=.findings[899]"),
                read("agent://Top.Leaf?q=.finding"),
                read_range("agent://Top.Leaf/bash-1", "19999-"),
                read("history://Top.Leaf"),
                read("history://Top.Leaf/2"),
                read("agent://Leaf"),
                read("agent://Top"),
                read("skill://review"),
            ]},
            {"finish": {"text": "read"}},
        ]},
        {"when": {"agent": "leaf"}, "turns": [
            {"text": "Counting.", "tool": "bash", "args": {"command": "seq 20000"}},
            read_range("agent://Top.Leaf/bash-1", "12345"),
            {"finish": {"data": {"findings": findings}}},
        ]},
    ]);
    let ended = played(&project, &script);
    let leaf = answers(&ended, "Top.Leaf");
    assert!(
        leaf[0].contains("bytes left out; `agent://Top.Leaf/bash-1` is all of it"),
        "{}",
        leaf[0]
    );
    assert_eq!(leaf[1], "[line 12345 of 20000]\n12345\n");

    let top = answers(&ended, "Top");
    assert!(
        top[0].contains("bytes; read `agent://Top.Leaf` for all of it]\n"),
        "{}",
        top[0]
    );
    let data: Value = serde_json::from_str(&top[1]).unwrap();
    assert_eq!(data["findings"].as_array().unwrap().len(), 900);
    insta::assert_snapshot!(top[2..6].join("\n--\n"), @r#"
    [lines 900-902 of 904]
        "finding 898",
        "finding 899",
        "finding 900"

    --
    finding 900
    --
    in the data of task `Top.Leaf`: nothing at `.finding`: the data has `findings`
    --
    [lines 19999-20000 of 20000]
    19999
    20000
    "#);
    // The heading says how long it took.
    let (heading, turn) = top[7].split_once('\n').unwrap();
    assert!(heading.starts_with("#2 assistant"), "{heading}");
    assert_eq!(turn, "Counting.\n> 2.1 bash\n    command: seq 20000\n");
    insta::assert_snapshot!(top[8..11].join("\n--\n"), @"
    this run has no task `Leaf`; the nearest is `Top.Leaf`
    --
    task `Top` is still running and has no output yet; `history://Top` tells what it has done so far
    --
    `skill://review` cannot be read: skills are not built yet
    ");
    assert!(top[6].starts_with("#1 assignment\n"), "{}", top[6]);
    assert!(
        top[6].contains("> 2.1 bash\n    command: seq 20000\n"),
        "{}",
        top[6]
    );
    assert!(top[6].contains("more bytes]\n"), "{}", top[6]);
}

#[test]
fn a_long_source_file_is_read_in_short_unless_that_is_not_wanted() {
    let functions: Vec<_> = (0..200)
        .map(|n| format!("fn f{n}() {{\n    first({n});\n    second({n});\n}}\n"))
        .collect();
    for (setting, first_line) in [
        ("{}", "[summary of 800 lines: "),
        ("read.summarize.enabled: false", "fn f0() {"),
    ] {
        let project = Project::new();
        project.file("long.rs", functions.concat());
        let script = json!([{"turns": [read("long.rs"), read_range("long.rs", "2-3"), {"finish": {"text": "read"}}]}]);
        project.file("over.yml", setting);
        project.file("play.yaml", script.to_string()).file(
            "batch.yaml",
            "model: script/play\ntasks: [{name: Top, task: go}]\n",
        );
        let ended = sortie(
            &project,
            &["run", "batch.yaml", "--json", "--config", "over.yml"],
        )
        .expect(0);
        let answers = answers(&ended, "Top");
        assert!(answers[0].starts_with(first_line), "{}", answers[0]);
        assert_eq!(
            answers[1],
            "[lines 2-3 of 800]\n    first(0);\n    second(0);\n"
        );
    }
}
