//! What goes up, in order.
//!
//! Events are for people: neighbours that stream are joined, at most one of them goes out in [`BEAT`], and none is
//! kept while the root does not read. Everything else is kept however long it takes.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sortie_protocol::{Event, EventKind, Up, codec::encode};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    select,
    sync::Notify,
    time::{Instant, sleep_until},
};

/// The time between two pieces of a streaming answer.
const BEAT: Duration = Duration::from_millis(100);
/// Messages that may wait before events are dropped.
const CROWDED: usize = 256;
/// Bytes of one joined event; what streams beyond it while nobody reads is dropped.
const JOINED_LIMIT: usize = 64 << 10;
/// Bytes that are put together for one write.
const BATCH: usize = 64 << 10;

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Up>,
    closed: bool,
}

impl Outbox {
    /// Adds a message. After [`Outbox::close`] nothing is taken any more.
    pub(super) fn push(&self, message: Up) {
        {
            let mut queue = self.lock();
            if queue.closed {
                return;
            }
            match message {
                Up::Event(event) => queue.push_event(event.kind),
                message => queue.waiting.push_back(message),
            }
        }
        self.changed.notify_one();
    }

    /// Adds the last message.
    pub(super) fn close(&self, last: Up) {
        {
            let mut queue = self.lock();
            if !queue.closed {
                queue.waiting.push_back(last);
                queue.closed = true;
            }
        }
        self.changed.notify_one();
    }

    /// Writes to `output` what is added, until the last message is out.
    pub(super) async fn drain<W: AsyncWrite + Unpin>(
        self: Arc<Self>,
        mut output: W,
    ) -> io::Result<()> {
        let mut buffer = Vec::new();
        let mut next_beat = Instant::now();
        loop {
            buffer.clear();
            let taken = self.lock().take(&mut buffer, Instant::now() >= next_beat);
            match taken {
                Taken::Some { streamed } => {
                    output.write_all(&buffer).await?;
                    output.flush().await?;
                    if streamed {
                        next_beat = Instant::now() + BEAT;
                    }
                    // A large record must not cost its size for the rest of the session.
                    buffer.shrink_to(BATCH);
                }
                Taken::NotYet => select! {
                    () = self.changed.notified() => {}
                    () = sleep_until(next_beat) => {}
                },
                Taken::Nothing => self.changed.notified().await,
                Taken::Done => return output.shutdown().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Taken {
    /// Lines are in the buffer; some of them stream.
    Some {
        streamed: bool,
    },
    /// All there is streams, and the last of it was a moment ago.
    NotYet,
    Nothing,
    Done,
}

impl Queue {
    fn push_event(&mut self, kind: EventKind) {
        use EventKind::{Streaming, Text, Thought};
        if let Some(Up::Event(Event { kind: last })) = self.waiting.back_mut() {
            match (last, &kind) {
                (Text { text }, Text { text: more })
                | (Thought { text }, Thought { text: more }) => {
                    if text.len() + more.len() <= JOINED_LIMIT {
                        text.push_str(more);
                    }
                    return;
                }
                (Text { .. } | Thought { .. } | Streaming, Streaming) => return,
                _ => {}
            }
        }
        if self.waiting.len() < CROWDED {
            self.waiting.push_back(Up::Event(Event { kind }));
        }
    }

    fn take(&mut self, buffer: &mut Vec<u8>, beat: bool) -> Taken {
        if self.waiting.is_empty() {
            return if self.closed {
                Taken::Done
            } else {
                Taken::Nothing
            };
        }
        // Whatever follows a piece of text carries it out: order is kept.
        if !beat && !self.closed && self.waiting.iter().all(streams) {
            return Taken::NotYet;
        }
        let mut streamed = false;
        while buffer.len() < BATCH
            && let Some(message) = self.waiting.pop_front()
        {
            streamed |= streams(&message);
            if let Err(error) = encode(&message, buffer) {
                tracing::error!(%error, "a message was not sent");
            }
        }
        Taken::Some { streamed }
    }
}

fn streams(message: &Up) -> bool {
    use EventKind::{Streaming, Text, Thought};
    matches!(
        message,
        Up::Event(Event {
            kind: Streaming | Text { .. } | Thought { .. }
        })
    )
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
