//! `sortie runs`, as it is typed.

use clap::Subcommand;

/// `sortie runs`
#[derive(Debug, Subcommand)]
#[command(after_help = with_ids("", FOUND))]
pub(crate) enum RunsCommand {
    /// List this project's runs, newest first
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show how a run, or one task of it, ended
    #[command(after_help = with_ids("", FOUND))]
    Show {
        /// `RUN`, `RUN/TASK`, or `TASK`.
        id: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print the whole output of a task, or a place in its data
    #[command(after_help = with_ids(OUTPUT, THERE))]
    Output {
        /// `RUN/TASK`, or `TASK`.
        id: String,
        /// Print this place in its data instead: text as it is, everything else as JSON; `.` is all of it
        #[arg(short, long, value_name = "PATH", allow_hyphen_values = true)]
        query: Option<String>,
    },
    /// Show what was said in a task, also while it works
    #[command(after_help = with_ids(TRANSCRIPT, THERE))]
    Transcript {
        /// `RUN/TASK`, or `TASK`.
        id: String,
        /// Cut nothing short
        #[arg(long, conflicts_with = "json")]
        whole: bool,
        /// Print one JSON document, with every record as it is stored
        #[arg(long)]
        json: bool,
    },
}

const FOUND: &str = "Exit codes: 0 found, 1 not found or ambiguous";

const THERE: &str = "Exit codes: 0 found, 1 not found, ambiguous, or nothing there";

const OUTPUT: &str = "\
Examples:
  sortie runs output Map
  sortie runs output 01990000/Map -q '.files[0].path'
  sortie runs output Map -q '.[\"odd name\"]'

";

const TRANSCRIPT: &str = "\
Examples:
  sortie runs transcript Map
  sortie runs transcript Release.Notes --whole | less
  sortie runs transcript Map --json | jq '.records[].usage'

";

/// What an id may be, between examples and exit codes.
fn with_ids(examples: &str, exits: &str) -> String {
    format!(
        "\
{examples}RUN is a run's id, or any beginning of it that no other run shares.
A bare TASK is in the newest run of this project that has such a task.
The folder of a run, as given to --run-dir, stands for the run.

{exits}"
    )
}
