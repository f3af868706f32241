//! Faults in what a person wrote: what, where, and what to do.

use std::fmt::Write as _;

use miette::{GraphicalReportHandler, GraphicalTheme};
use sortie_config::Problem;
use sortie_protocol::{RunProblem, RunResult};
use textwrap::{WordSeparator, WordSplitter};

use super::{Look, excerpt::Shown, figures::grouped};

/// How many problems are shown: nobody reads more, and the first ones often explain the rest.
const MOST: usize = 20;

/// The problems as reports with the lines they are about; of very many only the first ones, errors before others.
pub(crate) fn text(problems: &[Problem], look: Look) -> String {
    let handler = handler(look);
    let mut worst: Vec<&Problem> = problems.iter().collect();
    if worst.len() > MOST {
        worst.sort_by_key(|problem| !problem.is_error());
        worst.truncate(MOST);
    }
    let mut text = String::new();
    for &problem in &worst {
        if !text.is_empty() {
            text.push('\n');
        }
        let shown = Shown::of(problem);
        if handler.render_report(&mut text, &shown).is_err() {
            // The snippet could not be cut out of its source.
            let _ = writeln!(text, "{shown}");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    let more = problems.len() - worst.len();
    if more > 0 {
        let _ = writeln!(text, "\nand {} more", grouped(more as u64));
    }
    text
}

/// Lines are as long as they are where nobody looks, so that a path can be found and copied; a terminal's are broken,
/// but never within a word.
fn handler(look: Look) -> GraphicalReportHandler {
    let theme = if look.color {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_wrap_lines(look.terminal)
        .with_break_words(false)
        .with_word_separator(WordSeparator::AsciiSpace)
        .with_word_splitter(WordSplitter::NoHyphenation)
        .with_links(false)
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
    fn a_line_that_a_program_wrote_is_shown_where_it_is_wrong() {
        let task = r#"{"agent": "scout", "task": "Lookük."}, "#;
        let text = format!(
            r#"{{"tasks": [{}{{"agent": "scout", "taks": "Look."}}, {}]}}"#,
            task.repeat(1_000),
            task.repeat(1_000)
        );
        let source = Source::new("batch.json", &*text);
        let at = text.find("\"taks").unwrap();
        let key = Problem::error("unknown key `taks`").at(&source, at..at + 6);
        let rest = Problem::error("too much").at(&source, at..text.len());
        insta::assert_snapshot!(super::text(&[key, rest], Look::PLAIN), @r#"
         × unknown key `taks`
          ╭─[batch.json:1:39031]
        1 │ … "task": "Lookük."}, {"agent": "scout", "taks": "Look."}, {"agent": "scout", "task": "Lookük."}, {"a…
          ·                                          ───┬──
          ·                                             ╰── here
          ╰────

         × too much
          ╭─[batch.json:1:39031]
        1 │ … "task": "Lookük."}, {"agent": "scout", "taks": "Look."}, {"agent": "scout", "task": "Lookük."}, {"a…
          ·                                          ──────────────────────────────┬─────────────────────────────
          ·                                                                        ╰── here
          ╰────
        "#);
    }

    #[test]
    fn neighbours_of_a_line_are_no_longer_than_it() {
        let long = "x".repeat(10_000);
        let text = format!("# {long}\ntaks: Look.\n# {long}\n");
        let source = Source::new("batch.yaml", &*text);
        let at = text.find("taks").unwrap();
        let problem = Problem::error("unknown key `taks`").at(&source, at..text.len());
        insta::assert_snapshot!(super::text(&[problem], Look::PLAIN), @"
         × unknown key `taks`
          ╭─[batch.yaml:2:1]
        1 │ # xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
        2 │ taks: Look.
          · ─────┬─────
          ·      ╰── here
        3 │ # xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
          ╰────
        ");
    }

    #[test]
    fn of_very_many_problems_the_first_errors_are_shown() {
        let mut problems: Vec<_> = (0..900)
            .map(|n| Problem::warning(format!("warning {n}")))
            .collect();
        problems.extend((0..980).map(|n| Problem::error(format!("error {n}"))));
        let text = super::text(&problems, Look::PLAIN);
        assert_eq!(text.matches("× error").count(), MOST);
        assert!(text.ends_with("× error 19\n\nand 1,860 more\n"), "{text}");
        assert_eq!(as_result(&problems).problems.len(), problems.len());
        let text = super::text(&problems[..MOST], Look::PLAIN);
        assert!(text.ends_with("warning 19\n"), "{text}");
    }

    #[test]
    fn a_path_is_never_broken() {
        let path = "/home/me/a-folder/of-many/words-with/hyphens-in-them/01990000-1111-7000-8000-000000000002/it.yaml";
        let problem = Problem::error("cannot be read: no such file or directory, which is a pity")
            .in_file(path)
            .help(format!("`run` wants a batch file, such as `{path}`"));
        let text = super::text(std::slice::from_ref(&problem), Look::PLAIN);
        assert_eq!(text.lines().count(), 2, "{text}");
        let narrow = Look {
            terminal: true,
            width: 50,
            ..Look::PLAIN
        };
        insta::assert_snapshot!(super::text(&[problem], narrow), @"
        × /home/me/a-folder/of-many/words-with/hyphens-in-them/01990000-1111-7000-8000-000000000002/it.yaml:
        │ cannot be read: no such file or directory,
        │ which is a pity
        help: `run` wants a batch file, such as
              `/home/me/a-folder/of-many/words-with/hyphens-in-them/01990000-1111-7000-8000-000000000002/it.yaml`
        ");
    }

    #[test]
    fn what_a_file_says_cannot_drive_the_terminal() {
        let text = "na\x1b[2Jme: \u{202e}x\n";
        let source = Source::new("a\x1b[2J.yaml", text);
        let problem = Problem::error("unknown key `na\x1b[2Jme`")
            .at(&source, 0..9)
            .label("\x1b[2J")
            .help("\x1b[2J");
        let shown = super::text(&[problem], Look::PLAIN);
        assert!(!shown.contains(['\x1b', '\u{202e}']), "{shown:?}");
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
