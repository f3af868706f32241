//! `task`, `agents`, and what a shell asks for.

use serde_json::{Value, json};
use sortie_testkit::{ModelServer, Project, Turn};

use crate::support::{local_models, sortie, without_paths};

const SCHEMA: &str = "type: object\nrequired: [title]\nproperties:\n  title: {type: string}\n";

fn with_script(turns: &str) -> Project {
    let project = Project::new();
    project.file("play.yaml", format!("- turns: [{turns}]\n"));
    project
}

#[test]
fn a_task_prints_its_output_and_nothing_else() {
    let project = with_script("{finish: {text: \"two\\nlines\"}}");
    project.agent("echo", "---\nname: echo\ndescription: x\n---\nx\n");
    let ended = sortie(
        &project,
        &[
            "task",
            "x",
            "--agent",
            "echo",
            "--model",
            "script/play",
            "--name",
            "Mine",
        ],
    )
    .expect(0);
    assert_eq!(ended.stdout, "two\nlines\n");
    assert!(
        ended.stderr.contains("✓ Mine  completed  echo"),
        "{ended:?}"
    );
}

#[test]
fn a_task_is_named_as_strictly_as_one_of_a_batch() {
    let project = with_script("{finish: {text: x}}");
    for name in ["../../up", "/tmp/up", "", "A.B", "Main", "journal"] {
        let args = [
            "task",
            "x",
            "--model",
            "script/play",
            "--name",
            name,
            "--run-dir",
            "run",
        ];
        let ended = sortie(&project, &args).expect(2);
        assert!(
            ended.stderr.contains("`tasks[0].name`"),
            "{name:?}: {ended:?}"
        );
        assert!(!project.path("run").exists());
    }
}

#[test]
fn a_task_with_a_schema_prints_data() {
    let project = with_script("{finish: {data: {title: 7}}}, {finish: {data: {title: seven}}}");
    project.file("schema.yaml", SCHEMA);
    let ended = sortie(
        &project,
        &[
            "task",
            "x",
            "--schema",
            "schema.yaml",
            "--model",
            "script/play",
        ],
    )
    .expect(0);
    assert_eq!(ended.json(), json!({"title": "seven"}));
}

