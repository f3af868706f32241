//! What comes down, and who waits for it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use sortie_protocol::{Down, Reply, codec::Decoder};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::{mpsc, oneshot, watch},
};
use tokio_util::sync::CancellationToken;

/// A message for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mail {
    /// Somebody steers.
    Steer(String),
    /// A job result or a message, with the id that `delivered` names.
    Deliver { id: String, text: String },
}

/// Where each kind of message goes.
#[derive(Debug)]
pub(super) struct Inbox {
    /// Everything up to the prompt.
    pub(super) opening: mpsc::UnboundedSender<Down>,
    /// The last record that is on disk.
    pub(super) taken: watch::Sender<u64>,
    /// The root wants an end.
    pub(super) cancelled: CancellationToken,
    /// Nothing will come any more.
    pub(super) gone: CancellationToken,
    calls: Mutex<Calls>,
    mail: Mutex<VecDeque<Mail>>,
}

#[derive(Debug, Default)]
struct Calls {
    last: u64,
    open: HashMap<u64, oneshot::Sender<Reply>>,
}

impl Inbox {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Down>) {
        let (opening, opened) = mpsc::unbounded_channel();
        let inbox = Self {
            opening,
            taken: watch::Sender::new(0),
            cancelled: CancellationToken::new(),
            gone: CancellationToken::new(),
            calls: Mutex::default(),
            mail: Mutex::default(),
        };
        (inbox, opened)
    }

    /// Opens a call: its id, and where its answer will come.
    pub(super) fn open_call(&self) -> (u64, oneshot::Receiver<Reply>) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.last += 1;
        let id = calls.last;
        let (sender, receiver) = oneshot::channel();
        calls.open.insert(id, sender);
        (id, receiver)
    }

    /// Forgets a call, and says whether it was still open.
    pub(super) fn forget_call(&self, id: u64) -> bool {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.open.remove(&id).is_some()
    }

    /// What has come for the model since the last time.
    pub(super) fn take_mail(&self) -> VecDeque<Mail> {
        std::mem::take(&mut self.mail.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether something has come for the model.
    pub(super) fn has_mail(&self) -> bool {
        !self
            .mail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    /// Reads `input` to its end and hands on what comes.
    pub(super) async fn fill<R: AsyncRead + Unpin>(&self, mut input: R) {
        let mut decoder = Decoder::default();
        let mut buffer = vec![0; 16 << 10];
        loop {
            match input.read(&mut buffer).await {
                Ok(0) => break,
                Ok(len) => decoder.feed(&buffer[..len]),
                Err(error) => {
                    tracing::warn!(%error, "stdin cannot be read");
                    break;
                }
            }
            while let Some(message) = decoder.next_message() {
                match message {
                    Ok(message) => self.sort(message),
                    Err(error) => tracing::warn!(%error, "a line from the root was ignored"),
                }
            }
        }
        self.gone.cancel();
    }

    fn sort(&self, message: Down) {
        match message {
            Down::Start(_) | Down::Record(_) | Down::Begin | Down::Prompt { .. } => {
                if self.opening.send(message).is_err() {
                    tracing::warn!("a session serves one prompt; a later one was ignored");
                }
            }
            Down::Steer { text } => self.post(Mail::Steer(text)),
            Down::Deliver { id, text } => self.post(Mail::Deliver { id, text }),
            Down::Cancel { reason } => {
                tracing::info!(reason, "told to stop");
                self.cancelled.cancel();
            }
            Down::Taken { n } => {
                self.taken.send_if_modified(|taken| {
                    let further = n > *taken;
                    *taken = n.max(*taken);
                    further
                });
            }
            Down::Reply { id, reply } => {
                let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                // Nobody waits for the answer to a call that was dropped.
                if let Some(call) = calls.open.remove(&id) {
                    let _ = call.send(reply);
                }
            }
            Down::Unknown => tracing::warn!("a message of an unknown kind was ignored"),
        }
    }

    fn post(&self, mail: Mail) {
        self.mail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(mail);
    }
}
