//! The tool `bash`: one command in a shell.

use std::{io, os::unix::process::ExitStatusExt, path::Path, process::ExitStatus, time::Duration};

use async_trait::async_trait;
use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::process::Command;

use super::{
    Tool, ToolAnswer, ToolContext,
    arguments::{Arguments, wrong},
    output::Capture,
    process::{Running, Sign, Stopped},
};

/// The longest that a command has to end once it is asked to, whatever the session's own grace is: its caller waits.
const LONGEST_GRACE: Duration = Duration::from_millis(500);

/// Runs `command` with `bash -c`, or `sh -c` where there is no `bash`.
///
/// Returns when the shell ends. What the command leaves in the background lives on, until the session ends; only a
/// timeout (`timeoutS`, else `bash.timeoutMs`) and a cancel end the whole group.
#[derive(Debug)]
pub(super) struct Bash;

#[async_trait]
impl Tool for Bash {
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer {
        let wish = match Wish::read(args, context) {
            Ok(wish) => wish,
            Err(fault) => return ToolAnswer::failed(fault),
        };
        if context.cancel.is_cancelled() {
            return ToolAnswer::failed("cancelled before it started");
        }
        match start(wish.command, &context.cwd) {
            Ok(running) => watch(running, wish.limit, context).await,
            Err(error) => ToolAnswer::failed(format!("the shell cannot be started: {error}")),
        }
    }
}

/// What the arguments ask for.
struct Wish<'a> {
    command: &'a str,
    limit: Duration,
}

impl<'a> Wish<'a> {
    fn read(args: &'a Value, context: &ToolContext) -> Result<Self, String> {
        let args = Arguments::read(args, &["command", "timeoutS"])?;
        let command = args.text("command")?;
        if command.trim().is_empty() {
            return Err("`command` is empty, expected a shell command".into());
        }
        if command.contains('\0') {
            return Err("`command` holds a NUL byte, which no command line can".into());
        }
        let limit = match args.optional("timeoutS") {
            None => context.bash_timeout,
            Some(value) => value
                .as_f64()
                .filter(|seconds| *seconds > 0.0)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .ok_or_else(|| wrong("timeoutS", value, "a number of seconds above 0"))?,
        };
        Ok(Self { command, limit })
    }
}

fn start(command: &str, cwd: &Path) -> io::Result<Running> {
    if !cwd.is_dir() {
        // Else it reads as if the shell itself were missing.
        return Err(io::Error::other(format!(
            "the working folder `{}` is gone",
            cwd.display()
        )));
    }
    match Running::start(shell("bash", command, cwd)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Running::start(shell("sh", command, cwd))
        }
        result => result,
    }
}

fn shell(program: &str, line: &str, cwd: &Path) -> Command {
    let mut command = Command::new(program);
    // `--`: a command that starts with a dash is no option.
    command.args(["-c", "--", line]).current_dir(cwd);
    command
}

/// How a command came to its end.
enum End {
    Exited(ExitStatus),
    Lost(io::Error),
    TimedOut(Stopped, Duration),
    Cancelled(Stopped),
}

async fn watch(mut running: Running, limit: Duration, context: &ToolContext) -> ToolAnswer {
    let mut capture = Capture::new(context, "bash");
    let grace = context.kill_grace.min(LONGEST_GRACE);
    let clock = tokio::time::sleep(limit);
    tokio::pin!(clock);
    let end = loop {
        tokio::select! {
            () = context.cancel.cancelled() => {
                break End::Cancelled(running.stop(grace, |bytes| capture.push(bytes)).await);
            }
            () = &mut clock => {
                break End::TimedOut(running.stop(grace, |bytes| capture.push(bytes)).await, limit);
            }
            sign = running.next() => match sign {
                Sign::Output(bytes) => capture.push(&bytes),
                Sign::Exit(Ok(status)) => break End::Exited(status),
                Sign::Exit(Err(error)) => break End::Lost(error),
            },
        }
    };
    let held = running.drain(|bytes| capture.push(bytes)).await;
    let mut output = capture.finish();
    if held && matches!(end, End::Exited(_)) {
        output.push_str(
            "[something it left in the background still runs; what that writes from now on is not kept]\n",
        );
    }
    answer(&end, &output)
}

fn answer(end: &End, output: &str) -> ToolAnswer {
    let shown = if output.is_empty() {
        "[no output]\n"
    } else {
        output
    };
    let what = match end {
        End::Exited(status) if status.success() => return ToolAnswer::done(shown),
        End::Exited(status) => ended(*status),
        End::Lost(error) => format!("its exit status was lost: {error}"),
        End::TimedOut(stopped, limit) => format!(
            "timed out after {} s and was {}",
            limit.as_secs_f64(),
            how(*stopped)
        ),
        End::Cancelled(stopped) => format!("cancelled, and was {}", how(*stopped)),
    };
    ToolAnswer::failed(format!("{what}\n{shown}"))
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("killed by {signal}"),
            Err(_) => format!("killed by signal {number}"),
        },
        (None, None) => status.to_string(),
    }
}

fn how(stopped: Stopped) -> &'static str {
    match stopped {
        Stopped::Asked => "ended by SIGTERM",
        Stopped::Killed => "killed by SIGKILL, since it did not end when asked to",
    }
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod tests;
