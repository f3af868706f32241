//! Faults in what a person wrote: what, where, and what to do.

use std::fmt::Write as _;

use miette::{GraphicalReportHandler, GraphicalTheme};
use sortie_config::Problem;
use sortie_protocol::{RunProblem, RunResult};

use super::Look;

/// The problems as reports with the lines they are about.
pub(crate) fn text(problems: &[Problem], look: Look) -> String {
    let theme = if look.color {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_links(false);
    let mut text = String::new();
    for problem in problems {
        if !text.is_empty() {
            text.push('\n');
        }
        if handler.render_report(&mut text, problem).is_err() {
            // The snippet could not be cut out of its source.
            let _ = writeln!(text, "{problem}");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// The problems as `--json` prints them: a run that never was.
pub(crate) fn as_result(problems: &[Problem]) -> RunResult {
    RunResult {
        run: None,
        run_dir: None,
        tasks: Vec::new(),
        problems: problems
            .iter()
            .map(|problem| RunProblem::from(problem.row()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use sortie_config::Source;

    use super::*;

    fn problems() -> Vec<Problem> {
        let text = "tasks:\n  - agent: scout\n    taks: Look.\n";
        let source = Source::new("batch.yaml", text);
        let at = text.find("taks").unwrap();
        vec![
            Problem::error("unknown key `taks`")
                .at(&source, at..at + 4)
                .help("did you mean `task`?"),
            Problem::warning("no such folder").in_file("/home/me/agents"),
        ]
    }

    #[test]
    fn a_problem_shows_the_line_it_is_about() {
        insta::assert_snapshot!(super::text(&problems(), Look::PLAIN), @"
         × unknown key `taks`
          ╭─[batch.yaml:3:5]
        2 │   - agent: scout
        3 │     taks: Look.
          ·     ──┬─
          ·       ╰── here
          ╰────
         help: did you mean `task`?

         ⚠ /home/me/agents: no such folder
        ");
    }

    #[test]
    fn a_run_that_never_was_lists_its_problems() {
        let json = serde_json::to_string_pretty(&as_result(&problems())).unwrap();
        insta::assert_snapshot!(json, @r#"
        {
          "run": null,
          "tasks": [],
          "problems": [
            {
              "file": "batch.yaml",
              "line": 3,
              "column": 5,
              "message": "unknown key `taks`",
              "help": "did you mean `task`?"
            },
            {
              "file": "/home/me/agents",
              "line": null,
              "column": null,
              "message": "no such folder",
              "help": null
            }
          ]
        }
        "#);
    }
}
