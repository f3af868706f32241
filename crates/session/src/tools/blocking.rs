//! File work, off the thread that answers the root.

use super::ToolAnswer;

/// Runs `work` on a thread for blocking work. Dropping the future does not stop it: a file is written whole or not at
/// all, whoever waits.
pub(super) async fn on_a_thread(
    work: impl FnOnce() -> Result<String, String> + Send + 'static,
) -> ToolAnswer {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(text)) => ToolAnswer::done(text),
        Ok(Err(fault)) => ToolAnswer::failed(fault),
        Err(error) => ToolAnswer::failed(format!("the tool broke: {error}")),
    }
}
