//! Writing to the two streams. A reader that went away is not a failure: `sortie agents list | head -3` is done.

use std::{
    io::{self, ErrorKind, Write},
    thread,
};

use tokio::sync::oneshot;

/// Writes `text` to stdout, whole.
pub(crate) fn out(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    unless_gone(
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush()),
    )
}

/// Writes `text` to stderr. Nobody can be told when that fails.
pub(crate) fn err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// What is left to say when a run is over.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// For stdout: the result.
    pub(crate) out: String,
    /// For stderr: what else a person wants to know.
    pub(crate) err: String,
}

/// Writes from a thread of its own, so that a reader who has stopped reading does not keep Ctrl-C from being heard.
pub(crate) fn in_background(shown: Shown) -> oneshot::Receiver<io::Result<()>> {
    let (written, done) = oneshot::channel();
    thread::spawn(move || {
        err(&shown.err);
        written.send(out(&shown.out))
    });
    done
}

/// `result`, where a reader that is gone counts as success.
pub(super) fn unless_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reader_that_is_gone_is_forgiven() {
        assert!(unless_gone(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(unless_gone(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
