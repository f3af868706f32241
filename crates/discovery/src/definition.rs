//! What an agent file says.

use std::{ops::Range, path::Path};

use serde_json::Value;
use sortie_config::{Problem, Source};
use sortie_protocol::{AgentSource, EffortWord, SpawnRule, tool::Tool};

/// A stated list wholly within these makes its agent read-only.
const READING: [&str; 8] = [
    "read",
    "grep",
    "glob",
    "ast_grep",
    "web_search",
    "web_fetch",
    "todo",
    "yield",
];

/// Bytes of a file.
pub type Span = Range<usize>;

/// A value, and where it stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the file.
    pub span: Span,
}

impl<T> Field<T> {
    /// `value`, which stands at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// One agent, as its file describes it.
///
/// Nothing here has been checked against a policy: a definition may ask for more than it will get.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDefinition {
    /// The file. A bundled agent has a text and a name for it, but no file; see [`AgentDefinition::path`].
    pub file: Source,
    /// Where the file was found.
    pub source: AgentSource,
    /// The name that it is dispatched by, as written.
    pub name: Field<String>,
    /// What it is for; other agents choose by this.
    pub description: Field<String>,
    /// The tools it asks for.
    pub tools: Tools,
    /// Whom it asks to spawn; `None` says nothing. See [`AgentDefinition::spawn_rule`].
    pub spawns: Option<Field<SpawnRule>>,
    /// Selectors of models, best first; `None` names none.
    pub model: Option<Field<Vec<Field<String>>>>,
    /// How hard it thinks (`thinking-level`, `thinking`, or `effort`).
    pub effort: Option<Field<EffortWord>>,
    /// The schema of its result, exactly as written: JSON Schema or JTD.
    pub output: Option<Field<Value>>,
    /// Whether its caller waits for it even where calls are asynchronous.
    pub blocking: Option<Field<bool>>,
    /// Skills that it has read before it begins.
    pub autoload_skills: Vec<Field<String>>,
    /// Whether its `read` tool may summarise.
    pub read_summarize: Option<Field<bool>>,
    /// Whether it hands over to another model at its first change.
    pub prewalk: Option<Field<HandOver>>,
    /// Whether another model advises it.
    pub advisor: Option<Field<HandOver>>,
    /// Whether its tool list binds all of its descendants.
    pub ceiling: Option<Field<bool>>,
    /// Whether it may change nothing.
    pub read_only: Option<Field<bool>>,
    /// Keys that mean nothing here, kept as they were.
    pub unknown: Vec<UnknownKey>,
    /// The text below the header: its part of the system prompt. May be empty.
    pub instructions: String,
    /// What its author should know: warnings and notes, in file order.
    pub warnings: Vec<Problem>,
}

impl AgentDefinition {
    /// Its file; `None` for an agent that has none.
    pub fn path(&self) -> Option<&Path> {
        matches!(self.source, AgentSource::Project | AgentSource::User).then(|| self.file.path())
    }

    /// Whom it may spawn as far as its own file goes: what `spawns` says, and without it anybody where the stated tools
    /// hold `task`, else nobody.
    pub fn spawn_rule(&self) -> SpawnRule {
        match &self.spawns {
            Some(stated) => stated.value.clone(),
            None if self.tools.lists("task") => SpawnRule::Any,
            None => SpawnRule::None,
        }
    }

    /// Whether it may change nothing: `read-only: true`, or a stated list that holds reading tools only.
    pub fn is_read_only(&self) -> bool {
        match (&self.read_only, &self.tools) {
            (Some(stated), _) => stated.value,
            (None, Tools::Listed { entries, .. }) => entries.iter().all(
                |entry| matches!(entry.kind, ToolKind::Known(tool) if READING.contains(&tool.name)),
            ),
            (None, Tools::Absent | Tools::Empty { .. }) => false,
        }
    }
}

/// The tools that a file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tools {
    /// It says nothing, or `"*"`: whatever the caller may give.
    Absent,
    /// It says: none.
    Empty {
        /// Where it says so.
        span: Span,
    },
    /// It names these.
    Listed {
        /// The entries in file order, each tool once.
        entries: Vec<ToolEntry>,
        /// Where the list stands.
        span: Span,
    },
}

impl Tools {
    /// Whether the stated list holds this tool.
    pub fn lists(&self, name: &str) -> bool {
        self.entries()
            .iter()
            .any(|entry| matches!(entry.kind, ToolKind::Known(tool) if tool.name == name))
    }

    /// The stated entries; none where nothing is stated.
    pub fn entries(&self) -> &[ToolEntry] {
        match self {
            Self::Listed { entries, .. } => entries,
            Self::Absent | Self::Empty { .. } => &[],
        }
    }

    /// Where they are stated.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Absent => None,
            Self::Empty { span } | Self::Listed { span, .. } => Some(span.clone()),
        }
    }
}

/// One entry of a tool list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolEntry {
    /// The entry as written.
    pub written: String,
    /// Where it stands.
    pub span: Span,
    /// What it means.
    pub kind: ToolKind,
}

/// What an entry of a tool list means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// A tool of the table, by name or alias.
    Known(&'static Tool),
    /// `name(pattern)`: a tool narrowed to some of its calls.
    Pattern,
    /// `mcp__SERVER__TOOL`: a tool of an MCP server.
    Mcp,
    /// No tool that we know.
    Unknown,
}

impl ToolKind {
    /// What the entry `written` means.
    pub fn of(written: &str) -> Self {
        if written.contains('(') {
            return Self::Pattern;
        }
        let known = sortie_protocol::tool::find(written)
            .or_else(|| sortie_protocol::tool::find(&written.to_lowercase()));
        match known {
            Some(tool) => Self::Known(tool),
            None if written.starts_with("mcp__") => Self::Mcp,
            None => Self::Unknown,
        }
    }
}

/// Whether another model takes part, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// No.
    Off,
    /// Yes, the one that settings name for it.
    On,
    /// Yes, this one.
    Model(String),
}

/// A key of a header that means nothing here.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownKey {
    /// The key.
    pub key: Field<String>,
    /// Its value.
    pub value: Value,
}
