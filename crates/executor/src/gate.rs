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

/// The one admission table of a run.
#[derive(Debug)]
pub(crate) struct Gate {
    inner: Mutex<Inner>,
    since: Instant,
}

#[derive(Debug)]
struct Inner {
    table: Admission,
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

    /// Waits for a slot. Whoever stops waiting must [`leave`](Self::leave).
    pub(crate) async fn enter(&self, task: &TaskId) {
        self.ask(task, Input::Enter(task.clone())).await;
    }

    /// Waits for a slot, where it was given back, and for the provider.
    pub(crate) async fn admit(&self, task: &TaskId, provider: &str) -> Verdict {
        self.ask(task, Input::Admit(task.clone(), provider.to_owned()))
            .await
    }

    /// Gives the slot back until the next request.
    pub(crate) fn suspend(&self, task: &TaskId) {
        self.tell(Input::Suspend(task.clone()));
    }

    /// The request is over; its provider is left alone for `cooldown`.
    pub(crate) fn ended(&self, task: &TaskId, cooldown: Option<Duration>) {
        self.tell(Input::Ended(task.clone(), cooldown));
    }

    /// Gives back whatever the task has or waits for.
    pub(crate) fn leave(&self, task: &TaskId) {
        self.lock().waiting.remove(task);
        self.tell(Input::Leave(task.clone()));
    }

    /// From now on there are this many slots. Nobody loses one.
    pub(crate) fn resize(&self, slots: NonZeroU32) {
        self.tell(Input::Slots(slots));
    }

    async fn ask(&self, task: &TaskId, input: Input) -> Verdict {
        let (sender, answer) = oneshot::channel();
        self.lock().waiting.insert(task.clone(), sender);
        self.tell(input);
        // The sender is dropped when the task leaves, and then nobody sends the request.
        answer.await.unwrap_or(Verdict::Go)
    }

    fn tell(&self, input: Input) {
        let mut inner = self.lock();
        for effect in inner.table.handle(self.since.elapsed(), input) {
            let (task, verdict) = match effect {
                Effect::Start(task) | Effect::Go(task) => (task, Verdict::Go),
                Effect::Cooling(task, rest) => (task, Verdict::Cooling(rest)),
            };
            if let Some(waiter) = inner.waiting.remove(&task) {
                // Whoever stopped waiting leaves the table by itself.
                let _ = waiter.send(verdict);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
