//! Which agent a task goes to, and whether it may.

use std::sync::Arc;

use sortie_config::Problem;
use sortie_discovery::{AgentDefinition, Lookup};
use sortie_protocol::{SpawnRule, TaskRequest};

use crate::{
    grant::Grant,
    why::{Reason, Why},
    world::World,
};

/// The agent of a task that names none.
const DEFAULT: &str = "task";

/// The agent that a task goes to when it names none, under this rule.
pub(crate) fn default_agent(spawns: &SpawnRule) -> &str {
    match spawns {
        SpawnRule::Only(names) => names.first().map_or(DEFAULT, String::as_str),
        SpawnRule::Any | SpawnRule::None => DEFAULT,
    }
}

/// The agent, and what speaks against it: depth, the blocked name, the parent's spawn rule, the catalogue, and
/// `task.disabledAgents`, in this order. `None` is an agent that there is not.
pub(crate) fn choose(
    world: &World<'_>,
    grant: &Grant,
    request: &TaskRequest,
    faults: &mut Vec<Problem>,
) -> (Option<Arc<AgentDefinition>>, Reason) {
    let stated = request
        .agent
        .as_deref()
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let name = stated.unwrap_or_else(|| default_agent(&grant.spawns));
    let too_deep = depth(world, grant, name);
    let is_deepest = too_deep.is_some() && grant.spawns == SpawnRule::None;
    faults.extend(too_deep);
    if grant.blocked.as_deref() == Some(name) {
        faults.push(
            Problem::error(format!("`{name}` may not start another `{name}`"))
                .help("do this part yourself, or hand it to another agent"),
        );
    }
    // At the deepest level nobody may be started because of the depth, which was said.
    if !is_deepest {
        faults.extend(spawn_rule(&grant.spawns, name));
    }
    let agent = look_up(world, name, faults);
    faults.extend(disabled(world, name));
    let why = match stated {
        Some(_) => Why::rule("the task names it"),
        None => Why::rule("the task names no agent, and this is the default"),
    };
    (agent, Reason::new("agent", name, why))
}

fn depth(world: &World<'_>, grant: &Grant, name: &str) -> Option<Problem> {
    let setting = &world.settings.task_max_recursion_depth;
    let depth = grant.depth + 1;
    let deepest = setting.get().filter(|_| !setting.allows(depth))?;
    Some(
        Problem::error(format!(
            "`{name}` would be at depth {depth}, and `task.maxRecursionDepth` is {deepest}"
        ))
        .help(match grant.depth {
            0 => "raise the setting; 1 lets a run dispatch tasks that dispatch none",
            _ => "do this part yourself",
        }),
    )
}

fn spawn_rule(spawns: &SpawnRule, name: &str) -> Option<Problem> {
    if spawns.allows(name) {
        return None;
    }
    Some(match spawns {
        SpawnRule::Only(names) => Problem::error(format!(
            "`{name}` is none of the agents that may be started here"
        ))
        .help(format!(
            "these may: {}",
            quoted(names.iter().map(String::as_str))
        )),
        SpawnRule::None | SpawnRule::Any => Problem::error(format!(
            "`{name}` may not be started: nobody may be started here"
        ))
        .help("do this part yourself"),
    })
}

fn look_up(
    world: &World<'_>,
    name: &str,
    faults: &mut Vec<Problem>,
) -> Option<Arc<AgentDefinition>> {
    match world.agents.find(name) {
        Lookup::Found(agent) => return Some(Arc::clone(agent)),
        Lookup::Invalid(problem) => faults.push(problem.clone()),
        Lookup::Unknown { nearest, names } => {
            let listed = names.iter().copied().filter(|name| {
                !world
                    .settings
                    .task_disabled_agents
                    .iter()
                    .any(|disabled| disabled == name)
            });
            let listed = quoted(listed);
            faults.push(Problem::error(format!("there is no agent `{name}`")).help(
                match nearest {
                    Some(meant) => format!("did you mean `{meant}`? there are {listed}"),
                    None => format!("there are {listed}"),
                },
            ));
        }
    }
    None
}

fn disabled(world: &World<'_>, name: &str) -> Option<Problem> {
    let setting = &world.settings.task_disabled_agents;
    if !setting.iter().any(|disabled| disabled == name) {
        return None;
    }
    Some(
        Problem::error(format!(
            "`{name}` is disabled by `task.disabledAgents` ({})",
            setting.origin
        ))
        .help("choose another agent, or take it off that list"),
    )
}

/// `a`, `b`, `c`, as far as a message can hold.
pub(crate) fn quoted<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 24;
    let shown: Vec<_> = names
        .by_ref()
        .take(MOST)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}
