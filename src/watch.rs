//! One run, from its start to its exit: events are shown, signals are heard, and the result is printed.

use std::time::Instant;

use sortie_config::{Config, Problem};
use sortie_executor::{Draft, Recording, RecordingFile, Run, RunOptions};
use sortie_protocol::{RunEvent, RunResult};

use crate::{
    answer,
    cli::Show,
    exit::Exit,
    report::{
        Look,
        events::Lines,
        print::{self, Shown},
        progress::Progress,
    },
    signals::{Effect, Interruption, Signals},
};

/// A run that can be started.
#[derive(Debug)]
pub(crate) struct Order {
    /// The settings.
    pub(crate) config: Config,
    /// The tasks.
    pub(crate) batch: Draft,
    /// What the command line says.
    pub(crate) options: RunOptions,
    /// Where the run is recorded to.
    pub(crate) record: Option<RecordingFile>,
}

/// Makes this process the root of a run, learns what to run from `order`, runs it, and shows it. `present` makes the
/// text of its result from that and from how many milliseconds it took.
pub(crate) fn enter(
    show: Show,
    order: impl FnOnce() -> Result<Order, Vec<Problem>>,
    present: impl FnOnce(&RunResult, u64) -> Shown,
) -> Exit {
    as_root()
        .map_err(|problem| vec![problem])
        .and_then(|()| order())
        .and_then(|order| carry_out(order, show, present))
        .unwrap_or_else(|problems| answer::nothing_ran(&problems, show))
}

/// Called first: before this process holds a key, and before any thread.
fn as_root() -> Result<(), Problem> {
    sortie_executor::become_root()
        .map_err(|error| Problem::error(format!("this process cannot hold a run: {error}")))
}

/// Runs `order` and shows it. The problems say why nothing was started.
fn carry_out(
    order: Order,
    show: Show,
    present: impl FnOnce(&RunResult, u64) -> Shown,
) -> Result<Exit, Vec<Problem>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| no_runtime(&error))?;
    let exit = runtime.block_on(watch(order, show, present));
    // A thread that still writes to a stopped terminal is left behind.
    runtime.shutdown_background();
    exit
}

fn no_runtime(error: &std::io::Error) -> Vec<Problem> {
    vec![Problem::error(format!("no event loop: {error}"))]
}

async fn watch(
    order: Order,
    show: Show,
    present: impl FnOnce(&RunResult, u64) -> Shown,
) -> Result<Exit, Vec<Problem>> {
    let started = Instant::now();
    let run = Run::start(order.config, order.batch, order.options)?;
    // Not before: until there is a run to stop, a signal ends the program as it ends any other.
    let mut signals = Signals::listen().map_err(|error| no_runtime(&error))?;
    let mut interruption = Interruption::default();
    let mut events = run.events();
    let stopper = run.stopper();
    let audience = Audience::start(show);
    let mut recording = Recording::default();
    let mut finish = std::pin::pin!(run.finish());
    let result = loop {
        tokio::select! {
            heard = signals.next() => match interruption.hear(heard) {
                Some(Effect::Ask) => {
                    audience.note("stopping: the tasks are asked to report; once more ends them at once");
                    stopper.ask();
                }
                Some(Effect::Kill) => {
                    audience.note("ending every task");
                    stopper.kill();
                }
                None => {}
            },
            Some(event) = events.recv() => {
                recording.hear(&event);
                audience.apply(&event);
            }
            result = &mut finish => break result,
        }
    };
    while let Ok(event) = events.try_recv() {
        recording.hear(&event);
        audience.apply(&event);
    }
    let unrecorded = order.record.and_then(|file| {
        let dir = result.run_dir.as_deref()?;
        file.write(&recording, dir).err()
    });
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    // The run is over and stored. A reader that does not read must not keep a signal from ending the program.
    let mut told = std::pin::pin!(tell(audience, &result, || present(&result, elapsed_ms)));
    let written = loop {
        tokio::select! {
            written = &mut told => break written,
            heard = signals.next() => if interruption.hear(heard).is_some() {
                break Exit::Done;
            }
        }
    };
    let recorded = match unrecorded {
        Some(problem) => answer::not_found(problem),
        None => Exit::Done,
    };
    let exits = [Exit::of_run(&result), written, recorded];
    let worst = exits.into_iter().find(|exit| *exit != Exit::Done);
    Ok(interruption.exit().or(worst).unwrap_or(Exit::Done))
}

/// Whoever watches the run.
#[derive(Debug)]
enum Audience {
    /// A person, on stderr; the result follows on stdout, as text or as JSON.
    Person(Progress, Show),
    /// A program, on stdout.
    Program(Lines),
}

impl Audience {
    fn start(show: Show) -> Self {
        match show {
            Show::Events => Self::Program(Lines::start()),
            Show::Text | Show::Json => Self::Person(Progress::start(Look::stderr()), show),
        }
    }

    fn apply(&self, event: &RunEvent) {
        match self {
            Self::Person(progress, _) => progress.apply(event),
            Self::Program(lines) => lines.apply(event),
        }
    }

    fn note(&self, text: &str) {
        if let Self::Person(progress, _) = self {
            progress.note(text);
        }
    }
}

/// Ends the progress and prints the result.
async fn tell(audience: Audience, result: &RunResult, present: impl FnOnce() -> Shown) -> Exit {
    let done = match audience {
        Audience::Program(lines) => lines.finish(),
        Audience::Person(progress, show) => {
            progress.finish();
            let shown = if show == Show::Json {
                match answer::json(result) {
                    Ok(out) => Shown {
                        out,
                        ..Shown::default()
                    },
                    Err(error) => return answer::written(Err(error.into())),
                }
            } else {
                present()
            };
            print::in_background(shown)
        }
    };
    match done.await {
        Ok(written) => answer::written(written),
        Err(_) => answer::written(Err(std::io::Error::other("the writer stopped"))),
    }
}
