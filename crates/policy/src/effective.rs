//! What one task may have.

use std::{fmt::Write, path::Path, sync::Arc};

use sortie_discovery::AgentDefinition;
use sortie_protocol::{
    AgentSource, Attempt, Budgets, Candidate, Clocks, Mode, PlannedSchema, SchemaMode, SpawnRule,
    TaskRequest, Thinking, tool::YIELD,
};

use crate::{
    agent::default_agent,
    grant::{ActiveModel, Ceiling, Grant, RunModel},
    limits::Limits,
    model::Choice,
    tool_set::ToolSet,
    tools::{Kit, rule_word},
    why::{Reason, Why},
    world::World,
};

/// How many agents a `task` tool lists by name.
const LISTED: usize = 100;

/// What one task may have, each part with its reason. Made only by [`resolve`](crate::resolve), and never wider than
/// the grant it was made from.
#[derive(Clone, Debug)]
pub struct EffectivePolicy {
    pub(crate) agent: Arc<AgentDefinition>,
    label: Option<String>,
    pub(crate) depth: u32,
    pub(crate) mode: Mode,
    mode_why: Why,
    pub(crate) tools: ToolSet,
    pub(crate) spawns: SpawnRule,
    pub(crate) blocked: Option<String>,
    /// The agents that may be spawned, a line each.
    pub(crate) spawnable: String,
    pub(crate) hints: bool,
    pub(crate) candidates: Vec<Candidate>,
    requested: Option<String>,
    skipped: Vec<Attempt>,
    pub(crate) schema: Option<PlannedSchema>,
    schema_mode: Option<SchemaMode>,
    pub(crate) limits: Arc<Limits>,
    ceilings: Vec<Ceiling>,
    run_model: Option<RunModel>,
    reasons: Vec<Reason>,
    warnings: Vec<String>,
}

/// What a policy is made of.
pub(crate) struct Parts {
    pub agent: Arc<AgentDefinition>,
    pub kit: Kit,
    pub schema: Option<PlannedSchema>,
    pub models: Choice,
    pub limits: Limits,
    pub reasons: Vec<Reason>,
    pub warnings: Vec<String>,
}

impl EffectivePolicy {
    pub(crate) fn new(
        world: &World<'_>,
        grant: &Grant,
        request: &TaskRequest,
        parts: Parts,
    ) -> Self {
        let Parts {
            agent,
            kit,
            schema,
            models,
            limits,
            mut reasons,
            warnings,
        } = parts;
        let name = &agent.name.value;
        let names_itself = match &kit.spawns {
            SpawnRule::Any => true,
            SpawnRule::Only(_) => kit.spawns.allows(name),
            SpawnRule::None => false,
        };
        let blocked = (!names_itself).then(|| name.clone());
        reasons.push(Reason::new(
            "blockedAgent",
            blocked
                .as_deref()
                .map_or(serde_json::Value::Null, Into::into),
            Why::rule(if names_itself {
                "its `spawns` allows it to start itself"
            } else {
                "its `spawns` does not name it"
            }),
        ));
        let mut ceilings = grant.ceilings.clone();
        if let Some(stated) = agent.ceiling.as_ref().filter(|stated| stated.value) {
            ceilings.push(Ceiling {
                tools: kit.tools,
                why: Why::field("ceiling", &agent, Some(&stated.span)),
            });
        }
        let spawnable = match kit.spawns {
            SpawnRule::None => String::new(),
            _ => spawnable(world, &kit.spawns, blocked.as_deref()),
        };
        Self {
            label: request.label.clone(),
            depth: grant.depth + 1,
            mode: kit.mode,
            mode_why: kit.mode_why,
            tools: kit.tools,
            spawns: kit.spawns,
            blocked,
            spawnable,
            hints: world.settings.task_enable_effort.value,
            candidates: models.candidates,
            requested: models.requested,
            skipped: models.skipped,
            schema,
            schema_mode: request.schema_mode.or(grant.schema_mode),
            limits: Arc::new(limits),
            ceilings,
            run_model: grant.run_model.clone(),
            reasons,
            warnings,
            agent,
        }
    }

    /// The definition.
    pub fn agent(&self) -> &AgentDefinition {
        &self.agent
    }

    /// The agent's name.
    pub fn agent_name(&self) -> &str {
        &self.agent.name.value
    }

    /// Where the definition was found.
    pub fn source(&self) -> AgentSource {
        self.agent.source
    }

    /// The definition's file; `None` for an agent without one.
    pub fn file(&self) -> Option<&Path> {
        self.agent.path()
    }

