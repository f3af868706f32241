//! The ways in which a task ends, and the exit codes that go with them.

use serde_json::json;
use sortie_protocol::{StructuredStatus, TaskResult};
use sortie_testkit::{ModelServer, Project, Turn, child};

use crate::support::{Ended, end_of, local_models, sortie};

/// A batch of one task, `One`, on a script of these turns.
fn scripted(turns: &str, task: &str) -> Ended {
    let project = Project::new();
    project
        .file("play.yaml", format!("- turns:\n{turns}"))
        .file(
            "batch.yaml",
            format!("model: script/play\ntasks: [{{name: One, task: x, {task}}}]\n"),
        );
    sortie(&project, &["run", "batch.yaml", "--json"])
}

/// The same on a provider that gives these turns.
fn served(server: &ModelServer, config: &str) -> Ended {
    let project = Project::new();
    project
        .user_file("models.yml", local_models(&server.url()))
        .config(config)
        .file("in.txt", "what the file says\n")
        .file(
            "batch.yaml",
            "model: local/small\ntasks: [{name: One, task: x}]\n",
        );
    sortie(&project, &["run", "batch.yaml", "--json"])
}

fn hand_in() -> Turn {
    Turn::text("all done").and_tool("yield", json!({"type": "text"}))
}

fn output(task: &TaskResult) -> &str {
    task.output.as_deref().unwrap_or_default()
}

#[test]
fn a_task_gives_up() {
    let ended = scripted(
        "  - {text: I looked everywhere., finish: {error: there are no tests here}}\n",
        "",
    )
    .expect(1);
    let task = ended.task("One");
    assert_eq!(end_of(&task), ("gave_up".into(), Some("gave_up")));
    assert_eq!(
        task.outcome.message.as_deref(),
        Some("there are no tests here")
    );
    assert_eq!(output(&task), "I looked everywhere.");
}

const THREE_MISFITS: &str = "  - {finish: {data: {title: 1}}}\n  - {finish: {data: {title: 2}}}\n  - {finish: {data: {title: 3, more: x}}}\n  - {finish: {data: {title: too late}}}\n";
const TITLED: &str =
    "outputSchema: {type: object, required: [title, notes], properties: {title: {type: string}}}";

#[test]
fn no_try_fits_a_strict_schema() {
    let ended = scripted(THREE_MISFITS, &format!("schemaMode: strict, {TITLED}")).expect(1);
    let task = ended.task("One");
    assert_eq!(
        end_of(&task),
        ("schema_violation".into(), Some("schema_violation"))
    );
    let structured = task.structured.as_ref().unwrap();
    assert_eq!(structured.status, StructuredStatus::Invalid);
    assert_eq!(structured.data, Some(json!({"title": 3, "more": "x"})));
    insta::assert_snapshot!(structured.error.as_deref().unwrap(), @"missing `notes`; title: should be a string, but is the number 3");
    assert_eq!(task.requests, 3);
}

#[test]
fn no_try_fits_a_permissive_schema() {
    let ended = scripted(THREE_MISFITS, TITLED).expect(1);
    let task = ended.task("One");
    assert_eq!(end_of(&task), ("completed".into(), None));
    let structured = task.structured.as_ref().unwrap();
    assert_eq!(structured.status, StructuredStatus::Invalid);
    assert_eq!(structured.data, Some(json!({"title": 3, "more": "x"})));
    assert!(
        task.warnings[0].contains("does not fit the schema"),
        "{:?}",
        task.warnings
    );
}

#[test]
fn prose_alone_is_incomplete_and_kept() {
    let turns = "  - {text: first words}\n  - {text: more words}\n  - {text: and more}\n  - {text: last words}\n";
    let task = scripted(turns, "").expect(1).task("One");
    assert_eq!(end_of(&task), ("incomplete".into(), Some("no_report")));
    assert_eq!(output(&task), "last words");
    assert_eq!(task.requests, 4);
}

#[test]
fn a_script_ends() {
    let turns = "  - {text: so far, tool: todo, args: {items: []}}\n";
    let task = scripted(turns, "").expect(1).task("One");
    assert_eq!(end_of(&task), ("failed".into(), Some("script_ended")));
    assert_eq!(output(&task), "so far");
}

