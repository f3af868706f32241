//! Against an endpoint that speaks chat completions.

use serde_json::{Value, json};
use sortie_testkit::{ModelServer, Project, Request, Turn};

use crate::support::{Ended, SORTIE, local_models, sortie};

/// Reads, writes `out-ID.txt`, and hands in a text, where ID stands in the task as `ID=...`.
fn reads_and_writes(request: &Request) -> Turn {
    let task = request.task();
    let id: String = task
        .split("ID=")
        .nth(1)
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    match request.turn() {
        0 => Turn::tool("read", json!({"path": "in.txt"})).usage(100, 10),
        1 => {
            let content = request.results().concat();
            let path = format!("out-{id}.txt");
            Turn::tool("write", json!({"path": path, "content": content})).usage(200, 20)
        }
        _ => Turn::text(format!("wrote {id}"))
            .and_tool("yield", json!({"type": "text"}))
            .usage(300, 30),
    }
}

fn project(url: &str) -> Project {
    let project = Project::new();
    project
        .user_file("models.yml", local_models(url))
        .file("in.txt", "what the file says\n");
    project
}

#[test]
fn a_task_reads_writes_and_hands_in() {
    let server = ModelServer::answering(reads_and_writes);
    let project = project(&server.url());
    project.file(
        "batch.yaml",
        "tasks: [{name: One, agent: task, task: ID=x1}]\n",
    );
    let ended = sortie(
        &project,
        &["run", "batch.yaml", "--model", "local/small:low", "--json"],
    )
    .expect(0);
    let document = ended.json();
    let task = &document["tasks"][0];
    for (field, expected) in [
        ("/id", json!("One")),
        ("/agent", json!("task")),
        ("/agentSource", json!("bundled")),
        ("/agentFile", Value::Null),
        ("/outcome", json!("completed")),
        ("/reason", Value::Null),
        ("/message", Value::Null),
        ("/output", json!("wrote x1")),
        ("/structured", Value::Null),
        ("/model/selector", json!("local/small")),
        ("/model/effort", json!("low")),
        ("/model/api", json!("openai-completions")),
        ("/model/attempts", json!([])),
        ("/usage/input", json!(600)),
        ("/usage/output", json!(60)),
        ("/usage/cacheRead", Value::Null),
        ("/usage/reasoning", Value::Null),
        ("/requests", json!(3)),
        ("/warnings", json!([])),
        ("/isolation", Value::Null),
        ("/artifacts/patch", Value::Null),
        ("/children", json!([])),
    ] {
        assert_eq!(task.pointer(field), Some(&expected), "{field}: {task:#}");
    }
    let cost = task["usage"]["cost"].as_f64().unwrap();
    assert!((cost - 0.000_72).abs() < 1e-9, "{cost}");
    assert!(project.read("out-x1.txt").contains("what the file says"));

    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].model(), "small");
    assert_eq!(requests[0].body["reasoning_effort"], "low");
    assert!(requests[0].tools().contains(&"bash".to_owned()));
}

#[test]
fn sixteen_tasks_of_one_batch_complete() {
    let server = ModelServer::answering(reads_and_writes);
    let project = project(&server.url());
    let tasks: Vec<_> = (1..=16)
        .map(|n| json!({"name": format!("T{n}"), "task": format!("ID=x{n}")}))
        .collect();
    let batch = json!({"model": "local/small", "tasks": tasks});
    project.file("batch.json", batch.to_string());
    let ended = sortie(&project, &["run", "batch.json", "--json"]).expect(0);
    let result = ended.result();
    for (n, task) in (1..).zip(&result.tasks) {
        // In the order in which they were asked for.
        assert_eq!(task.id.as_str(), format!("T{n}"));
        assert!(task.outcome.is_completed(), "{task:#?}");
        assert_eq!(task.requests, 3);
        assert!(!project.read(format!("out-x{n}.txt")).is_empty());
    }
    assert_eq!(result.tasks.len(), 16);
    assert_eq!(server.requests().len(), 48);
}

#[test]
fn a_task_dispatches_four() {
    let server = ModelServer::answering(|request| {
        if !request.task().contains("SPAWN=4") {
            return reads_and_writes(request);
        }
        if request.turn() == 0 {
            let task =
                |n| json!({"name": format!("N{n}"), "agent": "sonic", "task": format!("ID=n{n}")});
            let tasks: Vec<_> = (1..=4).map(task).collect();
            Turn::tool("task", json!({"context": "all of it", "tasks": tasks}))
        } else {
            Turn::tool("yield", json!({"data": request.results().concat()}))
        }
    });
    let project = project(&server.url());
    project.file(
        "batch.yaml",
        "model: local/small\ntasks: [{name: Lead, agent: task, task: SPAWN=4}]\n",
    );
    let ended = sortie(&project, &["run", "batch.yaml", "--json"]).expect(0);
    let lead = ended.task("Lead");
    assert_eq!(lead.children.len(), 4);
    for (n, child) in (1..).zip(&lead.children) {
        assert_eq!(child.id.as_str(), format!("Lead.N{n}"));
        assert!(child.outcome.is_completed(), "{child:#?}");
        assert_eq!(child.requests, 3);
        // What the lead's model was told.
        let output = lead.output.as_deref().unwrap();
        assert!(output.contains(&format!("wrote n{n}")), "{output}");
        assert!(!project.read(format!("out-n{n}.txt")).is_empty());
    }
    // What the lead used is its own, without its children.
    assert_eq!(lead.requests, 2);
}

#[test]
fn a_key_in_the_environment_is_all_that_openai_needs() {
    let server = ModelServer::answering(reads_and_writes);
    let project = Project::new();
    project.file("in.txt", "x").user_file(
        "models.yml",
        format!("providers:\n  openai:\n    baseUrl: {}\n", server.url()),
    );
    let mut command = project.sortie(
        SORTIE,
        ["task", "ID=o1", "--model", "openai/gpt-5.4-mini", "--json"],
    );
    command.env("OPENAI_API_KEY", "sk-a-key-for-this-test");
    let ended = Ended::of(&mut command).expect(0);
    let task = &ended.result().tasks[0];
    assert_eq!(task.model.selector, "openai/gpt-5.4-mini");
    assert_eq!(task.requests, 3);
    let request = &server.requests()[0];
    assert_eq!(request.model(), "gpt-5.4-mini");
    assert_eq!(
        request.header("authorization"),
        Some("Bearer sk-a-key-for-this-test")
    );
}
