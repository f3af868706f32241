//! A tree of tasks on one slot.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use sortie_testkit::{ModelServer, Project, Request, Turn};

use crate::support::{Ended, local_models, sortie};

/// A server that counts how many of its requests were open at once, at most.
fn counting(
    answer: impl Fn(&Request) -> Turn + Send + Sync + 'static,
) -> (ModelServer, Arc<AtomicUsize>) {
    let open = AtomicUsize::new(0);
    let most = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&most);
    let server = ModelServer::answering(move |request| {
        let now = open.fetch_add(1, Ordering::SeqCst) + 1;
        noted.fetch_max(now, Ordering::SeqCst);
        // Nothing is waited for here: it only keeps the request open long enough to meet another.
        thread::sleep(Duration::from_millis(5));
        open.fetch_sub(1, Ordering::SeqCst);
        answer(request)
    });
    (server, most)
}

fn run(server: &ModelServer, tasks: &Value, how: &str) -> Ended {
    let project = Project::new();
    project
        .user_file("models.yml", local_models(&server.url()))
        .config("task: {maxConcurrency: 1, maxRecursionDepth: 3}\n")
        .agent(
            "n",
            "---\nname: n\ndescription: node\ntools: [task]\nspawns: [n]\n---\nx\n",
        )
        .file(
            "batch.json",
            json!({"model": "local/small", "tasks": tasks}).to_string(),
        );
    sortie(&project, &["run", "batch.json", how]).expect(0)
}

fn two() -> Value {
    json!({"context": "all", "tasks": [{"agent": "n", "task": "leaf"}, {"agent": "n", "task": "leaf"}]})
}

fn tree(request: &Request) -> Turn {
    match (request.task().as_str(), request.turn()) {
        ("leaf", _) => Turn::tool("yield", json!({"data": 1})),
        (_, 0) => Turn::tool("task", two()),
        (_, _) => Turn::tool("yield", json!({"data": "sum"})),
    }
}

#[test]
fn a_tree_finishes_with_one_request_at_a_time() {
    let (server, most) = counting(tree);
    let tasks = json!([{"agent": "n", "task": "sum"}, {"agent": "n", "task": "sum"}]);
    let result = run(&server, &tasks, "--json").result();
    assert_eq!(most.load(Ordering::SeqCst), 1);
    for task in &result.tasks {
        assert_eq!(task.output.as_deref(), Some("sum"));
        assert_eq!(task.children.len(), 2);
        for child in &task.children {
            assert!(child.outcome.is_completed());
        }
    }
}

#[test]
fn who_is_queued_is_told_from_who_works() {
    let (server, _) = counting(tree);
    let tasks = json!([{"name": "A", "agent": "n", "task": "sum"}, {"name": "B", "agent": "n", "task": "sum"}]);
    let ended = run(&server, &tasks, "--events");
    let events: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |task: &str| -> Vec<&str> {
        events
            .iter()
            .filter(|event| event["task"] == task && event["type"] != "progress")
            .map(|event| event["type"].as_str().unwrap())
            .collect()
    };
    for task in ["A", "B"] {
        assert_eq!(
            of(task),
            [
                "queued",
                "launched",
                "requested",
                "answered",
                "waiting",
                "requested",
                "answered",
                "ended"
            ]
        );
    }
    // Both are told to be queued before one of them works.
    let place = |kind: &str, task: &str| {
        events
            .iter()
            .position(|event| event["type"] == kind && event["task"] == task)
            .unwrap()
    };
    assert!(place("queued", "B") < place("launched", "A"));
    assert_eq!(events[0]["type"], "started");
    assert_eq!(events.last().unwrap()["type"], "finished");
    for (seq, event) in (1..).zip(&events) {
        assert_eq!(event["seq"], seq);
    }
}

#[test]
fn thirty_follow_one_another() {
    let (server, most) = counting(tree);
    let tasks: Vec<_> = (0..30)
        .map(|_| json!({"agent": "n", "task": "leaf"}))
        .collect();
    let result = run(&server, &tasks.into(), "--json").result();
    assert_eq!(result.tasks.len(), 30);
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[test]
fn a_task_waits_for_two_calls_at_once() {
    let (server, most) = counting(|request| match request.turn() {
        0 if request.task() == "sum" => Turn::tools([("task", two()), ("task", two())]),
        _ => tree(request),
    });
    let tasks = json!([{"agent": "n", "task": "sum"}]);
    let result = run(&server, &tasks, "--json").result();
    assert_eq!(most.load(Ordering::SeqCst), 1);
    assert_eq!(result.tasks[0].children.len(), 4);
    assert_eq!(result.tasks[0].output.as_deref(), Some("sum"));
}
