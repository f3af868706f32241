//! Processes on Unix: who is ours, how one ends, and what it leaves behind.

use std::{
    collections::BTreeSet,
    fs, io,
    os::fd::OwnedFd,
    os::unix::process::ExitStatusExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill, killpg},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};
use rustix::process::{PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use tokio::io::{Interest, unix::AsyncFd};

use crate::launch::Exit;

/// How often it is looked for what a lost child left behind, a millisecond apart.
const SWEEPS: usize = 500;

/// Whether this process has no children but those that [`Nursery`] starts, and adopts.
static DEDICATED: AtomicBool = AtomicBool::new(false);

/// Makes this process the root of a run and of nothing else; called first in `main`.
///
/// It adopts what its children leave behind, so that nothing can escape by losing its parent; it cannot be read
/// through `/proc` or traced by other processes of its user, since it holds the keys; and it is named
/// `sortie:root`. A host program does not call this: there, only processes that carry a run's tag in their
/// environment are taken for ours.
pub fn become_root() -> io::Result<()> {
    adopt_orphans()?;
    nix::sys::prctl::set_dumpable(false)?;
    nix::sys::prctl::set_name(c"sortie:root")?;
    DEDICATED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Makes orphans of this process's descendants its own children, instead of init's.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)?;
    Ok(())
}

/// The nearest session of sortie that this process runs inside of, by its process id.
///
/// A session cannot be read by others of its user, but its name can: it is found by walking up the parents.
pub(crate) fn session_above() -> Option<i32> {
    let mut pid = Pid::parent();
    while pid.as_raw() > 1 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in brackets and may hold anything, brackets too.
        let (name, rest) = (stat.split_once('(')?.1).rsplit_once(')')?;
        if name == "sortie:session" {
            return Some(pid.as_raw());
        }
        pid = Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?);
    }
    None
}

/// Sees a process end, without reaping it.
#[derive(Debug)]
pub(crate) struct ExitWatch(AsyncFd<OwnedFd>);

impl ExitWatch {
    /// Watches a child of this process that nobody has reaped.
    pub(crate) fn new(pid: u32) -> io::Result<Self> {
        let pid = rustix_pid(pid)?;
        let fd = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        // The exit is readiness for reading.
        #[expect(
            unsafe_code,
            reason = "the descriptor is owned, is closed only with the `AsyncFd`, and is never handed out"
        )]
        let watched = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
        Ok(Self(watched.map_err(io::Error::other)?))
    }

    /// Waits for the end. The process stays a zombie, so its number cannot be used again before the caller reaps it.
    ///
    /// Cancel safe.
    pub(crate) async fn gone(&self) -> io::Result<Exit> {
        loop {
            let mut ready = self.0.readable().await?;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            let status = waitid(
                WaitId::PidFd(std::os::fd::AsFd::as_fd(self.0.get_ref())),
                options,
            )?;
            if let Some(status) = status {
                let signal = status.terminating_signal();
                return Ok(match signal {
                    Some(signal) => Exit::Signal(signal),
                    None => Exit::Code(status.exit_status().unwrap_or_default()),
                });
            }
            ready.clear_ready();
        }
    }
}

/// The children of this process, those it started and those it adopted, for all runs in it: what one run started is
/// no orphan of another.
static CHILDREN: Mutex<Children> = Mutex::new(Children {
    started: BTreeSet::new(),
    ended: BTreeSet::new(),
    adopted: BTreeSet::new(),
});

#[derive(Debug)]
struct Children {
    /// Started here, and not reaped.
    started: BTreeSet<i32>,
    /// Reaped, while somebody of their groups and sessions may be left. Until then nobody else gets their numbers.
    ended: BTreeSet<i32>,
    /// Found to be ours, killed, and not reaped. A dead process no longer shows its environment.
    adopted: BTreeSet<i32>,
}

impl Children {
    /// Whether `pid`, a child of this process, was left behind by a child of the run `tag`.
    fn is_orphan(&self, pid: i32, tag: &str) -> bool {
        if self.started.contains(&pid) {
            return false;
        }
        let leaders = leaders(pid).unwrap_or_default();
        // It lost its parent, but not the child whose group or session it is of.
        if leaders.iter().any(|pid| self.started.contains(pid)) {
            return false;
        }
        DEDICATED.load(Ordering::Relaxed)
            || self.adopted.contains(&pid)
            || leaders.iter().any(|pid| self.ended.contains(pid))
            || is_tagged(pid, tag)
    }
}

/// Starts and reaps the processes of one run, and ends what they leave behind.
///
/// Starting and sweeping exclude each other, so that a child is never taken for an orphan.
#[derive(Debug)]
pub(crate) struct Nursery {
    /// What an orphan's environment must hold to be ours, in a process that is not ours alone.
    tag: String,
}

impl Nursery {
    /// A nursery for processes that carry `tag`, as `NAME=value`, in their environment.
    pub(crate) fn new(tag: String) -> Self {
        Self { tag }
    }

