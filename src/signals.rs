//! Ctrl-C and `SIGTERM`: the first asks the tasks to stop and report, the second ends them at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// A signal that means the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// `SIGINT`: Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
}

/// What a signal does to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Ask every task to stop and report what it has.
    Ask,
    /// End every task at once.
    Kill,
}

/// What was heard so far.
#[derive(Debug, Default)]
pub(crate) struct Interruption {
    first: Option<Heard>,
}

impl Interruption {
    /// Takes one signal in. Whoever asks twice, in whatever way, means it.
    pub(crate) fn hear(&mut self, heard: Heard) -> Effect {
        match self.first {
            None => {
                self.first = Some(heard);
                Effect::Ask
            }
            Some(_) => Effect::Kill,
        }
    }

    /// How the program ends because of it.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.first.map(|heard| match heard {
            Heard::Interrupt => Exit::Interrupted,
            Heard::Terminate => Exit::Terminated,
        })
    }
}

/// Hears the signals of this process. From its making on they no longer end the process by themselves.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Starts to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> Heard {
        tokio::select! {
            _ = self.interrupt.recv() => Heard::Interrupt,
            _ = self.terminate.recv() => Heard::Terminate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_twice_kills_whatever_the_signals_are() {
        for first in [Heard::Interrupt, Heard::Terminate] {
            for second in [Heard::Interrupt, Heard::Terminate] {
                let mut interruption = Interruption::default();
                assert_eq!(interruption.hear(first), Effect::Ask);
                assert_eq!(interruption.hear(second), Effect::Kill);
                assert_eq!(interruption.hear(second), Effect::Kill);
            }
        }
    }

    #[test]
    fn the_first_signal_picks_the_exit_code() {
        let mut interruption = Interruption::default();
        assert_eq!(interruption.exit(), None);
        interruption.hear(Heard::Terminate);
        interruption.hear(Heard::Interrupt);
        assert_eq!(interruption.exit(), Some(Exit::Terminated));
    }
}
