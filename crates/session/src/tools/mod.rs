//! The tools that a child runs itself.
//!
//! A tool gets a call's arguments and a [`ToolContext`], and answers with text for the model. Its failure is an
//! answer too: nothing a tool does ends the session.

pub mod archive;
mod arguments;
mod bash;
mod blocking;
mod edit;
#[cfg(test)]
mod fixture;
mod glob;
mod grep;
mod output;
pub mod process;
mod read;
mod search;
mod todo;
mod write;

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::Value;
use sortie_protocol::{TaskId, redact::Redactor};
use tokio_util::sync::CancellationToken;

use archive::Archive;

/// What a tool answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// Whether it did what was asked.
    pub ok: bool,
    /// The text for the model.
    pub text: String,
}

impl ToolAnswer {
    /// It did what was asked.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            ok: true,
            text: text.into(),
        }
    }

    /// It did not, and says why and what to do.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            ok: false,
            text: text.into(),
        }
    }
}

/// Where a tool sends output that is too long for its answer.
pub trait ArtifactSink: Send + Sync {
    /// Appends `text` to the artifact `name` of this task: `agent://TASK/NAME` afterwards.
    fn append(&self, name: &str, text: &str);
}

/// What a tool may use.
#[derive(Clone)]
pub struct ToolContext {
    /// The task that this session carries out.
    pub task: TaskId,
    /// The call's id.
    pub call: String,
    /// A number no other call of this child has, for artifact names.
    pub serial: u64,
    /// The folder that relative paths start from.
    pub cwd: PathBuf,
    /// The most text that an answer may hold, in bytes.
    pub output_limit: usize,
    /// How long a command may run that names no limit.
    pub bash_timeout: Duration,
    /// How long a command has between being asked to end and being killed.
    pub kill_grace: Duration,
    /// Whether long source files may be summarised.
    pub summarize: bool,
    /// Fires when the session is told to stop.
    pub cancel: CancellationToken,
    /// Takes keys out of what is cut before it is told.
    pub keys: Arc<Redactor>,
    /// Where long output goes.
    pub artifacts: Arc<dyn ArtifactSink>,
    /// Where the tasks of the run left what they made.
    pub archive: Arc<dyn Archive>,
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call", &self.call)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// Something a model can call.
#[async_trait]
pub trait Tool: fmt::Debug + Send + Sync {
    /// Carries out one call.
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer;
}

/// A new instance of the tool `name`, or `None` when this module has none by that name. A tool may keep something from
/// call to call, so a session makes each of its tools once.
pub fn local_tool(name: &str) -> Option<Arc<dyn Tool>> {
    match name {
        "read" => Some(Arc::new(read::Read)),
        "grep" => Some(Arc::new(grep::Grep)),
        "glob" => Some(Arc::new(glob::Glob)),
        "write" => Some(Arc::new(write::Write)),
        "edit" => Some(Arc::new(edit::Edit)),
        "bash" => Some(Arc::new(bash::Bash)),
        "todo" => Some(Arc::<todo::Todo>::default()),
        _ => None,
    }
}
