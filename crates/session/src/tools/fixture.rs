//! A folder and a context for the tests of the tools.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use serde_json::Value;
use sortie_protocol::{Secrets, TaskId, redact::Redactor};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{
    ArtifactSink, ToolAnswer, ToolContext,
    archive::{Archive, Stored},
    local_tool,
};

/// Artifacts by name, whole.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Vec<(String, String)>>);

impl Kept {
    pub(super) fn pieces(&self) -> Vec<(String, String)> {
        self.0.lock().unwrap().clone()
    }

    pub(super) fn whole(&self, name: &str) -> String {
        let pieces = self.pieces().into_iter();
        pieces
            .filter(|(piece, _)| piece == name)
            .map(|(_, text)| text)
            .collect()
    }
}

impl ArtifactSink for Kept {
    fn append(&self, name: &str, text: &str) {
        self.0.lock().unwrap().push((name.into(), text.into()));
    }
}

/// Knows the address of everything.
#[derive(Debug)]
struct Everything;

#[async_trait]
impl Archive for Everything {
    async fn read(&self, uri: &str) -> Result<Stored, String> {
        match uri.strip_prefix("agent://") {
            Some(text) => Ok(Stored {
                text: text.replace(',', "\n"),
                note: Some("just said".into()),
            }),
            None => Err(format!("`{uri}` is no address")),
        }
    }
}

/// A temporary folder that tools work in.
pub(super) struct Bench {
    pub(super) folder: TempDir,
    pub(super) context: ToolContext,
    pub(super) kept: Arc<Kept>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kept = Arc::new(Kept::default());
        let context = ToolContext {
            task: TaskId::from("A".to_owned()),
            call: "call".into(),
            serial: 7,
            cwd: folder.path().to_owned(),
            output_limit: 50_000,
            bash_timeout: Duration::from_mins(1),
            kill_grace: Duration::from_secs(5),
            summarize: false,
            cancel: CancellationToken::new(),
            keys: Arc::default(),
            artifacts: kept.clone(),
            archive: Arc::new(Everything),
        };
        Self {
            folder,
            context,
            kept,
        }
    }

    pub(super) fn with_limit(mut self, bytes: usize) -> Self {
        self.context.output_limit = bytes;
        self
    }

    pub(super) fn with_key(mut self, name: &str, value: &str) -> Self {
        let mut secrets = Secrets::default();
        secrets.insert(name, value);
        self.context.keys = Arc::new(Redactor::new(&secrets));
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(super) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) async fn run(&self, tool: &str, args: Value) -> ToolAnswer {
        local_tool(tool).unwrap().run(&args, &self.context).await
    }

    /// The answer's text, which must be of a success.
    pub(super) async fn done(&self, tool: &str, args: Value) -> String {
        let answer = self.run(tool, args).await;
        assert!(answer.ok, "{}", answer.text);
        answer.text
    }

    /// The answer's text, which must be of a failure.
    pub(super) async fn failed(&self, tool: &str, args: Value) -> String {
        let answer = self.run(tool, args).await;
        assert!(!answer.ok, "{}", answer.text);
        answer.text
    }
}
