//! Who may dispatch whom, and how deep.

use serde_json::{Value, json};
use sortie_protocol::TaskResult;
use sortie_testkit::{ModelServer, Project, Turn};

use crate::support::{SORTIE, journal, local_models, run_dir, sortie};

const BOSS: &str = "---\nname: boss\ndescription: may delegate\ntools: [read, task]\nspawns: [boss, leaf]\n---\nx\n";
const LEAF: &str = "---\nname: leaf\ndescription: may not delegate\n---\nx\n";

/// A project with both agents, a batch of one of them, and a script.
fn project(agent: &str, config: &str, script: &Value) -> Project {
    let project = Project::new();
    project
        .agent("boss", BOSS)
        .agent("leaf", LEAF)
        .config(config)
        .file("play.yaml", script.to_string())
        .file(
            "batch.yaml",
            format!("model: script/play\ntasks: [{{name: Top, agent: {agent}, task: go}}]\n"),
        );
    project
}

/// Runs the batch of `project`, and returns its one task and how many processes there were.
fn played(project: &Project) -> (TaskResult, usize) {
    let dir = run_dir(project);
    let ended = sortie(
        project,
        &[
            "run",
            "batch.yaml",
            "--json",
            "--run-dir",
            &dir.display().to_string(),
        ],
    )
    .expect(0);
    let launched = journal(&dir)
        .into_iter()
        .filter(|line| line["entry"] == "launched");
    (ended.task("Top"), launched.count())
}

/// A call of `task`, whether there is such a tool or not.
fn dispatch(agent: &str) -> Value {
    json!({"tool": "task", "args": {"context": "all of it", "tasks": [{"agent": agent, "task": "same text"}]}})
}

/// What tools answered `task`, of those that did not do what was asked.
fn refusals(task: &TaskResult) -> Vec<String> {
    let transcript = task.artifacts.transcript.as_ref().unwrap();
    let text = std::fs::read_to_string(transcript).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["record"] == "tool_result" && record["ok"] == false)
        .map(|record| record["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn at_the_last_depth_there_is_no_task_tool_and_a_forged_call_is_refused() {
    let script = json!([{"turns": [dispatch("leaf"), {"finish": {"data": "did it myself"}}]}]);
    let project = project("boss", "task.maxRecursionDepth: 1\n", &script);
    let (top, processes) = played(&project);
    assert_eq!(top.tools, ["read", "yield"]);
    assert_eq!(top.output.as_deref(), Some("did it myself"));
    assert_eq!(processes, 1);
    insta::assert_snapshot!(refusals(&top).join("\n"), @"
    nothing was started:
    - `leaf` would be at depth 2, and `task.maxRecursionDepth` is 1 (do this part yourself)
    ");
}

#[test]
fn at_depth_zero_the_root_itself_may_start_nobody() {
    let project = project("leaf", "task.maxRecursionDepth: 0\n", &json!([]));
    let dir = run_dir(&project).display().to_string();
    let ended = sortie(
        &project,
        &["run", "batch.yaml", "--json", "--run-dir", &dir],
    )
    .expect(2);
    insta::assert_snapshot!(ended.json()["problems"][0], @r#"{"file":"batch.yaml","line":2,"column":28,"message":"`leaf` would be at depth 1, and `task.maxRecursionDepth` is 0","help":"raise the setting; 1 lets a run dispatch tasks that dispatch none"}"#);
    assert!(!run_dir(&project).exists());
}

#[test]
fn an_agent_that_may_not_delegate_cannot() {
    let script = json!([
        {"when": {"agent": "boss"}, "turns": [dispatch("leaf"), {"finish": {"data": "up"}}]},
        {"when": {"agent": "leaf"}, "turns": [dispatch("leaf"), {"finish": {"data": "alone"}}]},
    ]);
    let project = project("boss", "task.maxRecursionDepth: 3\n", &script);
    let (top, processes) = played(&project);
    assert!(top.tools.contains(&"task".to_owned()));
    let leaf = &top.children[0];
    assert!(!leaf.tools.contains(&"task".to_owned()), "{:?}", leaf.tools);
    assert_eq!(leaf.output.as_deref(), Some("alone"));
    assert_eq!(processes, 2);
    insta::assert_snapshot!(refusals(leaf).join("\n"), @"
    nothing was started:
    - `leaf` may not start another `leaf` (do this part yourself, or hand it to another agent)
    - `leaf` may not be started: nobody may be started here (do this part yourself)
    ");
}

#[test]
fn a_task_that_was_given_less_than_its_agent_cannot_dispatch_either() {
    let script = json!([{"turns": [dispatch("leaf"), {"finish": {"data": "did it myself"}}]}]);
    let project = project("boss", "task.maxRecursionDepth: 3\n", &script);
    project.file(
        "batch.yaml",
        "model: script/play\ntasks: [{name: Top, agent: boss, task: go, tools: [read]}]\n",
    );
    let (top, processes) = played(&project);
    assert_eq!(top.tools, ["read", "yield"]);
    assert_eq!(refusals(&top).len(), 1);
    assert_eq!(processes, 1);
}

#[test]
fn a_model_that_goes_on_forever_is_stopped_by_the_number_of_tasks() {
    let server = ModelServer::answering(|request| match request.turn() {
        0 => Turn::tool("task", dispatch("boss")["args"].clone()),
        _ => Turn::tool("yield", json!({"data": request.results().concat()})),
    });
    let project = project(
        "boss",
        "task: {maxRecursionDepth: 8, maxDescendants: 3}\n",
        &json!([]),
    );
    project
        .user_file("models.yml", local_models(&server.url()))
        .file(
            "batch.yaml",
            "model: local/small\ntasks: [{name: Top, agent: boss, task: go}]\n",
        );
    let (top, processes) = played(&project);
    assert_eq!(processes, 3);
    let mut last = &top;
    while let Some(child) = last.children.first() {
        last = child;
        assert!(last.outcome.is_completed());
    }
    let refusal = last.output.as_deref().unwrap();
    assert!(refusal.contains("`task.maxDescendants` is 3"), "{refusal}");
}

#[test]
fn a_child_that_edits_its_environment_is_still_refused() {
    let run = format!("{SORTIE} run batch.yaml > inner.out 2>&1; echo $? >> inner.out");
    let command = format!(
        "export SORTIE_DEPTH=0 SORTIE_SPAWNS='*'; unset SORTIE_SESSION SORTIE_PARENT PI_BLOCKED_AGENT; {run}; \
         (setsid sh -c '{run}; touch apart') & until [ -e apart ]; do sleep 0.01; done"
    );
    let script = json!([{"turns": [
        {"tool": "bash", "args": {"command": command}},
        {"finish": {"data": "done"}},
    ]}]);
    let project = project("leaf", "task.maxRecursionDepth: 1\n", &script);
    let (top, processes) = played(&project);
    assert_eq!(top.output.as_deref(), Some("done"));
    assert_eq!(processes, 1);
    let refusal = project.read("inner.out");
    assert!(refusal.contains("inside a session of sortie"), "{refusal}");
    assert!(refusal.ends_with("2\n"), "{refusal}");
}
