//! How a child's part of a script ends, after all that the child was answered.

use sortie_protocol::{
    EndedStatus, Outcome, OutcomeKind, TaskResult,
    script::{ScriptError, Turn},
};

/// The status that stands for "come back later".
const TOO_MANY: u16 = 429;
/// The status that stands for an answer nobody could read.
const UNREADABLE: u16 = 500;
/// The status that stands for one that is none of an error, and is as lasting.
const REFUSED: u16 = 400;

/// How a child's part of a script ends.
#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    /// With its last answer.
    Answered,
    /// With a turn that brings its outcome about.
    By(Box<Turn>),
    /// As it can: no turn brings its outcome about.
    Lost,
}

/// What is known of a task's end beside its result.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known<'a> {
    /// What became of its last request, where that got no answer.
    pub(super) failure: Option<&'a EndedStatus>,
    /// The text of an answer that broke off.
    pub(super) partial: Option<&'a str>,
    /// How many answers it got.
    pub(super) answers: u64,
    /// Whether a task above it ran out of time.
    pub(super) is_below_a_timeout: bool,
}

impl Ending {
    /// How the part of the task with this `result` ends.
    pub(super) fn of(result: &TaskResult, known: Known<'_>) -> Self {
        let outcome = &result.outcome;
        match outcome.kind {
            OutcomeKind::Failed => failed(outcome, known),
            OutcomeKind::TimedOut if outcome.reason.as_deref() == Some("first_activity") => {
                Self::By(Box::new(silence(Turn::default())))
            }
            OutcomeKind::TimedOut => Self::By(Box::new(silence(begun(known.partial)))),
            // It lives until that task takes it along.
            OutcomeKind::Cancelled if known.is_below_a_timeout => {
                Self::By(Box::new(silence(begun(known.partial))))
            }
            OutcomeKind::Cancelled | OutcomeKind::Crashed => Self::Lost,
            // Tries that failed were counted, and are not made again.
            OutcomeKind::Budget
                if outcome.reason.as_deref() == Some("requests")
                    && known.answers < result.requests =>
            {
                Self::Lost
            }
            _ => Self::Answered,
        }
    }
}

/// How a task ends that no model answers any more. What it tried in vain is not tried again, whatever the settings of
/// whoever replays it.
fn failed(outcome: &Outcome, known: Known<'_>) -> Ending {
    let (status, message) = match known.failure {
        Some(EndedStatus::Refused { http, message }) => (*http, message.as_str()),
        Some(EndedStatus::Broken { message }) => (UNREADABLE, message.as_str()),
        // It was not let out: another task had made the provider rest.
        Some(EndedStatus::Answered | EndedStatus::Abandoned) | None => {
            (UNREADABLE, outcome.message.as_deref().unwrap_or_default())
        }
    };
    let status = match outcome.reason.as_deref() {
        // Some providers say it with a status that means something else.
        Some("rate_limited") => TOO_MANY,
        Some("provider_error") if (400..600).contains(&status) => status,
        Some("provider_error") => REFUSED,
        Some("connection") => {
            return Ending::By(Box::new(Turn {
                text: known.partial.map(str::to_owned),
                cut: true,
                repeat: true,
                ..Turn::default()
            }));
        }
        Some("script_ended") => return Ending::Answered,
        _ => return Ending::Lost,
    };
    Ending::By(Box::new(Turn {
        text: known.partial.map(str::to_owned),
        error: Some(ScriptError {
            status,
            message: Some(message.to_owned()),
            retry_after_s: None,
        }),
        repeat: true,
        ..Turn::default()
    }))
}

/// The beginning of an answer, for a clock that runs between two pieces of one. What is thought is no part of a result.
fn begun(partial: Option<&str>) -> Turn {
    let think = partial.is_none().then(|| "(no text)".to_owned());
    Turn {
        think,
        text: partial.map(str::to_owned),
        ..Turn::default()
    }
}

fn silence(turn: Turn) -> Turn {
    Turn {
        stall: true,
        ..turn
    }
}

#[cfg(test)]
#[path = "ending_tests.rs"]
mod tests;
