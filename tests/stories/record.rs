//! Runs that are recorded against a model, and replayed without it.

mod doors;
mod ends;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::{Value, json};
use sortie_protocol::{Api, TaskResult};
use sortie_testkit::{ModelServer, Project, Request, Turn};

use crate::support::{Ended, SORTIE, files, models_over};

/// What a model needs, and a replay must not.
const KEY: &str = "sk-only-while-recording";

/// Two checkouts of the same: one where a run is recorded, and one without the model, where it is replayed.
struct Scene {
    there: Project,
    here: Project,
}

/// What a run came to.
struct Played {
    ended: Ended,
    /// Its tasks, as far as they are the same in every run of the same.
    tasks: Vec<Value>,
    /// What stands in the checkout afterwards.
    files: Vec<(PathBuf, String)>,
}

impl Scene {
    /// A scene that `set` makes of each of two empty projects, with a model that is at `server` while there is one.
    fn new(server: &ModelServer, set: impl Fn(&Project)) -> Self {
        let project = |url: &str| {
            let project = Project::new();
            let models = models_over(Api::OpenaiCompletions, url, "LOCAL_KEY");
            project.user_file("models.yml", models);
            set(&project);
            project
        };
        Self {
            there: project(&server.url()),
            here: project("http://127.0.0.1:9/v1"),
        }
    }

    /// Records `batch.yaml` as `again.yaml`.
    fn record(&self) -> Played {
        let args = ["run", "batch.yaml", "--json", "--record", "again.yaml"];
        let mut command = self.there.sortie(SORTIE, args);
        let ended = Ended::of(command.env("LOCAL_KEY", KEY));
        let played = Played::of(&self.there, ended);
        fs::copy(self.there.path("again.yaml"), self.here.path("again.yaml")).unwrap();
        played
    }

    /// Replays it, and records that as `twice.yaml`.
    fn replay(&self) -> Played {
        let args = [
            "run",
            "batch.yaml",
            "--json",
            "--model",
            "script/again",
            "--record",
            "twice.yaml",
        ];
        Played::of(&self.here, Ended::of(&mut self.here.sortie(SORTIE, args)))
    }

    /// The recording.
    fn script(&self) -> String {
        self.here.read("again.yaml")
    }
}

impl Played {
    fn of(project: &Project, ended: Ended) -> Self {
        let result = ended.result();
        let dir = result.run_dir.clone().unwrap_or_default();
        let tasks = result.tasks.iter().map(|task| told(task, &dir)).collect();
        let made = files(project.root()).into_iter().map(|(path, content)| {
            let path = path.strip_prefix(project.root()).unwrap().to_owned();
            (path, String::from_utf8(content).unwrap())
        });
        let recordings = ["again.yaml", "twice.yaml"].map(Path::new);
        let files = made
            .filter(|(path, _)| !recordings.contains(&path.as_path()))
            .collect();
        Self {
            ended,
            tasks,
            files,
        }
    }

    /// How the task at `place` ended and why, in a word each.
    fn end(&self, place: usize) -> String {
        let task = &self.tasks[place];
        format!("{}, {}", task["outcome"], task["reason"]).replace('"', "")
    }
}

/// A task and those below it, without what differs from run to run or from model to model.
fn told(task: &TaskResult, dir: &Path) -> Value {
    let transcript = task.artifacts.transcript.as_ref();
    let records = transcript.map_or_else(String::new, |path| fs::read_to_string(path).unwrap());
    let is_answer = |line: &&str| line.contains(r#""record":"assistant""#);
    let text = |text: &Option<String>| {
        let dir = dir.display().to_string();
        text.as_ref().map(|text| text.replace(&dir, "[RUN]"))
    };
    json!({
        "id": task.id,
        "label": task.label,
        "agent": task.agent,
        "tools": task.tools,
        "outcome": task.outcome.kind,
        "reason": task.outcome.reason,
        "output": text(&task.output),
        "structured": task.structured,
        "answers": records.lines().filter(is_answer).count(),
        "usage": task.usage,
        "children": task.children.iter().map(|child| told(child, dir)).collect::<Vec<_>>(),
    })
}

/// The lines of a script below its preface.
fn entries(script: &str) -> String {
    let mut lines = script.lines().skip_while(|line| line.starts_with('#'));
    lines
        .by_ref()
        .fold(String::new(), |all, line| all + line + "\n")
}

const BATCH: &str = r"
model: local/small
tasks:
  - {name: Edit, agent: pinned, task: edit}
  - {name: Lead, agent: lead, task: lead, label: splits the work}
  - {name: Review, task: review, outputSchema: {type: object, required: [verdict], properties: {verdict: {enum: [pass, fail]}}}}
  - {name: Odd, task: odd}
  - {name: Empty, task: empty}
  - {name: Retry, task: retry}
  - {name: Quit, task: quit}
  - {name: Denied, task: denied}
";

fn set(project: &Project) {
    project
        .agent(
            "pinned",
            "---\nname: pinned\ndescription: has a model of its own\nmodel: local/small:high\n---\nx\n",
        )
        .agent(
            "lead",
            "---\nname: lead\ndescription: delegates\ntools: [task]\nspawns: [pinned]\nmodel: '@slow'\n---\nx\n",
        )
        .config("modelRoles: {slow: local/small}\nretry.baseDelayMs: 1\n")
        .file("app.txt", "one\ntwo\n")
        .file("batch.yaml", BATCH);
}

fn leaves(names: &[&str]) -> Value {
    let tasks: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "agent": "pinned", "task": "leaf"}))
        .collect();
    json!({"context": "a leaf each", "tasks": tasks})
}

