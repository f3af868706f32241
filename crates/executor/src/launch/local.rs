//! A child as a process of this machine, on one pipe pair.

use std::{
    io,
    process::{Command, Stdio},
    sync::{Arc, OnceLock, mpsc as blocking},
    time::Duration,
};

use async_trait::async_trait;
use nix::sys::signal::Signal as Unix;
use sortie_protocol::{
    Down, Up,
    codec::{DecodeError, Decoder, encode},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    sync::{mpsc, oneshot},
    time::{Instant, sleep, sleep_until, timeout_at},
};

use super::{Child, Exit, Launch, LaunchError, Order, Program, Signal, Word};
use crate::unix::{self, ExitWatch, Nursery, Ward};

/// How long a pipe may stay open after its process is gone: a grandchild can hold it. And how long a process may
/// live on after it closed its pipe: nothing that it does can be told any more.
const DRAIN: Duration = Duration::from_secs(2);
/// How long a process that was killed may take to disappear.
const SWEEP: Duration = Duration::from_secs(2);
/// Words that may wait for their reader before the child has to.
const BACKLOG: usize = 256;

/// Starts children as processes of this machine.
#[derive(Debug)]
pub struct LocalLauncher {
    program: Program,
    nursery: Arc<Nursery>,
}

impl LocalLauncher {
    /// Children are `program`; `tag` is the `NAME=value` that each has in its environment.
    pub fn new(program: Program, tag: String) -> io::Result<Self> {
        unix::adopt_orphans()?;
        Ok(Self {
            program,
            nursery: Arc::new(Nursery::new(tag)),
        })
    }
}

#[async_trait]
impl Launch for LocalLauncher {
    async fn launch(&self, order: Order) -> Result<Child, LaunchError> {
        let failed = |source| LaunchError::Spawn {
            program: self.program.path.clone(),
            cwd: order.cwd.clone(),
            source,
        };
        let mut command = Command::new(&self.program.path);
        command
            .args(&self.program.args)
            .env_clear()
            .envs(order.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&order.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let process = start(Arc::clone(&self.nursery), command)
            .await
            .map_err(failed)?;
        let pid = process.id();
        let (words_in, words) = mpsc::channel(BACKLOG);
        let (orders, orders_out) = mpsc::unbounded_channel();
        let (signals, signals_out) = mpsc::unbounded_channel();
        let attendant =
            Attendant::new(process, Arc::clone(&self.nursery), words_in).map_err(failed)?;
        tokio::spawn(attendant.attend(orders_out, signals_out));
        Ok(Child {
            pid: Some(pid),
            words,
            orders,
            signals,
        })
    }
}

/// Starts a process from the one thread that lives as long as this process: a death signal follows the thread that
/// forked.
async fn start(nursery: Arc<Nursery>, command: Command) -> io::Result<Ward> {
    type Job = (Arc<Nursery>, Command, oneshot::Sender<io::Result<Ward>>);
    static THREAD: OnceLock<io::Result<blocking::Sender<Job>>> = OnceLock::new();
    let thread = THREAD.get_or_init(|| {
        let (sender, jobs) = blocking::channel::<Job>();
        std::thread::Builder::new()
            .name("sortie:launch".into())
            .stack_size(128 << 10)
            .spawn(move || {
                for (nursery, mut command, answer) in jobs {
                    // Whoever asked may be gone; then the process is ended here.
                    let _ = answer.send(nursery.start(&mut command));
                }
            })
            .map(|_| sender)
    });
    let gone = || io::Error::other("the launching thread is gone");
    let thread = thread
        .as_ref()
        .map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
    let (sender, answer) = oneshot::channel();
    thread
        .send((nursery, command, sender))
        .map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?
}

/// Looks after one process from its start until it and all that it started are gone.
struct Attendant {
    ward: Ward,
    nursery: Arc<Nursery>,
    watch: ExitWatch,
    stdin: tokio::process::ChildStdin,
    ears: Ears,
}

impl Attendant {
    fn new(mut ward: Ward, nursery: Arc<Nursery>, words: mpsc::Sender<Word>) -> io::Result<Self> {
        let no_pipe = || io::Error::other("the process was started without a pipe");
        let (stdin, stdout, stderr) = ward.pipes().ok_or_else(no_pipe)?;
        Ok(Self {
            watch: ExitWatch::new(ward.id())?,
            stdin: tokio::process::ChildStdin::from_std(stdin)?,
            ears: Ears::new(
                tokio::process::ChildStdout::from_std(stdout)?,
                tokio::process::ChildStderr::from_std(stderr)?,
                words,
            ),
            ward,
            nursery,
        })
    }

