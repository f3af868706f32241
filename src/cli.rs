//! The command line, as close to what was typed as possible. Parsing opens nothing.

mod runs;

use std::{num::NonZeroU32, path::PathBuf};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use clap_complete::Shell;
use sortie_protocol::{EffortHint, Mode, schemas::Named};

pub(crate) use self::runs::RunsCommand;
use crate::schema;

/// Runs coding-agent subagents as supervised operating-system processes.
#[derive(Debug, Parser)]
#[command(name = "sortie", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done; of a run: every task completed, and its data fits its schema
  1    a task did not complete, or what was asked for does not exist
  2    nothing ran: usage, settings, or a fault found before the start
  129  its terminal was closed (SIGHUP): tasks stop and report
  130  interrupted (Ctrl-C once: tasks stop and report; twice: at once)
  143  terminated (SIGTERM)

Environment:
  SORTIE_AGENT_DIR  the user's own folder instead of ~/.sortie/agent
  SORTIE_LOG        a log filter for stderr, such as `sortie=debug`; off when unset
  NO_COLOR          no colour";

/// One door each.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a batch of tasks and wait for all of them
    Run(RunArgs),
    /// Run one task and print its output
    Task(TaskArgs),
    /// See which agents there are, and what their files say
    Agents {
        /// What to do.
        #[command(subcommand)]
        command: AgentsCommand,
    },
    /// Look at earlier runs
    Runs {
        /// What to do.
        #[command(subcommand)]
        command: RunsCommand,
    },
    /// Print the JSON Schema of what sortie reads or prints
    #[command(after_help = SCHEMA_HELP)]
    Schema {
        /// Which; without one, all of them are listed
        #[arg(value_parser = schema_name(), hide_possible_values = true)]
        name: Option<Named>,
    },
    /// Be one child: read a plan on stdin, work, and report on stdout
    ///
    /// This is what `sortie run` and `sortie task` start for each task. It speaks the wire on its pipe and is of no
    /// use at a terminal.
    Session,
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  sortie completions bash > ~/.local/share/bash-completion/completions/sortie"
    )]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// `sortie run`
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// The batch, as YAML or JSON; `-` reads it from stdin
    pub(crate) file: PathBuf,
    /// How to run it.
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// How to show it.
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

const RUN_HELP: &str = "\
A batch:
  context: The project is a small web shop.     # every task gets this
  model: local/small                            # --model wins over it
  tasks:
    - {name: Map, agent: scout, task: Find where orders are stored.}
    - {agent: reviewer, task: Review the last change.}

Examples:
  sortie run batch.yaml
  sortie run batch.yaml --dry-run
  sortie run batch.yaml --model openai/gpt-5.4-mini --json > result.json
  sortie run batch.yaml --record monday.yaml
  generate-tasks | sortie run - --max-concurrency 8

Exit codes: 0 all completed and valid, 1 some did not, 2 nothing ran, 129 hung up, 130 interrupted, 143 terminated";

/// `sortie task`
#[derive(Debug, Args)]
#[command(after_help = TASK_HELP)]
pub(crate) struct TaskArgs {
    /// The assignment
    #[arg(value_parser = not_blank, allow_hyphen_values = true)]
    pub(crate) text: String,
    /// The agent that does it; without one, the default agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The task's name, which is also its id
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A JSON Schema (JSON or YAML) that the result must fit; the output is then JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// End the task as `schema_violation` when no try fits the schema
    #[arg(long, requires = "schema")]
    pub(crate) strict: bool,
    /// How hard the model should think, of the levels it has: lo, med, or hi
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    pub(crate) effort: Option<EffortArg>,
    /// How to run it.
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// How to show it.
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

const TASK_HELP: &str = "\
Examples:
  sortie task 'Where are the settings read?' --agent scout
  sortie task 'List the public types' --schema types.json | jq .
  sortie task 'Fix the tests' --agent fixer --dry-run --json | jq '.plans[0].plan.tools[].name'

The output goes to stdout, and everything else to stderr.
Exit codes: 0 completed and valid, 1 not, 2 nothing ran, 129 hung up, 130 interrupted, 143 terminated";

/// How tasks are run.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    /// The active model: `provider/model`, with `:level` for an effort, or a role such as `@smol`
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) model: Option<String>,
    /// Plan mode: agents may only read, and dispatch nobody
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) plan: bool,
    /// No agent gets a tool that writes
    #[arg(long)]
    pub(crate) read_only: bool,
    /// How many children may work at the same time [setting: task.maxConcurrency]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) max_concurrency: Option<NonZeroU32>,
    /// Keep the run's files here instead of under ~/.sortie/agent/runs
    #[arg(long, value_name = "DIR")]
    pub(crate) run_dir: Option<PathBuf>,
    /// A settings file laid over the user's and the project's; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Write the run as a script, NAME.yaml, which replays it offline by `--model script/NAME`
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) record: Option<PathBuf>,
}

