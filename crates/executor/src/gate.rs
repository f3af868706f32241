//! The door to [`Admission`]: the same table, for callers that wait.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sortie_protocol::TaskId;
use tokio::{sync::oneshot, time::Instant};

use crate::admission::{Admission, Effect, Input};

/// Whether a request may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may.
    Go,
    /// Its provider is cooling down, for this much longer.
    Cooling(Duration),
}

/// Where an answer of the table arrives. None does once its task has left, or has withdrawn.
pub(crate) type Answer = oneshot::Receiver<Verdict>;

/// The one admission table of a run.
#[derive(Debug)]
pub(crate) struct Gate {
    inner: Mutex<Inner>,
    since: Instant,
}

#[derive(Debug)]
struct Inner {
    table: Admission,
    /// A task waits for one thing at a time.
    waiting: HashMap<TaskId, oneshot::Sender<Verdict>>,
}

impl Gate {
    pub(crate) fn new(table: Admission) -> Self {
        Self {
            inner: Mutex::new(Inner {
                table,
                waiting: HashMap::new(),
            }),
            since: Instant::now(),
        }
    }

    /// Asks for a slot. Whoever stops waiting must [`leave`](Self::leave).
    pub(crate) fn enter(&self, task: &TaskId) -> Answer {
        self.ask(task, Input::Enter(task.clone()))
    }

    /// Asks for a slot, where it was given back, and for the provider. Whoever stops waiting must
    /// [`withdraw`](Self::withdraw) or [`leave`](Self::leave).
    pub(crate) fn admit(&self, task: &TaskId, provider: &str) -> Answer {
        self.ask(task, Input::Admit(task.clone(), provider.to_owned()))
    }

    /// The request is no longer wanted, whether it was let out or still waits.
    pub(crate) fn withdraw(&self, task: &TaskId) {
        self.forget(task, Input::Withdraw(task.clone()));
    }

    /// Gives the slot back until the next request.
    pub(crate) fn suspend(&self, task: &TaskId) {
        self.lock().tell(self.now(), Input::Suspend(task.clone()));
    }

    /// The request is over; its provider is left alone for `cooldown`.
    pub(crate) fn ended(&self, task: &TaskId, cooldown: Option<Duration>) {
        let input = Input::Ended(task.clone(), cooldown);
        self.lock().tell(self.now(), input);
    }

    /// Gives back whatever the task has or waits for.
    pub(crate) fn leave(&self, task: &TaskId) {
        self.forget(task, Input::Leave(task.clone()));
    }

    /// From now on there are this many slots. Nobody loses one.
    pub(crate) fn resize(&self, slots: NonZeroU32) {
        self.lock().tell(self.now(), Input::Slots(slots));
    }

    fn ask(&self, task: &TaskId, input: Input) -> Answer {
        let (sender, answer) = oneshot::channel();
        let mut inner = self.lock();
        inner.waiting.insert(task.clone(), sender);
        inner.tell(self.now(), input);
        answer
    }

    fn forget(&self, task: &TaskId, input: Input) {
        let mut inner = self.lock();
        inner.waiting.remove(task);
        inner.tell(self.now(), input);
    }

    fn now(&self) -> Duration {
        self.since.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn tell(&mut self, now: Duration, input: Input) {
        for effect in self.table.handle(now, input) {
            let (task, verdict) = match effect {
                Effect::Start(task) | Effect::Go(task) => (task, Verdict::Go),
                Effect::Cooling(task, rest) => (task, Verdict::Cooling(rest)),
            };
            if let Some(waiter) = self.waiting.remove(&task) {
                // Whoever stopped waiting says so by itself.
                let _ = waiter.send(verdict);
            }
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