    /// What people see instead of the task's id.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// How deep the task is; 1 is a task of the root.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The names of its tools, in the order of the tool table.
    pub fn tools(&self) -> Vec<&'static str> {
        self.tools.names()
    }

    /// Whom it may spawn.
    pub fn spawns(&self) -> &SpawnRule {
        &self.spawns
    }

    /// The agent that it may not spawn.
    pub fn blocked_agent(&self) -> Option<&str> {
        self.blocked.as_deref()
    }

    /// The models it may use, best first. Never empty.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// What was asked for as its model, as written.
    pub fn requested_model(&self) -> Option<&str> {
        self.requested.as_deref()
    }

    /// The models that were asked for and cannot be used, in order, each with its reason.
    pub fn skipped(&self) -> &[Attempt] {
        &self.skipped
    }

    /// The shape of its result.
    pub fn schema(&self) -> Option<&PlannedSchema> {
        self.schema.as_ref()
    }

    /// How long things may take.
    pub fn clocks(&self) -> &Clocks {
        &self.limits.clocks
    }

    /// How much it may use.
    pub fn budgets(&self) -> &Budgets {
        &self.limits.budgets
    }

    /// Whether its caller waits for it even where calls are asynchronous.
    pub fn is_blocking(&self) -> bool {
        self.agent
            .blocking
            .as_ref()
            .is_some_and(|stated| stated.value)
    }

    /// Whether it may change nothing.
    pub fn is_read_only(&self) -> bool {
        self.mode != Mode::Normal || self.agent.is_read_only()
    }

    /// What whoever reads the result should know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Every decision with its reason.
    pub fn explain(&self) -> &[Reason] {
        &self.reasons
    }

    /// The variables that tell a child, and what runs below it, where it stands: `SORTIE_DEPTH`, `SORTIE_SPAWNS`
    /// (`*`, nothing, or names with commas), and `PI_BLOCKED_AGENT`, where there is one.
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut variables = vec![
            ("SORTIE_DEPTH".to_owned(), self.depth.to_string()),
            ("SORTIE_SPAWNS".to_owned(), rule_word(&self.spawns)),
        ];
        if let Some(blocked) = &self.blocked {
            variables.push(("PI_BLOCKED_AGENT".to_owned(), blocked.clone()));
        }
        variables
    }

    /// What it may hand down: its own depth, spawn rule, and model, and every limit that bound it.
    pub fn grant(&self) -> Grant {
        let active = self.candidates.first().map(|candidate| ActiveModel {
            selector: candidate.selector.clone(),
            level: candidate.effort,
        });
        Grant {
            depth: self.depth,
            spawns: self.spawns.clone(),
            blocked: self.blocked.clone(),
            mode: self.mode,
            mode_why: self.mode_why.clone(),
            ceilings: self.ceilings.clone(),
            run_model: self.run_model.clone(),
            active,
            // A batch of its own states its own; the schema of this task's result is no concern of theirs.
            schema: None,
            schema_mode: self.schema_mode,
        }
    }

    /// Whether it stays within `grant`: one deeper, an agent that may be started, no tool that the mode or a ceiling
    /// forbids, and `task` exactly where it may spawn. [`resolve`](crate::resolve) makes no other.
    pub fn is_within(&self, grant: &Grant) -> bool {
        self.depth == grant.depth + 1
            && grant.spawns.allows(self.agent_name())
            && grant.blocked.as_deref() != Some(self.agent_name())
            && self.tools.is_within(grant.ceiling())
            && self.tools.contains(YIELD)
            && self.tools.contains("task") == (self.spawns != SpawnRule::None)
            && self.grant().ceiling().is_within(grant.ceiling())
    }

    /// The effort that its first model is asked for.
    pub fn effort(&self) -> Option<Thinking> {
        self.candidates
            .first()
            .and_then(|candidate| candidate.effort)
    }

    /// The agent of a task that names none.
    pub(crate) fn default_agent(&self) -> &str {
        default_agent(&self.spawns)
    }
}

/// The agents that `spawns` allows, a line each.
fn spawnable(world: &World<'_>, spawns: &SpawnRule, blocked: Option<&str>) -> String {
    let disabled = &world.settings.task_disabled_agents;
    let mut allowed = world.agents.agents().iter().filter(|agent| {
        let name = &agent.name.value;
        spawns.allows(name) && blocked != Some(name) && !disabled.contains(name)
    });
    let mut lines = String::new();
    for agent in allowed.by_ref().take(LISTED) {
        let name = &agent.name.value;
        let read_only = if agent.is_read_only() {
            " (read-only)"
        } else {
            ""
        };
        let _ = write!(lines, "- `{name}`{read_only}:");
        for word in agent.description.value.split_whitespace() {
            lines.push(' ');
            lines.push_str(word);
        }
        lines.push('\n');
    }
    let more = allowed.count();
    if more > 0 {
        let _ = writeln!(lines, "- and {more} more, by their names");
    }
    lines
}
