//! How a door ends: something is shown, and that picks the exit.

use std::io;

use serde::Serialize;
use sortie_config::Problem;

use crate::{
    cli::Show,
    exit::Exit,
    report::{Look, print, problems},
};

/// Prints what was asked for.
pub(crate) fn print(text: &str) -> Exit {
    written(print::out(text))
}

/// Prints what was asked for as one JSON document.
pub(crate) fn print_json(value: &impl Serialize) -> Exit {
    match json(value) {
        Ok(text) => print(&text),
        Err(error) => written(Err(error.into())),
    }
}

/// A value as one JSON document, for a pipe or for a person.
pub(crate) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// The exit after a result was handed to stdout.
pub(crate) fn written(result: io::Result<()>) -> Exit {
    match result {
        Ok(()) => Exit::Done,
        Err(error) => {
            print::err(&format!("error: stdout cannot be written: {error}\n"));
            Exit::NotAll
        }
    }
}

/// Says why nothing ran, in the way that was asked for.
pub(crate) fn nothing_ran(problems: &[Problem], show: Show) -> Exit {
    match show {
        Show::Json => {
            print_json(&problems::as_result(problems));
        }
        Show::Text | Show::Events => warn(problems),
    }
    Exit::NothingRan
}

/// Says why there is nothing to show.
pub(crate) fn not_found(problem: Problem) -> Exit {
    warn(&[problem]);
    Exit::NotAll
}

/// Shows problems on stderr.
pub(crate) fn warn(problems: &[Problem]) {
    print::err(&problems::text(problems, Look::stderr()));
}