impl HowArgs {
    /// The mode that was asked for, which wins over the one in the file.
    pub(crate) fn mode(&self) -> Option<Mode> {
        match (self.plan, self.read_only) {
            (true, _) => Some(Mode::Plan),
            (false, true) => Some(Mode::ReadOnly),
            (false, false) => None,
        }
    }
}

/// How a run is shown.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print one JSON document at the end
    #[arg(long, conflicts_with = "events")]
    json: bool,
    /// Print what happens as it happens, one JSON object a line
    #[arg(long)]
    events: bool,
    /// Show what would run, with what, and why; start nothing, write nothing, and ask no model
    #[arg(long, conflicts_with = "events")]
    pub(crate) dry_run: bool,
}

/// What a run prints on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// Text, for a person.
    Text,
    /// The result, as one JSON document.
    Json,
    /// Every event, as a JSON object a line.
    Events,
}

impl From<ShowArgs> for Show {
    fn from(args: ShowArgs) -> Self {
        match (args.json, args.events) {
            (true, _) => Self::Json,
            (false, true) => Self::Events,
            (false, false) => Self::Text,
        }
    }
}

/// `--effort`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortArg {
    /// The model's first level
    Lo,
    /// The model's lower middle level
    Med,
    /// The model's last level
    Hi,
}

impl From<EffortArg> for EffortHint {
    fn from(effort: EffortArg) -> Self {
        match effort {
            EffortArg::Lo => Self::Lo,
            EffortArg::Med => Self::Med,
            EffortArg::Hi => Self::Hi,
        }
    }
}

/// `sortie agents`
#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the agents: the project's, the user's, and the bundled ones
    ///
    /// Of agents with the same name the first in this order wins; the others are listed as shadowed. A file that
    /// cannot be used is a problem beside the good ones, and does not change the exit code.
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show one agent: every field, and where it comes from
    #[command(after_help = "Exit codes: 0 shown, 1 no such agent or its file is invalid")]
    Show {
        /// The agent's name, exactly.
        name: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
}

const SCHEMA_HELP: &str = "\
Examples:
  sortie schema
  sortie schema result > result.schema.json
  sortie schema event | jq .

Exit codes: 0 printed, 2 no such schema";

/// The names of the schemas, so that shells can complete them and a wrong one is told the nearest.
fn schema_name() -> impl TypedValueParser<Value = Named> {
    let values = schema::all()
        .into_iter()
        .map(|named| PossibleValue::new(named.name).help(named.about));
    PossibleValuesParser::new(values).try_map(|name| {
        let mut all = schema::all().into_iter();
        all.find(|named| named.name == name)
            .ok_or("there is no such schema")
    })
}

fn not_blank(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("an assignment is needed");
    }
    Ok(text.to_owned())
}

fn at_least_one(text: &str) -> Result<NonZeroU32, String> {
    text.parse()
        .map_err(|_| format!("a whole number from 1 to {} is needed", u32::MAX))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_assignment_may_look_like_a_flag_or_a_list() {
        for text in ["- [ ] first", "--not-a-flag", "@notes.txt", "-"] {
            let cli = Cli::try_parse_from(["sortie", "task", text, "--agent", "scout"]).unwrap();
            let Command::Task(args) = cli.command else {
                panic!("not a task");
            };
            assert_eq!(args.text, text);
            assert_eq!(args.agent.as_deref(), Some("scout"));
        }
    }

    #[test]
    fn an_assignment_after_two_dashes_is_never_read_as_flags() {
        let cli = Cli::try_parse_from(["sortie", "task", "--", "--model"]).unwrap();
        let Command::Task(args) = cli.command else {
            panic!("not a task");
        };
        assert_eq!(args.text, "--model");
        assert_eq!(args.how.model, None);
    }

    #[test]
    fn ways_to_show_exclude_each_other() {
        let error = Cli::try_parse_from(["sortie", "run", "-", "--json", "--events"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let error =
            Cli::try_parse_from(["sortie", "run", "-", "--plan", "--read-only"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn limits_that_would_stop_everything_are_refused() {
        for count in ["0", "-1", "many"] {
            let flag = format!("--max-concurrency={count}");
            assert!(Cli::try_parse_from(["sortie", "run", "-", &flag]).is_err());
        }
        assert!(Cli::try_parse_from(["sortie", "task", "  "]).is_err());
    }
}
