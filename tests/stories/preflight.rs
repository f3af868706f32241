//! Nothing starts before everything of a batch has passed, and everything that is wrong is told at once.

use std::fs;

use serde_json::{Value, json};
use sortie_testkit::Project;

use crate::support::{run_dir, sortie, without_paths};

/// Runs `batch.yaml` of `project` as text and as JSON, sees that nothing was started, and returns both.
fn refused(project: &Project) -> (String, Value) {
    refused_by(project, &["run", "batch.yaml"])
}

fn refused_by(project: &Project, args: &[&str]) -> (String, Value) {
    let dir = run_dir(project).display().to_string();
    let with = |more: &[&str]| {
        let args: Vec<_> = args
            .iter()
            .chain(&["--run-dir", &dir])
            .chain(more)
            .copied()
            .collect();
        sortie(project, &args).expect(2)
    };
    let text = with(&[]);
    assert_eq!(text.stdout, "");
    let json = with(&["--json"]);
    assert!(!run_dir(project).exists());
    assert!(!project.agent_dir().join("runs").exists());
    let document: Value = serde_json::from_str(&without_paths(project, &json.stdout)).unwrap();
    assert_eq!(document["run"], Value::Null);
    assert_eq!(document["tasks"], json!([]));
    (
        without_paths(project, &text.stderr),
        document["problems"].clone(),
    )
}

/// A project whose batch this is, with a script to run it on.
fn with_batch(batch: &str) -> Project {
    let project = Project::new();
    project
        .file("batch.yaml", batch)
        .file("play.yaml", "- turns: [{finish: {text: done}}]\n");
    project
}

/// The messages of problems, a line each.
fn messages(problems: &Value) -> String {
    let mut text = String::new();
    for row in problems.as_array().unwrap() {
        for place in ["file", "line", "column"] {
            match &row[place] {
                Value::String(file) => text += file,
                Value::Null => continue,
                number => text += &number.to_string(),
            }
            text += ":";
        }
        if row["file"].is_string() {
            text += " ";
        }
        text += row["message"].as_str().unwrap();
        if let Some(help) = row["help"].as_str() {
            text += &["\n  ", help].concat();
        }
        text += "\n";
    }
    text
}

