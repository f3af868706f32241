use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Ending, Up};
use tokio::time::sleep;

use super::*;
use crate::{
    RunOptions,
    fake::Fake,
    launch::{Exit, Signal},
    stage::{Stage, endings},
};

fn batch(names: &[&str]) -> Value {
    let tasks: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "agent": "n", "task": "t"}))
        .collect();
    json!({"context": "c", "tasks": tasks})
}

#[test]
fn a_preview_ends_with_a_line_and_never_within_a_character() {
    assert_eq!(preview("short"), "short");
    let lines = "0123456789\n".repeat(1_000);
    assert_eq!(preview(&lines).len() % 11, 10);
    let wide = "é".repeat(5_000);
    assert!(preview(&wide).len() >= PREVIEW - 1);
}

#[tokio::test(start_paused = true)]
async fn a_parent_is_told_what_became_of_its_tasks() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        match child.id.as_str() {
            "A" => {
                let (ok, text) = child.spawn(batch(&["done", "lost"])).await;
                child.finish(&format!("{ok}\n{text}")).await
            }
            "A.lost" => Exit::Code(3),
            _ => child.finish(&"long\n".repeat(1_100)).await,
        }
    });
    let result = Stage::new("").run(&fake, batch(&["A"])).await;
    let told = result.tasks[0].output.as_deref().unwrap();
    insta::assert_snapshot!(told.replace(&"long\n".repeat(999), "[..]\n"), @r#"
    false
    <task-result id="A.done" agent="n" outcome="completed">
    [..]
    long
    [4999 of 5499 bytes; read `agent://A.done` for all of it]
    </task-result>

    <task-result id="A.lost" agent="n" outcome="crashed">
    the process ended with exit code 3
    (no output)
    </task-result>
    "#);
}

