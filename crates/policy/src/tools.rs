//! Which tools an agent has, and whom it may spawn.

use serde_json::json;
use sortie_config::{Problem, nearest};
use sortie_discovery::{AgentDefinition, ToolKind, Tools};
use sortie_protocol::{
    Mode, SpawnRule, TaskRequest,
    tool::{TOOLS, YIELD},
};

use crate::{
    agent::quoted,
    grant::{Grant, mode_ceiling},
    tool_set::ToolSet,
    why::{Reason, Why},
    world::World,
};

/// The tools of one agent, and what goes with them.
#[derive(Debug)]
pub(crate) struct Kit {
    pub tools: ToolSet,
    /// Never anything but [`SpawnRule::None`] without `task`, and never that with it.
    pub spawns: SpawnRule,
    /// What binds this agent, and everybody below it.
    pub mode: Mode,
    pub mode_why: Why,
    pub reasons: Vec<Reason>,
    pub warnings: Vec<String>,
}

/// Derives them: what the file states, gated by depth, mode, ceilings, and the request, in this order.
pub(crate) fn derive(
    world: &World<'_>,
    grant: &Grant,
    request: &TaskRequest,
    agent: &AgentDefinition,
    faults: &mut Vec<Problem>,
) -> Kit {
    let (mode, mode_why) = mode(grant, agent);
    let mut reasons = vec![asked(agent)];
    let mut kit = Kit {
        tools: stated(agent, &mut reasons, faults),
        spawns: agent.spawn_rule(),
        mode,
        mode_why,
        reasons,
        warnings: Vec::new(),
    };
    kit.gate_spawns(world, grant, agent);
    kit.apply_mode(agent);
    for ceiling in &grant.ceilings {
        kit.withhold(kit.tools.without(ceiling.tools), &ceiling.why);
    }
    kit.narrow(request, faults);
    kit.settle_spawns();
    kit
}

/// The mode of the agent and of everybody below it: a file may make it stricter.
fn mode(grant: &Grant, agent: &AgentDefinition) -> (Mode, Why) {
    match (&agent.read_only, grant.mode) {
        (Some(stated), Mode::Normal) if stated.value => (
            Mode::ReadOnly,
            Why::field("read-only", agent, Some(&stated.span)),
        ),
        _ => (grant.mode, grant.mode_why.clone()),
    }
}

/// The tools that the file asks for and that exist.
fn stated(
    agent: &AgentDefinition,
    reasons: &mut Vec<Reason>,
    faults: &mut Vec<Problem>,
) -> ToolSet {
    let (entries, span) = match &agent.tools {
        Tools::Absent => return ToolSet::built(),
        Tools::Empty { .. } => return ToolSet::nothing(),
        Tools::Listed { entries, span } => (entries, span),
    };
    let name = &agent.name.value;
    let mut set = ToolSet::nothing();
    for entry in entries {
        match entry.kind {
            ToolKind::Known(tool) if tool.built => set.insert(tool.name),
            ToolKind::Pattern => faults.push(
                Problem::error(format!(
                    "`{name}` lists `{}`, and patterns are not enforced yet",
                    entry.written
                ))
                .at(&agent.file, entry.span.clone())
                .help("name the tool without a pattern to give it whole, or remove it"),
            ),
            ToolKind::Known(_) | ToolKind::Mcp => {
                let why = Why::place("not built yet", &agent.file, &entry.span);
                reasons.push(Reason::new("withheld", entry.written.as_str(), why));
            }
            ToolKind::Unknown => {
                let why = Why::place("no such tool", &agent.file, &entry.span);
                reasons.push(Reason::new("withheld", entry.written.as_str(), why));
            }
        }
    }
    if entries.iter().all(|entry| entry.kind == ToolKind::Unknown) {
        let written = quoted(entries.iter().map(|entry| entry.written.as_str()));
        let known = |word: &str| nearest(word, TOOLS.iter().map(|tool| tool.name));
        let meant: Vec<_> = entries
            .iter()
            .filter_map(|entry| known(&entry.written))
            .collect();
        let fault = Problem::error(format!("`{name}` lists no tool that exists: {written}"))
            .at(&agent.file, span.clone());
        faults.push(if meant.is_empty() {
            fault.help("write `tools: []` for an agent without tools")
        } else {
            fault.help(format!("did you mean {}?", quoted(meant.into_iter())))
        });
    }
    set
}

fn asked(agent: &AgentDefinition) -> Reason {
    let why = match &agent.tools {
        Tools::Absent => Why::rule("the agent states no tools, so it has what its caller may give"),
        Tools::Empty { span } | Tools::Listed { span, .. } => {
            Why::field("tools", agent, Some(span))
        }
    };
    let entries = agent.tools.entries();
    let value = match &agent.tools {
        Tools::Absent => json!("*"),
        Tools::Empty { .. } | Tools::Listed { .. } => {
            entries.iter().map(|entry| entry.written.as_str()).collect()
        }
    };
    Reason::new("tools.asked", value, why)
}