#[test]
fn a_file_that_is_not_there() {
    let (text, problems) = refused_by(&Project::new(), &["run", "bach.yaml"]);
    insta::assert_snapshot!(text, @"
    × bach.yaml: cannot be read: no such file or directory
    help: `run` wants a batch file, or `-` for a batch on stdin
    ");
    insta::assert_snapshot!(messages(&problems), @"
    bach.yaml: cannot be read: no such file or directory
      `run` wants a batch file, or `-` for a batch on stdin
    ");
}

#[test]
fn text_that_is_no_yaml() {
    let project = with_batch("model: script/play\ntasks:\n  - task: 'never closed\n");
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @"
     × unclosed quote
      ╭─[batch.yaml:3:11]
    2 │ tasks:
    3 │   - task: 'never closed
      ·           ▲
      ·           ╰── here
      ╰────
    ");
    insta::assert_snapshot!(messages(&problems), @"batch.yaml:3:11: unclosed quote");
}

#[test]
fn a_key_that_nobody_knows() {
    let project =
        with_batch("model: script/play\ntasks:\n  - {agent: scout, taks: Look around.}\n");
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @"
     × `tasks[0]` has no `task`
      ╭─[batch.yaml:3:5]
    2 │ tasks:
    3 │   - {agent: scout, taks: Look around.}
      ·     ┬
      ·     ╰── here
      ╰────
     help: say what to do, where, and what to hand back

     × `tasks[0].taks` is no key
      ╭─[batch.yaml:3:20]
    2 │ tasks:
    3 │   - {agent: scout, taks: Look around.}
      ·                    ──┬─
      ·                      ╰── here
      ╰────
     help: did you mean `task`?
    ");
    insta::assert_snapshot!(problems, @r#"[{"file":"batch.yaml","line":3,"column":5,"message":"`tasks[0]` has no `task`","help":"say what to do, where, and what to hand back"},{"file":"batch.yaml","line":3,"column":20,"message":"`tasks[0].taks` is no key","help":"did you mean `task`?"}]"#);
}

#[test]
fn an_agent_that_nobody_knows() {
    let project = with_batch("model: script/play\ntasks:\n  - {agent: scuot, task: x}\n");
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @"
     × there is no agent `scuot`
      ╭─[batch.yaml:3:13]
    2 │ tasks:
    3 │   - {agent: scuot, task: x}
      ·             ──┬──
      ·               ╰── for this task
      ╰────
     help: did you mean `scout`? there are `scout`, `reviewer`, `security-reviewer`, `designer`, `librarian`, `task`, `sonic`
    ");
    insta::assert_snapshot!(messages(&problems), @"
    batch.yaml:3:13: there is no agent `scuot`
      did you mean `scout`? there are `scout`, `reviewer`, `security-reviewer`, `designer`, `librarian`, `task`, `sonic`
    ");
}

#[test]
fn names_that_cannot_be_told_apart_or_lead_elsewhere() {
    let project = with_batch(
        "model: script/play\ntasks:\n  - {name: Look, task: x}\n  - {name: look, task: x}\n  - {name: ../../etc/cron, task: x}\n  - {name: Journal, task: x}\n",
    );
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @"
     × `tasks[1].name` is `look`, which `tasks[0].name` is too
      ╭─[batch.yaml:4:12]
    3 │   - {name: Look, task: x}
    4 │   - {name: look, task: x}
      ·            ──┬─
      ·              ╰── here
    5 │   - {name: ../../etc/cron, task: x}
      ╰────
     help: names have to differ by more than case; leave one out, and it is given a name

     × `tasks[2].name` is `../../etc/cron`, and a name is made of ASCII letters, digits, `_`, and `-`
      ╭─[batch.yaml:5:12]
    4 │   - {name: look, task: x}
    5 │   - {name: ../../etc/cron, task: x}
      ·            ───────┬──────
      ·                   ╰── here
    6 │   - {name: Journal, task: x}
      ╰────

     × `tasks[3].name` is `Journal`, and this name is reserved
      ╭─[batch.yaml:6:12]
    5 │   - {name: ../../etc/cron, task: x}
    6 │   - {name: Journal, task: x}
      ·            ───┬───
      ·               ╰── here
      ╰────
    ");
    insta::assert_snapshot!(messages(&problems), @"
    batch.yaml:4:12: `tasks[1].name` is `look`, which `tasks[0].name` is too
      names have to differ by more than case; leave one out, and it is given a name
    batch.yaml:5:12: `tasks[2].name` is `../../etc/cron`, and a name is made of ASCII letters, digits, `_`, and `-`
    batch.yaml:6:12: `tasks[3].name` is `Journal`, and this name is reserved
    ");
}

#[test]
fn a_batch_without_a_task() {
    for (batch, expected) in [
        ("", "the batch is empty"),
        ("model: script/play\ntasks: []\n", "`tasks` is empty"),
        ("model: script/play\n", "the batch has no `tasks`"),
        ("[]\n", "a batch is a map"),
    ] {
        let (text, problems) = refused(&with_batch(batch));
        assert!(text.contains(expected), "{text}");
        assert!(
            problems[0]["message"].as_str().unwrap().contains(expected),
            "{problems}"
        );
        assert!(problems[0]["help"].is_string(), "{problems}");
    }
}

#[test]
fn a_schema_that_is_none() {
    let project = with_batch(
        "model: script/play\ntasks:\n  - {name: One, task: x, outputSchema: {type: objekt}}\n  - {name: Two, task: x, outputSchema: {type: object, required: title}}\n",
    );
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @r#"
     × task `One`: `outputSchema` is no schema: `type`: should be "array", "boolean", "integer", "null", "number", "object", "string" or an array, but is the string "objekt"
      ╭─[batch.yaml:3:5]
    2 │ tasks:
    3 │   - {name: One, task: x, outputSchema: {type: objekt}}
      ·     ┬
      ·     ╰── for this task
    4 │   - {name: Two, task: x, outputSchema: {type: object, required: title}}
      ╰────

     × task `Two`: `outputSchema` is no schema: `required`: should be an array, but is the string "title"
      ╭─[batch.yaml:4:5]
    3 │   - {name: One, task: x, outputSchema: {type: objekt}}
    4 │   - {name: Two, task: x, outputSchema: {type: object, required: title}}
      ·     ┬
      ·     ╰── for this task
      ╰────
    "#);
    insta::assert_snapshot!(messages(&problems), @r#"
    batch.yaml:3:5: task `One`: `outputSchema` is no schema: `type`: should be "array", "boolean", "integer", "null", "number", "object", "string" or an array, but is the string "objekt"
    batch.yaml:4:5: task `Two`: `outputSchema` is no schema: `required`: should be an array, but is the string "title"
    "#);
}

#[test]
fn no_model() {
    let project = with_batch("tasks: [{task: x}]\n");
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @"
     × no model is configured
      ╭─[batch.yaml:1:9]
    1 │ tasks: [{task: x}]
      ·         ┬
      ·         ╰── for this task
      ╰────
     help: name one by `--model PROVIDER/MODEL`, by `model:` in the batch, or by `modelRoles.default` in `~/.sortie/agent/config.yml`; `--model script/NAME` runs `NAME.yaml` without any model
    ");
    insta::assert_snapshot!(messages(&problems), @"
    batch.yaml:1:9: no model is configured
      name one by `--model PROVIDER/MODEL`, by `model:` in the batch, or by `modelRoles.default` in `~/.sortie/agent/config.yml`; `--model script/NAME` runs `NAME.yaml` without any model
    ");
}

#[test]
fn a_provider_without_its_key() {
    let project = with_batch("model: openai/gpt-5.4-mini\ntasks: [{task: x}]\n");
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @"
     × `model` of the batch names `openai/gpt-5.4-mini`: no key: `OPENAI_API_KEY` is not set
      ╭─[batch.yaml:1:8]
    1 │ model: openai/gpt-5.4-mini
      ·        ─────────┬─────────
      ·                 ╰── here
    2 │ tasks: [{task: x}]
      ╰────
     help: set the variable, or choose another model
    ");
    insta::assert_snapshot!(messages(&problems), @"
    batch.yaml:1:8: `model` of the batch names `openai/gpt-5.4-mini`: no key: `OPENAI_API_KEY` is not set
      set the variable, or choose another model
    ");
}

#[test]
fn models_scripts_and_roles_that_nobody_knows() {
    for (model, expected) in [
        ("opnai/gpt-5.4-mini", "did you mean `openai`"),
        ("openai/gpt-5.4-mimi", "did you mean `openai/gpt-5.4-mini`"),
        ("script/plai", "there is no script `plai`"),
        ("'@smoll'", "`@smol`"),
    ] {
        let project = with_batch(&format!(
            "model: {model}\ntasks: [{{agent: task, task: x}}]\n"
        ));
        let (_, problems) = refused(&project);
        assert!(messages(&problems).contains(expected), "{problems}");
    }
}

#[test]
fn an_invalid_agent_matters_only_to_whoever_asks_for_it() {
    let project = with_batch("model: script/play\ntasks: [{name: One, agent: linter, task: x}]\n");
    project.agent(
        "linter",
        "---\nname: linter\ndescription: Lints.\ntools: [read, {write: true}]\n---\nLint.\n",
    );
    let (text, problems) = refused(&project);
    insta::assert_snapshot!(text, @"
     × `linter` exists but is invalid: an entry of `tools` is a map, not text
      ╭─[[PROJECT]/.sortie/agents/linter.md:4:15]
    3 │ description: Lints.
    4 │ tools: [read, {write: true}]
      ·               ▲
      ·               ╰── here
    5 │ ---
      ╰────
    ");
    insta::assert_snapshot!(messages(&problems), @"[PROJECT]/.sortie/agents/linter.md:4:15: `linter` exists but is invalid: an entry of `tools` is a map, not text");

    project.file(
        "batch.yaml",
        "model: script/play\ntasks: [{name: One, agent: task, task: x}]\n",
    );
    sortie(&project, &["run", "batch.yaml"]).expect(0);
}

#[test]
fn everything_that_is_wrong_with_a_batch_is_told_at_once() {
    let project = with_batch(
        "model: script/play\ntasks:\n  - {name: A, agent: scuot, task: x}\n  - {name: B, agent: task, task: x, outputSchema: {type: 7}}\n  - {name: C, agent: broken, task: x}\n  - {name: D, agent: task, task: x, tools: [raed]}\n",
    );
    project.agent("broken", "---\nname: broken\nname: twice\n---\nx\n");
    let (_, problems) = refused(&project);
    insta::assert_snapshot!(messages(&problems), @r#"
    batch.yaml:3:22: task `A`: there is no agent `scuot`
      did you mean `scout`? there are `scout`, `reviewer`, `security-reviewer`, `designer`, `librarian`, `task`, `sonic`
    batch.yaml:4:22: task `B`: `outputSchema` is no schema: `type`: should be "array", "boolean", "integer", "null", "number", "object", "string" or an array, but is the number 7
    [PROJECT]/.sortie/agents/broken.md:3:1: task `C`: `broken` exists but is invalid: `name` is said twice
      keep one of the two
    batch.yaml:6:22: task `D`: the task lists `raed`, which is no tool
      did you mean `read`?
    "#);
}

#[test]
fn settings_and_batch_are_checked_together() {
    let project = with_batch("tasks: [{taks: x}]\n");
    project.config("task:\n  maxConcurency: 3\n  idleMs: soon\n");
    let (_, problems) = refused(&project);
    insta::assert_snapshot!(messages(&problems), @"
    [HOME]/.sortie/agent/config.yml:2:3: `task.maxConcurency` is no setting
      did you mean `task.maxConcurrency`?
    [HOME]/.sortie/agent/config.yml:3:11: `task.idleMs` wants a whole number, 0 or more, not `soon`
    batch.yaml:1:9: `tasks[0]` has no `task`
      say what to do, where, and what to hand back
    batch.yaml:1:10: `tasks[0].taks` is no key
      did you mean `task`?
    ");
}

#[test]
fn a_command_line_that_is_wrong() {
    let project = with_batch("task: x\n");
    let ended = sortie(&project, &["run", "batch.yaml", "--jsno"]).expect(2);
    assert!(ended.stderr.contains("'--json'"), "{ended:?}");
    let ended = sortie(&project, &["run", "--json"]).expect(2);
    assert_eq!(ended.json()["run"], Value::Null);
    assert!(ended.json()["problems"][0]["message"].is_string());
}

#[test]
fn a_run_dir_that_another_run_has_is_refused() {
    let project = with_batch("model: script/play\ntask: x\n");
    let dir = run_dir(&project).display().to_string();
    let args = ["run", "batch.yaml", "--json", "--run-dir", &dir];
    sortie(&project, &args).expect(0);
    let before = fs::read(run_dir(&project).join("journal.jsonl")).unwrap();
    let ended = sortie(&project, &args).expect(2);
    let problems = messages(&ended.json()["problems"]);
    insta::assert_snapshot!(without_paths(&project, &problems), @"
    `[HOME]/run` holds an earlier run
      choose another folder with `--run-dir`
    ");
    let after = fs::read(run_dir(&project).join("journal.jsonl")).unwrap();
    assert_eq!(before, after);
}
