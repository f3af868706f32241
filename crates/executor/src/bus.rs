//! What happens in a run, for whoever watches it.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use sortie_protocol::{EventKind, RunEvent, RunEventKind, TaskId};
use tokio::{sync::mpsc, time::Instant};

/// The events of one run. Nobody has to listen.
#[derive(Debug)]
pub(crate) struct Bus {
    seq: AtomicU64,
    since: Instant,
    sender: mpsc::UnboundedSender<RunEvent>,
    receiver: Mutex<Option<mpsc::UnboundedReceiver<RunEvent>>>,
}

impl Bus {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            seq: AtomicU64::new(0),
            since: Instant::now(),
            sender,
            receiver: Mutex::new(Some(receiver)),
        }
    }

    /// The listener's end. Whoever comes second gets one on which nothing arrives.
    pub(crate) fn listen(&self) -> mpsc::UnboundedReceiver<RunEvent> {
        let mut receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        receiver
            .take()
            .unwrap_or_else(|| mpsc::unbounded_channel().1)
    }

    /// Nobody will listen: events are dropped from now on, instead of gathering.
    pub(crate) fn mute(&self) {
        drop(
            self.receiver
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }

    /// Says that something happened.
    pub(crate) fn send(&self, task: Option<&TaskId>, kind: RunEventKind) {
        if self.sender.is_closed() {
            return;
        }
        let at_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let seq = self.seq.fetch_add(1, Ordering::Relaxed) + 1;
        // A listener that left misses nothing that it still wanted.
        let _ = self.sender.send(RunEvent {
            seq,
            at_ms,
            task: task.cloned(),
            kind,
        });
    }

    /// Passes a child's progress on.
    pub(crate) fn progress(&self, task: &TaskId, progress: EventKind) {
        self.send(Some(task), RunEventKind::Progress { progress });
    }
}