/// Answers every task of [`BATCH`].
fn answer(request: &Request, failed: &AtomicBool) -> Turn {
    let hand_in = |text: &str| Turn::text(text).and_tool("yield", json!({"type": "text"}));
    let task = request.task();
    let turn = match (task.as_str(), request.turn()) {
        ("edit", 0) => Turn::thinking("first look")
            .and_tool("read", json!({"path": "app.txt"}))
            .and_tool("glob", json!({"pattern": "*.txt"})),
        ("edit", 1) => {
            let edits = json!([{"oldText": "two", "newText": "2"}]);
            Turn::text("Now the change.\nIn two lines.")
                .and_tool("edit", json!({"path": "app.txt", "edits": edits}))
        }
        ("edit", 2) => {
            let system = request.system();
            let mut words = system.split('`');
            let scratch = words.find(|word| word.ends_with("/scratch/Edit"));
            let note = format!("{}/note", scratch.unwrap());
            let command = format!("cat {note} > copied.txt; echo '${{scratch}}' >> copied.txt");
            Turn::tool("write", json!({"path": note, "content": "a\n  b\n"}))
                .and_tool("bash", json!({"command": command}))
        }
        ("edit", 3) => Turn::tool("bash", json!({"command": "exit 7"})),
        ("lead", 0) => Turn::tool("task", leaves(&["One", "Two"]))
            .and_tool("task", leaves(&["One"]))
            .and_tool("task", leaves(&["not a name"])),
        ("leaf", 0) => Turn::tool(
            "bash",
            json!({"command": "echo $SORTIE_SESSION | sed 's:.*/::' >> leaves.txt"}),
        ),
        ("leaf", _) => Turn::tool("yield", json!({"data": {"done": true}})),
        ("review", 0) => Turn::tool("yield", json!({"data": {"verdict": "perhaps"}})),
        ("review", _) => Turn::tool("yield", json!({"data": {"verdict": "pass"}})),
        ("odd", 0) => Turn::tool_text("write", "{\"path\": "),
        ("odd", 1) => Turn::tool("fly", json!({"to": "the moon"})),
        ("odd", 2) => Turn::length(),
        ("odd", 3) => Turn::tool("yield", json!({"type": ["findings"], "data": [1, 2.5]})),
        ("odd", 4) => Turn::refusal(),
        ("empty", _) => Turn::empty(),
        ("retry", 0) if !failed.swap(true, Ordering::Relaxed) => Turn::status(500),
        ("quit", _) => Turn::text("No way.").and_tool("yield", json!({"error": "no tests here"})),
        ("denied", _) => return Turn::status(401),
        (task, _) => hand_in(&format!("done: {task}")),
    };
    turn.usage(100, 10)
}

#[test]
fn a_run_replays_without_its_model_and_its_key() {
    let failed = AtomicBool::new(false);
    let server = ModelServer::answering(move |request| answer(request, &failed));
    let scene = Scene::new(&server, set);
    let recorded = scene.record();
    recorded.ended.clone().expect(1);
    drop(server);

    let ends: Vec<_> = (0..recorded.tasks.len())
        .map(|at| recorded.end(at))
        .collect();
    assert_eq!(
        ends,
        [
            "completed, null",
            "completed, null",
            "completed, null",
            "completed, null",
            "incomplete, no_report",
            "completed, null",
            "gave_up, gave_up",
            "failed, provider_error"
        ]
    );
    let ids: Vec<_> = recorded.tasks[1]["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|child| child["id"].clone())
        .collect();
    assert_eq!(ids, ["Lead.One", "Lead.Two", "Lead.One-2"]);

    let replayed = scene.replay();
    replayed.ended.clone().expect(1);
    assert_eq!(replayed.tasks, recorded.tasks);
    let sorted = |played: &Played| {
        let mut files = played.files.clone();
        // Three tasks side by side append to it.
        for (path, content) in &mut files {
            if path == Path::new("leaves.txt") {
                let mut lines: Vec<_> = content.lines().collect();
                lines.sort_unstable();
                *content = lines.join("\n");
            }
        }
        files
    };
    assert_eq!(sorted(&replayed), sorted(&recorded));
    assert_eq!(scene.here.read("app.txt"), "one\n2\n");
    assert_eq!(scene.here.read("copied.txt"), "a\n  b\n${scratch}\n");
    assert_eq!(
        sorted(&replayed)
            .iter()
            .find(|(path, _)| path == Path::new("leaves.txt"))
            .unwrap()
            .1,
        "Lead.One\nLead.One-2\nLead.Two"
    );

    // A try that was made good is not there, and nobody was asked but the script.
    let retry = replayed.ended.task("Retry");
    assert_eq!(
        (retry.requests, recorded.ended.task("Retry").requests),
        (1, 2)
    );
    let denied = replayed.ended.task("Denied");
    let message = denied.outcome.message.unwrap();
    assert!(
        message.starts_with("`script/again` answered with provider error 401: "),
        "{message}"
    );
    let result = replayed.ended.result();
    for task in result
        .tasks
        .iter()
        .flat_map(|task| [task].into_iter().chain(&task.children))
    {
        assert_eq!(
            (task.model.selector.as_str(), task.model.api),
            ("script/again", Api::Script)
        );
    }

    // A replay is recorded as it was recorded.
    let [again, twice] = ["again.yaml", "twice.yaml"].map(|name| scene.here.read(name));
    assert_eq!(entries(&again), entries(&twice));
    assert!(!again.contains(KEY));
}
