//! Keys that a command prints.

use std::{
    io::{self, BufRead, BufReader, Read},
    process::{ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use thiserror::Error;

use crate::Environment;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often its end is looked for.
const GLANCE: Duration = Duration::from_millis(5);

/// The longest line that can be a key, in bytes.
const LONGEST: u64 = 64 << 10;

/// A command that was started. Dropping it ends it, with everything that it started.
pub trait Running {
    /// What it prints; handed out once.
    fn stdout(&mut self) -> Option<ChildStdout>;

    /// How it ended, if it has.
    fn ended(&mut self) -> io::Result<Option<ExitStatus>>;
}

/// Starts a command, and looks after what it starts: only who owns this process can do that.
pub type Start<'a> = &'a dyn Fn(&mut Command) -> io::Result<Box<dyn Running>>;

/// Why a command gave no key. Reads on from its subject, and never holds what it printed.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error("cannot be started: {0}")]
    Start(io::Error),
    #[error("failed: {0}")]
    Failed(ExitStatus),
    #[error("printed nothing")]
    Silent,
    #[error("did not end within 10 seconds")]
    Slow,
}

/// The first line that `command` prints, without the spaces around it. What it says to stderr goes to ours.
pub(super) fn first_line(
    command: &str,
    environment: &Environment,
    start: Start<'_>,
) -> Result<String, Fault> {
    let mut running = start(
        Command::new("/bin/sh")
            .args(["-c", command])
            .env_clear()
            .envs(environment.iter())
            .stdin(Stdio::null())
            .stdout(Stdio::piped()),
    )
    .map_err(Fault::Start)?;
    let line = running.stdout().map(listen);
    let deadline = Instant::now() + PATIENCE;
    wait(&mut *running, deadline)?;
    // What a grandchild still holds open is not waited for: the line came before the end, or not at all.
    let line = line
        .and_then(|line| {
            line.recv_timeout(GLANCE.max(deadline - Instant::now().min(deadline)))
                .ok()
        })
        .unwrap_or_default();
    match line.trim() {
        "" => Err(Fault::Silent),
        key => Ok(key.to_owned()),
    }
}

/// Reads the first line on a thread of its own, and whatever follows, so that nobody is stuck on a full pipe.
fn listen(pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (say, hear) = mpsc::channel();
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        let read = pipe.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.is_ok() {
            // The listener may have left.
            let _ = say.send(String::from_utf8_lossy(&line).into_owned());
        }
        let _ = io::copy(&mut pipe, &mut io::sink());
    });
    hear
}

fn wait(running: &mut dyn Running, deadline: Instant) -> Result<(), Fault> {
    loop {
        match running.ended() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(Fault::Failed(status)),
            // Somebody else in this process has reaped it; what it printed decides.
            Err(_) => return Ok(()),
            Ok(None) if Instant::now() < deadline => thread::sleep(GLANCE),
            Ok(None) => return Err(Fault::Slow),
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use std::process::Child;

    use super::*;

    /// A command that nobody looks after.
    struct Alone(Child);

    impl Running for Alone {
        fn stdout(&mut self) -> Option<ChildStdout> {
            self.0.stdout.take()
        }

        fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
            self.0.try_wait()
        }
    }

    /// Starts one.
    pub(crate) fn start(command: &mut Command) -> io::Result<Box<dyn Running>> {
        Ok(Box::new(Alone(command.spawn()?)))
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
