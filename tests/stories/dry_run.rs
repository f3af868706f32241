//! What a run would do, before it does anything.

use std::net::TcpListener;

use serde_json::{Value, json};
use sortie_testkit::Project;

use crate::support::{Ended, SORTIE, files, local_models, run_dir, sortie, without_paths};

/// A project whose batch asks for much, and for some things that there are not.
fn project() -> Project {
    let project = Project::new();
    project
        .config("task.idleMs: 90000\ntask.budget.cost: 0.5\ntask.enableEffort: true\n")
        .user_file("models.yml", local_models("http://127.0.0.1:9"))
        .agent(
            "lint",
            "---\nname: lint\ndescription: Lints.\ntools: [read, lsp, bash]\nmodel: [openai/gpt-5.4-mini, local/small:low]\nspawns: [scout]\n---\nLint it.\n",
        )
        // None of the bundled ones, whose tools grow with what is built.
        .agent(
            "look",
            "---\nname: look\ndescription: Looks.\ntools: [read, bash]\noutput: {type: object}\n---\nLook.\n",
        )
        .agent(
            "add",
            "---\nname: add\ndescription: Adds.\ntools: [read, write]\nspawns: \"*\"\nread-summarize: false\n---\nAdd.\n",
        )
        .file(
            "batch.yaml",
            r#"
context: A web shop.
model: local/small
tasks:
  - {name: Lint, agent: lint, label: The linter, task: Lint all of it.}
  - {agent: look, task: "Look around.\nThen report.", tools: [read]}
  - {name: Sum, agent: add, effort: hi, task: Add up., outputSchema: {type: object}, schemaMode: strict}
"#,
        );
    project
}