impl Kit {
    /// Whether the agent may spawn: its own rule, as far as depth and mode let it. A stated list that says `spawns` gets
    /// the tool for it; an empty list gets nothing.
    fn gate_spawns(&mut self, world: &World<'_>, grant: &Grant, agent: &AgentDefinition) {
        let why = match &agent.spawns {
            Some(stated) => Why::field("spawns", agent, Some(&stated.span)),
            None if self.spawns == SpawnRule::Any => {
                Why::field("tools", agent, agent.tools.span().as_ref())
            }
            None => Why::field("spawns", agent, None),
        };
        self.reasons
            .push(Reason::new("spawns.asked", rule_word(&self.spawns), why));
        let limit = &world.settings.task_max_recursion_depth;
        if self.spawns != SpawnRule::None && !limit.allows(grant.depth + 2) {
            let depth = grant.depth + 1;
            let mut why = Why::setting("task.maxRecursionDepth", &limit.origin);
            why.text = format!(
                "it is at depth {depth}, and {} ends there",
                if why.file.is_some() {
                    why.text.as_str()
                } else {
                    "`task.maxRecursionDepth`"
                }
            );
            self.reasons.push(Reason::new("withheld", "task", why));
            self.spawns = SpawnRule::None;
        }
        if self.spawns == SpawnRule::None {
            self.tools.remove("task");
        } else if !matches!(agent.tools, Tools::Empty { .. }) {
            self.tools.insert("task");
        }
    }

    /// Takes away what the mode forbids. What the file itself asked for is worth a warning.
    fn apply_mode(&mut self, agent: &AgentDefinition) {
        let mut allowed = mode_ceiling(self.mode);
        let mut why = self.mode_why.clone();
        if self.mode == Mode::Normal && agent.is_read_only() {
            allowed = ToolSet::read_only();
            why = Why::field("tools", agent, agent.tools.span().as_ref());
            why.text.push_str(", which names reading tools only");
        }
        if self.mode == Mode::Plan && !agent.tools.lists("ast_grep") {
            allowed.remove("ast_grep");
        }
        let taken = self.tools.without(allowed);
        let missed: Vec<_> = taken
            .names()
            .into_iter()
            .filter(|name| agent.tools.lists(name))
            .collect();
        if !missed.is_empty() {
            self.warnings.push(format!(
                "without {}, which its list names: {}",
                quoted(missed.into_iter()),
                why.text
            ));
        }
        let mut bash = ToolSet::nothing();
        bash.insert("bash");
        self.withhold(taken.without(bash), &why);
        why.text
            .push_str("; until there is a sandbox, `bash` could write");
        self.withhold(taken.intersection(bash), &why);
    }

    fn withhold(&mut self, taken: ToolSet, why: &Why) {
        for tool in taken.iter().filter(|tool| tool.name != YIELD) {
            self.tools.remove(tool.name);
            self.reasons
                .push(Reason::new("withheld", tool.name, why.clone()));
        }
    }

    /// The request may ask for fewer tools, never for more.
    fn narrow(&mut self, request: &TaskRequest, faults: &mut Vec<Problem>) {
        let Some(words) = &request.tools else {
            return;
        };
        let mut asked = ToolSet::nothing();
        for word in words {
            match ToolKind::of(word) {
                ToolKind::Known(tool) => {
                    if !self.tools.contains(tool.name) {
                        self.warnings.push(format!(
                            "without `{word}`, which the task asks for and the agent does not have"
                        ));
                    }
                    asked.insert(tool.name);
                }
                ToolKind::Pattern => faults.push(
                    Problem::error(format!(
                        "the task lists `{word}`, and patterns are not enforced yet"
                    ))
                    .help("name the tool without a pattern to give it whole, or leave it out"),
                ),
                ToolKind::Mcp => self.warnings.push(format!(
                    "without `{word}`: tools of MCP servers are not built yet"
                )),
                ToolKind::Unknown => {
                    let fault =
                        Problem::error(format!("the task lists `{word}`, which is no tool"));
                    let known = TOOLS.iter().map(|tool| tool.name);
                    faults.push(match nearest(word, known) {
                        Some(meant) => fault.help(format!("did you mean `{meant}`?")),
                        None => fault.help("leave `tools` out for all that the agent has"),
                    });
                }
            }
        }
        let why = Why::rule("the task names the tools it wants");
        self.withhold(self.tools.without(asked), &why);
    }

    /// `task` and the rule go together.
    fn settle_spawns(&mut self) {
        if !self.tools.contains("task") {
            self.spawns = SpawnRule::None;
        }
        let why = Why::rule("what is left of what it asks for");
        self.reasons
            .push(Reason::new("tools", self.tools.names(), why.clone()));
        self.reasons
            .push(Reason::new("spawns", rule_word(&self.spawns), why));
        self.reasons
            .push(Reason::new("mode", json!(self.mode), self.mode_why.clone()));
    }
}

/// A rule in one word: `*`, nothing, or names with commas.
pub(crate) fn rule_word(rule: &SpawnRule) -> String {
    match rule {
        SpawnRule::Any => "*".to_owned(),
        SpawnRule::None => String::new(),
        SpawnRule::Only(names) => names.join(","),
    }
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
