//! What is wrong with a command line, for whoever reads JSON.

use clap::error::{ContextKind, ContextValue};
use sortie_config::Problem;

/// How a report goes on after what is wrong.
const REST: [&str; 3] = ["\n\n  tip: ", "\n\nUsage: ", "\n\nFor more information"];

/// A misuse as a problem: what is wrong on one line, with everything that it is about, and what may have been meant.
pub(crate) fn problem(error: &clap::Error) -> Problem {
    let text = error.render().to_string();
    let end = REST.iter().filter_map(|rest| text.find(rest)).min();
    let said = &text[..end.unwrap_or(text.len())];
    let said = said.strip_prefix("error: ").unwrap_or(said);
    let message = match said.split_once(":\n") {
        Some((what, list)) => format!("{what}: {}", one_line(list, ", ")),
        None => one_line(said, " "),
    };
    let problem = Problem::error(message);
    match meant(error) {
        Some(meant) => problem.help(format!("did you mean {meant}?")),
        None => problem,
    }
}

fn one_line(text: &str, between: &str) -> String {
    let lines: Vec<_> = text.trim().lines().map(str::trim).collect();
    lines.join(between)
}

/// The near misses, as clap found them.
fn meant(error: &clap::Error) -> Option<String> {
    let kinds = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
        ContextKind::SuggestedSubcommand,
    ];
    let near = kinds.into_iter().find_map(|kind| error.get(kind))?;
    let near = match near {
        ContextValue::String(name) => vec![name.as_str()],
        ContextValue::Strings(names) => names.iter().map(String::as_str).collect(),
        _ => return None,
    };
    let quoted: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" or "))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::{
        cli::Cli,
        report::{Look, problems},
    };

    fn said(args: &[&str]) -> String {
        let args = ["sortie"].iter().chain(args);
        let error = Cli::try_parse_from(args).unwrap_err();
        problems::text(&[problem(&error)], Look::PLAIN)
    }

    #[test]
    fn a_problem_names_everything_that_it_is_about() {
        insta::assert_snapshot!(said(&["run", "--json"]), @"  × the following required arguments were not provided: <FILE>");
        insta::assert_snapshot!(said(&["task", "--strict"]), @"  × the following required arguments were not provided: --schema <FILE>, <TEXT>");
        insta::assert_snapshot!(said(&["run", "x", "--plan", "--read-only", "--json"]), @"  × the argument '--plan' cannot be used with '--read-only'");
        insta::assert_snapshot!(said(&["run", "x", "--json", "--red-only"]), @"
        × unexpected argument '--red-only' found
        help: did you mean `--read-only`?
        ");
        insta::assert_snapshot!(said(&["task", "x", "--effort", "hig"]), @"
        × invalid value 'hig' for '--effort <LEVEL>' [possible values: lo, med, hi]
        help: did you mean `hi`?
        ");
        insta::assert_snapshot!(said(&["run", "x", "--max-concurrency", "99999999999999"]), @"  × invalid value '99999999999999' for '--max-concurrency <N>': a whole number from 1 to 4294967295 is needed");
    }

    #[test]
    fn a_value_of_many_lines_is_shown_to_its_end() {
        let said = said(&["run", "x", "--max-concurrency", "a\n\nb"]);
        assert!(said.contains("a  b' for"), "{said}");
    }
}
