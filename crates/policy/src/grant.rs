//! What a parent may hand down.

use serde_json::Value;
use sortie_config::Source;
use sortie_discovery::Span;
use sortie_protocol::{Mode, SchemaMode, SpawnRule, Thinking};

use crate::{tool_set::ToolSet, why::Why};

/// What a parent may hand down to the tasks it dispatches. Made for the root by [`Grant::root`], and for everybody
/// else by [`EffectivePolicy::grant`](crate::EffectivePolicy::grant).
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    pub(crate) depth: u32,
    pub(crate) spawns: SpawnRule,
    pub(crate) blocked: Option<String>,
    pub(crate) mode: Mode,
    pub(crate) mode_why: Why,
    pub(crate) ceilings: Vec<Ceiling>,
    pub(crate) run_model: Option<RunModel>,
    pub(crate) active: Option<ActiveModel>,
    pub(crate) schema: Option<Value>,
    pub(crate) schema_mode: Option<SchemaMode>,
}

/// The tools that everybody below may have at most.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ceiling {
    pub(crate) tools: ToolSet,
    pub(crate) why: Why,
}

/// The model that a parent works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActiveModel {
    /// Without its level.
    pub(crate) selector: String,
    pub(crate) level: Option<Thinking>,
}

/// The active model of a run, as its owner wrote it: a selector, or several with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunModel {
    /// By `--model`, or by whatever a host has in its place.
    Flag(String),
    /// By `model` of the batch.
    Batch {
        /// What was written.
        selector: String,
        /// Where, when it was written in a file.
        place: Option<(Source, Span)>,
    },
}

impl RunModel {
    /// What was written.
    pub fn selector(&self) -> &str {
        match self {
            Self::Flag(selector) | Self::Batch { selector, .. } => selector,
        }
    }
}

/// What a run was started with, as far as it concerns what its tasks may have.
#[derive(Clone, Debug, PartialEq)]
pub struct RootGrant {
    /// The mode of the run: `--plan`, `--read-only`, or `mode` of the batch.
    pub mode: Mode,
    /// The active model of the run. Without one `modelRoles.default` counts.
    pub model: Option<RunModel>,
    /// Whom the run may start.
    pub spawns: SpawnRule,
    /// The one agent that it may not start (`PI_BLOCKED_AGENT`).
    pub blocked: Option<String>,
    /// The schema of tasks that name none, neither themselves nor in their agent's file (`outputSchema` of the batch).
    pub schema: Option<Value>,
    /// How strictly schemas bind where a task does not say (`schemaMode` of the batch).
    pub schema_mode: Option<SchemaMode>,
}

impl Grant {
    /// What the root may hand down.
    pub fn root(root: RootGrant) -> Self {
        let mode_why = match root.mode {
            Mode::Normal => "nothing limits this run",
            Mode::Plan => "this run is in plan mode",
            Mode::ReadOnly => "this run is read-only",
        };
        Self {
            depth: 0,
            spawns: root.spawns,
            blocked: root.blocked,
            mode: root.mode,
            mode_why: Why::rule(mode_why),
            ceilings: Vec::new(),
            run_model: root.model,
            active: None,
            schema: root.schema,
            schema_mode: root.schema_mode,
        }
    }

    /// The same grant for a batch that states a schema, or how strictly schemas bind. What it does not state stays.
    #[must_use]
    pub fn for_batch(&self, schema: Option<Value>, mode: Option<SchemaMode>) -> Self {
        let mut grant = self.clone();
        grant.schema = schema.or(grant.schema);
        grant.schema_mode = mode.or(grant.schema_mode);
        grant
    }

    /// How deep the parent is; 0 is the root.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The mode that binds everybody below.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether somebody below may have this tool, if its own file and depth permit.
    pub fn allows_tool(&self, name: &str) -> bool {
        self.ceiling().contains(name)
    }

    /// The tools that somebody below may have at most.
    pub(crate) fn ceiling(&self) -> ToolSet {
        self.ceilings
            .iter()
            .map(|ceiling| ceiling.tools)
            .fold(mode_ceiling(self.mode), ToolSet::intersection)
    }
}

/// The tools that a mode leaves.
pub(crate) fn mode_ceiling(mode: Mode) -> ToolSet {
    match mode {
        Mode::Normal => ToolSet::built(),
        Mode::ReadOnly => ToolSet::read_only(),
        Mode::Plan => ToolSet::of(|tool| tool.built && PLANNING.contains(&tool.name)),
    }
}

/// What a planning parent may hand down. `ast_grep` only to an agent whose list names it.
const PLANNING: [&str; 5] = ["read", "grep", "glob", "ast_grep", "web_search"];