#[test]
fn every_plan_is_shown_with_its_reasons_and_nothing_is_made() {
    let project = project();
    let before = (files(project.root()), files(project.home()));
    let ended = sortie(&project, &["run", "batch.yaml", "--dry-run"]).expect(0);
    insta::assert_snapshot!(without_paths(&project, &ended.stdout), @"
    Lint: The linter
      agent                   lint                                  the task names it ([PROJECT]/.sortie/agents/lint.md)
      model                   local/small:low (openai-completions)  `model` of the agent ([PROJECT]/.sortie/agents/lint.md:5)
      not used                openai/gpt-5.4-mini                   no key: `OPENAI_API_KEY` is not set
      effort                  low                                   the level of the selector of `local/small`
      tools                   read, bash, task, yield               what is left of what it asks for
      left out                lsp                                   not built yet ([PROJECT]/.sortie/agents/lint.md:4)
      spawns                  scout                                 what is left of what it asks for
      task.softRequestBudget  200                                   `task.softRequestBudget` is not set
      task.budget.cost        $0.5000                               `task.budget.cost` ([HOME]/.sortie/agent/config.yml:2)
      task.firstActivityMs    2 min 00 s                            `task.firstActivityMs` is not set
      task.idleMs             1 min 30 s                            `task.idleMs` ([HOME]/.sortie/agent/config.yml:1)
      read.summarize          true                                  `read.summarize.enabled` is not set

    Look: Look around. Then report.
      agent                   look                                   the task names it ([PROJECT]/.sortie/agents/look.md)
      model                   local/small:high (openai-completions)  nobody names one, so it is the caller's
      effort                  high                                   `defaultThinkingLevel` is not set
      tools                   read, yield                            what is left of what it asks for
      left out                bash                                   the task names the tools it wants
      schema                  agent                                  `output` of the agent ([PROJECT]/.sortie/agents/look.md:5)
      schema.mode             permissive                             nobody says, and this is the default
      task.softRequestBudget  200                                    `task.softRequestBudget` is not set
      task.budget.cost        $0.5000                                `task.budget.cost` ([HOME]/.sortie/agent/config.yml:2)
      task.firstActivityMs    2 min 00 s                             `task.firstActivityMs` is not set
      task.idleMs             1 min 30 s                             `task.idleMs` ([HOME]/.sortie/agent/config.yml:1)
      read.summarize          true                                   `read.summarize.enabled` is not set

    Sum: Add up.
      agent                   add                                    the task names it ([PROJECT]/.sortie/agents/add.md)
      model                   local/small:high (openai-completions)  nobody names one, so it is the caller's
      effort                  high                                   the task's hint `hi`
      tools                   read, write, task, yield               what is left of what it asks for
      spawns                  anybody                                what is left of what it asks for
      schema                  caller                                 the task states one
      schema.mode             strict                                 the task says so
      task.softRequestBudget  200                                    `task.softRequestBudget` is not set
      task.budget.cost        $0.5000                                `task.budget.cost` ([HOME]/.sortie/agent/config.yml:2)
      task.firstActivityMs    2 min 00 s                             `task.firstActivityMs` is not set
      task.idleMs             1 min 30 s                             `task.idleMs` ([HOME]/.sortie/agent/config.yml:1)
      read.summarize          false                                  `read-summarize` of the agent ([PROJECT]/.sortie/agents/add.md:6)

    3 tasks would run in [PROJECT]; nothing was started
    ");
    assert_eq!(ended.stderr, "");
    let task = ["task", "Look.", "--agent", "lint", "--dry-run"];
    let ended = sortie(&project, &task).expect(0);
    insta::assert_snapshot!(without_paths(&project, &ended.stdout), @"
    Lint: Look.
      agent                   lint                                  the task names it ([PROJECT]/.sortie/agents/lint.md)
      model                   local/small:low (openai-completions)  `model` of the agent ([PROJECT]/.sortie/agents/lint.md:5)
      not used                openai/gpt-5.4-mini                   no key: `OPENAI_API_KEY` is not set
      effort                  low                                   the level of the selector of `local/small`
      tools                   read, bash, task, yield               what is left of what it asks for
      left out                lsp                                   not built yet ([PROJECT]/.sortie/agents/lint.md:4)
      spawns                  scout                                 what is left of what it asks for
      task.softRequestBudget  200                                   `task.softRequestBudget` is not set
      task.budget.cost        $0.5000                               `task.budget.cost` ([HOME]/.sortie/agent/config.yml:2)
      task.firstActivityMs    2 min 00 s                            `task.firstActivityMs` is not set
      task.idleMs             1 min 30 s                            `task.idleMs` ([HOME]/.sortie/agent/config.yml:1)
      read.summarize          true                                  `read.summarize.enabled` is not set

    1 task would run in [PROJECT]; nothing was started
    ");
    assert_eq!((files(project.root()), files(project.home())), before);
}

#[test]
fn no_model_is_reached_and_no_command_is_run() {
    let project = project();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    nobody.set_nonblocking(true).unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    project.user_file(
        "models.yml",
        local_models(&url).replace(
            "    api:",
            "    apiKey: \"!touch ran; echo sk-printed-key\"\n    api:",
        ),
    );
    let ended = sortie(&project, &["run", "batch.yaml", "--dry-run", "--json"]).expect(0);
    assert_eq!(ended.json()["plans"].as_array().unwrap().len(), 3);
    assert!(!project.path("ran").exists());
    assert!(nobody.accept().is_err(), "somebody asked the model");
}

#[test]
fn a_plan_is_what_a_run_stores() {
    let project = Project::new();
    project
        .agent(
            "lint",
            "---\nname: lint\ndescription: Lints.\ntools: [read, lsp]\n---\nThe key is sk-marked-key-5c1d.\n",
        )
        .user_file(
            "models.yml",
            local_models("http://127.0.0.1:9").replace("    api:", "    apiKey: sk-marked-key-5c1d\n    api:"),
        )
        .file("play.yaml", "- turns: [{finish: {text: done}}]\n")
        .file(
            "batch.yaml",
            "model: script/play\ntasks: [{agent: lint, task: x}, {agent: lint, task: y}, {name: A, task: z}]\n",
        );
    let dir = run_dir(&project).display().to_string();
    let args = ["run", "batch.yaml", "--json", "--run-dir", &dir];
    let dry = sortie(&project, &[&args[..], &["--dry-run"]].concat()).expect(0);
    assert!(!run_dir(&project).exists());
    assert!(dry.stdout.contains("The key is [key "));
    assert!(!dry.stdout.contains("sk-marked"));
    let run = sortie(&project, &args).expect(0);
    let plans = dry.json()["plans"].clone();
    let ids: Vec<_> = run
        .result()
        .tasks
        .into_iter()
        .map(|task| task.id.to_string())
        .collect();
    assert_eq!(ids, ["Lint", "Lint-2", "A"]);
    for (plan, id) in plans.as_array().unwrap().iter().zip(&ids) {
        let stored = std::fs::read_to_string(run_dir(&project).join(format!("plans/{id}.json")));
        let mut stored: Value = serde_json::from_str(&stored.unwrap()).unwrap();
        assert_eq!(stored["plan"]["run"], run.json()["run"]);
        stored["plan"]["run"] = "dry-run".into();
        assert_eq!(*plan, stored);
    }
}

#[test]
fn what_keeps_a_batch_from_running_is_told_as_a_run_tells_it() {
    let project = project();
    let missing_key = "model: openai/gpt-5.4-mini\ntasks: [{task: x}]\n";
    let lost = "tasks: [{agent: lnt, task: x}, {agnt: lint, task: y}]\n";
    for batch in [
        missing_key,
        lost,
        "model: script/none\ntask: x\n",
        "tasks: []\n",
        "a: [\n",
    ] {
        project.file("batch.yaml", batch);
        for more in [&[][..], &["--json"]] {
            let args = [&["run", "batch.yaml"], more].concat();
            let run = sortie(&project, &args).expect(2);
            let dry = sortie(&project, &[&args[..], &["--dry-run"]].concat()).expect(2);
            assert_eq!((dry.stdout, dry.stderr), (run.stdout, run.stderr));
        }
    }
    project.file("batch.yaml", missing_key);
    let dry = sortie(&project, &["run", "batch.yaml", "--dry-run"]).expect(2);
    insta::assert_snapshot!(without_paths(&project, &dry.stderr), @"
     × `model` of the batch names `openai/gpt-5.4-mini`: no key: `OPENAI_API_KEY` is not set
      ╭─[batch.yaml:1:8]
    1 │ model: openai/gpt-5.4-mini
      ·        ─────────┬─────────
      ·                 ╰── here
    2 │ tasks: [{task: x}]
      ╰────
     help: set the variable, or choose another model
    ");
    assert!(!project.agent_dir().join("runs").exists());
}

#[test]
fn a_folder_that_cannot_take_the_run_is_told_too() {
    let project = Project::new();
    project
        .file("play.yaml", "- turns: [{finish: {text: done}}]\n")
        .file("batch.yaml", "model: script/play\ntask: x\n");
    let dir = run_dir(&project).display().to_string();
    let args = ["run", "batch.yaml", "--run-dir", &dir];
    sortie(&project, &args).expect(0);
    let before = files(&run_dir(&project));
    let dry = sortie(&project, &[&args[..], &["--dry-run"]].concat()).expect(2);
    insta::assert_snapshot!(without_paths(&project, &dry.stderr), @"
    × `[HOME]/run` holds an earlier run
    help: choose another folder with `--run-dir`
    ");
    assert_eq!(files(&run_dir(&project)), before);
}

#[test]
fn there_are_no_events_of_what_does_not_happen() {
    let project = project();
    let args = ["run", "batch.yaml", "--dry-run", "--events"];
    let ended = sortie(&project, &args).expect(2);
    assert!(
        ended
            .stderr
            .contains("'--dry-run' cannot be used with '--events'"),
        "{ended:?}"
    );
}

#[test]
fn warnings_of_the_settings_are_part_of_the_document() {
    let project = project();
    project.config("task.enableEffort: true\ntask.idelMs: 5\n");
    let mut command = project.sortie(SORTIE, ["run", "batch.yaml", "--dry-run", "--json"]);
    let ended = Ended::of(&mut command).expect(0);
    let problem = &ended.json()["problems"][0];
    assert_eq!(problem["severity"], json!("warning"), "{problem}");
    assert!(
        problem["path"].as_str().unwrap().ends_with("config.yml"),
        "{problem}"
    );
}
