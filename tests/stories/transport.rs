//! The text of a task reaches its model as it was written, by the pipe and by nothing else.

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::json;
use sortie_testkit::{ModelServer, Project, Turn};

use crate::support::{Onlooker, Running, SORTIE, end_of, local_models, sortie};

const BODY: &str = "You are the echo in the valley.";

/// A server that answers everything.
fn listening() -> ModelServer {
    ModelServer::answering(|_| Turn::tool("yield", json!({"data": "heard"})))
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
    let onlooker = Onlooker::default();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let server = ModelServer::answering({
        let (onlooker, lines) = (onlooker.clone(), Arc::clone(&lines));
        move |_| {
            let below = onlooker.processes().into_iter();
            lines.lock().unwrap().extend(below.map(|one| one.cmdline));
            Turn::tool("yield", json!({"data": "heard"}))
        }
    });
    let project = project(&server);
    let tasks: Vec<_> = texts
        .iter()
        .map(|text| json!({"agent": "echo", "task": text}))
        .collect();
    let batch = json!({"model": "local/small", "tasks": tasks});
    project.file("batch.json", batch.to_string());
    let mut command = project.sortie(SORTIE, ["run", "batch.json", "--json"]);
    let run = Running::start(&project, &mut command);
    onlooker.look_at(&run);
    let ended = run.end().expect(0);
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
    assert!(lines.contains(&format!("{SORTIE} session")), "{lines:?}");
    for line in &*lines {
        for words in [
            "other/one",
            "first",
            "notes.txt",
            "spaces",
            "long line",
            BODY,
        ] {
            assert!(!line.contains(words), "{line}");
        }
    }
}

#[test]
fn a_text_on_the_command_line_is_not_interpreted_either() {
    for text in [
        "--model other/one --help",
        "- [ ] first\n- [ ] second",
        "@notes.txt",
    ] {
        let server = listening();
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
    let server = listening();
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
    let server = listening();
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