#[test]
fn a_provider_that_asks_for_a_moment_gets_it() {
    let server = ModelServer::start([Turn::status(429).retry_after(1), hand_in()]);
    let task = served(&server, "").expect(0).task("One");
    assert_eq!(output(&task), "all done");
    assert_eq!(task.requests, 2);
    let requests = server.requests();
    assert!(requests[1].at - requests[0].at >= std::time::Duration::from_secs(1));
}

#[test]
fn a_provider_that_asks_for_too_much_is_given_up_on() {
    let server = ModelServer::start([
        Turn::text("so far").and_tool("read", json!({"path": "in.txt"})),
        Turn::status(429).retry_after(3_600),
    ]);
    let task = served(&server, "retry.maxDelayMs: 2000\n")
        .expect(1)
        .task("One");
    assert_eq!(end_of(&task), ("failed".into(), Some("rate_limited")));
    // A provider's words are never an answer.
    assert_eq!(output(&task), "so far");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_key_that_is_refused_fails_at_once() {
    let server = ModelServer::start([Turn::status(401)]);
    let task = served(&server, "").expect(1).task("One");
    assert_eq!(end_of(&task), ("failed".into(), Some("provider_error")));
    let message = task.outcome.message.unwrap();
    assert!(message.contains("401"), "{message}");
    assert_eq!(task.output, None);
    assert_eq!(task.requests, 1);
}

#[test]
fn a_broken_provider_is_asked_again_and_then_given_up_on() {
    let server = ModelServer::answering(|_| Turn::status(500));
    let config = "retry: {maxRetries: 3, baseDelayMs: 1}\n";
    let task = served(&server, config).expect(1).task("One");
    assert_eq!(end_of(&task), ("failed".into(), Some("provider_error")));
    assert_eq!(server.requests().len(), 4);
    assert_eq!(task.requests, 4);

    let server = ModelServer::start([Turn::status(503), Turn::status(500), hand_in()]);
    let task = served(&server, config).expect(0).task("One");
    assert_eq!(task.requests, 3);
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again_and_no_tool_runs_twice() {
    let log = |line: &str| json!({"command": format!("echo {line} >> log")});
    let server = ModelServer::start([
        Turn::tool("bash", log("one")),
        Turn::text("half of this")
            .and_tool("bash", log("two"))
            .cutting_after(2),
        Turn::tool("bash", log("three")),
        hand_in(),
    ]);
    let project = Project::new();
    project
        .user_file("models.yml", local_models(&server.url()))
        .config("retry.baseDelayMs: 1\n");
    let ended = sortie(&project, &["task", "x", "--model", "local/small", "--json"]).expect(0);
    let task = &ended.result().tasks[0];
    assert_eq!(output(task), "all done");
    assert_eq!(task.requests, 4);
    assert_eq!(project.read("log"), "one\nthree\n");
    // What broke off is no part of the conversation.
    let last = &server.requests()[3];
    assert!(!last.body.to_string().contains("half of this"));
}

#[test]
fn a_child_that_keeps_no_promise() {
    let project = Project::new();
    let tasks = [
        (
            "Code",
            json!({"do": "exit", "code": 7}),
            "crashed",
            Some("exit_7"),
        ),
        (
            "Half",
            json!({"do": "half-result"}),
            "crashed",
            Some("no_report"),
        ),
        (
            "Late",
            json!({"do": "exit-after-result"}),
            "completed",
            None,
        ),
        (
            "Noise",
            json!({"do": "garbage", "count": 3}),
            "completed",
            None,
        ),
        (
            "Noises",
            json!({"do": "garbage", "count": 30}),
            "crashed",
            Some("wire"),
        ),
        ("Loud", json!({"do": "flood-stderr"}), "completed", None),
        ("Large", json!({"do": "huge-record"}), "completed", None),
    ];
    let batch: Vec<_> = tasks
        .iter()
        .map(|(name, orders, _, _)| json!({"name": name, "task": orders.to_string()}))
        .collect();
    project
        .config(&format!("engine: {}\n", child::binary().display()))
        .file("play.yaml", "[]")
        .file(
            "batch.json",
            json!({"model": "script/play", "tasks": batch}).to_string(),
        );
    let ended = sortie(&project, &["run", "batch.json", "--json"]).expect(1);
    for (name, _, kind, reason) in tasks {
        assert_eq!(end_of(&ended.task(name)), (kind.into(), reason), "{name}");
    }
    let late = ended.task("Late").warnings;
    assert!(late[0].contains("disk full"), "{late:?}");
    let noise = ended.task("Noise").warnings;
    assert!(noise[0].contains("is not JSON"), "{noise:?}");
}
