//! The doors of sortie: one file a subcommand, thin. Each reads what was typed, hands it to the crates below, and shows
//! what comes back.

mod agents;
mod answer;
mod cli;
mod completions;
mod dry_run;
mod exit;
mod inputs;
mod log;
mod misuse;
mod report;
mod run;
mod runs;
mod schema;
mod signals;
mod task;
mod watch;

use std::{env, ffi::OsStr, process::ExitCode};

use clap::Parser;

use crate::{
    cli::{Cli, Command, Show},
    exit::Exit,
    report::{Look, print},
};

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    // A child does nothing before it has armed itself. `sortie session --help` is not one.
    if args.next().is_some_and(|door| door == "session") && args.next().is_none() {
        return sortie_session::run(log::start_in_child);
    }
    log::start();
    match Cli::try_parse() {
        Ok(Cli { command }) => match command {
            Command::Run(args) => run::run(&args),
            Command::Task(args) => task::task(&args),
            Command::Agents { command } => agents::agents(&command),
            Command::Runs { command } => runs::runs(&command),
            Command::Schema { name } => schema::schema(name.as_ref()),
            Command::Completions { shell } => completions::completions(shell),
            Command::Session => return sortie_session::run(log::start_in_child),
        },
        Err(error) => misused(&error),
    }
    .into()
}

/// Shows what is wrong with the command line, or the help that was asked for, which clap calls an error too.
fn misused(error: &clap::Error) -> Exit {
    let text = |look: Look| {
        if look.color {
            error.render().ansi().to_string()
        } else {
            error.render().to_string()
        }
    };
    if !error.use_stderr() {
        return answer::print(&text(Look::stdout()));
    }
    print::err(&text(Look::stderr()));
    // Whoever reads JSON gets JSON, even when the flag beside `--json` was wrong.
    let asked = |flag: &str| env::args_os().skip(2).any(|arg| arg == OsStr::new(flag));
    let runs = env::args_os()
        .nth(1)
        .is_some_and(|door| door == "run" || door == "task");
    if runs && asked("--json") {
        return answer::nothing_ran(&[misuse::problem(error)], Show::Json);
    }
    Exit::NothingRan
}
