//! Being told to stop, from above: once to report, twice to die.

use tokio_util::sync::CancellationToken;

/// Stops a run, or a branch of it. Cheap to clone; every clone stops the same branch.
#[derive(Clone, Debug, Default)]
pub struct Stopper {
    asked: CancellationToken,
    killed: CancellationToken,
}

impl Stopper {
    /// Asks every task to stop and report what it has.
    pub fn ask(&self) {
        self.asked.cancel();
    }

    /// Ends every task at once.
    pub fn kill(&self) {
        self.asked.cancel();
        self.killed.cancel();
    }

    /// Whether anybody has asked.
    pub fn is_asked(&self) -> bool {
        self.asked.is_cancelled()
    }

    /// A branch that stops with this one, and can be stopped alone.
    pub(crate) fn branch(&self) -> Self {
        Self {
            asked: self.asked.child_token(),
            killed: self.killed.child_token(),
        }
    }

    /// Waits to be asked.
    pub(crate) async fn asked(&self) {
        self.asked.cancelled().await;
    }

    /// Waits to be killed.
    pub(crate) async fn killed(&self) {
        self.killed.cancelled().await;
    }
}
