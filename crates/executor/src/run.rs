//! A run: from a batch to its results.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::Arc,
};

use sortie_config::{Config, Problem, Scripts};
use sortie_discovery::Catalog;
use sortie_policy::{Grant, RootGrant};
use sortie_protocol::{
    Batch, Mode, RunEventKind, RunId, RunResult, SpawnRule, TaskResult, script::ScriptEntry,
};
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::{
    admission::Admission,
    bus::{Bus, Events},
    dispatch::{self, Caller},
    family::Family,
    gate::Gate,
    ground::Ground,
    launch::{Launch, LocalLauncher, Program},
    request::Draft,
    stop::Stopper,
    store::{Entry, Redactor, Store},
    unix,
};

/// What a door may say about a run beside the batch.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Where the run's files go; absent is a folder of its own under the user's.
    pub run_dir: Option<PathBuf>,
    /// The active model; wins over the batch.
    pub model: Option<String>,
    /// What the parent may do itself, beside what the batch says: the stricter counts.
    pub mode: Option<Mode>,
    /// How many processes may work at once; wins over `task.maxConcurrency`.
    pub max_concurrency: Option<NonZeroU32>,
    /// The folder of the batch, where its scripts are looked for first.
    pub beside: PathBuf,
}

/// A run that is going on. Dropping it ends every child, at once, and writes that down.
#[derive(Debug)]
pub struct Run {
    family: Arc<Family>,
    stop: Stopper,
    tasks: JoinHandle<Vec<TaskResult>>,
}

impl Run {
    /// Checks `batch` whole and starts it, within a tokio runtime. All problems come back at once, and then nothing
    /// was made.
    pub fn start(
        config: Config,
        batch: impl Into<Draft>,
        options: RunOptions,
    ) -> Result<Self, Vec<Problem>> {
        let program = match &config.settings.engine.value {
            Some(engine) => Ok(Program::engine(engine.clone())),
            None => Program::session(),
        };
        let run = RunId::generate();
        let tag = format!("SORTIE_SESSION={run}/");
        let launcher = program
            .map_err(|error| Problem::error(error.to_string()))
            .and_then(|program| {
                LocalLauncher::new(program, tag).map_err(|error| {
                    Problem::error(format!("children cannot be looked after: {error}"))
                })
            })
            .map_err(|problem| vec![problem])?;
        Self::start_on(Arc::new(launcher), run, config, batch, options)
    }

    /// The same, on a launcher of the caller's choice.
    pub fn start_on(
        launcher: Arc<dyn Launch>,
        run: RunId,
        config: Config,
        batch: impl Into<Draft>,
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
        let mut draft = batch.into();
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
        let slots = options
            .max_concurrency
            .unwrap_or(config.settings.task_max_concurrency.value);
        let caps = config
            .settings
            .providers_max_in_flight_requests
            .value
            .iter();
        let caps = caps
            .map(|(provider, cap)| (provider.clone(), cap.value))
            .collect();
        let ground = Ground::new(run, dir, config, scripts);
        let jobs = dispatch::preflight(
            &ground,
            &Caller {
                grant: &grant,
                id: None,
                agents: &agents,
            },
            &draft,
        )?;

        let redactor = Redactor::new(&ground.config.models.all_secrets());
        let store = Store::create(
            &ground.dir,
            batch,
            redactor,
            ground.config.settings.store_sync.value,
        );
        let started = Entry::Started {
            run: ground.run.clone(),
            cwd: ground.config.places.cwd.clone(),
        };
        let store = store
            .and_then(|store| store.journal(&started).map(|()| store))
            .map_err(|error| {
                vec![
                    Problem::error(crate::error::chain(&error))
                        .help("choose another folder with `--run-dir`"),
                ]
            })?;
        let family = Family {
            ground,
            store: Arc::new(store),
            launcher,
            gate: Gate::new(Admission::new(slots, caps)),
            bus: Bus::new(),
        };
        let family = Arc::new(family);
        let stop = Stopper::default();
        family.bus.send(
            None,
            RunEventKind::Started {
                run: family.ground.run.clone(),
            },
        );
        let span = tracing::info_span!("run", id = %family.ground.run);
        let tasks = dispatch::accept(&family, jobs)
            .run(stop.clone())
            .instrument(span);
        let tasks = tokio::spawn(tasks);
        Ok(Self {
            family,
            stop,
            tasks,
        })
    }

    /// Its id.
    pub fn id(&self) -> &RunId {
        &self.family.ground.run
    }

    /// Where its files are.
    pub fn dir(&self) -> &Path {
        self.family.store.dir()
    }

    /// What happens in it, for one listener. Who is not there when the run [finishes](Self::finish) gets nothing.
    pub fn events(&self) -> Events {
        self.family.bus.listen()
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        self.stop.clone()
    }

    /// Changes how many processes may work at once. It binds whoever waits, and spares whoever works.
    pub fn set_max_concurrency(&self, slots: NonZeroU32) {
        self.family.gate.resize(slots);
    }

    /// Waits for every task, and for everything to be on disk.
    pub async fn finish(mut self) -> RunResult {
        self.family.bus.mute();
        let tasks = dispatch::joined((&mut self.tasks).await).unwrap_or_default();
        if let Err(error) = self.family.store.journal(&Entry::Finished) {
            tracing::error!(%error, "could not write the journal");
        }
        self.family.store.flush();
        self.family.bus.send(None, RunEventKind::Finished);
        RunResult {
            run: Some(self.family.ground.run.clone()),
            run_dir: Some(self.family.store.dir().to_owned()),
            tasks,
            problems: Vec::new(),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop.kill();
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
) -> Result<BTreeMap<String, Vec<ScriptEntry>>, Problem> {
    let own = batch
        .model
        .as_deref()
        .and_then(|model| model.trim().strip_prefix("script/"));
    let own = own.map(|name| name.split(':').next().unwrap_or(name));
    let mut scripts = BTreeMap::new();
    for name in sortie_policy::scripts_named(&config.settings, agents, batch.model.as_deref()) {
        match Scripts::load(&name, beside, &config.places) {
            Ok(entries) => drop(scripts.insert(name, entries)),
            Err(problem) if own == Some(name.as_str()) => return Err(problem),
            Err(problem) => tracing::info!(script = name, %problem, "a script cannot be loaded"),
        }
    }
    Ok(scripts)
}
