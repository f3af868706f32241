//! Against endpoints that speak each of the APIs.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sortie_protocol::Api;
use sortie_testkit::{ModelServer, Project, Request, Turn};

use crate::support::{Ended, SORTIE, files, models_over, over_every_api, run_dir, sortie};

/// A provider of `api` that answers so, and a project that knows it.
fn stage(
    api: Api,
    answer: impl Fn(&Request) -> Turn + Send + Sync + 'static,
) -> (ModelServer, Project) {
    let server = ModelServer::answering(answer);
    let project = Project::new();
    project
        .user_file("models.yml", models_over(api, &server.base_url(api), ""))
        .file("in.txt", "what the file says\n");
    (server, project)
}

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
            Turn::tool("write", json!({"path": path, "content": content}))
                .usage(200, 20)
                .cache_read(50)
        }
        _ => Turn::text(format!("wrote {id}"))
            .and_tool("yield", json!({"type": "text"}))
            .usage(300, 30)
            .cache_read(150),
    }
}

/// What stands in a request for the level `low`.
fn low(api: Api) -> Value {
    match api {
        Api::AnthropicMessages => json!({"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        Api::GoogleGenerativeAi => json!({"includeThoughts": true, "thinkingBudget": 2048}),
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => json!("low"),
    }
}

#[test]
fn a_task_reads_writes_and_hands_in() {
    over_every_api(|api| {
        let (server, project) = stage(api, reads_and_writes);
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
            ("/model/requested", json!("@task")),
            ("/model/selector", json!("local/small")),
            ("/model/effort", json!("low")),
            ("/model/api", json!(api.as_str())),
            ("/model/attempts", json!([])),
            ("/usage/input", json!(600)),
            ("/usage/output", json!(60)),
            ("/usage/cacheRead", json!(200)),
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
        assert!((cost - 0.000_82).abs() < 1e-9, "{cost}");
        assert!(project.read("out-x1.txt").contains("what the file says"));

        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        for request in &requests {
            assert_eq!(request.model(), "small");
            assert_eq!(request.effort(), low(api));
            assert!(request.tools().contains(&"bash".to_owned()));
        }
    });
}

#[test]
fn sixteen_tasks_of_one_batch_complete() {
    over_every_api(|api| {
        let (server, project) = stage(api, reads_and_writes);
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
            assert_eq!(task.output, Some(format!("wrote x{n}")));
            assert_eq!(task.requests, 3);
            assert_eq!((task.usage.input, task.usage.output), (Some(600), Some(60)));
            assert!(!project.read(format!("out-x{n}.txt")).is_empty());
        }
        assert_eq!(result.tasks.len(), 16);
        assert_eq!(server.requests().len(), 48);
    });
}

#[test]
fn calls_of_one_turn_are_answered_each_by_its_own_result() {
    over_every_api(|api| {
        let (server, project) = stage(api, |request| match request.turn() {
            0 => Turn::text("all at once")
                .and_tool("read", json!({"path": "a.txt"}))
                .and_tool("read", json!({"path": "b.txt"}))
                .and_tool("read", json!({"path": "none.txt"}))
                .and_tool("write", json!({"path": "c.txt", "content": "gamma"})),
            _ => Turn::tool("yield", json!({"data": request.results().join("|")})),
        });
        project.file("a.txt", "alpha").file("b.txt", "beta");
        let task = sortie(&project, &["task", "x", "--model", "local/small", "--json"])
            .expect(0)
            .result()
            .tasks
            .remove(0);
        let output = task.output.unwrap();
        let results: Vec<&str> = output.split('|').collect();
        for (result, word) in results.iter().zip(["alpha", "beta", "none.txt", "c.txt"]) {
            assert!(result.contains(word), "{word}: {results:?}");
        }
        assert_eq!(results.len(), 4);
        assert_eq!(project.read("c.txt"), "gamma");
        assert_eq!(task.requests, 2);
        server.verify();
    });
}

#[test]
fn a_task_dispatches_four() {
    over_every_api(|api| {
        let (_server, project) = stage(api, |request| {
            if !request.task().contains("SPAWN=4") {
                return reads_and_writes(request);
            }
            if request.turn() == 0 {
                let task = |n| json!({"name": format!("N{n}"), "agent": "sonic", "task": format!("ID=n{n}")});
                let tasks: Vec<_> = (1..=4).map(task).collect();
                Turn::tool("task", json!({"context": "all of it", "tasks": tasks}))
            } else {
                Turn::tool("yield", json!({"data": request.results().concat()}))
            }
        });
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
    });
}

/// A signature holds whatever its provider likes.
const SIGNATURE: &str = "EqQB+/9z==\u{a0}\"quoted\\\" and é";

#[test]
fn what_a_model_thought_goes_back_as_it_was_signed() {
    over_every_api(|api| {
        let (server, project) = stage(api, |request| match request.turn() {
            0 => Turn::thinking("I have to read it first.")
                .signed(SIGNATURE)
                .and_redacted("hidden+data/==")
                .and_tool("read", json!({"path": "in.txt"}))
                .usage(100, 40)
                .reasoning(25),
            1 => Turn::thinking("Now I know.")
                .signed("the-second==")
                .and_tool("read", json!({"path": "in.txt"}))
                .usage(200, 40)
                .reasoning(15),
            _ => Turn::tool("yield", json!({"data": "done"})),
        });
        project.file(
            "batch.yaml",
            "tasks: [{name: One, agent: task, task: x}]\nmodel: local/small:high\n",
        );
        let dir = run_dir(&project).display().to_string();
        let task = sortie(
            &project,
            &["run", "batch.yaml", "--json", "--run-dir", &dir],
        )
        .expect(0)
        .task("One");
        let sent: Vec<Vec<String>> = server.requests().iter().map(Request::signatures).collect();
        let (first, all): (Vec<&str>, Vec<&str>) = match api {
            // This wire has no place for it.
            Api::OpenaiCompletions | Api::Script => (vec![], vec![]),
            // Only this one hides thinking in a block of its own.
            Api::AnthropicMessages => (
                vec![SIGNATURE, "hidden+data/=="],
                vec![SIGNATURE, "hidden+data/==", "the-second=="],
            ),
            Api::OpenaiResponses | Api::GoogleGenerativeAi => {
                (vec![SIGNATURE], vec![SIGNATURE, "the-second=="])
            }
        };
        let nothing: Vec<&str> = Vec::new();
        assert_eq!(sent, [nothing, first, all]);
        // Not every wire counts thinking.
        let counted = (api != Api::AnthropicMessages).then_some(40);
        assert_eq!(task.usage.reasoning, counted);
        // What was thought is in the transcript, and no part of the answer.
        let transcript = std::fs::read_to_string(run_dir(&project).join("One.jsonl")).unwrap();
        assert!(
            transcript.contains("I have to read it first."),
            "{transcript}"
        );
        assert_eq!(task.output.as_deref(), Some("done"));
    });
}

/// The provider of the catalogue that speaks `api`, one of its models, and the variable of its key.
fn bundled(api: Api) -> Option<[&'static str; 3]> {
    match api {
        Api::OpenaiResponses => Some(["openai", "gpt-5.4-mini", "OPENAI_API_KEY"]),
        Api::AnthropicMessages => Some(["anthropic", "claude-haiku-4-5", "ANTHROPIC_API_KEY"]),
        Api::GoogleGenerativeAi => Some(["google", "gemini-2.5-flash", "GEMINI_API_KEY"]),
        // Those that speak it are no one's in particular.
        Api::OpenaiCompletions | Api::Script => None,
    }
}

/// The header in which `api` has its key, as it stands there.
fn key_header(api: Api, key: &str) -> (&'static str, String) {
    match api {
        Api::AnthropicMessages => ("x-api-key", key.to_owned()),
        Api::GoogleGenerativeAi => ("x-goog-api-key", key.to_owned()),
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Script => {
            ("authorization", format!("Bearer {key}"))
        }
    }
}

const KEY: &str = "sk-a-key-for-this-story-alone";

#[test]
fn a_key_in_the_environment_is_all_that_a_provider_needs() {
    let played = AtomicUsize::new(0);
    over_every_api(|api| {
        let Some([provider, model, variable]) = bundled(api) else {
            return;
        };
        let server = ModelServer::answering(reads_and_writes);
        let project = Project::new();
        let url = server.base_url(api);
        project.file("in.txt", "x").user_file(
            "models.yml",
            format!("providers:\n  {provider}:\n    baseUrl: {url}\n"),
        );
        let selector = format!("{provider}/{model}");
        let mut command = project.sortie(SORTIE, ["task", "ID=o1", "--model", &selector, "--json"]);
        command.env(variable, KEY);
        let task = Ended::of(&mut command).expect(0).result().tasks.remove(0);
        assert_eq!(task.model.selector, selector);
        assert_eq!(task.model.api, api);
        assert_eq!(task.requests, 3);
        for request in server.requests() {
            assert_eq!(request.model(), model);
            let (header, value) = key_header(api, KEY);
            assert_eq!(request.header(header), Some(value.as_str()));
        }
        played.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(played.into_inner(), 3);
}

#[test]
fn a_key_is_in_its_header_and_nowhere_on_disk() {
    over_every_api(|api| {
        let server = ModelServer::answering(reads_and_writes);
        let project = Project::new();
        let url = server.base_url(api);
        project
            .user_file("models.yml", models_over(api, &url, "LOCAL_KEY"))
            .file("in.txt", "x")
            .file(
                "batch.yaml",
                "model: local/small\ntasks: [{name: One, task: ID=k1}]\n",
            );
        let dir = run_dir(&project).display().to_string();
        let mut command =
            project.sortie(SORTIE, ["run", "batch.yaml", "--json", "--run-dir", &dir]);
        command.env("LOCAL_KEY", KEY);
        let ended = Ended::of(&mut command).expect(0);
        let (header, value) = key_header(api, KEY);
        for request in server.requests() {
            assert_eq!(request.header(header), Some(value.as_str()));
            let others = request.headers.iter().filter(|(name, _)| name != header);
            for (name, value) in others {
                assert!(!value.contains(KEY), "`{name}: {value}`");
            }
            assert!(!request.path.contains(KEY), "{}", request.path);
        }
        // That it is in no body either, the server itself sees to.
        assert!(!ended.stdout.contains(KEY) && !ended.stderr.contains(KEY));
        let stored = [files(project.home()), files(project.root())].concat();
        assert!(stored.len() > 5, "{stored:?}");
        for (place, content) in stored {
            let text = String::from_utf8_lossy(&content);
            assert!(!text.contains(KEY), "{}: {text}", place.display());
        }
    });
}

#[test]
fn what_an_answer_that_broke_off_has_used_is_counted() {
    // Only the messages wire tells what it has read before it answers.
    let api = Api::AnthropicMessages;
    let server = ModelServer::start([
        Turn::text("Half of it")
            .usage(60, 9)
            .cache_read(40)
            .cutting_after(4),
        Turn::tool("yield", json!({"data": "all"})).usage(100, 5),
    ]);
    let project = Project::new();
    project
        .user_file("models.yml", models_over(api, &server.base_url(api), ""))
        .config("retry: {baseDelayMs: 1}\n");
    let ended = sortie(
        &project,
        &["task", "go", "--model", "local/small", "--json"],
    )
    .expect(0);
    let task = &ended.result().tasks[0];
    assert_eq!(task.requests, 2);
    assert_eq!(
        (task.usage.input, task.usage.cache_read),
        (Some(160), Some(40))
    );
}
