//! A key goes to its provider and nowhere else.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use serde_json::json;
use sortie_testkit::{ModelServer, Project, Turn, alive::Process};

use crate::support::{Ended, Onlooker, Running, SORTIE, files, run_dir};

const IN_ENVIRONMENT: &str = "sk-marked-in-the-environment-1f6b";
const LITERAL: &str = "sk-marked-in-models-yml-77c2";
const IN_HEADER: &str = "marked-header-value-90aa";
const IN_URL: &str = "marked-query-value-4e1d";
const USER: &str = "marked-user";
const PASSWORD: &str = "marked-password-31ce";

const KEYS: [&str; 5] = [IN_ENVIRONMENT, LITERAL, IN_HEADER, IN_URL, PASSWORD];

/// Two providers that hold keys in every way there is, and a model of each that talks about them.
struct Stage {
    server: ModelServer,
    project: Project,
    onlooker: Onlooker,
    /// What the processes of the run showed while they ran.
    shown: Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>,
}

impl Stage {
    fn new() -> Self {
        let project = Project::new();
        let shown = Arc::new(Mutex::new(BTreeMap::new()));
        let onlooker = Onlooker::default();
        let (looking, collected) = (onlooker.clone(), Arc::clone(&shown));
        let server = ModelServer::answering(move |request| {
            collect(&looking.processes(), &collected);
            match request.turn() {
                // Whatever a tool finds out comes back with the next request.
                0 => Turn::thinking(format!("the key is {LITERAL}"))
                    .and_text(format!("I know {IN_ENVIRONMENT} and {IN_HEADER}."))
                    .and_tool("read", json!({"path": "leak.txt"}))
                    .and_tool(
                        "bash",
                        json!({"command": "cat leak.txt; env; cat leak.txt >&2; (sleep 1000 &)"}),
                    )
                    .and_tool(
                        "write",
                        json!({"path": "copy.txt", "content": KEYS.join("\n")}),
                    ),
                1 => {
                    Turn::text("again").and_tool("bash", json!({"command": "cat leak.txt; exit 3"}))
                }
                _ => Turn::text(format!("It is {}.", KEYS.join(" and ")))
                    .and_tool("yield", json!({"type": "text"})),
            }
        });
        let address = server.url();
        let with_user = address.replace("http://", &format!("http://{USER}:{PASSWORD}@"));
        project
            .user_file(
                "models.yml",
                format!(
                    "providers:\n  one:\n    baseUrl: {address}?token={IN_URL}\n    apiKey: MARKED_KEY\n    api: openai-completions\n    headers: {{X-Team: {IN_HEADER}}}\n    models: [{{id: small}}]\n  two:\n    baseUrl: {with_user}\n    apiKey: {LITERAL}\n    api: openai-completions\n    models: [{{id: small}}]\n"
                ),
            )
            .config("task: {agentModelOverrides: {sonic: two/small}}\n")
            .file("leak.txt", KEYS.join("\n"))
            .file(
                "batch.yaml",
                "model: one/small\ntasks: [{name: One, agent: task, task: x}, {name: Two, agent: sonic, task: x}]\n",
            );
        Self {
            server,
            project,
            onlooker,
            shown,
        }
    }

    /// Runs the batch, shown in this way.
    fn run(&self, how: &str) -> Ended {
        let mut command = self.project.sortie(SORTIE, ["run", "batch.yaml", how]);
        command
            .env("MARKED_KEY", IN_ENVIRONMENT)
            .env("SORTIE_LOG", "trace");
        let run = Running::start(&self.project, &mut command);
        self.onlooker.look_at(&run);
        run.end().expect(0)
    }

    /// Looks everywhere.
    fn inspect(&self, ended: &Ended) {
        let everything = [("stdout", &ended.stdout), ("stderr", &ended.stderr)];
        let everything =
            everything.map(|(name, text)| (PathBuf::from(name), text.clone().into_bytes()));
        let shown = self.shown.lock().unwrap().clone();
        assert!(shown.len() > 4, "{:?}", shown.keys());
        let stored = files(&run_dir(&self.project));
        for (place, content) in everything.into_iter().chain(stored).chain(shown) {
            let text = String::from_utf8_lossy(&content);
            for key in KEYS {
                assert!(
                    !text.contains(key),
                    "`{key}` is in {}: {text}",
                    place.display()
                );
            }
        }
        // The providers got what is theirs.
        let requests = self.server.requests();
        let of = |key: &str| {
            let bearer = format!("Bearer {key}");
            requests
                .iter()
                .filter(|request| request.header("authorization") == Some(&bearer))
                .collect::<Vec<_>>()
        };
        let one = of(IN_ENVIRONMENT);
        assert_eq!(one.len(), 3);
        for request in &one {
            assert_eq!(request.header("x-team"), Some(IN_HEADER));
            assert!(request.path.contains(IN_URL), "{}", request.path);
        }
        assert_eq!(requests.len(), 6);
        // These models said keys themselves, and are reminded of what they said.
        assert_eq!(self.server.take_faults().len(), 4);
    }
}

/// Notes the environment and the arguments of what runs below a root: sessions, and what they started.
fn collect(below: &[Process], shown: &Mutex<BTreeMap<PathBuf, Vec<u8>>>) {
    // Between being forked and being a session a process is a copy of its root, environment and all. Only we, who may
    // read everything, see that.
    let is_itself = |process: &&Process| process.comm != "sortie:launch";
    for process in below.iter().filter(is_itself) {
        for name in ["cmdline", "environ"] {
            let path = PathBuf::from(format!("/proc/{}/{name}", process.pid));
            if let Ok(content) = fs::read(&path) {
                shown.lock().unwrap().insert(path, content);
            }
        }
    }
}

#[test]
fn no_key_is_stored_or_shown() {
    let stage = Stage::new();
    let ended = stage.run("--json");
    stage.inspect(&ended);
    let output = ended.task("One").output.unwrap();
    assert!(output.contains("[key MARKED_KEY]"), "{output}");
}

#[test]
fn no_key_is_among_the_events() {
    let stage = Stage::new();
    let ended = stage.run("--events");
    stage.inspect(&ended);
    // Nor is one in the text that the events make together.
    for task in ["One", "Two"] {
        let mut texts = String::new();
        for line in ended.stdout.lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            if event["task"] == task {
                texts += event["progress"]["text"].as_str().unwrap_or_default();
            }
        }
        assert!(texts.contains("I know "), "{texts}");
        for key in KEYS {
            assert!(!texts.contains(key), "{key}: {texts}");
        }
    }
}

#[test]
fn no_key_is_in_a_summary() {
    let stage = Stage::new();
    let ended = stage.run("--max-concurrency=2");
    stage.inspect(&ended);
}
