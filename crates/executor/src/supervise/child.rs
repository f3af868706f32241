//! One child, from its first word to its last.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use sortie_protocol::{
    Clock, Down, EventKind, Hello, PROTOCOL_VERSION, Record, Report, TaskResult, Up,
};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{calls::Spawned, progress::Progress, request::Request};
use crate::{
    clocks::Watch,
    dispatch::joined,
    error::chain,
    family::Family,
    job::Job,
    launch::{Child, Exit, Signal, Word},
    lifecycle::{Effect, Input, Lifecycle, State, StopReason},
    receipt::Receipt,
    stop::Stopper,
    store::{StoreError, TaskFiles},
};

/// How many lines that are no messages a child may write.
const STRAY_LIMIT: usize = 10;
/// How many different warnings are kept. A child can cause as many as it likes.
const WARNING_LIMIT: usize = 20;

/// Looks after one child: the only `select!` over it, with nothing to decide.
pub(super) struct Supervisor<'a> {
    pub(super) family: Arc<Family>,
    pub(super) job: &'a Job,
    pub(super) stop: Stopper,
    /// Stops every task that it dispatched.
    pub(super) below: Stopper,
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
    /// How it broke the wire, where it did.
    pub(super) broke: Option<String>,
    pub(super) warnings: Vec<String>,
    pub(super) progress: Progress,
    pub(super) request: Request,
    pub(super) answers: JoinSet<Spawned>,
    /// `read` calls that are being answered.
    pub(super) reads: JoinSet<Down>,
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
        let grace = Duration::from_millis(job.policy.clocks().kill_grace_ms);
        let supervisor = Self {
            family,
            job,
            below: stop.branch(),
            stop,
            started,
            files,
            orders: child.orders,
            signals: child.signals,
            life: Lifecycle::new(grace),
            watch: Watch::new(*job.policy.clocks()),
            receipt: Receipt::new(job.policy.candidates()),
            report: None,
            stray: None,
            strays: 0,
            broke: None,
            warnings: job.policy.warnings().to_vec(),
            progress: Progress::default(),
            request: Request::None,
            answers: JoinSet::new(),
            reads: JoinSet::new(),
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
                // Before the words: a child that never stops talking must not outlast its clocks.
                () = sleep_until(deadline.unwrap_or(self.started)), if deadline.is_some() => self.on_time(),
                word = words.recv() => match word {
                    Some(Word::Gone(exit)) => break exit,
                    Some(word) => self.hear(word),
                    None => break Exit::Signal(nix::sys::signal::Signal::SIGKILL as i32),
                },
                (call, candidate, verdict) = self.request.verdict() => {
                    self.admitted(call, candidate, verdict);
                }
                Some(done) = self.answers.join_next(), if !self.answers.is_empty() => {
                    if let Some(spawned) = joined(done) {
                        self.spawned(spawned);
                    }
                }
                Some(done) = self.reads.join_next(), if !self.reads.is_empty() => {
                    if let Some(reply) = joined(done) {
                        self.tell(reply);
                    }
                }
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
                reason: self
                    .life
                    .stopped()
                    .map_or("cancelled", StopReason::as_str)
                    .into(),
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
            Word::Silent => self.break_off("it closed its end and lived on".into()),
            Word::Unsendable(why) => {
                self.broke.get_or_insert(why);
                self.act(Input::Kill(StopReason::Unsendable));
            }
            Word::Gone(_) => {}
        }
    }

    fn message(&mut self, message: Up) {
        if !matches!(message, Up::Hello(_) | Up::Unknown) {
            self.watch.begun();
        }
        match message {
            Up::Hello(Hello { version, .. }) if version != PROTOCOL_VERSION => {
                self.break_off(format!(
                    "it speaks version {version}, not {PROTOCOL_VERSION}"
                ));
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
                    self.warn(format!(
                        "a piece of the output `{name}` came out of order and was not kept"
                    ));
                }
            }
            Up::Event(event) => self.event(event.kind),
            Up::Call { id, call } => self.call(id, call),
            Up::Drop { id } => self.drop_call(id),
            Up::Finished(finished) => {
                // Whoever does not speak the wire, or could not be stored, has nothing to report.
                let is_void = matches!(
                    self.life.stopped(),
                    Some(StopReason::Wire | StopReason::Store)
                );
                if self.report.is_none() && !is_void {
                    self.report = Some(finished.report);
                }
                self.drop_request();
                self.act(Input::Report);
            }
            Up::Delivered { .. } => {}
            Up::Unknown => tracing::debug!(task = %self.job.id, "a message of an unknown kind"),
        }
    }

    fn astray(&mut self, text: String) {
        self.stored(|files| files.note(&text));
        self.stray.get_or_insert(text);
        self.strays += 1;
        if self.strays == STRAY_LIMIT {
            self.break_off(format!("{STRAY_LIMIT} lines were no messages"));
        }
    }

    /// Ends a child that nobody can talk to.
    fn break_off(&mut self, why: String) {
        self.broke.get_or_insert(why);
        self.act(Input::Kill(StopReason::Wire));
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
            tracing::error!(task = %self.job.id, %error, "could not store");
            self.warn(chain(&error));
            self.act(Input::Kill(StopReason::Store));
        }
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < WARNING_LIMIT && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn event(&mut self, kind: EventKind) {
        if matches!(
            kind,
            EventKind::Text { .. } | EventKind::Thought { .. } | EventKind::Streaming
        ) {
            self.watch.heard(self.now());
        }
        let shown = self.progress.push(self.family.store.redactor(), kind);
        self.show(shown);
    }

    /// Shows what was held back of a text that is over.
    pub(super) fn text_is_over(&mut self) {
        let rest = self.progress.finish(self.family.store.redactor());
        self.show(rest);
    }

    fn show(&self, kinds: Vec<EventKind>) {
        for kind in kinds {
            self.family.bus.progress(&self.job.id, kind);
        }
    }
}
