//! A root for tests: it lets every request out and takes every record, unless a test says otherwise.

use std::{path::Path, time::Duration};

use async_trait::async_trait;
use futures_util::StreamExt;
use serde_json::{Value, json};
use sortie_protocol::{
    Call, Down, Origin, PROTOCOL_VERSION, Record, RecordKind, Reply, Report, Secrets, SessionPlan,
    Start, ToolResult, Up,
    codec::{Decoder, encode},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    time::sleep,
};

use crate::{
    clients::Clients,
    model::{Chunk, ChunkStream, ModelClient, ModelError, ModelRequest},
    serve::serve,
};

/// A plan for a child in the folder `cwd` whose only model follows `turns`.
pub(crate) fn plan(cwd: &Path, turns: &Value) -> SessionPlan {
    let tools = ["read", "write", "bash", "task", "yield"]
        .map(|name| json!({"name": name, "description": "", "parameters": {}}));
    serde_json::from_value(json!({
        "run": "r", "id": "T", "depth": 1,
        "agent": {"name": "dig", "source": "project", "file": null},
        "system": "dig", "tools": tools,
        "candidates": [candidate("p/x", turns)],
        "schema": null, "spawns": "any", "blockedAgent": "dig", "budgets": {},
        "clocks": {"firstActivityMs": 120_000, "idleMs": 600_000, "totalMs": 0, "killGraceMs": 5000, "bashTimeoutMs": 300_000},
        "retry": {"maxRetries": 2, "baseDelayMs": 500, "maxDelayMs": 300_000},
        "read": {"summarize": false},
        "cwd": cwd, "scratch": cwd.join("scratch"), "acceptProse": false,
    }))
    .unwrap()
}

/// A plan for a child in a folder of its own.
pub(crate) fn fresh(turns: &Value) -> (TempDir, SessionPlan) {
    let folder = TempDir::new().unwrap();
    let plan = plan(folder.path(), turns);
    (folder, plan)
}

/// A scripted candidate.
pub(crate) fn candidate(selector: &str, turns: &Value) -> Value {
    json!({
        "selector": selector, "provider": "p", "api": "script", "baseUrl": "", "wireName": selector,
        "effort": null, "script": [{"turns": turns}],
    })
}

/// What a test's root does about a message: `None` leaves it to the double.
pub(crate) type React<'a> = Box<dyn FnMut(&Up) -> Option<Vec<Down>> + 'a>;

/// Everything that a child said.
#[derive(Debug)]
pub(crate) struct Heard(pub(crate) Vec<Up>);

/// Runs `plan` to its report.
pub(crate) async fn play(plan: SessionPlan) -> Heard {
    play_with(plan, Vec::new(), Box::new(|_| None)).await
}

/// Runs `plan` after the records `stored` with a root that does what `react` says.
pub(crate) async fn play_with(plan: SessionPlan, stored: Vec<Record>, react: React<'_>) -> Heard {
    let mut opening = vec![start(plan, PROTOCOL_VERSION)];
    opening.extend(stored.into_iter().map(Down::Record));
    opening.push(Down::Begin);
    opening.push(prompt());
    converse(opening, react).await
}

/// Runs `plan` with a model that is heard a second before its answer is whole.
pub(crate) async fn play_slowly(plan: SessionPlan, react: React<'_>) -> Heard {
    let models = |plan: &SessionPlan, secrets| Slow(Clients::new(secrets, plan.scratch.clone()));
    converse_with(models, vec![start(plan, PROTOCOL_VERSION), prompt()], react).await
}

#[derive(Debug)]
struct Slow(Clients);

#[async_trait]
impl ModelClient for Slow {
    async fn stream(&self, request: ModelRequest<'_>) -> Result<ChunkStream, ModelError> {
        let stream = self.0.stream(request).await?;
        let slowed = stream.then(|chunk| async {
            if matches!(chunk, Ok(Chunk::End(_))) {
                sleep(Duration::from_secs(1)).await;
            }
            chunk
        });
        Ok(slowed.boxed())
    }
}

fn prompt() -> Down {
    Down::Prompt {
        text: "do it".into(),
    }
}

/// The first line down.
pub(crate) fn start(plan: SessionPlan, version: u32) -> Down {
    Down::Start(Box::new(Start {
        version,
        plan,
        secrets: Secrets::default(),
    }))
}

