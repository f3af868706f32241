//! The life of one child, as a function from inputs to effects.
//!
//! Nothing here reads a clock, a pipe, or a process: [`Lifecycle::handle`] is told what happened and when, and says
//! what to do. The supervisor around it owns the `select!`.
//!
//! ```text
//! starting ──hello──► running ──report──► reported ──gone──► gone
//!    │                   │                    │ half the grace
//!    └──── stop ─────────┤                    ▼
//!                        ▼               terminated
//!                      asked ──half──►        │ the other half
//!                        │ stop again         ▼
//!                        └───────────────► killed ──gone──► gone
//! ```

use std::time::Duration;

use sortie_protocol::Clock;

/// How long a process may take to say hello.
pub(crate) const HELLO: Duration = Duration::from_secs(30);

/// Why we, rather than the child, ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// Somebody wanted it to stop.
    Cancelled,
    /// A clock ran out.
    Clock(Clock),
    /// It does not speak the wire.
    Wire,
    /// What it does cannot be stored.
    Store,
    /// What it was to be told cannot be sent.
    Unsendable,
}

impl StopReason {
    /// What the child is told.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Clock(clock) => clock.as_str(),
            Self::Wire => "wire",
            Self::Store => "store",
            Self::Unsendable => "too_long",
        }
    }
}

/// Where a child is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The process exists but has not said hello.
    Starting,
    /// It said hello.
    Running,
    /// Its report is in; it is leaving by itself.
    Reported,
    /// It was asked to stop and report.
    Asked,
    /// It was sent `SIGTERM`.
    Terminated,
    /// It was sent `SIGKILL`.
    Killed,
    /// It and all that it started are gone.
    Gone,
}

/// Something that happened to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Its first line arrived.
    Hello,
    /// Its last line arrived.
    Report,
    /// It is to stop, and may report what it has.
    Stop(StopReason),
    /// It is to stop at once.
    Kill(StopReason),
    /// The [`deadline`](Lifecycle::deadline) passed.
    Deadline,
    /// The process was reaped.
    Gone,
}

/// Something the supervisor must now do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Ask it to stop and report.
    Ask,
    /// Send `SIGTERM`.
    Terminate,
    /// Send `SIGKILL`.
    Kill,
    /// Nothing. Not an `Option`: `?` on one would skip the state change.
    None,
}

/// The state machine. Times are measured from the child's start.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    state: State,
    stopped: Option<StopReason>,
    grace: Duration,
    deadline: Option<Duration>,
}

impl Lifecycle {
    /// A child whose process was just started. From being asked to being killed it has `grace`
    /// (`task.killGraceMs`): half of it to report, the other half to clean up.
    pub(crate) fn new(grace: Duration) -> Self {
        Self {
            state: State::Starting,
            stopped: None,
            grace,
            deadline: Some(HELLO),
        }
    }

