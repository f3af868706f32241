//! A command in a process group of its own, and the table of the ones that run.
//!
//! The exit is watched beside the output and never inferred from its end: a process that the command left in the
//! background can hold the pipe open for as long as it likes. Watching is `tokio`'s own `Child::wait`, which waits on a
//! pidfd where the kernel has them and needs nothing unsafe here.

use std::{
    collections::BTreeSet,
    future::{Future, poll_fn},
    io,
    os::fd::OwnedFd,
    process::{ExitStatus, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use futures_util::StreamExt;
use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tokio::{
    process::{Child, ChildStdout, Command},
    time::{Instant, timeout, timeout_at},
};
use tokio_process_stream::{Item, ProcessChunkStream};

/// How long the pipe may be silent, once the command has ended, before it counts as held by somebody else.
const QUIET: Duration = Duration::from_millis(50);
/// How long output is read, once the command has ended, from somebody who holds the pipe and keeps talking.
const DRAIN: Duration = Duration::from_millis(200);

/// The processes that the tools started and have not waited for yet.
///
/// A session adopts what its commands leave behind, and reaps it. These are not its to reap: whoever started them
/// needs their status.
#[derive(Debug, Default)]
pub struct Pids(Mutex<BTreeSet<i32>>);

/// The one table of this process.
pub fn started() -> &'static Pids {
    static STARTED: Pids = Pids(Mutex::new(BTreeSet::new()));
    &STARTED
}

impl Pids {
    /// Whether a tool started `pid` and still wants its status.
    ///
    /// Waits for a start that is under way, so that a process cannot be seen before it is in the table.
    pub fn is_ours(&self, pid: i32) -> bool {
        self.lock().contains(&pid)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&'static self, command: &mut Command) -> io::Result<(Child, Entry)> {
        let mut pids = self.lock();
        let child = command.spawn()?;
        let pid = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .ok_or_else(|| io::Error::other("the process has no id"))?;
        pids.insert(pid);
        Ok((child, Entry { pid, table: self }))
    }
}

/// A place in the table, given back when the status is known or no longer wanted.
#[derive(Debug)]
struct Entry {
    pid: i32,
    table: &'static Pids,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.table.lock().remove(&self.pid);
    }
}

/// What a running command did.
#[derive(Debug)]
pub(super) enum Sign {
    /// It wrote this.
    Output(Vec<u8>),
    /// It ended. Output may still be on its way: see [`Running::drain`].
    Exit(io::Result<ExitStatus>),
}

/// A command that runs as the leader of its own process group.
///
/// Dropping it before its exit was seen kills the group.
#[derive(Debug)]
pub(super) struct Running {
    stream: ProcessChunkStream,
    group: Group,
}

impl Running {
    /// Starts `command` with no input, and with one pipe for both kinds of output so that their order survives.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        command
            .stdin(Stdio::null())
            .stderr(writer.try_clone()?)
            .stdout(writer)
            .process_group(0)
            .kill_on_drop(true);
        let (mut child, entry) = started().spawn(&mut command)?;
        // The command holds our copies of the pipe's writing end; with them open it would never end.
        drop(command);
        let group = Group {
            leader: Pid::from_raw(entry.pid),
            entry: Some(entry),
        };
        let reader = std::process::ChildStdout::from(OwnedFd::from(reader));
        child.stdout = Some(ChildStdout::from_std(reader)?);
        Ok(Self {
            stream: ProcessChunkStream::from(child),
            group,
        })
    }

    /// What happens next. The exit goes before output, so that nobody who keeps writing can hide it.
    ///
    /// Dropping the future is safe. Not to be called again after [`Sign::Exit`].
    pub(super) async fn next(&mut self) -> Sign {
        let sign = poll_fn(|cx| {
            if let Some(child) = self.stream.child_mut() {
                let mut wait = Box::pin(child.wait());
                if let Poll::Ready(status) = wait.as_mut().poll(cx) {
                    return Poll::Ready(Sign::Exit(status));
                }
            }
            match self.stream.poll_next_unpin(cx) {
                Poll::Ready(Some(Item::Stdout(bytes) | Item::Stderr(bytes))) => {
                    Poll::Ready(Sign::Output(bytes.to_vec()))
                }
                Poll::Ready(Some(Item::Done(status))) => Poll::Ready(Sign::Exit(status)),
                Poll::Ready(None) => {
                    Poll::Ready(Sign::Exit(Err(io::Error::other("the exit was lost"))))
                }
                Poll::Pending => Poll::Pending,
            }
        })
        .await;
        if matches!(sign, Sign::Exit(_)) {
            self.group.entry = None;
        }
        sign
    }

    /// Asks the group to end, and kills what is left of it after `grace`, or once the leader and its output ended.
    pub(super) async fn stop(&mut self, grace: Duration, mut take: impl FnMut(&[u8])) -> Stopped {
        self.group.signal(Signal::SIGTERM);
        let mut exited = false;
        let asked = async {
            while !exited {
                match self.next().await {
                    Sign::Output(bytes) => take(&bytes),
                    Sign::Exit(_) => exited = true,
                }
            }
            // Others of the group may still be putting things in order; they hold the pipe.
            while let Some(Item::Stdout(bytes) | Item::Stderr(bytes)) = self.stream.next().await {
                take(&bytes);
            }
        };
        // Whether it ended in time is seen from `exited`.
        let _in_time = timeout(grace, asked).await;
        self.group.signal(Signal::SIGKILL);
        if exited {
            return Stopped::Asked;
        }
        while let Sign::Output(bytes) = self.next().await {
            take(&bytes);
        }
        Stopped::Killed
    }

    /// Reads what is left in the pipe after the exit: to its end, or until it is quiet, or for a short while.
    ///
    /// Who still holds the pipe may go on writing to it as long as the session lives: it is read and thrown away, since
    /// a closed pipe would end a server at its next line of log. Returns whether there was somebody.
    pub(super) async fn drain(self, mut take: impl FnMut(&[u8])) -> bool {
        let mut stream = self.stream;
        let end = Instant::now() + DRAIN;
        loop {
            let until = end.min(Instant::now() + QUIET);
            match timeout_at(until, stream.next()).await {
                Ok(Some(Item::Stdout(bytes) | Item::Stderr(bytes))) => take(&bytes),
                Ok(Some(Item::Done(_)) | None) => return false,
                Err(_) => break,
            }
            if Instant::now() >= end {
                break;
            }
        }
        tokio::spawn(async move { while stream.next().await.is_some() {} });
        true
    }
}

/// How a command ended that was told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// When it was asked.
    Asked,
    /// When it was killed: it did not listen.
    Killed,
}

/// The process group of a command, killed when dropped before the leader's exit was seen.
#[derive(Debug)]
struct Group {
    leader: Pid,
    /// `None` once the exit was seen.
    entry: Option<Entry>,
}

impl Group {
    /// Signals every process of the group. A group that is gone is no error.
    ///
    /// Also called shortly after the exit, for whom the leader left behind. The number would be somebody else's by then
    /// only if nobody of the group lived, and every other number had been used up in between.
    fn signal(&self, signal: Signal) {
        match killpg(self.leader, signal) {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => {
                tracing::warn!(%error, group = %self.leader, %signal, "could not signal a command");
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.entry.is_some() {
            self.signal(Signal::SIGKILL);
        }
    }
}
