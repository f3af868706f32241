//! The pipe to the root.
//!
//! One task reads and sorts what comes down, one writes what goes up, and a [`Link`] is the session's end of both.

mod inbox;
mod outbox;

use std::{
    collections::{HashMap, VecDeque},
    future, io,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use sortie_protocol::{Call, Down, Event, EventKind, Finished, Reply, Report, Up};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    select,
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use inbox::Inbox;
pub(crate) use inbox::Mail;
use outbox::Outbox;

use crate::tools::{
    ArtifactSink,
    archive::{Archive, Stored},
};

/// A session's end of the pipe. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    inbox: Arc<Inbox>,
    outbox: Arc<Outbox>,
    /// Bytes sent of each artifact.
    artifacts: Arc<Mutex<HashMap<String, u64>>>,
}

/// The other ends of a fresh link.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) link: Link,
    /// `start`, stored records, `begin`, and `prompt`.
    pub(crate) opening: mpsc::UnboundedReceiver<Down>,
    /// Ends once the last message is written, or cannot be.
    pub(crate) writer: JoinHandle<io::Result<()>>,
    /// Ends with the input.
    pub(crate) reader: JoinHandle<()>,
}

impl Link {
    /// Starts to read `input` and to write `output`.
    pub(crate) fn open<R, W>(input: R, output: W) -> Opened
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (inbox, opening) = Inbox::new();
        let inbox = Arc::new(inbox);
        let outbox = Arc::new(Outbox::default());
        let writer = tokio::spawn(Arc::clone(&outbox).drain(output));
        let reader = tokio::spawn({
            let inbox = Arc::clone(&inbox);
            async move { inbox.fill(input).await }
        });
        let link = Self {
            inbox,
            outbox,
            artifacts: Arc::default(),
        };
        Opened {
            link,
            opening,
            writer,
            reader,
        }
    }

    /// Sends a message.
    pub(crate) fn send(&self, message: Up) {
        self.outbox.push(message);
    }

    /// Tells of progress.
    pub(crate) fn event(&self, kind: EventKind) {
        self.send(Up::Event(Event { kind }));
    }

    /// Sends the report: the last message.
    pub(crate) fn finish(&self, report: Report) {
        self.outbox.close(Up::Finished(Finished { report }));
    }

    /// Asks the root something.
    pub(crate) fn call(&self, call: Call) -> OpenCall {
        let (id, answer) = self.inbox.open_call();
        self.send(Up::Call { id, call });
        OpenCall {
            id,
            answer,
            link: self.clone(),
        }
    }

    /// Waits until record `n` is on disk.
    pub(crate) async fn taken(&self, n: u64) {
        let mut taken = self.inbox.taken.subscribe();
        // The sender lives as long as this link.
        let _ = taken.wait_for(|taken| *taken >= n).await;
    }

    /// Fires when the root wants an end.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.inbox.cancelled
    }

    /// Fires when the root is gone.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.inbox.gone
    }

    /// What has come for the model since the last time.
    pub(crate) fn take_mail(&self) -> VecDeque<Mail> {
        self.inbox.take_mail()
    }

    /// Whether something has come for the model.
    pub(crate) fn has_mail(&self) -> bool {
        self.inbox.has_mail()
    }
}

impl ArtifactSink for Link {
    fn append(&self, name: &str, text: &str) {
        let mut sizes = self
            .artifacts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let size = sizes.entry(name.to_owned()).or_default();
        let offset = *size;
        *size += text.len() as u64;
        self.send(Up::Artifact {
            name: name.to_owned(),
            offset,
            text: text.to_owned(),
        });
    }
}

#[async_trait]
impl Archive for Link {
    async fn read(&self, uri: &str) -> Result<Stored, String> {
        let uri = uri.to_owned();
        let open = self.call(Call::Read { uri });
        select! {
            biased;
            () = self.cancelled().cancelled() => Err("stopped: the session was told to stop".into()),
            reply = open.answer() => match reply {
                Reply::Stored { text, note } => Ok(Stored { text, note }),
                Reply::Text { ok: false, text } => Err(text),
                other => Err(format!("the root gave no answer that can be used: {other:?}")),
            },
        }
    }
}

/// A question that is not answered yet. Dropping it takes it back.
#[derive(Debug)]
pub(crate) struct OpenCall {
    id: u64,
    answer: oneshot::Receiver<Reply>,
    link: Link,
}

impl OpenCall {
    /// The id that the answer will name.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer. Once the root is gone there is none, and this waits for the end of the process.
    pub(crate) async fn answer(mut self) -> Reply {
        match (&mut self.answer).await {
            Ok(reply) => reply,
            Err(_) => future::pending().await,
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if self.link.inbox.forget_call(self.id) {
            self.link.send(Up::Drop { id: self.id });
        }
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
