//! `--events`: every event of a run as one JSON object a line, on stdout.

use std::{
    io::{self, BufWriter, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender, TryRecvError},
    },
    thread,
};

use sortie_protocol::{RunEvent, RunEventKind};
use tokio::sync::oneshot;

use super::print::unless_gone;

/// How many events may wait for a slow reader before a child's progress is left out. What a run itself did never is.
const BACKLOG: usize = 10_000;

/// The lines of one run.
#[derive(Debug)]
pub(crate) struct Lines {
    events: Sender<RunEvent>,
    waiting: Arc<AtomicUsize>,
    done: oneshot::Receiver<io::Result<()>>,
}

impl Lines {
    /// Starts to write to stdout, from a thread of its own.
    pub(crate) fn start() -> Self {
        Self::to(io::stdout())
    }

    fn to(stream: impl Write + Send + 'static) -> Self {
        let (events, receiver) = mpsc::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let (written, done) = oneshot::channel();
        thread::spawn(move || {
            let result = write(&receiver, &counter, BufWriter::new(stream));
            let _ = written.send(unless_gone(result));
        });
        Self {
            events,
            waiting,
            done,
        }
    }

    /// Takes one event in. Never waits for the reader.
    pub(crate) fn apply(&self, event: &RunEvent) {
        let progress = matches!(event.kind, RunEventKind::Progress { .. });
        if progress && self.waiting.load(Ordering::Relaxed) >= BACKLOG {
            return;
        }
        // A reader that is gone ends the lines, not the run: its results are stored.
        if self.events.send(event.clone()).is_ok() {
            self.waiting.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Becomes ready when the last line is written.
    pub(crate) fn finish(self) -> oneshot::Receiver<io::Result<()>> {
        self.done
    }
}

fn write(
    events: &Receiver<RunEvent>,
    waiting: &AtomicUsize,
    mut stream: impl Write,
) -> io::Result<()> {
    loop {
        // A reader sees every line at once, unless more are already there.
        let event = match events.try_recv() {
            Ok(event) => event,
            Err(TryRecvError::Disconnected) => return stream.flush(),
            Err(TryRecvError::Empty) => {
                stream.flush()?;
                match events.recv() {
                    Ok(event) => event,
                    Err(_) => return stream.flush(),
                }
            }
        };
        waiting.fetch_sub(1, Ordering::Relaxed);
        serde_json::to_writer(&mut stream, &event)?;
        stream.write_all(b"\n")?;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::report::samples;

    /// A reader that looks at what was written afterwards.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A reader that went away.
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn every_event_is_a_line_that_reads_back() {
        let kept = Kept::default();
        let lines = Lines::to(kept.clone());
        for event in samples::events() {
            lines.apply(&event);
        }
        lines.finish().blocking_recv().unwrap().unwrap();
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let read: Vec<RunEvent> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, samples::events());
    }

    #[test]
    fn a_reader_that_is_gone_is_no_failure() {
        let lines = Lines::to(Gone);
        for event in samples::events() {
            lines.apply(&event);
        }
        assert!(lines.finish().blocking_recv().unwrap().is_ok());
    }
}
