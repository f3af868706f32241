//! A request that got no answer, as a turn.

use sortie_protocol::{
    EndedStatus, Outcome, OutcomeKind,
    script::{ScriptError, Turn},
};

/// The status that stands for "come back later".
const TOO_MANY: u16 = 429;
/// The status that stands for an answer nobody could read.
const BROKEN: u16 = 500;

/// A request that got no answer.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) model: String,
    pub(super) status: EndedStatus,
    pub(super) retry_after_ms: Option<u64>,
}

impl Failure {
    /// The turn that fails in the same way, for a task that ended with `outcome`. `None` where the failure did not end
    /// it.
    pub(super) fn turn(&self, outcome: &Outcome) -> Option<Turn> {
        let reason = outcome.reason.as_deref();
        match (outcome.kind, &self.status) {
            (OutcomeKind::TimedOut, EndedStatus::Abandoned) if reason != Some("total") => {
                Some(Turn {
                    stall: true,
                    ..Turn::default()
                })
            }
            (OutcomeKind::Failed | OutcomeKind::TimedOut, EndedStatus::Refused { http, .. }) => {
                Some(self.error(match reason {
                    // Some providers say it with a status that means something else, and in words that are not kept.
                    Some("rate_limited") => TOO_MANY,
                    // A script has no other statuses; one that is no error is never tried again either.
                    _ if (400..600).contains(http) => *http,
                    _ => 400,
                }))
            }
            (OutcomeKind::Failed, EndedStatus::Broken { .. })
                if reason == Some("provider_error") =>
            {
                Some(self.error(BROKEN))
            }
            (OutcomeKind::Failed | OutcomeKind::TimedOut, EndedStatus::Broken { .. }) => {
                Some(Turn {
                    cut: true,
                    ..Turn::default()
                })
            }
            // What was abandoned was abandoned for another reason, and what failed did not keep the task from its end.
            _ => None,
        }
    }

    fn error(&self, status: u16) -> Turn {
        #[expect(clippy::cast_precision_loss, reason = "a wait is far below 2^52 ms")]
        let retry_after_s = self.retry_after_ms.map(|ms| ms as f64 / 1e3);
        Turn {
            error: Some(ScriptError {
                status,
                retry_after_s,
            }),
            ..Turn::default()
        }
    }
}
