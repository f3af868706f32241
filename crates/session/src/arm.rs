//! The first lines of a child: what ties its life to its root's.
//!
//! Comes before any thread and any runtime. It leads a session of its own, dies with its root (a death signal, and a
//! watch on stdin), adopts what its descendants leave behind, and shows its memory, which holds keys, to nobody.

use std::{
    env, io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::atomic::{AtomicBool, AtomicI32, Ordering},
    thread,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::{SigSet, Signal},
    unistd::setsid,
};
use thiserror::Error;

use crate::descendants;

/// The exit code of a child that was told to go: 128 + `SIGTERM`.
pub(crate) const TOLD_TO_GO: u8 = 143;

/// What the watcher leaves with. Changes once the report is out: from then on being left by the root is no fault.
static CODE: AtomicI32 = AtomicI32::new(TOLD_TO_GO as i32);

/// Whether the descendants are being killed; nothing may be started any more.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// Why a child cannot live.
#[derive(Debug, Error)]
pub(crate) enum ArmError {
    /// The root was gone before the child was armed.
    #[error("the root is gone")]
    Orphaned,
    /// Started as a group leader by something that is not a shell.
    #[error(
        "the session leads a process group and cannot set itself apart; start it without a group of its own"
    )]
    Leader,
    /// The system refused.
    #[error("`{what}` failed")]
    System {
        /// The call.
        what: &'static str,
        /// Its answer.
        #[source]
        source: io::Error,
    },
}

/// Arms this process and says whether it leads a session of its own, which only one typed by hand may not.
pub(crate) fn arm() -> Result<bool, ArmError> {
    // A command inherits the mask of the thread that starts it, and with SIGTERM blocked could not be asked to end.
    SigSet::empty()
        .thread_set_mask()
        .map_err(failed("sigprocmask"))?;
    let term = on_term().map_err(failed("sigaction"))?;
    let leads = match setsid() {
        Ok(_) => true,
        Err(Errno::EPERM) if env::var_os("SORTIE_SESSION").is_none() => false,
        Err(Errno::EPERM) => return Err(ArmError::Leader),
        Err(source) => return Err(failed("setsid")(source)),
    };
    #[cfg(target_os = "linux")]
    {
        use nix::sys::prctl;
        prctl::set_pdeathsig(Signal::SIGTERM).map_err(failed("PR_SET_PDEATHSIG"))?;
        // The root may have died before the line above.
        if hung_up(io::stdin().as_fd()) {
            return Err(ArmError::Orphaned);
        }
        prctl::set_child_subreaper(true).map_err(failed("PR_SET_CHILD_SUBREAPER"))?;
        prctl::set_dumpable(false).map_err(failed("PR_SET_DUMPABLE"))?;
        prctl::set_name(c"sortie:session").map_err(failed("PR_SET_NAME"))?;
    }
    thread::Builder::new()
        .name("sortie:watch".into())
        .stack_size(64 << 10)
        .spawn(move || {
            wait_for_the_end(term.as_fd());
            leave();
        })
        .map_err(failed("clone"))?;
    Ok(leads)
}

/// Says that the report is out.
pub(crate) fn report_is_out() {
    CODE.store(0, Ordering::Release);
}

fn failed<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> ArmError {
    move |source| ArmError::System {
        what,
        source: source.into(),
    }
}

fn hung_up(stdin: BorrowedFd<'_>) -> bool {
    // A descriptor is told of a hang-up whatever it asks for.
    let mut watched = [PollFd::new(stdin, PollFlags::empty())];
    poll(&mut watched, PollTimeout::ZERO).is_ok() && is_over(&watched[0])
}

fn is_over(watched: &PollFd<'_>) -> bool {
    let over = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    watched
        .revents()
        .is_some_and(|events| events.intersects(over))
}

/// Something that can be read once SIGTERM came. A handler, not a blocked signal: it is gone after `exec`.
fn on_term() -> io::Result<UnixStream> {
    let (receiver, sender) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(Signal::SIGTERM as i32, sender)?;
    Ok(receiver)
}

/// Returns once SIGTERM came or nobody can write to stdin any more.
fn wait_for_the_end(term: BorrowedFd<'_>) {
    let stdin = io::stdin();
    loop {
        let mut watched = [
            PollFd::new(term, PollFlags::POLLIN),
            PollFd::new(stdin.as_fd(), PollFlags::empty()),
        ];
        match poll(&mut watched, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            Ok(_) if watched[0].any() == Some(false) && !is_over(&watched[1]) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Whether this process is on its way out.
pub(crate) fn is_leaving() -> bool {
    LEAVING.load(Ordering::Acquire)
}

/// Leaves at once, with everything below.
#[expect(
    clippy::exit,
    reason = "there is no caller to return to: the process has lost its owner"
)]
pub(crate) fn leave() -> ! {
    LEAVING.store(true, Ordering::Release);
    descendants::end_all();
    std::process::exit(CODE.load(Ordering::Acquire));
}