#[test]
fn a_task_that_did_not_work_out_prints_nothing_on_stdout() {
    let misfit = "{finish: {data: {title: 7}}}";
    for (turns, more, words) in [
        (
            format!("{misfit}, {misfit}, {misfit}"),
            Some("--strict"),
            "schema_violation",
        ),
        (
            "{text: so far, finish: {error: no tests here}}".into(),
            None,
            "no tests here",
        ),
    ] {
        let project = with_script(&turns);
        project.file("schema.yaml", SCHEMA);
        let args = [
            "task",
            "x",
            "--schema",
            "schema.yaml",
            "--model",
            "script/play",
        ];
        let args: Vec<_> = args.into_iter().chain(more).collect();
        let ended = sortie(&project, &args).expect(1);
        assert_eq!(ended.stdout, "");
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
}

#[test]
fn a_hint_at_effort_reaches_the_provider() {
    for (hint, word) in [("lo", "low"), ("med", "medium"), ("hi", "high")] {
        let server = ModelServer::start([Turn::tool("yield", json!({"data": "done"}))]);
        let project = Project::new();
        project.user_file("models.yml", local_models(&server.url()));
        let args = [
            "task",
            "x",
            "--model",
            "local/small",
            "--effort",
            hint,
            "--json",
        ];
        let ended = sortie(&project, &args).expect(0);
        assert_eq!(ended.json()["tasks"][0]["model"]["effort"], word);
        assert_eq!(server.requests()[0].body["reasoning_effort"], word);
    }
}

#[test]
fn agents_are_listed_with_what_hides_them_and_what_is_wrong() {
    let project = Project::new();
    project
        .agent(
            "scout",
            "---\nname: scout\ndescription: Ours.\ntools: [read]\n---\nLook.\n",
        )
        .agent("broken", "---\ndescription: no name\ntools: {}\n---\n")
        .user_file(
            "agents/mine.md",
            "---\nname: mine\ndescription: Mine.\n---\nx\n",
        );
    let ended = sortie(&project, &["agents", "list", "--json"]).expect(0);
    let list = ended.json();
    let row = |name: &str| -> &Value {
        let agents = list["agents"].as_array().unwrap();
        agents.iter().find(|row| row["name"] == name).unwrap()
    };
    assert_eq!(row("scout")["source"], "project");
    assert_eq!(row("scout")["tools"], json!(["read"]));
    assert_eq!(row("scout")["readOnly"], true);
    assert_eq!(row("mine")["source"], "user");
    for name in [
        "reviewer",
        "security-reviewer",
        "designer",
        "librarian",
        "task",
        "sonic",
    ] {
        assert_eq!(row(name)["source"], "bundled");
        assert_eq!(row(name)["group"], "runnable");
    }
    let shadowed = list["shadowed"].as_array().unwrap();
    assert_eq!(shadowed.len(), 1, "{shadowed:?}");
    assert_eq!(shadowed[0]["name"], "scout");
    let problem = &list["problems"][0];
    assert!(
        problem["path"].as_str().unwrap().ends_with("broken.md"),
        "{problem}"
    );
    assert_eq!(problem["severity"], "error");

    let text = sortie(&project, &["agents", "list"]).expect(0);
    assert!(text.stdout.contains("mine"), "{text:?}");
    assert!(text.stderr.contains("broken.md"), "{text:?}");
}

#[test]
fn an_agent_is_shown_with_the_place_of_every_field() {
    let project = Project::new();
    project.agent(
        "linter",
        "---\nname: linter\ndescription: Lints.\ntools: [read, edit]\n---\nRun it.\n",
    );
    let sheet = sortie(&project, &["agents", "show", "linter", "--json"])
        .expect(0)
        .json();
    let fields = sheet["fields"].as_array().unwrap();
    let tools = fields.iter().find(|row| row["field"] == "tools").unwrap();
    assert_eq!(tools["value"], json!(["read", "edit"]));
    assert_eq!((&tools["line"], &tools["column"]), (&json!(4), &json!(8)));

    let unknown = sortie(&project, &["agents", "show", "lintr"]).expect(1);
    insta::assert_snapshot!(without_paths(&project, &unknown.stderr), @"
    × there is no agent `lintr`
    help: did you mean `linter`?
    ");
}

#[test]
fn help_fits_a_terminal_and_names_every_door() {
    let project = Project::new();
    let help = sortie(&project, &["--help"]).expect(0);
    for door in [
        "run",
        "task",
        "agents",
        "runs",
        "schema",
        "session",
        "completions",
    ] {
        assert!(help.stdout.contains(&format!("\n  {door} ")), "{door}");
        let help = sortie(&project, &[door, "--help"]).expect(0);
        for line in help.stdout.lines() {
            assert!(line.chars().count() <= 100, "{door}: {line}");
        }
    }
    for args in [
        ["agents", "list"],
        ["agents", "show"],
        ["runs", "list"],
        ["runs", "show"],
        ["runs", "output"],
        ["runs", "transcript"],
    ] {
        let help = sortie(&project, &[args[0], args[1], "--help"]).expect(0);
        assert!(help.stdout.contains("Usage: sortie"), "{args:?}");
        for line in help.stdout.lines() {
            assert!(line.chars().count() <= 100, "{args:?}: {line}");
        }
    }
    let version = sortie(&project, &["--version"]).expect(0);
    assert_eq!(
        version.stdout,
        format!("sortie {}\n", env!("CARGO_PKG_VERSION"))
    );
    sortie(&project, &[]).expect(2);
}

#[test]
fn a_shell_can_complete_the_command_line() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sortie(&project, &["completions", shell]).expect(0).stdout;
        assert!(script.contains("max-concurrency"), "{shell}");
    }
    let script = sortie(&project, &["completions", "bash"]).expect(0).stdout;
    project.file("complete.sh", script);
    let ended = crate::support::Ended::of(&mut project.sortie("bash", ["-n", "complete.sh"]));
    assert_eq!(ended.expect(0).stderr, "");
}

#[test]
fn a_reader_that_leaves_is_no_failure_of_the_run() {
    for how in ["--json", "--events", "--max-concurrency=2"] {
        let project = with_script("{finish: {text: done}}");
        let command = format!(
            "set -o pipefail; '{}' run batch.yaml {how} | true",
            crate::support::SORTIE
        );
        project.file("batch.yaml", "model: script/play\ntask: x\n");
        let ended = crate::support::Ended::of(&mut project.sortie("bash", ["-c", &command]));
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
        assert_eq!(ended.code, Some(0), "{how}: {ended:?}");
    }
}

#[test]
fn figures_that_nobody_reported_are_not_shown() {
    let project = with_script("{finish: {text: x}}");
    let args = ["task", "x", "--model", "script/play"];
    let ended = sortie(&project, &args).expect(0);
    assert!(!ended.stderr.contains("token"), "{ended:?}");
    let ended = sortie(&project, &[&args[..], &["--events"]].concat()).expect(0);
    let events: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let answered = events.iter().find(|event| event["type"] == "answered");
    assert_eq!(answered.unwrap()["tokens"], Value::Null);
}

#[test]
fn a_misused_command_line_says_in_json_what_is_missing() {
    let project = Project::new();
    let ended = sortie(&project, &["run", "--json"]).expect(2);
    let problem = &ended.result().problems[0];
    assert!(
        problem.message.ends_with("not provided: <FILE>"),
        "{problem:?}"
    );
    assert_eq!(problem.help, None);
}
