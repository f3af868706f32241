//! What the run keeps of its tasks.

use async_trait::async_trait;

/// What stands at an address of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The text, whole.
    pub text: String,
    /// What is to be known of it, and is no part of it.
    pub note: Option<String>,
}

/// Where a tool finds what the tasks of the run left.
#[async_trait]
pub trait Archive: Send + Sync {
    /// What stands at `uri`, or why nothing does: text for the model.
    async fn read(&self, uri: &str) -> Result<Stored, String>;
}
