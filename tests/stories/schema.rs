//! Everything that is printed as JSON fits the schema that `sortie schema` prints of it.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};
use sortie_testkit::{ModelServer, Project, Turn};

use crate::{
    quickstart::checkout,
    support::{Ended, local_models, sortie},
};

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

/// What `--events` of a run says, of which every line fits its schema.
fn events(project: &Project, ended: &Ended) -> Vec<Value> {
    let events = lines(&ended.stdout);
    for (event, seq) in events.iter().zip(1..) {
        fits(project, "event", event);
        assert_eq!(event["seq"], json!(seq));
    }
    events
}

/// The kinds of events of one task: `progress` by what it is of.
fn kinds(events: &[Value]) -> BTreeSet<String> {
    let kind = |event: &Value| match event["type"].as_str().unwrap() {
        "progress" => event["progress"]["event"].as_str().unwrap().to_owned(),
        kind => kind.to_owned(),
    };
    events.iter().map(kind).collect()
}

/// Those of `events` that are about this task.
fn of_task(events: &[Value], task: &str) -> Vec<Value> {
    let of_task = events.iter().filter(|event| event["task"] == task);
    of_task.cloned().collect()
}

/// The one of `events` of this type, the `nth` of several.
fn nth<'a>(events: &'a [Value], kind: &str, nth: usize) -> &'a Value {
    let mut of_kind = events.iter().filter(|event| event["type"] == kind);
    of_kind
        .nth(nth)
        .unwrap_or_else(|| panic!("{kind}: {events:#?}"))
}

#[test]
fn events_tell_a_run_from_its_start_to_its_results() {
    let server = ModelServer::answering(|request| {
        if request.task() == "Dig." {
            return Turn::text("dug").and_tool("yield", json!({"type": "text"}));
        }
        match (&*request.model(), request.turn()) {
            ("first", 0) => Turn::thinking("Somebody else should dig.")
                .and_text("I ask.")
                .and_tool(
                    "task",
                    json!({"context": "none", "tasks": [{"name": "Deep", "task": "Dig."}]}),
                )
                .and_tool("bash", json!({"command": "exit 3"})),
            ("first", _) => Turn::status(401),
            (_, 1) => Turn::text("This is no report."),
            (_, 2) => Turn::tool("yield", json!({"type": ["part"], "data": "one"})),
            _ => Turn::tool("yield", json!({"data": "two"})),
        }
    });
    let models = local_models(&server.url());
    let models = models.replace("- id: small", "- {id: first}\n      - id: second");
    let project = Project::new();
    project
        .user_file("models.yml", models)
        .agent(
            "lead",
            "---\nname: lead\ndescription: Leads.\nmodel: [local/first, local/second]\nspawns: \"*\"\n---\nLead.\n",
        )
        .file(
            "batch.yaml",
            "model: local/second\ntasks: [{name: Lead, label: The lead, agent: lead, task: Lead them.}]\n",
        );
    let ended = sortie(&project, &["run", "batch.yaml", "--events"]).expect(0);
    let events = events(&project, &ended);
    let lead = of_task(&events, "Lead");
    let told = kinds(&lead);
    for kind in [
        "queued",
        "launched",
        "requested",
        "answered",
        "thought",
        "text",
        "tool_started",
        "tool_ended",
        "waiting",
        "switch",
        "reminder",
        "section",
        "ended",
    ] {
        assert!(told.contains(kind), "{kind}: {told:?}");
    }
    assert_eq!(events[0]["type"], "started");
    assert_eq!(events.last().unwrap()["type"], "finished");

    // Every request has its answer, and every tool its end.
    let requests = lead
        .iter()
        .filter(|event| event["type"] == "requested")
        .count();
    for n in 0..requests {
        let (asked, answered) = (nth(&lead, "requested", n), nth(&lead, "answered", n));
        assert_eq!(
            (&asked["n"], &asked["model"]),
            (&answered["n"], &answered["model"])
        );
    }
    let refused = nth(&lead, "answered", 1);
    assert_eq!(
        (&refused["status"], &refused["http"]),
        (&json!("refused"), &json!(401))
    );
    let calls = |kind: &str| {
        let calls = lead
            .iter()
            .filter(|event| event["progress"]["event"] == kind);
        calls
            .map(|event| event["progress"]["call"].clone())
            .collect::<Vec<_>>()
    };
    let (mut started, mut over) = (calls("tool_started"), calls("tool_ended"));
    started.sort_by_key(Value::to_string);
    over.sort_by_key(Value::to_string);
    assert_eq!(started, over);

    // What a task made stands in its end, as `runs show` tells it.
    let result = nth(&lead, "ended", 0);
    assert_eq!(result["label"], "The lead");
    let shown = sortie(&project, &["runs", "show", "Lead", "--json"])
        .expect(0)
        .json();
    for (key, value) in shown.as_object().unwrap() {
        if key != "children" {
            assert_eq!(result[key], *value, "{key}");
        }
    }
    assert_eq!(
        nth(&of_task(&events, "Lead.Deep"), "ended", 0)["output"],
        "dug"
    );
    let run_dir = events[0]["runDir"].as_str().unwrap();
    assert!(std::path::Path::new(run_dir).join("Lead.Deep.md").is_file());
}

#[test]
fn events_tell_of_what_is_tried_again() {
    let server = ModelServer::start([
        Turn::status(503),
        Turn::cut_after(1),
        Turn::tool("yield", json!({"data": "done"})),
    ]);
    let project = Project::new();
    project
        .config("retry.baseDelayMs: 1\n")
        .user_file("models.yml", local_models(&server.url()));
    let args = ["task", "x", "--model", "local/small", "--events"];
    let ended = sortie(&project, &args).expect(0);
    let events = events(&project, &ended);
    let statuses: Vec<_> = (0..3)
        .map(|n| &nth(&events, "answered", n)["status"])
        .collect();
    assert_eq!(statuses, ["refused", "broken", "answered"]);
    assert!(kinds(&events).contains("retry_wait"), "{events:#?}");
}
