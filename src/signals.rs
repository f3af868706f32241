//! Ctrl-C, `SIGTERM`, and `SIGHUP`: the first asks the tasks to stop and report, the second ends them at once.

use std::{fs, io};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// A signal that means the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// `SIGINT`: Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
    /// `SIGHUP`: the terminal is closed.
    HangUp,
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
    /// Takes one signal in. Whoever asks twice, in whatever way, means it; but of a terminal that is closed both the
    /// shell and the kernel tell, so that one only ever asks. `None` says nothing new.
    pub(crate) fn hear(&mut self, heard: Heard) -> Option<Effect> {
        match (self.first, heard) {
            (None, _) => {
                self.first = Some(heard);
                Some(Effect::Ask)
            }
            (Some(_), Heard::HangUp) => None,
            (Some(_), Heard::Interrupt | Heard::Terminate) => Some(Effect::Kill),
        }
    }

    /// How the program ends because of it.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.first.map(|heard| match heard {
            Heard::Interrupt => Exit::Interrupted,
            Heard::Terminate => Exit::Terminated,
            Heard::HangUp => Exit::HungUp,
        })
    }
}

/// Hears the signals of this process. From its making on they no longer end the process by themselves.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` where this process was started to outlive its terminal.
    hang_up: Option<Signal>,
}

impl Signals {
    /// Starts to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: if survives_its_terminal() {
                None
            } else {
                Some(signal(SignalKind::hangup())?)
            },
        })
    }

    /// The next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> Heard {
        tokio::select! {
            _ = self.interrupt.recv() => Heard::Interrupt,
            _ = self.terminate.recv() => Heard::Terminate,
            () = next(self.hang_up.as_mut()) => Heard::HangUp,
        }
    }
}

async fn next(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether `nohup`, or whoever started this process, had it ignore `SIGHUP`. Where that cannot be told, `SIGHUP` is left
/// as it is.
fn survives_its_terminal() -> bool {
    fs::read_to_string("/proc/self/status").map_or(true, |status| ignores_hang_up(&status))
}

/// Whether the process of this `/proc/<pid>/status` ignores `SIGHUP`, which is the first bit of the mask.
fn ignores_hang_up(status: &str) -> bool {
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Heard; 3] = [Heard::Interrupt, Heard::Terminate, Heard::HangUp];

    #[test]
    fn asking_twice_kills_whatever_the_signals_are() {
        for first in ALL {
            for second in [Heard::Interrupt, Heard::Terminate] {
                let mut interruption = Interruption::default();
                assert_eq!(interruption.hear(first), Some(Effect::Ask));
                assert_eq!(interruption.hear(second), Some(Effect::Kill));
                assert_eq!(interruption.hear(second), Some(Effect::Kill));
            }
        }
    }

    #[test]
    fn a_terminal_that_is_closed_is_told_of_twice_and_asks_once() {
        for first in ALL {
            let mut interruption = Interruption::default();
            interruption.hear(first);
            assert_eq!(interruption.hear(Heard::HangUp), None);
            assert_eq!(interruption.hear(Heard::Terminate), Some(Effect::Kill));
        }
    }

    #[test]
    fn a_mask_says_whether_the_terminal_matters() {
        let ignores =
            |mask: &str| ignores_hang_up(&format!("Pid:\t1\nSigIgn:\t{mask}\nSigCgt:\t1\n"));
        assert!(!ignores("0000000000001000"));
        assert!(ignores("0000000000001001"));
        assert!(ignores_hang_up(""));
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
