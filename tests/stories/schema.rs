//! Everything that is printed as JSON fits the schema that `sortie schema` prints of it.

use std::fs;

use serde_json::Value;
use sortie_testkit::Project;

use crate::{quickstart::checkout, support::sortie};

/// Sees that `document` is what the schema of this name describes.
#[track_caller]
fn fits(project: &Project, name: &str, document: &Value) {
    let schema = sortie(project, &["schema", name]).expect(0).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{name}: {faults:#?}\n{document:#}");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_schema_is_listed_and_printed() {
    let project = Project::new();
    let list = sortie(&project, &["schema"]).expect(0).stdout;
    insta::assert_snapshot!(list, @"
    agent         what `sortie agents show --json` prints
    agents        what `sortie agents list --json` prints
    batch         what `sortie run` reads
    dry-run       what `--dry-run --json` prints
    event         a line of `--events`
    record        a line of a task's transcript
    result        what `--json` of a run prints
    run           what `sortie runs show RUN --json` prints
    runs          what `sortie runs list --json` prints
    script        a scripted model
    session-plan  all that a child will do
    settings      a `config.yml`
    task-result   what `sortie runs show TASK --json` prints
    transcript    what `sortie runs transcript --json` prints
    wire-down     a line from the root to a child
    wire-up       a line from a child to the root
    ");
    for line in list.lines() {
        let name = line.split_whitespace().next().unwrap();
        let schema = sortie(&project, &["schema", name]).expect(0).json();
        assert!(schema["$schema"].is_string(), "{name}");
        jsonschema::validator_for(&schema).unwrap();
    }
    let near = sortie(&project, &["schema", "evnt"]).expect(2);
    insta::assert_snapshot!(near.stderr, @"
    error: invalid value 'evnt' for '[NAME]'
      [possible values: agent, agents, batch, dry-run, event, record, result, run, runs, script, session-plan, settings, task-result, transcript, wire-down, wire-up]

      tip: a similar value exists: 'event'

    For more information, try '--help'.
    ");
    let script = sortie(&project, &["completions", "bash"]).expect(0).stdout;
    assert!(script.contains("session-plan"), "{script}");
}

#[test]
fn what_a_run_prints_and_leaves_fits_its_schema() {
    let project = checkout();
    let batch = "examples/quickstart/batch.yaml";
    let print = |args: &[&str]| sortie(&project, args).expect(0).json();
    let result = print(&["run", batch, "--json"]);
    fits(&project, "result", &result);
    fits(
        &project,
        "dry-run",
        &print(&["run", batch, "--dry-run", "--json"]),
    );
    fits(&project, "runs", &print(&["runs", "list", "--json"]));
    let run = result["run"].as_str().unwrap();
    fits(&project, "run", &print(&["runs", "show", run, "--json"]));
    fits(
        &project,
        "task-result",
        &print(&["runs", "show", "Release", "--json"]),
    );
    fits(
        &project,
        "transcript",
        &print(&["runs", "transcript", "Fix", "--json"]),
    );
    fits(&project, "agents", &print(&["agents", "list", "--json"]));
    fits(
        &project,
        "agent",
        &print(&["agents", "show", "scout", "--json"]),
    );
    let dir = std::path::Path::new(result["runDir"].as_str().unwrap());
    for record in lines(&fs::read_to_string(dir.join("Fix.jsonl")).unwrap()) {
        fits(&project, "record", &record);
    }
    let stored = fs::read_to_string(dir.join("plans/Release.Notes.json")).unwrap();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    fits(&project, "session-plan", &stored["plan"]);
    let asked = fs::read_to_string(dir.join("run.json")).unwrap();
    fits(&project, "batch", &serde_json::from_str(&asked).unwrap());

    let refused = sortie(&project, &["run", "nothing.yaml", "--json"]).expect(2);
    fits(&project, "result", &refused.json());
}
