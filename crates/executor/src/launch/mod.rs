//! Starting a child, wherever it runs.
//!
//! [`Launch`] is the one face that supervision knows: it hands in an [`Order`] and gets a [`Child`], which is two
//! queues. The local process is one implementation; nothing above this room knows which one runs.

mod environment;
mod local;
mod program;

use std::{fmt, path::PathBuf};

use async_trait::async_trait;
use sortie_protocol::{Down, Up};
use thiserror::Error;
use tokio::sync::mpsc;

pub use environment::{ALLOWED, built};
pub use local::LocalLauncher;
pub use program::{Program, ProgramError};

/// What a launcher needs to know of a child.
#[derive(Debug)]
pub struct Order {
    /// Its environment, complete: nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// The folder it works in.
    pub cwd: PathBuf,
}

/// A child that was started. Dropping it ends the child.
#[derive(Debug)]
pub struct Child {
    /// Its process id, where it is a process of this machine.
    pub pid: Option<u32>,
    /// What it says. The last word is always [`Word::Gone`].
    pub words: mpsc::Receiver<Word>,
    /// What it is told.
    pub orders: mpsc::UnboundedSender<Down>,
    /// Signals for it.
    pub signals: mpsc::UnboundedSender<Signal>,
}

/// Something that came from a child.
#[derive(Debug)]
pub enum Word {
    /// A message.
    Message(Box<Up>),
    /// The head of a line that is no message, and why it is none.
    Stray(String),
    /// A piece of its standard error.
    Log(Vec<u8>),
    /// What it was to be told cannot be sent, and why.
    Unsendable(String),
    /// It closed its end of the wire, and has not ended in the time that this usually takes.
    Silent,
    /// It and everything it started are gone.
    Gone(Exit),
}

/// A signal for a child and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `SIGTERM`
    Terminate,
    /// `SIGKILL`
    Kill,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => match nix::sys::signal::Signal::try_from(*number) {
                Ok(signal) => f.write_str(signal.as_str()),
                Err(_) => write!(f, "signal {number}"),
            },
        }
    }
}

/// A child that could not be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// There is no program to start.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The system would not start it.
    #[error("`{}` could not be started in `{}`", program.display(), cwd.display())]
    Spawn {
        /// The program that was tried.
        program: PathBuf,
        /// The folder it was to work in.
        cwd: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// Something that starts children.
#[async_trait]
pub trait Launch: fmt::Debug + Send + Sync {
    /// Starts a child. It is told what to do through [`Child::orders`].
    async fn launch(&self, order: Order) -> Result<Child, LaunchError>;
}