    /// Where it is.
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Why we stopped it, if we did.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }

    /// When [`Input::Deadline`] is due.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Moves on by one input.
    ///
    /// A second [`Input::Stop`] kills at once: whoever asks twice means it.
    pub(crate) fn handle(&mut self, now: Duration, input: Input) -> Effect {
        let half = now + self.grace / 2;
        let (next, deadline, effect) = match (self.state, input) {
            (State::Gone, _) | (State::Killed, Input::Kill(_)) => return Effect::None,
            (_, Input::Gone) => (State::Gone, None, Effect::None),
            (State::Starting, Input::Hello) => (State::Running, None, Effect::None),
            (State::Starting | State::Running | State::Asked, Input::Report) => {
                (State::Reported, Some(half), Effect::None)
            }
            (State::Starting | State::Running, Input::Stop(reason)) => {
                self.stopped = Some(reason);
                (State::Asked, Some(half), Effect::Ask)
            }
            (State::Starting, Input::Deadline) => {
                self.stopped = Some(StopReason::Wire);
                (State::Killed, None, Effect::Kill)
            }
            (State::Asked | State::Reported, Input::Deadline) => {
                (State::Terminated, Some(half), Effect::Terminate)
            }
            (State::Asked | State::Terminated, Input::Stop(_))
            | (State::Terminated, Input::Deadline) => (State::Killed, None, Effect::Kill),
            (_, Input::Kill(reason)) => {
                // Who has reported is only slow to leave; nothing is taken from it.
                if self.state != State::Reported {
                    self.stopped.get_or_insert(reason);
                }
                (State::Killed, None, Effect::Kill)
            }
            (_, Input::Hello | Input::Report | Input::Stop(_) | Input::Deadline) => {
                return Effect::None;
            }
        };
        self.state = next;
        self.deadline = deadline;
        effect
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GRACE: Duration = Duration::from_secs(4);
    const T: Duration = Duration::from_secs(10);

    fn running() -> Lifecycle {
        let mut life = Lifecycle::new(GRACE);
        assert_eq!(life.handle(T, Input::Hello), Effect::None);
        life
    }

    #[test]
    fn a_child_is_asked_then_terminated_then_killed_within_its_grace() {
        let mut life = running();
        assert_eq!(
            life.handle(T, Input::Stop(StopReason::Cancelled)),
            Effect::Ask
        );
        assert_eq!(life.deadline(), Some(T + GRACE / 2));
        assert_eq!(
            life.handle(T + GRACE / 2, Input::Deadline),
            Effect::Terminate
        );
        assert_eq!(life.deadline(), Some(T + GRACE));
        assert_eq!(life.handle(T + GRACE, Input::Deadline), Effect::Kill);
        assert_eq!((life.state(), life.deadline()), (State::Killed, None));
        assert_eq!(life.stopped(), Some(StopReason::Cancelled));
    }

    #[test]
    fn asking_twice_kills() {
        let mut life = running();
        life.handle(T, Input::Stop(StopReason::Clock(Clock::Idle)));
        assert_eq!(
            life.handle(T, Input::Stop(StopReason::Cancelled)),
            Effect::Kill
        );
        assert_eq!(life.stopped(), Some(StopReason::Clock(Clock::Idle)));
    }

    #[test]
    fn a_process_that_says_nothing_is_killed() {
        let mut life = Lifecycle::new(GRACE);
        assert_eq!(life.deadline(), Some(HELLO));
        assert_eq!(life.handle(HELLO, Input::Deadline), Effect::Kill);
        assert_eq!(life.stopped(), Some(StopReason::Wire));
    }

    #[test]
    fn a_child_that_reported_but_stays_is_ended_without_being_called_stopped() {
        let mut life = running();
        assert_eq!(life.handle(T, Input::Report), Effect::None);
        assert_eq!(
            life.handle(T, Input::Stop(StopReason::Cancelled)),
            Effect::None
        );
        assert_eq!(
            life.handle(T + GRACE / 2, Input::Deadline),
            Effect::Terminate
        );
        assert_eq!(life.handle(T + GRACE, Input::Deadline), Effect::Kill);
        assert_eq!(life.stopped(), None);
    }

    fn input() -> impl Strategy<Value = Input> {
        prop_oneof![
            Just(Input::Hello),
            Just(Input::Report),
            Just(Input::Stop(StopReason::Cancelled)),
            Just(Input::Kill(StopReason::Wire)),
            Just(Input::Deadline),
            Just(Input::Gone),
        ]
    }

    proptest! {
        #[test]
        fn nothing_happens_after_the_end_and_nobody_is_killed_twice(
            inputs in prop::collection::vec(input(), 0..30)
        ) {
            let mut life = Lifecycle::new(GRACE);
            let (mut kills, mut asks) = (0, 0);
            for (second, input) in (0..).zip(inputs) {
                let was_gone = life.state() == State::Gone;
                let effect = life.handle(Duration::from_secs(second), input);
                prop_assert!(!was_gone || effect == Effect::None);
                kills += usize::from(effect == Effect::Kill);
                asks += usize::from(effect == Effect::Ask);
                // Whoever is starting or being ended has a deadline or was killed: no wait is unbounded.
                let settled = matches!(life.state(), State::Running | State::Killed | State::Gone);
                prop_assert_eq!(settled, life.deadline().is_none());
            }
            prop_assert!(kills <= 1 && asks <= 1);
        }
    }
}