/// Says `opening` and then whatever the child's messages call for, until the child has closed its end.
pub(crate) async fn converse(opening: Vec<Down>, react: React<'_>) -> Heard {
    let models = |plan: &SessionPlan, secrets| Clients::new(secrets, plan.scratch.clone());
    converse_with(models, opening, react).await
}

async fn converse_with<M: ModelClient>(
    models: impl FnOnce(&SessionPlan, Secrets) -> M,
    opening: Vec<Down>,
    mut react: React<'_>,
) -> Heard {
    let (ours, theirs) = duplex(64 << 10);
    let (input, output) = tokio::io::split(theirs);
    let child = serve(input, output, models);
    let root = async {
        let mut ours = ours;
        for word in opening {
            say(&mut ours, &word).await;
        }
        let mut decoder = Decoder::default();
        let mut buffer = vec![0; 16 << 10];
        let mut heard = Vec::new();
        loop {
            let len = ours.read(&mut buffer).await.unwrap();
            if len == 0 {
                return Heard(heard);
            }
            decoder.feed(&buffer[..len]);
            while let Some(message) = decoder.next_message::<Up>() {
                let message = message.unwrap();
                for word in react(&message).unwrap_or_else(|| usual(&message)) {
                    say(&mut ours, &word).await;
                }
                heard.push(message);
            }
        }
    };
    let (served, heard) = tokio::join!(child, root);
    served.unwrap();
    heard
}

async fn say(pipe: &mut DuplexStream, word: &Down) {
    let mut line = Vec::new();
    encode(word, &mut line).unwrap();
    // A child that is finished no longer listens.
    let _ = pipe.write_all(&line).await;
}

fn usual(message: &Up) -> Vec<Down> {
    match message {
        Up::Record(record) => vec![Down::Taken { n: record.n }],
        Up::Call { id, call } => {
            let reply = match call {
                Call::Admit { .. } => Reply::Go,
                Call::Spawn { args } => Reply::Text {
                    ok: true,
                    text: format!("done: {args}"),
                },
                Call::Read { uri } => Reply::Stored {
                    text: format!("read {uri}"),
                    note: None,
                },
                Call::Unknown => Reply::Text {
                    ok: false,
                    text: "unknown".into(),
                },
            };
            vec![Down::Reply { id: *id, reply }]
        }
        _ => Vec::new(),
    }
}

impl Heard {
    /// The report, which is the last message and the only one of its kind.
    pub(crate) fn report(&self) -> &Report {
        let reports = self
            .0
            .iter()
            .filter(|up| matches!(up, Up::Finished(_)))
            .count();
        assert_eq!(reports, 1);
        match self.0.last() {
            Some(Up::Finished(finished)) => &finished.report,
            other => panic!("the last message is {other:?}"),
        }
    }

    /// What stands in the transcript.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.0.iter().filter_map(|up| match up {
            Up::Record(record) => Some(record),
            _ => None,
        })
    }

    /// What the calls were answered, in order.
    pub(crate) fn results(&self) -> Vec<&ToolResult> {
        self.records()
            .filter_map(|record| match &record.kind {
                RecordKind::ToolResult(result) => Some(result),
                _ => None,
            })
            .collect()
    }

    /// The same, a line each.
    pub(crate) fn texts(&self) -> Vec<String> {
        let line = |result: &&ToolResult| format!("{} {}: {}", result.ok, result.name, result.text);
        self.results().iter().map(line).collect()
    }

    /// What `origin` said to the model.
    pub(crate) fn said(&self, origin: Origin) -> Vec<String> {
        self.records()
            .filter_map(|record| match &record.kind {
                RecordKind::User { origin: by, text } if *by == origin => Some(text.clone()),
                _ => None,
            })
            .collect()
    }

    /// What the root was asked.
    pub(crate) fn calls(&self) -> Vec<&Call> {
        self.0
            .iter()
            .filter_map(|up| match up {
                Up::Call { call, .. } => Some(call),
                _ => None,
            })
            .collect()
    }

    /// How the requests ended.
    pub(crate) fn ended(&self) -> Vec<&sortie_protocol::Ended> {
        self.0
            .iter()
            .filter_map(|up| match up {
                Up::Ended(ended) => Some(ended),
                _ => None,
            })
            .collect()
    }

    /// The events, text and thoughts left out.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.0
            .iter()
            .filter_map(|up| match up {
                Up::Event(event) => serde_json::to_value(event).ok(),
                _ => None,
            })
            .filter(|event| !matches!(event["event"].as_str(), Some("text" | "thought")))
            .collect()
    }
}
