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
    sync::atomic::{AtomicU8, Ordering},
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

/// How far this process is. Leaves [`AT_WORK`] once, so that a child either reports or was told to go, never both.
static STAGE: AtomicU8 = AtomicU8::new(AT_WORK);

/// Nothing was reported, and nobody asked it to go.
const AT_WORK: u8 = 0;
/// The report goes out: from now on being left by the root is no fault.
const REPORTED: u8 = 1;
/// The descendants are being killed; nothing may be started or told any more.
const LEAVING: u8 = 2;

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

/// To be awaited before the report goes out. Of work that was cut off there is none, and this waits for the end.
pub(crate) async fn before_the_report() {
    if advance(REPORTED) == LEAVING {
        std::future::pending::<()>().await;
    }
}

/// To be awaited before anything is started, and before anything counts that a process of ours brought: from the moment
/// that this process is on its way out they end by its own hand, and this waits for the end.
pub(crate) async fn unless_leaving() {
    if STAGE.load(Ordering::SeqCst) == LEAVING {
        std::future::pending::<()>().await;
    }
}

/// Goes from work to `stage`, unless it went elsewhere before, and says where it is now.
fn advance(stage: u8) -> u8 {
    STAGE
        .compare_exchange(AT_WORK, stage, Ordering::SeqCst, Ordering::SeqCst)
        .map_or_else(|reached| reached, |_| stage)
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

/// Leaves at once, with everything below.
#[expect(
    clippy::exit,
    reason = "there is no caller to return to: the process has lost its owner"
)]
pub(crate) fn leave() -> ! {
    // Before the first of them is killed: whoever sees one end can tell why.
    let code = if advance(LEAVING) == REPORTED {
        0
    } else {
        TOLD_TO_GO
    };
    descendants::end_all();
    std::process::exit(i32::from(code));
}
