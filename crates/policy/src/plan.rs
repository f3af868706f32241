//! From a policy to a plan.

use std::path::PathBuf;

use sortie_prompts::{
    system::{self, Child},
    tools::{Reader, description},
};
use sortie_protocol::{
    AgentRef, Candidate, Mode, PlannedTool, RunId, SessionPlan, SpawnRule, TaskId,
    script::ScriptEntry,
};

use crate::{effective::EffectivePolicy, parameters};

/// Where a session takes place.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// The run.
    pub run: RunId,
    /// The task.
    pub id: TaskId,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// A folder of its own.
    pub scratch: PathBuf,
    /// Background that every task of its batch gets.
    pub context: Option<&'a str>,
}

impl EffectivePolicy {
    /// Everything that the child will do, with nothing left to decide.
    pub fn plan(&self, site: &Site<'_>) -> SessionPlan {
        let agent = AgentRef {
            name: self.agent_name().to_owned(),
            source: self.source(),
            file: self.file().map(ToOwned::to_owned),
        };
        SessionPlan {
            run: site.run.clone(),
            id: site.id.clone(),
            depth: self.depth,
            system: self.system(site),
            tools: self.planned_tools(),
            candidates: self
                .candidates
                .iter()
                .map(|candidate| self.for_child(candidate, &site.id))
                .collect(),
            schema: self.schema.clone(),
            spawns: self.spawns.clone(),
            blocked_agent: self.blocked.clone(),
            budgets: self.limits.budgets,
            clocks: self.limits.clocks,
            retry: self.limits.retry,
            read: self.limits.read,
            cwd: site.cwd.clone(),
            scratch: site.scratch.clone(),
            accept_prose: self.limits.accept_prose,
            agent,
        }
    }

    fn system(&self, site: &Site<'_>) -> String {
        let schema = self
            .schema
            .as_ref()
            .map(|planned| format!("{:#}", planned.schema));
        Child {
            agent: self.agent_name(),
            instructions: &self.agent.instructions,
            cwd: &site.cwd.display().to_string(),
            scratch: &site.scratch.display().to_string(),
            preamble: match self.mode {
                Mode::Plan => system::PLAN_MODE,
                Mode::Normal | Mode::ReadOnly => "",
            },
            read_only: if self.is_read_only() {
                system::READ_ONLY
            } else {
                ""
            },
            spawning: match self.spawns {
                SpawnRule::None => "",
                SpawnRule::Any | SpawnRule::Only(_) => system::SPAWNING,
            },
            schema: schema.as_deref(),
            context: site.context,
        }
        .render()
    }

    fn planned_tools(&self) -> Vec<PlannedTool> {
        let reader = Reader {
            bash_timeout_s: self.limits.clocks.bash_timeout_ms / 1000,
            summarizes: self.limits.read.summarize,
            has_schema: self.schema.is_some(),
            default_agent: self.default_agent(),
            agents: &self.spawnable,
        };
        self.tools
            .iter()
            .filter_map(|tool| {
                Some(PlannedTool {
                    name: tool.name.to_owned(),
                    description: description(tool.name, &reader)?.into_owned(),
                    parameters: parameters::of(tool.name, self)?,
                })
            })
            .collect()
    }

    /// A candidate with the script entries that this child may come to.
    fn for_child(&self, candidate: &Candidate, id: &TaskId) -> Candidate {
        let matches = |entry: &&ScriptEntry| {
            entry
                .when
                .matches_child(self.agent_name(), id.as_str(), self.depth)
        };
        Candidate {
            script: candidate.script.iter().filter(matches).cloned().collect(),
            ..candidate.clone()
        }
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
