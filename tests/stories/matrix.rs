//! What can go wrong in a turn, over every API: what the task ends as, and what it says.
//!
//! A row plays one kind of trouble over all four APIs at once. What people see has to be the same over each, and is one
//! snapshot: exit code, requests, outcome and reason, message, output, warnings. Most rows come twice: as trouble that
//! passes, and as trouble that lasts.

mod answers;
mod midway;
mod requests;

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use sortie_protocol::Api;
use sortie_testkit::{ModelServer, Project, Request, Turn};

use crate::support::{Ended, SORTIE, end_of, frames_to_text, models_over, over_every_api};

/// The variable that holds the provider's key where there is one.
const KEY: &str = "LOCAL_KEY";

/// What a model does, and what its user has set.
struct Row {
    turns: Vec<Turn>,
    /// Breaks a turn off after so many frames: done to the first turn, within its text.
    breaks: Option<fn(Turn, usize) -> Turn>,
    settings: String,
    has_key: bool,
}

impl Row {
    /// The model takes these turns, and the last of them for ever.
    fn of(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self {
            turns: turns.into_iter().collect(),
            breaks: None,
            settings: "retry: {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 2000}\n".to_owned(),
            has_key: false,
        }
    }

    /// `trouble` once, and then what was to be.
    fn once(trouble: Turn) -> Self {
        Self::of([trouble, hand_in()])
    }

    /// `trouble` for ever.
    fn always(trouble: Turn) -> Self {
        Self::of([trouble])
    }

    /// The first turn breaks off after the first piece of its text, in this way.
    fn breaking(mut self, how: fn(Turn, usize) -> Turn) -> Self {
        self.breaks = Some(how);
        self
    }

    /// One more line of `config.yml`.
    fn set(mut self, line: &str) -> Self {
        self.settings.extend([line, "\n"]);
        self
    }

    /// With a key in the environment.
    fn keyed(mut self) -> Self {
        self.has_key = true;
        self
    }

    /// What people see, over every API.
    #[track_caller]
    fn told(&self) -> String {
        self.played().0
    }

    /// The same, and the last request over each API.
    #[track_caller]
    fn played(&self) -> (String, Vec<Request>) {
        let (told, last): (Vec<_>, Vec<_>) =
            over_every_api(|api| self.over(api)).into_iter().unzip();
        for (api, other) in Api::REMOTE.iter().zip(&told) {
            assert_eq!(other, &told[0], "over {api}");
        }
        (told[0].clone(), last)
    }

    fn over(&self, api: Api) -> (String, Request) {
        let server = self.server(api);
        let project = Project::new();
        let key = if self.has_key { KEY } else { "" };
        project
            .user_file("models.yml", models_over(api, &server.base_url(api), key))
            .config(&self.settings)
            .file("in.txt", "what the file says\n")
            .file(
                "batch.yaml",
                "model: local/small\ntasks: [{name: One, task: x}]\n",
            );
        let mut command = project.sortie(SORTIE, ["run", "batch.yaml", "--json"]);
        if self.has_key {
            command.env(KEY, "sk-a-key-that-nobody-knows");
        }
        let told = sheet(&Ended::of(&mut command)).replace(&server.base_url(api), "[BASE]");
        let requests = server.requests();
        let sent = format!("requests {}:", requests.len());
        assert!(told.contains(&sent), "{sent} came, but: {told}");
        let last = requests.last().expect("there was one");
        (told, last.clone())
    }

    fn server(&self, api: Api) -> ModelServer {
        let mut turns = self.turns.clone();
        if let Some(breaks) = self.breaks {
            turns[0] = breaks(turns[0].clone(), frames_to_text(api));
        }
        let asked = Arc::new(AtomicUsize::new(0));
        ModelServer::answering(move |_| {
            let n = asked.fetch_add(1, Ordering::Relaxed);
            turns[n.min(turns.len() - 1)].clone()
        })
    }
}

fn hand_in() -> Turn {
    Turn::tool("yield", json!({"data": "all done"}))
}

/// A message in which the time that a provider is still left alone for, which depends on the moment, is `N`.
fn without_the_time_left(message: &str) -> String {
    let words = "is cooling down for ";
    match message.split_once(words) {
        None => message.to_owned(),
        Some((before, after)) => {
            let unit = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}{words}N{unit}")
        }
    }
}

/// How the only task of a run ended.
fn sheet(ended: &Ended) -> String {
    let task = ended.task("One");
    let (outcome, reason) = end_of(&task);
    let code = ended.code.expect("nobody killed it");
    let mut told = format!("exit {code}, requests {}: {outcome}", task.requests);
    let mut say = |name: &str, text: &str| {
        // Writing to a string goes well.
        let _ = write!(told, "\n{name}: {text}");
    };
    if let Some(reason) = reason {
        say("reason", reason);
    }
    if let Some(message) = &task.outcome.message {
        say("message", &without_the_time_left(message));
    }
    say("output", task.output.as_deref().unwrap_or("(none)"));
    for warning in &task.warnings {
        say("warning", warning);
    }
    told
}
