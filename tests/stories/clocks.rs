//! A model that never answers, one that stops midway, and a task that never ends.

use serde_json::json;
use sortie_testkit::{ModelServer, Project, Turn};

use crate::support::{end_of, local_models, sortie};

fn project(server: &ModelServer, config: &str) -> Project {
    let project = Project::new();
    project
        .user_file("models.yml", local_models(&server.url()))
        .config(config)
        .file(
            "batch.yaml",
            "model: local/small\ntasks: [{name: One, task: x}]\n",
        );
    project
}

#[test]
fn a_model_that_never_answers_trips_the_first_activity_clock() {
    let server = ModelServer::start([Turn::silent()]);
    let project = project(&server, "task.firstActivityMs: 300\n");
    let ended = sortie(&project, &["run", "batch.yaml", "--json"]).expect(1);
    let task = ended.task("One");
    assert_eq!(end_of(&task), ("timed_out".into(), Some("first_activity")));
    let message = task.outcome.message.unwrap();
    assert!(message.contains("`task.firstActivityMs`"), "{message}");
    assert_eq!(task.requests, 1);
    // Nobody holds the connection any more.
    server.wait_for_hangups(1);
}

#[test]
fn a_model_that_stops_midway_trips_the_idle_clock() {
    let server = ModelServer::start([Turn::text("so far, so good").stalling_after(2)]);
    let project = project(&server, "task: {idleMs: 300}\n");
    let ended = sortie(&project, &["run", "batch.yaml", "--json"]).expect(1);
    let task = ended.task("One");
    assert_eq!(end_of(&task), ("timed_out".into(), Some("idle")));
    let message = task.outcome.message.unwrap();
    assert!(message.contains("`task.idleMs`"), "{message}");
    server.wait_for_hangups(1);
}

#[test]
fn a_task_that_never_ends_trips_the_total_clock() {
    let server = ModelServer::answering(|request| {
        Turn::text(format!("step {}", request.turn()))
            .and_tool("bash", json!({"command": "sleep 1000"}))
    });
    let project = project(&server, "task.maxRuntimeMs: 500\n");
    let ended = sortie(&project, &["run", "batch.yaml", "--json"]).expect(1);
    let task = ended.task("One");
    assert_eq!(end_of(&task), ("timed_out".into(), Some("total")));
    let message = task.outcome.message.unwrap();
    assert!(message.contains("`task.maxRuntimeMs`"), "{message}");
    assert_eq!(task.output.as_deref(), Some("step 0"));
}

#[test]
fn a_tool_does_not_wind_the_clocks_of_the_model() {
    let server = ModelServer::start([
        Turn::tool("bash", json!({"command": "sleep 0.7"})),
        Turn::tool("yield", json!({"data": "done"})),
    ]);
    let project = project(&server, "task: {firstActivityMs: 400, idleMs: 400}\n");
    let ended = sortie(&project, &["run", "batch.yaml", "--json"]).expect(0);
    assert!(ended.task("One").outcome.is_completed());
}
