//! A run: from a batch to its results.

use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::Arc,
};

use sortie_config::{Config, Problem};
use sortie_protocol::{Mode, RunEventKind, RunId, RunResult, TaskResult};
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::{
    admission::Admission,
    bus::{Bus, Events},
    dispatch,
    family::Family,
    gate::Gate,
    groundwork::Groundwork,
    launch::{Launch, LocalLauncher, Program},
    request::Draft,
    stop::Stopper,
    store::{Entry, Redactor, Store, StoreError},
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
        let max_concurrency = options.max_concurrency;
        let groundwork = Groundwork::lay(run, config, batch.into(), options)?;
        let jobs =
            dispatch::preflight(&groundwork.ground, &groundwork.caller(), &groundwork.draft)?;
        let Groundwork { ground, draft, .. } = groundwork;
        let settings = &ground.config.settings;
        let slots = max_concurrency.unwrap_or(settings.task_max_concurrency.value);
        let caps = settings.providers_max_in_flight_requests.value.iter();
        let caps = caps
            .map(|(provider, cap)| (provider.clone(), cap.value))
            .collect();
        let redactor = Redactor::new(&ground.config.models.all_secrets());
        let store = Store::create(
            &ground.dir,
            draft.batch(),
            redactor,
            settings.store_sync.value,
        );
        let started = Entry::Started {
            run: ground.run.clone(),
            cwd: ground.config.places.cwd.clone(),
        };
        let store = store
            .and_then(|store| store.journal(&started).map(|()| store))
            .map_err(|error| vec![not_stored(&error)])?;
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
                run_dir: family.store.dir().to_owned(),
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

/// Why a run's folder cannot be used.
pub(crate) fn not_stored(error: &StoreError) -> Problem {
    Problem::error(crate::error::chain(error)).help("choose another folder with `--run-dir`")
}
