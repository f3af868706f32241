//! What is said to a model that stops without handing anything in.
//!
//! At most three times in a session, firmer each time; then the session ends as it is.

use sortie_prompts::notes;
use sortie_protocol::StopReason;

/// How a model stopped that called no tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// It said something and was done.
    Prose,
    /// It said nothing.
    Empty,
    /// It ran into its output limit.
    Length,
    /// It declined.
    Refusal,
}

impl Idle {
    /// Sorts an answer without calls.
    pub(super) fn of(stop: StopReason, text: &str) -> Self {
        match stop {
            StopReason::Length => Self::Length,
            StopReason::Refusal => Self::Refusal,
            StopReason::Stop | StopReason::ToolUse if text.trim().is_empty() => Self::Empty,
            StopReason::Stop | StopReason::ToolUse => Self::Prose,
        }
    }

    /// How it stopped, after "the model".
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Prose => "ended its turn with text and no `yield`",
            Self::Empty => "ended its turn with nothing at all",
            Self::Length => "ran into its output limit",
            Self::Refusal => "declined to go on",
        }
    }
}

/// One reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reminder {
    /// Which, from 1.
    pub(super) n: u32,
    /// What is said.
    pub(super) text: &'static str,
    /// Whether the next answer has to call `yield`.
    pub(super) demands_yield: bool,
}

/// The reminders of one session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ladder {
    sent: u32,
}

impl Ladder {
    /// The next reminder; `None` once all were sent.
    pub(super) fn next(&mut self) -> Option<Reminder> {
        if self.sent == notes::REMINDERS {
            return None;
        }
        self.sent += 1;
        let n = self.sent;
        Some(Reminder {
            n,
            text: notes::reminder(n),
            demands_yield: n == notes::REMINDERS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_reminder_demands_a_yield_and_none_follows() {
        let mut ladder = Ladder::default();
        let demands: Vec<_> = std::iter::from_fn(|| ladder.next())
            .map(|reminder| (reminder.n, reminder.demands_yield))
            .collect();
        assert_eq!(demands, [(1, false), (2, false), (3, true)]);
        assert_eq!(ladder.next(), None);
    }

    #[test]
    fn blank_text_is_nothing() {
        assert_eq!(Idle::of(StopReason::Stop, " \n"), Idle::Empty);
        assert_eq!(Idle::of(StopReason::Stop, "x"), Idle::Prose);
        assert_eq!(Idle::of(StopReason::Refusal, ""), Idle::Refusal);
        assert_eq!(Idle::of(StopReason::Length, "x"), Idle::Length);
    }
}
