//! The text of a task reaches its model as it was written, by the pipe and by nothing else.

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::json;
use sortie_testkit::{ModelServer, Project, Turn, alive};

use crate::support::{Running, SORTIE, end_of, local_models, sortie};

const BODY: &str = "You are the echo in the valley.";

/// A server that answers at once, and what the processes of the run had as arguments meanwhile.
fn listening() -> (ModelServer, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&lines);
    let server = ModelServer::answering(move |_| {
        let below = alive::descendants(std::process::id());
        let sessions = below.into_iter().filter(|one| one.comm == "sortie:session");
        noted
            .lock()
            .unwrap()
            .extend(sessions.map(|one| one.cmdline));
        Turn::tool("yield", json!({"data": "heard"}))
    });
    (server, lines)
}

fn project(server: &ModelServer) -> Project {
    let project = Project::new();
    project
        .user_file("models.yml", local_models(&server.url()))
        .agent(
            "echo",
            &format!("---\nname: echo\ndescription: returns the task text\n---\n{BODY}\n"),
        )
        .file("notes.txt", "secret");
    project
}

#[test]
fn nothing_in_a_text_is_interpreted() {
    let long = "long line of text\n".repeat(20_000);
    let texts = [
        "--model other/one --help",
        "- [ ] first\n- [ ] second with 'quotes', \"more\", $HOME, %PATH% and `ticks`",
        "@notes.txt",
        "  spaces around it, a tab\t, ${scratch}, {{name}}, \u{1F426} and \\n  \n",
        &long,
    ];
    let (server, lines) = listening();
    let project = project(&server);
    let tasks: Vec<_> = texts
        .iter()
        .map(|text| json!({"agent": "echo", "task": text}))
        .collect();
    let batch = json!({"model": "local/small", "tasks": tasks});
    project.file("batch.json", batch.to_string());
    let ended = sortie(&project, &["run", "batch.json", "--json"]).expect(0);
    for task in ended.result().tasks {
        assert_eq!(task.model.selector, "local/small");
    }
    let mut heard: Vec<_> = server
        .requests()
        .iter()
        .map(sortie_testkit::Request::task)
        .collect();
    heard.sort();
    let mut sent = texts.map(str::to_owned);
    sent.sort();
    assert_eq!(heard, sent);
    let lines = lines.lock().unwrap();
    assert!(!lines.is_empty());
    for line in &*lines {
        assert_eq!(line, &format!("{SORTIE} session"));
    }
}

#[test]
fn a_text_on_the_command_line_is_not_interpreted_either() {
    for text in [
        "--model other/one --help",
        "- [ ] first\n- [ ] second",
        "@notes.txt",
    ] {
        let (server, _) = listening();
        let project = project(&server);
        let ended = sortie(
            &project,
            &["task", text, "--agent", "echo", "--model", "local/small"],
        )
        .expect(0);
        assert_eq!(ended.stdout, "heard\n");
        let request = &server.requests()[0];
        assert_eq!(request.task(), text);
        assert!(request.system().contains(BODY));
    }
}

#[test]
fn a_run_does_not_wait_for_its_own_stdin() {
    let (server, _) = listening();
    let project = project(&server);
    project.file("batch.yaml", "model: local/small\ntask: x\n");
    let mut command = project.sortie(SORTIE, ["run", "batch.yaml"]);
    command.stdin(Stdio::piped());
    let began = Instant::now();
    let mut run = Running::start(&project, &mut command);
    let never_closed = run.stdin();
    run.end().expect(0);
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(never_closed);
}

#[test]
fn a_batch_comes_from_stdin_where_it_is_asked_for() {
    let (server, _) = listening();
    let project = project(&server);
    let batch = "model: local/small\ntask: from stdin\n";
    crate::support::sortie_reading(&project, batch, &["run", "-"]).expect(0);
    assert_eq!(server.requests()[0].task(), "from stdin");
}

#[test]
fn a_program_that_is_not_there_is_said_and_no_other_model_is_tried() {
    let project = Project::new();
    project
        .config("engine: /no/such/engine\ntask: {agentModelOverrides: {task: [script/play, script/other]}}\n")
        .file("play.yaml", "[]")
        .file("other.yaml", "[]")
        .file("batch.yaml", "tasks: [{name: One, task: x}]\n");
    let ended = sortie(&project, &["run", "batch.yaml", "--json"]).expect(1);
    let task = ended.task("One");
    assert_eq!(end_of(&task), ("failed".into(), Some("spawn_failed")));
    let message = task.outcome.message.unwrap();
    assert!(message.contains("/no/such/engine"), "{message}");
    assert_eq!(task.model.attempts, []);
    assert_eq!(task.requests, 0);
}
