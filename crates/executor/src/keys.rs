//! Commands that print keys: processes of the root, which end with all that they started.

use std::{
    io,
    os::unix::process::CommandExt,
    process::{ChildStdout, Command, ExitStatus, Stdio},
    sync::Arc,
};

use sortie_config::Running;
use sortie_protocol::RunId;

use crate::unix::{Nursery, Ward};

/// Leads the group of a command, and ends all of it when this process is gone: then its stdin ends.
const GUARD: &str = "read -r _; kill -KILL 0";

/// Starts a command of this run.
pub(crate) fn start(run: &RunId, command: &mut Command) -> io::Result<Box<dyn Running>> {
    // What leaves the group is still ours by its environment.
    let session = format!("{run}/");
    let nursery = Arc::new(Nursery::new(format!("SORTIE_SESSION={session}")));
    command.env("SORTIE_SESSION", session);
    Ok(Box::new(Guarded::start(&nursery, command)?))
}

/// A command, and then its guard, in one group. They end in this order, so that the last sweep finds whoever is left of
/// both.
#[derive(Debug)]
struct Guarded([Ward; 2]);

impl Guarded {
    fn start(nursery: &Arc<Nursery>, command: &mut Command) -> io::Result<Self> {
        let guard = nursery.start(
            Command::new("/bin/sh")
                .args(["-c", GUARD])
                .env_clear()
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )?;
        let group = i32::try_from(guard.id()).map_err(io::Error::other)?;
        let command = nursery.start(command.process_group(group))?;
        Ok(Self([command, guard]))
    }
}

impl Running for Guarded {
    fn stdout(&mut self) -> Option<ChildStdout> {
        self.0[0].stdout()
    }

    fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0[0].ended()
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
