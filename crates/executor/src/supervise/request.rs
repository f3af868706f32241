//! The model request of a child. It has one at a time.

use crate::gate::{self, Verdict};

/// Where the request of a child is.
pub(super) enum Request {
    /// It has none.
    None,
    /// It asked for one, and has no answer.
    Asked(Asked),
    /// One is out.
    Open {
        /// The `admit` call that let it out.
        admit: u64,
    },
}

/// A request that was asked for.
pub(super) struct Asked {
    /// The `admit` call.
    pub(super) call: u64,
    /// The model: a place in the plan's `candidates`.
    pub(super) candidate: usize,
    pub(super) answer: gate::Answer,
}

impl Request {
    /// Whether `admit` is the call that this request came from.
    pub(super) fn is_of(&self, admit: u64) -> bool {
        match self {
            Self::None => false,
            Self::Asked(asked) => asked.call == admit,
            Self::Open { admit: open } => *open == admit,
        }
    }

    /// Waits for the answer to a request that was asked for; where there is none, for ever.
    ///
    /// Cancel safe.
    pub(super) async fn verdict(&mut self) -> (u64, usize, Verdict) {
        if let Self::Asked(asked) = self {
            if let Ok(verdict) = (&mut asked.answer).await {
                return (asked.call, asked.candidate, verdict);
            }
            // The table no longer knows it.
            *self = Self::None;
        }
        std::future::pending().await
    }
}
