//! Which scripts a run may come to need.

use std::collections::BTreeSet;

use sortie_config::Settings;
use sortie_discovery::Catalog;
use sortie_protocol::AgentSource;

use crate::{lookup::SCRIPT, roles::pieces};

/// The names of the scripts that `model` (the run's), the settings, and agents of the user may lead to. Whoever
/// dispatches reads them beforehand, because [`resolve`](crate::resolve) opens nothing.
pub fn scripts_named(
    settings: &Settings,
    agents: &Catalog,
    model: Option<&str>,
) -> BTreeSet<String> {
    let run: Vec<String> = model.map(str::to_owned).into_iter().collect();
    let roles = settings.model_roles.values().map(|setting| &setting.value);
    let overrides = settings
        .task_agent_model_overrides
        .values()
        .map(|setting| &setting.value);
    let files = agents
        .agents()
        .iter()
        .filter(|agent| agent.source != AgentSource::Project)
        .filter_map(|agent| agent.model.as_ref())
        .flat_map(|field| field.value.iter().map(|selector| selector.value.clone()));
    roles
        .chain(overrides)
        .chain([&run])
        .flat_map(|list| pieces(list))
        .chain(files)
        .filter_map(|piece| Some(name(&piece)?.to_owned()))
        .collect()
}

/// The name of the script that a selector names.
pub(crate) fn name(selector: &str) -> Option<&str> {
    crate::family::split(selector).0.strip_prefix(SCRIPT)
}
