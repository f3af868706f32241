//! What goes wrong between a session and a model.

use std::time::Duration;

use thiserror::Error;

/// A request that got no whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider answered with an error status.
    #[error("the provider answered {http}: {message}")]
    Status {
        /// The HTTP status.
        http: u16,
        /// The provider's words, shortened.
        message: String,
        /// How long it asked to wait.
        retry_after: Option<Duration>,
    },
    /// The provider could not be reached, or the connection broke.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// The stream ended before the provider said it was done.
    #[error("the answer ended early")]
    Truncated,
    /// Nothing arrived for too long.
    #[error("the provider fell silent")]
    Stalled,
    /// The provider sent an error in the middle of an answer, or something that is no answer.
    #[error("the answer cannot be used: {0}")]
    Answer(String),
    /// The request could not be made: the plan asks for what this client cannot do.
    #[error("the request cannot be made: {0}")]
    Request(String),
    /// The same error for this and every further request: a script says so.
    #[error(transparent)]
    ForGood(Box<Self>),
    /// A scripted model has no turn for this request.
    #[error(
        "the script has no turn for request {0}: no `when` fits it, or the turns of those that do are used up"
    )]
    ScriptEnded(u64),
}

impl ModelError {
    /// What happened, whether or not it happens every time.
    pub(crate) fn itself(&self) -> &Self {
        match self {
            Self::ForGood(error) => error,
            error => error,
        }
    }
}
