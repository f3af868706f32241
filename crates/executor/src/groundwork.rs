//! What a run begins with, before anything of it exists: the batch as it will run, the agents, and the root's grant.

use std::{collections::BTreeMap, path::Path};

use sortie_config::{Config, Problem, Scripts};
use sortie_discovery::Catalog;
use sortie_policy::{Grant, RootGrant};
use sortie_protocol::{Batch, RunId, SpawnRule, script::Script};

use crate::{dispatch::Caller, ground::Ground, request::Draft, run::RunOptions, unix};

/// All that the tasks of a run's own batch are judged by.
#[derive(Debug)]
pub(crate) struct Groundwork {
    pub(crate) ground: Ground,
    /// The batch, with what the door said laid over it.
    pub(crate) draft: Draft,
    grant: Grant,
    agents: Catalog,
}

impl Groundwork {
    /// Looks for everything, and makes nothing.
    pub(crate) fn lay(
        run: RunId,
        config: Config,
        mut draft: Draft,
        options: RunOptions,
    ) -> Result<Self, Vec<Problem>> {
        if let Some(session) = unix::session_above() {
            return Err(vec![
                Problem::error(format!(
                    "this command runs inside a session of sortie (process {session})"
                ))
                .help("use the session's `task` tool to dispatch agents"),
            ]);
        }
        let model = draft.run_model(options.model);
        let batch = draft.batch_mut();
        batch.model = model.as_ref().map(|model| model.selector().to_owned());
        // A flag can take away what the batch leaves, and give nothing back.
        batch.mode = batch.mode.stricter(options.mode.unwrap_or_default());
        let batch = draft.batch();
        let agents = Catalog::discover(&config.places);
        let scripts = scripts(&config, &agents, batch, &options.beside)
            .map_err(|problem| [draft.problems(), &[problem]].concat())?;
        let grant = Grant::root(RootGrant {
            mode: batch.mode,
            model,
            spawns: SpawnRule::Any,
            blocked: config
                .environment
                .get("PI_BLOCKED_AGENT")
                .map(str::to_owned),
            schema: batch.output_schema.clone(),
            schema_mode: batch.schema_mode,
        });
        let dir = options
            .run_dir
            .unwrap_or_else(|| config.places.runs_dir().join(run.as_str()));
        let dir = std::path::absolute(&dir)
            .map_err(|error| vec![Problem::error(error.to_string()).in_file(dir)])?;
        Ok(Self {
            ground: Ground::new(run, dir, config, scripts),
            draft,
            grant,
            agents,
        })
    }

    /// The root, which dispatches the batch.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller {
            grant: &self.grant,
            id: None,
            agents: &self.agents,
        }
    }
}

/// Loads the scripted models that the run's owner names: in the batch, on the command line, in a role, or in an agent.
///
/// One that cannot be loaded is a problem only where it is the run's own model. Elsewhere it may never be asked for, and
/// policy refuses whoever does.
fn scripts(
    config: &Config,
    agents: &Catalog,
    batch: &Batch,
    beside: &Path,
) -> Result<BTreeMap<String, Script>, Problem> {
    let own = batch
        .model
        .as_deref()
        .and_then(|model| model.trim().strip_prefix("script/"));
    let own = own.map(|name| name.split(':').next().unwrap_or(name));
    let mut scripts = BTreeMap::new();
    for name in sortie_policy::scripts_named(&config.settings, agents, batch.model.as_deref()) {
        match Scripts::load(&name, beside, &config.places) {
            Ok(entries) => drop(scripts.insert(name, entries.into())),
            Err(problem) if own == Some(name.as_str()) => return Err(problem),
            Err(problem) => tracing::info!(script = name, %problem, "a script cannot be loaded"),
        }
    }
    Ok(scripts)
}
