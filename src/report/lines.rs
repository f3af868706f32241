//! Progress where nothing can be redrawn: a line for each thing worth knowing.

use sortie_protocol::{EventKind, RunEvent, RunEventKind};

use super::{
    board::Board,
    figures::{clock, count, duration, money},
    text::on_one_line,
};

/// The longest line, so that a long message cannot drown a log.
const WIDTH: usize = 200;

/// What `event` says to a log; `None` where it is too small a thing. `board` has taken it in already.
pub(super) fn line(event: &RunEvent, board: &Board) -> Option<String> {
    let row = board.row(event.task.as_ref()?)?;
    let what = match &event.kind {
        RunEventKind::Launched { .. } => format!("started: {}, {}", row.agent, row.model),
        RunEventKind::Waiting => "waits for its tasks".to_owned(),
        RunEventKind::Progress { progress } => match progress {
            EventKind::RetryWait { ms, why } => {
                format!("tries again in {}: {why}", duration(*ms))
            }
            EventKind::Switch { from, to, why } => format!("switches from {from} to {to}: {why}"),
            EventKind::Reminder { n } => format!("is reminded to report ({n})"),
            EventKind::Section { label } => format!("handed in `{label}`"),
            EventKind::Notice { text } => text.clone(),
            EventKind::Text { .. }
            | EventKind::Thought { .. }
            | EventKind::Streaming
            | EventKind::ToolStarted { .. }
            | EventKind::ToolEnded { .. } => return None,
        },
        RunEventKind::Ended { result } => {
            let outcome = &result.outcome;
            let mut parts = vec![count(row.requests, "request")];
            parts.extend(row.tokens.map(|tokens| count(tokens, "token")));
            parts.extend(row.cost.map(money));
            parts.push(duration(row.age_ms(event.at_ms)));
            let mut text = format!("{}: {}", outcome.kind, parts.join(", "));
            if let Some(message) = &outcome.message {
                text.push_str(": ");
                text.push_str(message);
            }
            text
        }
        RunEventKind::Started { .. }
        | RunEventKind::Queued { .. }
        | RunEventKind::Requested { .. }
        | RunEventKind::Answered { .. }
        | RunEventKind::Finished => return None,
    };
    Some(on_one_line(
        &format!("{} {} {what}", clock(event.at_ms), row.id),
        WIDTH,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use sortie_protocol::{Outcome, OutcomeKind};

    #[test]
    fn a_log_tells_the_run_without_the_noise() {
        let mut board = Board::default();
        let end = samples::event(
            63_000,
            Some("Split.Left"),
            samples::ended(
                "Split.Left",
                Outcome::new(
                    OutcomeKind::Crashed,
                    "SIGKILL",
                    "the process was killed by SIGKILL\nits last words: `no space left`",
                ),
            ),
        );
        let lines: Vec<_> = samples::events()
            .iter()
            .chain([&end])
            .filter_map(|event| {
                board.apply(event);
                line(event, &board)
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        0:00 Map started: scout, local/small
        0:00 Split started: task, local/small
        0:00 Split tries again in 1.5 s: status 503: overloaded
        0:02 Split waits for its tasks
        0:02 Map completed: 2 requests, 1,250 tokens, $0.0016, 2.2 s
        0:02 Split.Left started: sonic, local/small
        1:03 Split.Left crashed: 1 request, 1 min 00 s: the process was killed by SIGKILL its last words: `no space left`
        ");
    }
}
