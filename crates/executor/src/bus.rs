//! What happens in a run, for whoever watches it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use sortie_protocol::{EventKind, RunEvent, RunEventKind, TaskId};
use tokio::{
    sync::mpsc::{self, error::TryRecvError},
    time::Instant,
};

/// How many events may wait for their listener before a child's progress is left out. What the run itself did never
/// is.
const BACKLOG: usize = 4_096;

/// What happens in a run, as it happens.
///
/// A listener that falls behind misses progress of the children, and nothing else.
#[derive(Debug)]
pub struct Events {
    events: mpsc::UnboundedReceiver<RunEvent>,
    waiting: Arc<AtomicUsize>,
}

impl Events {
    /// Waits for the next event. `None`: there will be no more.
    ///
    /// Cancel safe.
    pub async fn recv(&mut self) -> Option<RunEvent> {
        let event = self.events.recv().await?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(event)
    }

    /// The next event, if it is there.
    pub fn try_recv(&mut self) -> Result<RunEvent, TryRecvError> {
        let event = self.events.try_recv()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Ok(event)
    }
}

/// The events of one run. Nobody has to listen.
#[derive(Debug)]
pub(crate) struct Bus {
    since: Instant,
    waiting: Arc<AtomicUsize>,
    /// Numbering and sending are one step, so that events arrive in the order of their numbers.
    line: Mutex<Line>,
}

#[derive(Debug)]
struct Line {
    seq: u64,
    sender: mpsc::UnboundedSender<RunEvent>,
    listener: Option<Events>,
}

impl Bus {
    pub(crate) fn new() -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let listener = Events {
            events,
            waiting: Arc::clone(&waiting),
        };
        Self {
            since: Instant::now(),
            waiting,
            line: Mutex::new(Line {
                seq: 0,
                sender,
                listener: Some(listener),
            }),
        }
    }

    /// The listener's end. Whoever comes second gets one on which nothing arrives.
    pub(crate) fn listen(&self) -> Events {
        self.line().listener.take().unwrap_or_else(|| Events {
            events: mpsc::unbounded_channel().1,
            waiting: Arc::default(),
        })
    }

    /// Nobody will listen: events are dropped from now on, instead of gathering.
    pub(crate) fn mute(&self) {
        drop(self.line().listener.take());
    }

    /// Says that something happened.
    pub(crate) fn send(&self, task: Option<&TaskId>, kind: RunEventKind) {
        let mut line = self.line();
        let progress = matches!(kind, RunEventKind::Progress { .. });
        if line.sender.is_closed() || (progress && self.waiting.load(Ordering::Relaxed) >= BACKLOG)
        {
            return;
        }
        line.seq += 1;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // A listener that left misses nothing that it still wanted.
        let _ = line.sender.send(RunEvent {
            seq: line.seq,
            at_ms: u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            task: task.cloned(),
            kind,
        });
    }

    /// Passes a child's progress on.
    pub(crate) fn progress(&self, task: &TaskId, progress: EventKind) {
        self.send(Some(task), RunEventKind::Progress { progress });
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_falls_behind_misses_progress_and_nothing_else() {
        let bus = Bus::new();
        let task = TaskId::from("A".to_owned());
        for _ in 0..10_000 {
            bus.progress(&task, EventKind::Streaming);
        }
        bus.send(None, RunEventKind::Finished);
        let mut events = bus.listen();
        let mut heard = Vec::new();
        while let Ok(event) = events.try_recv() {
            heard.push(event);
        }
        assert_eq!(heard.len(), BACKLOG + 1);
        assert_eq!(heard[BACKLOG].kind, RunEventKind::Finished);
        // Nothing that was left out has a number.
        assert!(heard.iter().zip(1..).all(|(event, n)| event.seq == n));
        // There is room again.
        bus.progress(&task, EventKind::Streaming);
        assert_eq!(events.recv().await.unwrap().seq, BACKLOG as u64 + 2);
    }

    #[test]
    fn without_a_listener_nothing_is_kept() {
        let bus = Bus::new();
        bus.mute();
        bus.send(None, RunEventKind::Finished);
        assert_eq!(bus.waiting.load(Ordering::Relaxed), 0);
        assert_eq!(bus.listen().try_recv(), Err(TryRecvError::Disconnected));
    }
}
