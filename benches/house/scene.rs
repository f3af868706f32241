//! A project, a model that answers over loopback, and the two kinds of agents that work there.

use std::{
    collections::BTreeMap,
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::json;
use sortie_config::{Config, Environment, LoadOptions};
use sortie_testkit::{ModelServer, Project, Request, Turn};

/// The program.
pub(crate) const SORTIE: &str = env!("CARGO_BIN_EXE_sortie");

/// The agent that sortie is compared with.
const BARE_AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/bare_agent.py");

/// A project with one file in it, and a model that wants that file read and another one written.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) project: Project,
    pub(crate) server: ModelServer,
}

impl Scene {
    /// A model that takes `delay` for each answer.
    pub(crate) fn answering_after(delay: Duration) -> Self {
        Self::with(ModelServer::answering(move |request| {
            thread::sleep(delay);
            reads_and_writes(request)
        }))
    }

    /// A model that never answers.
    pub(crate) fn silent() -> Self {
        Self::with(ModelServer::answering(|_| Turn::silent()))
    }

    fn with(server: ModelServer) -> Self {
        let project = Project::new();
        let models = json!({"providers": {"local": {
            "baseUrl": server.url(),
            "api": "openai-completions",
            "models": [{"id": "small", "contextWindow": 200_000, "maxTokens": 8_000}],
        }}});
        project
            .user_file("models.yml", models.to_string())
            .file("in.txt", "what the file says\n".repeat(40));
        Self { project, server }
    }

    /// What a run in the project is started with.
    pub(crate) fn config(&self) -> Config {
        let variables = BTreeMap::from([
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("HOME", self.project.home().into()),
        ]);
        Config::load(LoadOptions {
            cwd: self.project.root().to_owned(),
            environment: Environment::from_iter(variables),
            ..LoadOptions::default()
        })
        .expect("a home has room for settings")
    }

    /// A command that runs a batch of `count` tasks.
    pub(crate) fn batch(&self, count: usize) -> Command {
        let tasks: Vec<_> = (1..=count)
            .map(|n| json!({"agent": "task", "task": assignment(n)}))
            .collect();
        let batch = json!({"model": "local/small", "tasks": tasks});
        let file = format!("batch-{count}.json");
        self.project.file(&file, batch.to_string());
        let mut command = self.project.sortie(SORTIE, ["run", &file, "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        command
    }

    /// Starts `count` bare agents, in `python`.
    pub(crate) fn bare_agents(&self, python: &str, count: usize) -> Vec<Child> {
        (1..=count)
            .map(|n| {
                let args = [BARE_AGENT, &self.server.url(), &assignment(n)];
                let mut command = self.project.sortie(python, args);
                command.stdin(Stdio::null()).stdout(Stdio::null());
                command.spawn().expect("python starts")
            })
            .collect()
    }

    /// Checks that all of `count` agents did their work, and removes it.
    #[track_caller]
    pub(crate) fn clear(&self, count: usize) {
        for n in 1..=count {
            let file = self.project.path(format!("out-{n}.txt"));
            fs::remove_file(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
}

/// Waits for a process that is to succeed.
#[track_caller]
pub(crate) fn succeed(mut child: Child) {
    let status = child.wait().expect("it can be waited for");
    assert!(status.success(), "{status}");
}

/// The interpreter behind `python3`, which may be a script that only looks for it.
pub(crate) fn python() -> Option<String> {
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable, end='')"])
        .output()
        .ok()?;
    String::from_utf8(asked.stdout)
        .ok()
        .filter(|path| asked.status.success() && !path.is_empty())
}

fn assignment(n: usize) -> String {
    format!("Copy in.txt to a file of your own. ID={n}")
}

/// Reads, writes `out-ID.txt`, and is done: with a `yield` where there is one.
fn reads_and_writes(request: &Request) -> Turn {
    match request.turn() {
        0 => Turn::tool("read", json!({"path": "in.txt"})),
        1 => {
            let task = request.task();
            let id = task.rsplit("ID=").next().unwrap_or_default().trim();
            let content = request.results().concat();
            Turn::tool(
                "write",
                json!({"path": format!("out-{id}.txt"), "content": content}),
            )
        }
        _ => {
            let end = Turn::text("The copy is written.");
            if request.tools().iter().any(|tool| tool == "yield") {
                end.and_tool("yield", json!({"type": "text"}))
            } else {
                end
            }
        }
    }
}