    /// Starts a child.
    pub(crate) fn start(self: &Arc<Self>, command: &mut Command) -> io::Result<Ward> {
        let mut children = lock();
        let child = command.spawn()?;
        children.started.insert(signed(child.id())?);
        Ok(Ward {
            pid: child.id(),
            child: Some(child),
            nursery: Arc::clone(self),
        })
    }

    /// Kills and reaps everything that this process adopted and that is ours. Returns how many were found.
    ///
    /// One that was found, even if it was dead, may have left others behind, who are adopted only now: sweep until
    /// nothing is found.
    pub(crate) fn sweep(&self) -> usize {
        let mut table = lock();
        let children = children();
        // Whom somebody else reaped is gone, and its number may come again.
        table.adopted.retain(|pid| children.contains(pid));
        let is_orphan = |pid: &i32| table.is_orphan(*pid, &self.tag);
        let orphans: Vec<i32> = children.into_iter().filter(is_orphan).collect();
        for &pid in &orphans {
            // Both may fail only because it is gone, which is what is wanted.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            let reaped = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
            if matches!(reaped, Ok(status) if status.pid().is_some()) {
                table.adopted.remove(&pid);
            } else {
                table.adopted.insert(pid);
            }
        }
        orphans.len()
    }

    /// Sweeps until nothing is found, for callers that cannot wait otherwise.
    fn clear(&self) {
        for _ in 0..SWEEPS {
            if self.sweep() == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        tracing::error!("what a child left behind does not die");
    }
}

fn lock() -> MutexGuard<'static, Children> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that was started here and is looked after: it cannot be lost. Dropping it ends it and what it leaves
/// behind, and waits for that.
#[derive(Debug)]
pub(crate) struct Ward {
    pid: u32,
    /// `None` once it was reaped.
    child: Option<Child>,
    nursery: Arc<Nursery>,
}

impl Ward {
    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.pid
    }

    /// Its pipes, which it hands out once.
    pub(crate) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        let child = self.child.as_mut()?;
        Some((
            child.stdin.take()?,
            child.stdout.take()?,
            child.stderr.take()?,
        ))
    }

    /// What it prints, when nothing else of it is wanted; handed out once.
    pub(crate) fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// How it ended, if it has. It is not reaped.
    pub(crate) fn ended(&self) -> io::Result<Option<ExitStatus>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::Pid(rustix_pid(self.pid)?), options)?;
        Ok(status.map(|status| {
            let code = status.exit_status().unwrap_or_default() << 8;
            ExitStatus::from_raw(status.terminating_signal().unwrap_or(code))
        }))
    }

    /// Kills what is left of it and of its group, and reaps it. Waits for its end, if it has not ended.
    pub(crate) fn reap(&mut self) -> io::Result<()> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        // Until it is reaped its number is its own.
        let killed = signal(self.pid, Signal::SIGKILL);
        let mut children = lock();
        let reaped = child.wait();
        let pid = signed(self.pid)?;
        children.started.remove(&pid);
        children.ended.insert(pid);
        killed.and(reaped.map(drop))
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        if let Err(error) = self.reap() {
            tracing::error!(pid = self.pid, %error, "could not end a child");
        }
        self.nursery.clear();
        // Its number may be somebody else's from now on.
        if let Ok(pid) = signed(self.pid) {
            lock().ended.remove(&pid);
        }
    }
}

/// Signals an unreaped child, and the group it leads if it leads one.
pub(crate) fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    let pid = Pid::from_raw(signed(pid)?);
    for result in [kill(pid, signal), killpg(pid, signal)] {
        match result {
            // Gone, or not yet the leader of a group.
            Ok(()) | Err(Errno::ESRCH | Errno::EPERM) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// The leaders of the group and the session that a process is of, or was of before it died.
fn leaders(pid: i32) -> Option<[i32; 2]> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // State, parent, group, session.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(2);
    let mut leader = || fields.next()?.parse().ok();
    Some([leader()?, leader()?])
}

/// Whether `tag`, as `NAME=value`, is the beginning of an entry in a process's environment.
fn is_tagged(pid: i32, tag: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| {
        text.split(|&b| b == 0)
            .any(|entry| entry.starts_with(tag.as_bytes()))
    })
}

/// The direct children of this process.
fn children() -> BTreeSet<i32> {
    listed_children().unwrap_or_else(scanned_children)
}

/// As the kernel lists them for each thread; `None` where it was built without those lists.
fn listed_children() -> Option<BTreeSet<i32>> {
    let mut children = BTreeSet::new();
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => children.extend(
                list.split_whitespace()
                    .filter_map(|pid| pid.parse::<i32>().ok()),
            ),
            // The thread ended meanwhile.
            Err(_) if !thread.path().exists() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}

/// As every process names its parent.
fn scanned_children() -> BTreeSet<i32> {
    let is_ours = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        parent == Some(std::process::id())
    };
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(is_ours)
        .collect()
}

fn signed(pid: u32) -> io::Result<i32> {
    i32::try_from(pid).map_err(io::Error::other)
}

fn rustix_pid(pid: u32) -> io::Result<rustix::process::Pid> {
    rustix::process::Pid::from_raw(signed(pid)?)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
}

#[cfg(test)]
#[path = "unix_tests.rs"]
mod tests;