    async fn attend(
        self,
        orders: mpsc::UnboundedReceiver<Down>,
        signals: mpsc::UnboundedReceiver<Signal>,
    ) {
        let Self {
            mut ward,
            nursery,
            watch,
            stdin,
            mut ears,
        } = self;
        let pid = ward.id();
        let writer = tokio::spawn(tell(stdin, orders, ears.words.clone()));
        let exit = until_gone(pid, &watch, &mut ears, signals).await;
        writer.abort();
        // See the exit, kill the group, then reap.
        let reaped = ward.reap();
        let exit = exit.unwrap_or_else(|error| {
            tracing::error!(pid, %error, "could not watch a child");
            Exit::Signal(Unix::SIGKILL as i32)
        });
        if let Err(error) = reaped {
            tracing::error!(pid, %error, "could not reap a child");
        }
        clear(&nursery).await;
        let deadline = Instant::now() + DRAIN;
        while ears.open() && timeout_at(deadline, ears.listen()).await.is_ok() {}
        ears.finish(exit).await;
    }
}

/// Passes on what the process says and what it is to be sent, until it is gone.
async fn until_gone(
    pid: u32,
    watch: &ExitWatch,
    ears: &mut Ears,
    mut signals: mpsc::UnboundedReceiver<Signal>,
) -> io::Result<Exit> {
    // When it will have been silent for too long; `None` before it is, and after it was told on.
    let mut patience = None;
    let mut told = false;
    loop {
        if ears.stdout.is_none() && !told {
            patience.get_or_insert_with(|| Instant::now() + DRAIN);
        }
        tokio::select! {
            biased;
            signal = signals.recv() => {
                let signalled = match signal {
                    Some(Signal::Terminate) => unix::signal(pid, Unix::SIGTERM),
                    // `None`: nobody supervises it any more, so it ends now.
                    Some(Signal::Kill) | None => unix::signal(pid, Unix::SIGKILL),
                };
                if let Err(error) = signalled {
                    tracing::warn!(pid, %error, "could not signal a child");
                }
                if signal.is_none() {
                    return watch.gone().await;
                }
            }
            exit = watch.gone() => return exit,
            () = sleep_until(patience.unwrap_or_else(Instant::now)), if patience.is_some() => {
                (patience, told) = (None, true);
                // Who no longer listens has dropped the signals too.
                let _ = ears.words.send(Word::Silent).await;
            }
            () = ears.listen(), if ears.open() => {}
        }
    }
}

/// Proves that nothing adopted is left, within [`SWEEP`].
async fn clear(nursery: &Nursery) {
    let deadline = Instant::now() + SWEEP;
    let mut pause = Duration::from_micros(200);
    while nursery.sweep() > 0 {
        if Instant::now() > deadline {
            tracing::error!("processes that a child left behind do not die");
            return;
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Writes orders to the child until there are no more, or it no longer reads.
///
/// One that cannot be sent ends this, and with its pipe the child: it would wait for what never comes.
async fn tell(
    mut stdin: tokio::process::ChildStdin,
    mut orders: mpsc::UnboundedReceiver<Down>,
    words: mpsc::Sender<Word>,
) {
    let mut buffer = Vec::new();
    while let Some(order) = orders.recv().await {
        buffer.clear();
        let mut encoded = encode(&order, &mut buffer);
        // More may have come meanwhile; one write takes them all.
        while encoded.is_ok()
            && let Ok(order) = orders.try_recv()
        {
            encoded = encode(&order, &mut buffer);
        }
        if let Err(error) = encoded {
            let _ = words.send(Word::Unsendable(error.to_string())).await;
            return;
        }
        if stdin.write_all(&buffer).await.is_err() {
            // It closed its end: its exit tells the rest.
            return;
        }
    }
}

/// What a child says on its two pipes.
struct Ears {
    stdout: Option<tokio::process::ChildStdout>,
    stderr: Option<tokio::process::ChildStderr>,
    decoder: Decoder,
    /// The next word for the supervisor.
    held: Option<Word>,
    words: mpsc::Sender<Word>,
    out: Box<[u8]>,
    err: Box<[u8]>,
}

impl Ears {
    fn new(
        stdout: tokio::process::ChildStdout,
        stderr: tokio::process::ChildStderr,
        words: mpsc::Sender<Word>,
    ) -> Self {
        Self {
            stdout: Some(stdout),
            stderr: Some(stderr),
            decoder: Decoder::default(),
            held: None,
            words,
            out: vec![0; 16 << 10].into(),
            err: vec![0; 4 << 10].into(),
        }
    }

    fn open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Takes one piece from either pipe and passes it on.
    ///
    /// Cancel safe: what was read is held here before anything is awaited.
    async fn listen(&mut self) {
        while self.hold() {
            let Ok(permit) = self.words.reserve().await else {
                self.stdout = None;
                self.stderr = None;
                return;
            };
            if let Some(word) = self.held.take() {
                permit.send(word);
            }
        }
        tokio::select! {
            read = piece(&mut self.stdout, &mut self.out) => match read {
                Some(0) => self.stdout = None,
                Some(n) => self.decoder.feed(&self.out[..n]),
                None => {}
            },
            read = piece(&mut self.stderr, &mut self.err) => match read {
                Some(0) => self.stderr = None,
                Some(n) => self.held = Some(Word::Log(self.err[..n].to_vec())),
                None => {}
            },
        }
    }

    /// Takes the next word in hand. False: there is none yet.
    fn hold(&mut self) -> bool {
        if self.held.is_none() {
            self.held = self
                .decoder
                .next_message::<Up>()
                .map(|message| match message {
                    Ok(message) => Word::Message(Box::new(message)),
                    Err(DecodeError::Foreign { reason, line }) => {
                        Word::Stray(format!("{line} ({reason})"))
                    }
                    Err(error) => Word::Stray(error.to_string()),
                });
        }
        self.held.is_some()
    }

    async fn finish(mut self, exit: Exit) {
        while self.hold() {
            if let Some(word) = self.held.take() {
                let _ = self.words.send(word).await;
            }
        }
        let torn = String::from_utf8_lossy(self.decoder.rest()).into_owned();
        if !torn.is_empty() {
            let head = &torn[..torn.floor_char_boundary(200)];
            let _ = self
                .words
                .send(Word::Stray(format!("a line that was cut off: {head}")))
                .await;
        }
        let _ = self.words.send(Word::Gone(exit)).await;
    }
}

async fn piece<R: AsyncRead + Unpin>(pipe: &mut Option<R>, buffer: &mut [u8]) -> Option<usize> {
    match pipe {
        // An error on a pipe is its end.
        Some(pipe) => Some(pipe.read(buffer).await.unwrap_or(0)),
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
