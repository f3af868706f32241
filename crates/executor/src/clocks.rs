//! The clocks that can end a child, in virtual time.
//!
//! The first-activity and the idle clock run only while a model request is open (and until the child does
//! anything), so waiting for a slot, for
//! admission, for children, or for a tool costs nothing. The total clock runs from start to end.

use std::time::Duration;

use sortie_protocol::{Clock, Clocks};

/// The clocks of one child. Times are measured from the child's start.
#[derive(Debug)]
pub(crate) struct Watch {
    limits: Clocks,
    begun: bool,
    request: Option<Request>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    last: Duration,
    answered: bool,
}

impl Watch {
    /// Winds the clocks of a child that starts now. The first one runs until it does anything, so that a child that
    /// never gets so far does not stay.
    pub(crate) fn new(limits: Clocks) -> Self {
        Self {
            limits,
            begun: false,
            request: None,
        }
    }

    /// The child did something.
    pub(crate) fn begun(&mut self) {
        self.begun = true;
    }

    /// A model request went out.
    pub(crate) fn opened(&mut self, now: Duration) {
        self.request = Some(Request {
            last: now,
            answered: false,
        });
    }

    /// Something of the answer arrived.
    pub(crate) fn heard(&mut self, now: Duration) {
        if let Some(request) = &mut self.request {
            *request = Request {
                last: now,
                answered: true,
            };
        }
    }

    /// The request is over.
    pub(crate) fn closed(&mut self) {
        self.request = None;
    }

    /// The clock that runs out first, and when.
    pub(crate) fn next(&self) -> Option<(Duration, Clock)> {
        let limit = |ms: u64, from: Duration, clock: Clock| {
            (ms > 0).then(|| (from.saturating_add(Duration::from_millis(ms)), clock))
        };
        let request = self.request.and_then(|request| {
            if request.answered {
                limit(self.limits.idle_ms, request.last, Clock::Idle)
            } else {
                limit(
                    self.limits.first_activity_ms,
                    request.last,
                    Clock::FirstActivity,
                )
            }
        });
        let start = (!self.begun)
            .then(|| {
                limit(
                    self.limits.first_activity_ms,
                    Duration::ZERO,
                    Clock::FirstActivity,
                )
            })
            .flatten();
        let total = limit(self.limits.total_ms, Duration::ZERO, Clock::Total);
        [start, request, total]
            .into_iter()
            .flatten()
            .min_by_key(|&(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Clocks = Clocks {
        first_activity_ms: 1_000,
        idle_ms: 5_000,
        total_ms: 60_000,
        kill_grace_ms: 100,
        bash_timeout_ms: 100,
    };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn each_clock_names_itself() {
        let mut watch = Watch::new(LIMITS);
        assert_eq!(watch.next(), Some((ms(1_000), Clock::FirstActivity)));
        watch.begun();
        assert_eq!(watch.next(), Some((ms(60_000), Clock::Total)));
        watch.opened(ms(500));
        assert_eq!(watch.next(), Some((ms(1_500), Clock::FirstActivity)));
        watch.heard(ms(900));
        assert_eq!(watch.next(), Some((ms(5_900), Clock::Idle)));
        watch.heard(ms(58_000));
        assert_eq!(watch.next(), Some((ms(60_000), Clock::Total)));
    }

    #[test]
    fn waiting_for_anything_but_an_answer_costs_nothing() {
        let mut watch = Watch::new(Clocks {
            total_ms: 0,
            ..LIMITS
        });
        watch.begun();
        watch.opened(ms(0));
        watch.closed();
        watch.heard(ms(10));
        assert_eq!(watch.next(), None);
    }

    #[test]
    fn zero_is_no_limit() {
        let mut watch = Watch::new(Clocks {
            first_activity_ms: 0,
            idle_ms: 0,
            total_ms: 0,
            ..LIMITS
        });
        watch.begun();
        watch.opened(ms(0));
        assert_eq!(watch.next(), None);
        watch.heard(ms(1));
        assert_eq!(watch.next(), None);
    }
}
