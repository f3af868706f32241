//! One child, from its first word to its last.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use sortie_protocol::{
    Clock, Down, Ended, EventKind, Hello, PROTOCOL_VERSION, Record, Report, RunEventKind,
    TaskResult, Up,
};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
    time::{Instant, sleep_until},
};

use super::calls::Answer;
use crate::{
    admission::DEFAULT_COOLDOWN,
    clocks::Watch,
    error::chain,
    family::Family,
    job::Job,
    launch::{Child, Exit, Signal, Word},
    lifecycle::{Effect, Input, Lifecycle, State, StopReason},
    receipt::{self, Receipt},
    stop::Stopper,
    store::{StoreError, TaskFiles},
};

/// How many lines that are no messages a child may write.
const STRAY_LIMIT: usize = 10;

/// Looks after one child: the only `select!` over it, with nothing to decide.
pub(super) struct Supervisor<'a> {
    pub(super) family: Arc<Family>,
    pub(super) job: &'a Job,
    pub(super) stop: Stopper,
    pub(super) started: Instant,
    pub(super) files: TaskFiles,
    pub(super) orders: mpsc::UnboundedSender<Down>,
    pub(super) signals: mpsc::UnboundedSender<Signal>,
    pub(super) life: Lifecycle,
    pub(super) watch: Watch,
    pub(super) receipt: Receipt,
    pub(super) report: Option<Report>,
    /// What came in place of messages: the first, and how many.
    pub(super) stray: Option<String>,
    pub(super) strays: usize,
    pub(super) warnings: Vec<String>,
    pub(super) answers: JoinSet<Answer>,
    /// `admit` calls that wait.
    pub(super) admits: HashMap<u64, AbortHandle>,
    /// `spawn` calls that wait.
    pub(super) spawns: HashMap<u64, Stopper>,
    /// What came of them, in the order of the calls.
    pub(super) children: BTreeMap<u64, Vec<TaskResult>>,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(
        family: Arc<Family>,
        job: &'a Job,
        stop: Stopper,
        started: Instant,
        child: Child,
        files: TaskFiles,
    ) -> (Self, mpsc::Receiver<Word>) {
        let grace = Duration::from_millis(job.plan.clocks.kill_grace_ms);
        let supervisor = Self {
            family,
            job,
            stop,
            started,
            files,
            orders: child.orders,
            signals: child.signals,
            life: Lifecycle::new(grace),
            watch: Watch::new(job.plan.clocks),
            receipt: Receipt::new(&job.plan.candidates),
            report: None,
            stray: None,
            strays: 0,
            warnings: job.warnings.clone(),
            answers: JoinSet::new(),
            admits: HashMap::new(),
            spawns: HashMap::new(),
            children: BTreeMap::new(),
        };
        (supervisor, child.words)
    }

    /// Hears the child out, and returns what became of it.
    pub(super) async fn run(mut self, mut words: mpsc::Receiver<Word>) -> TaskResult {
        let (mut asked, mut killed) = (false, false);
        let stop = self.stop.clone();
        let exit = loop {
            let deadline = self.deadline();
            tokio::select! {
                biased;
                () = stop.killed(), if !killed => {
                    killed = true;
                    self.act(Input::Kill(StopReason::Cancelled));
                }
                () = stop.asked(), if !asked => {
                    asked = true;
                    self.act(Input::Stop(StopReason::Cancelled));
                }
                word = words.recv() => match word {
                    Some(Word::Gone(exit)) => break exit,
                    Some(word) => self.hear(word),
                    None => break Exit::Signal(nix::sys::signal::Signal::SIGKILL as i32),
                },
                Some(answer) = self.answers.join_next(), if !self.answers.is_empty() => {
                    if let Ok(answer) = answer {
                        self.answer(answer);
                    }
                }
                () = sleep_until(deadline.unwrap_or(self.started)), if deadline.is_some() => self.on_time(),
            }
        };
        self.act(Input::Gone);
        self.end(exit).await
    }

    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// The clock that can stop it now.
    fn clock(&self) -> Option<(Duration, Clock)> {
        matches!(self.life.state(), State::Starting | State::Running)
            .then(|| self.watch.next())
            .flatten()
    }

    fn deadline(&self) -> Option<Instant> {
        let clock = self.clock().map(|(at, _)| at);
        [self.life.deadline(), clock]
            .into_iter()
            .flatten()
            .min()
            .map(|at| self.started + at)
    }

    fn on_time(&mut self) {
        let now = self.now();
        if self.life.deadline().is_some_and(|at| at <= now) {
            self.act(Input::Deadline);
        } else if let Some((at, clock)) = self.clock()
            && at <= now
        {
            self.act(Input::Stop(StopReason::Clock(clock)));
        }
    }

    fn act(&mut self, input: Input) {
        match self.life.handle(self.now(), input) {
            Effect::Ask => self.tell(Down::Cancel {
                reason: format!("{:?}", self.life.stopped()),
            }),
            Effect::Terminate => drop(self.signals.send(Signal::Terminate)),
            Effect::Kill => drop(self.signals.send(Signal::Kill)),
            Effect::None => {}
        }
    }

    /// A child that no longer listens says so as its last word.
    pub(super) fn tell(&self, order: Down) {
        let _ = self.orders.send(order);
    }

    fn hear(&mut self, word: Word) {
        match word {
            Word::Message(message) => self.message(*message),
            Word::Stray(text) => self.astray(text),
            Word::Log(piece) => self.stored(|files| files.log(&piece)),
            Word::Gone(_) => {}
        }
    }

    fn message(&mut self, message: Up) {
        match message {
            Up::Hello(Hello { version, .. }) if version != PROTOCOL_VERSION => {
                self.stray.get_or_insert(format!(
                    "it speaks wire version {version}, not {PROTOCOL_VERSION}"
                ));
                self.act(Input::Kill(StopReason::Wire));
            }
            Up::Hello(_) => self.act(Input::Hello),
            Up::Record(record) => self.record(&record),
            Up::Ended(ended) => self.ended(&ended),
            Up::Artifact { name, offset, text } => {
                let mut kept = true;
                self.stored(|files| {
                    kept = files.artifact(&name, offset, &text)?;
                    Ok(())
                });
                if !kept {
                    self.warnings.push(format!(
                        "a piece of the output `{name}` came out of order and was not kept"
                    ));
                }
            }
            Up::Event(event) => self.event(event.kind),
            Up::Call { id, call } => self.call(id, call),
            Up::Drop { id } => self.drop_call(id),
            Up::Finished(finished) => {
                if self.report.is_none() {
                    self.report = Some(finished.report);
                }
                self.watch.closed();
                self.act(Input::Report);
            }
            Up::Delivered { .. } => {}
            Up::Unknown => tracing::debug!(task = %self.job.id(), "a message of an unknown kind"),
        }
    }

    fn astray(&mut self, text: String) {
        self.stored(|files| files.log(format!("{text}\n").as_bytes()));
        self.stray.get_or_insert(text);
        self.strays += 1;
        if self.strays == STRAY_LIMIT {
            self.act(Input::Kill(StopReason::Wire));
        }
    }

    fn record(&mut self, record: &Record) {
        let mut written = false;
        self.stored(|files| {
            files.record(record)?;
            written = true;
            Ok(())
        });
        if written {
            self.tell(Down::Taken { n: record.n });
        }
    }

    /// Stores something; a task whose work cannot be stored does not go on.
    fn stored(&mut self, write: impl FnOnce(&mut TaskFiles) -> Result<(), StoreError>) {
        if let Err(error) = write(&mut self.files) {
            tracing::error!(task = %self.job.id(), %error, "could not store");
            self.warnings.push(chain(&error));
            self.act(Input::Kill(StopReason::Store));
        }
    }

    fn ended(&mut self, ended: &Ended) {
        self.watch.closed();
        self.receipt.ended(ended);
        self.family
            .gate
            .ended(self.job.id(), receipt::cooldown(ended, DEFAULT_COOLDOWN));
        let usage = self.receipt.usage();
        let answered = RunEventKind::Answered {
            tokens: usage.total(),
            cost: usage.cost,
        };
        self.family.bus.send(Some(self.job.id()), answered);
    }

    fn event(&mut self, kind: EventKind) {
        let now = self.now();
        let clean = |text: String| self.family.store.redactor().clean(&text).into_owned();
        let kind = match kind {
            EventKind::Text { text } => EventKind::Text { text: clean(text) },
            EventKind::Thought { text } => EventKind::Thought { text: clean(text) },
            EventKind::ToolStarted { tool, detail } => EventKind::ToolStarted {
                tool,
                detail: clean(detail),
            },
            EventKind::RetryWait { ms, why } => EventKind::RetryWait {
                ms,
                why: clean(why),
            },
            EventKind::Notice { text } => EventKind::Notice { text: clean(text) },
            other => other,
        };
        if matches!(
            kind,
            EventKind::Text { .. } | EventKind::Thought { .. } | EventKind::Streaming
        ) {
            self.watch.heard(now);
        }
        self.family.bus.progress(self.job.id(), kind);
    }
}
