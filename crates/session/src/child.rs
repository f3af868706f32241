//! The process of a child, from its first line to its last.

use std::{
    env,
    io::{self, Write},
    os::fd::AsFd,
    process::{self, ExitCode},
};

use sortie_protocol::{Hello, PROTOCOL_VERSION, Up, codec::encode};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
    runtime,
};

use crate::{
    arm::{self, ArmError, TOLD_TO_GO},
    clients::Clients,
    descendants,
    serve::serve,
};

/// Is the child, when this process was started as one: `PROGRAM session` with `SORTIE_SESSION` set. Returns otherwise.
///
/// A host that links this crate and launches itself calls this first in its `main`, before any thread exists.
#[expect(
    clippy::exit,
    reason = "the host's own `main` must not go on in a child"
)]
pub fn run_if_child() {
    let mut args = env::args_os().skip(1);
    let is_session = args.next().is_some_and(|arg| arg == "session") && args.next().is_none();
    if is_session && env::var_os("SORTIE_SESSION").is_some() {
        process::exit(i32::from(live(|| {})));
    }
}

/// Is the child: arms this process, serves one prompt on stdin and stdout, ends what it started, and returns the code
/// to exit with. To be called before any thread exists.
///
/// `armed` runs once the process is armed and before anything else: the place to start a log on stderr.
pub fn run(armed: impl FnOnce()) -> ExitCode {
    ExitCode::from(live(armed))
}

fn live(on_armed: impl FnOnce()) -> u8 {
    let armed = match arm::arm() {
        Ok(armed) => armed,
        Err(ArmError::Orphaned) => return TOLD_TO_GO,
        Err(error) => return complain(&error),
    };
    on_armed();
    match converse(armed) {
        Ok(()) => {
            descendants::end_all();
            0
        }
        Err(error) => complain(&error),
    }
}

fn converse(armed: bool) -> io::Result<()> {
    say_hello(armed)?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let served = serve(stdin()?, stdout()?, |plan, secrets| {
            Clients::new(secrets, plan.scratch.clone())
        });
        Ok::<_, io::Error>(served.await)
    })?;
    // A blocking read of something that is no pipe would be waited for.
    runtime.shutdown_background();
    if served.is_err() {
        arm::leave();
    }
    Ok(())
}

/// The first line, written before anything that takes time.
fn say_hello(armed: bool) -> io::Result<()> {
    let hello = Up::Hello(Hello {
        version: PROTOCOL_VERSION,
        pid: process::id(),
        armed,
    });
    let mut line = Vec::new();
    encode(&hello, &mut line).map_err(io::Error::other)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

/// Stdin without a thread where it is a pipe, as a root gives it; through one where somebody typed.
fn stdin() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(match pipe::Receiver::from_owned_fd(stdin) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    })
}

/// Stdout, likewise.
fn stdout() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(match pipe::Sender::from_owned_fd(stdout) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdout()),
    })
}

/// Stderr is the root's log.
fn complain(error: &dyn std::error::Error) -> u8 {
    let source = error
        .source()
        .map(|source| format!(": {source}"))
        .unwrap_or_default();
    let _ = writeln!(io::stderr(), "sortie session: {error}{source}");
    1
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
