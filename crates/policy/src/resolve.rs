//! From a request to a policy.

use sortie_config::Problem;
use sortie_discovery::AgentDefinition;
use sortie_protocol::{EffortHint, Severity, TaskRequest};

use crate::{
    agent,
    effective::{EffectivePolicy, Parts},
    grant::Grant,
    limits, model, schema, tools,
    why::{Reason, Why},
    world::World,
};

/// What one task may have, or everything that speaks against it.
///
/// In order: the agent (the default where none is named), depth, the blocked name, the caller's spawn rule, whether there
/// is such an agent, `task.disabledAgents`; then its tools, its schema, and its models. All faults that can be told at
/// once are. Warnings do not stop a task; they are in [`EffectivePolicy::warnings`].
pub fn resolve(
    world: &World<'_>,
    grant: &Grant,
    request: &TaskRequest,
) -> Result<EffectivePolicy, Vec<Problem>> {
    let mut faults = Vec::new();
    let (agent, chosen) = agent::choose(world, grant, request, &mut faults);
    let kit = agent
        .as_deref()
        .map(|agent| tools::derive(world, grant, request, agent, &mut faults));
    let (schema, schema_reasons) = schema::choose(grant, request, agent.as_deref(), &mut faults);
    faults.extend(closed(request));
    faults.extend(hint(world, request.effort));
    let models = agent.as_deref().map(|agent| {
        model::choose(world, grant, request, agent).map_err(|fault| faults.push(fault))
    });
    let (Some(agent), Some(mut kit), Some(Ok(mut models))) = (agent, kit, models) else {
        return Err(faults);
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut limits = limits::derive(world.settings, request, &agent);
    let mut reasons = vec![chosen, depth(world, grant)];
    reasons.append(&mut kit.reasons);
    reasons.extend(schema_reasons);
    reasons.append(&mut models.reasons);
    reasons.append(&mut limits.reasons);
    let mut warnings = of_the_file(&agent);
    warnings.append(&mut kit.warnings);
    Ok(EffectivePolicy::new(
        world,
        grant,
        request,
        Parts {
            agent,
            kit,
            schema,
            models,
            limits,
            reasons,
            warnings,
        },
    ))
}

/// What the author of the file should know, for whoever reads the result.
fn of_the_file(agent: &AgentDefinition) -> Vec<String> {
    agent
        .warnings
        .iter()
        .filter(|problem| problem.severity() == Severity::Warning)
        .map(|problem| {
            let place = problem.whereabouts().map(|place| format!("{place}: "));
            let help = problem.advice().map(|help| format!(" ({help})"));
            let message = problem.message();
            format!(
                "{}{message}{}",
                place.unwrap_or_default(),
                help.unwrap_or_default()
            )
        })
        .collect()
}

fn depth(world: &World<'_>, grant: &Grant) -> Reason {
    let setting = &world.settings.task_max_recursion_depth;
    let why = Why::setting("task.maxRecursionDepth", &setting.origin);
    Reason::new("depth", grant.depth + 1, why)
}

/// What a task may say and nobody can do yet.
fn closed(request: &TaskRequest) -> Option<Problem> {
    let asked = [
        (request.isolated == Some(true), "isolated"),
        (request.apply.is_some(), "apply"),
        (request.merge.is_some(), "merge"),
    ];
    let (_, key) = asked.into_iter().find(|(asked, _)| *asked)?;
    Some(
        Problem::error(format!("`{key}`: isolated tasks are not built yet")).help(format!(
            "leave `{key}` out, and keep tasks of one batch to different files"
        )),
    )
}

fn hint(world: &World<'_>, hint: Option<EffortHint>) -> Option<Problem> {
    let setting = &world.settings.task_enable_effort;
    if hint.is_none() || setting.value {
        return None;
    }
    Some(
        Problem::error("`effort` of a task is closed: `task.enableEffort` is off")
            .help("turn the setting on, or leave `effort` out"),
    )
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