/// C09 d: exactly as many tasks as allowed, and everybody above the refused one still has its result.
#[tokio::test(start_paused = true)]
async fn no_run_has_more_tasks_than_its_limit() {
    let stage = Stage::new("task: {maxDescendants: 3, maxRecursionDepth: 8}\n");
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        let (ok, text) = child.spawn(batch(&["n"])).await;
        let refused = if ok { String::new() } else { text };
        child.finish(&refused).await
    });
    let result = stage.run(&fake, batch(&["n"])).await;
    insta::assert_snapshot!(endings(&result.tasks), @r"
    n completed
      n.n completed
        n.n.n completed
    ");
    assert_eq!(fake.book().launched, ["n", "n.n", "n.n.n"]);
    let deepest = &result.tasks[0].children[0].children[0];
    insta::assert_snapshot!(deepest.output.as_deref().unwrap(), @r"
    nothing was started:
    - this run would have 4 tasks, and `task.maxDescendants` is 3 (do the work yourself, or ask for fewer tasks)
    ");
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_leaves_no_name_no_slot_and_no_file() {
    let stage = Stage::new("task: {maxConcurrency: 1, maxRecursionDepth: 3}\n");
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        if child.id != "A" {
            return child.finish("ok").await;
        }
        let mut answers = Vec::new();
        let mut lost = batch(&["x", "y"]);
        lost["tasks"][1]["agent"] = "nobody".into();
        for args in [lost, json!({"tasks": []}), json!("what?"), batch(&["x"])] {
            let (_, text) = child.spawn(args).await;
            answers.push(text);
            child.request().await;
        }
        child.finish(&answers.join("\n\n")).await
    });
    let result = stage.run(&fake, batch(&["A", "Z"])).await;
    insta::assert_snapshot!(endings(&result.tasks), @r"
    A completed
      A.x completed
    Z completed
    ");
    insta::assert_snapshot!(result.tasks[0].output.as_deref().unwrap(), @r#"
    nothing was started:
    - task `y`: `nobody` is none of the agents that may be started here (these may: `n`)
    - task `y`: there is no agent `nobody` (there are `n`, `scout`, `reviewer`, `security-reviewer`, `designer`, `librarian`, `task`, `sonic`)

    nothing was started:
    - `context` is missing (say there what every task needs to know: the goal, the constraints, what is known so far)
    - `tasks` is empty (list at least one task)

    nothing was started:
    - a batch is a map, and this is text (write `tasks: [{task: "what to do"}]`, or `task: what to do` for a lone one)

    <task-result id="A.x" agent="n" outcome="completed">
    ok
    </task-result>
    "#);
    // While it was refused it kept its slot, and its own task goes before whoever waits higher up.
    assert_eq!(fake.book().launched, ["A", "A.x", "Z"]);
    assert_eq!(
        stage.files(),
        ["A.jsonl", "A.md", "A.x.jsonl", "A.x.md", "Z.jsonl", "Z.md"]
    );
}

/// A key is looked for last, when names could be given out already.
#[tokio::test(start_paused = true)]
async fn a_task_without_its_key_takes_no_name() {
    let stage = Stage::new("");
    let keyless = "providers: {one: {baseUrl: 'http://127.0.0.1:9/v1', api: openai-completions, apiKey: '!exit 3', models: [{id: a}]}, two: {baseUrl: 'http://127.0.0.1:9/v1', api: openai-completions, models: [{id: b}]}}\n";
    let pinned = "---\nname: pinned\ndescription: has a model\nmodel: one/a\n---\nx\n";
    let boss = "---\nname: boss\ndescription: may delegate\ntools: [task]\nspawns: '*'\n---\nx\n";
    stage.project.user_file("models.yml", keyless);
    stage.project.agent("pinned", pinned).agent("boss", boss);
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        if child.id != "boss" {
            return child.finish("ok").await;
        }
        let mut args = batch(&["x"]);
        args["tasks"][0]["agent"] = "pinned".into();
        let (_, refusal) = child.spawn(args).await;
        assert!(child.spawn(batch(&["x"])).await.0);
        child.finish(&refusal).await
    });
    let tasks = json!({"tasks": [{"name": "boss", "agent": "boss", "task": "t"}]});
    let options = RunOptions {
        model: Some("two/b".into()),
        ..stage.options()
    };
    let run = stage.start_with(&fake, tasks, options).unwrap();
    let result = run.finish().await;
    insta::assert_snapshot!(result.tasks[0].output.as_deref().unwrap(), @r"
    nothing was started:
    - the command for `one.apiKey` failed: exit status: 3 (run the command in a shell to see what it prints)
    ");
    assert_eq!(fake.book().launched, ["boss", "boss.x"]);
}

/// C09 a and c: the refusal names what stands against it, and the child works on.
#[tokio::test(start_paused = true)]
async fn a_call_that_no_tool_of_the_child_could_make_is_refused_as_well() {
    for (agent, settings) in [("n", "task.maxRecursionDepth: 1\n"), ("leaf", "")] {
        let fake = Fake::new(async |mut child| {
            child.hello().await;
            assert!(child.plan().tools.iter().all(|tool| tool.name != "task"));
            let (ok, text) = child.spawn(batch(&["x"])).await;
            child.finish(&format!("{ok}: {text}")).await
        });
        let stage = Stage::new(settings);
        let leaf = "---\nname: leaf\ndescription: may not delegate\ntools: [read]\n---\nx\n";
        stage.project.agent("leaf", leaf);
        let tasks = json!({"tasks": [{"agent": agent, "task": "t"}]});
        let result = stage.run(&fake, tasks).await;
        let output = result.tasks[0].output.as_deref().unwrap();
        match agent {
            "n" => insta::assert_snapshot!(output, @r"
            false: nothing was started:
            - `n` would be at depth 2, and `task.maxRecursionDepth` is 1 (do this part yourself)
            - `n` may not start another `n` (do this part yourself, or hand it to another agent)
            "),
            _ => insta::assert_snapshot!(output, @r"
            false: nothing was started:
            - `n` may not be started: nobody may be started here (do this part yourself)
            "),
        }
        assert_eq!(fake.book().launched.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn who_dies_takes_its_tasks_along() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        match child.id.as_str() {
            "A" => {
                child.start(batch(&["x", "y"])).await;
                // Once both work.
                sleep(Duration::from_secs(1)).await;
                Exit::Signal(9)
            }
            "A.x" => {
                child.cancelled().await;
                child.report(Ending::Cancelled, "half of it").await;
                Exit::Code(0)
            }
            _ => child.stay().await,
        }
    });
    let stage = Stage::new("task.killGraceMs: 4000\n");
    let result = stage.run(&fake, batch(&["A"])).await;
    insta::assert_snapshot!(endings(&result.tasks), @r"
    A crashed SIGKILL: the process was ended by SIGKILL
      A.x cancelled cancelled: it was stopped
      A.y cancelled cancelled: it was stopped
    ");
    assert_eq!(
        result.tasks[0].children[0].output.as_deref(),
        Some("half of it")
    );
    // One second, and half the grace of who did not answer.
    assert_eq!(result.tasks[0].duration_ms, 3_000);
    assert!(fake.book().alive.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_taken_back_ends_its_tasks_and_no_others() {
    let fake = Fake::new(async |mut child| {
        child.hello().await;
        match child.id.as_str() {
            "A" => {
                let first = child.start(batch(&["x"])).await;
                let second = child.start(batch(&["y"])).await;
                sleep(Duration::from_secs(1)).await;
                child.say(Up::Drop { id: first }).await;
                assert!(child.spawned(second).await.0);
                child.finish("ok").await
            }
            "A.x" => child.stay().await,
            _ => {
                sleep(Duration::from_mins(1)).await;
                child.finish("ok").await
            }
        }
    });
    let result = Stage::new("").run(&fake, batch(&["A"])).await;
    insta::assert_snapshot!(endings(&result.tasks), @r"
    A completed
      A.x cancelled cancelled: it was stopped
      A.y completed
    ");
    assert_eq!(fake.book().signals, [("A.x".to_owned(), Signal::Terminate)]);
}
