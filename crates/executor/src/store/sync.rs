//! Flushing to disk, many writes at once.

use std::{
    fs::File,
    io,
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use sortie_config::StoreSync;

/// Flushes files as `store.sync` says: in a thread of its own that takes whatever has gathered (`batch`), at every
/// write (`always`), or not at all (`never`).
///
/// Every write reaches the system before anybody is told, so it survives any kill; flushing is for a power cut.
#[derive(Debug)]
pub(super) struct Syncer {
    mode: StoreSync,
    thread: Option<(mpsc::Sender<Order>, JoinHandle<()>)>,
}

enum Order {
    Dirty(Arc<File>),
    Flush(mpsc::Sender<()>),
}

impl Syncer {
    pub(super) fn new(mode: StoreSync) -> Self {
        let thread = (mode == StoreSync::Batch).then(|| {
            let (sender, orders) = mpsc::channel();
            let thread = std::thread::Builder::new()
                .name("sortie:sync".into())
                .stack_size(128 << 10)
                .spawn(move || flush_in_groups(&orders));
            thread.map(|thread| (sender, thread))
        });
        match thread {
            Some(Ok(thread)) => Self {
                mode,
                thread: Some(thread),
            },
            Some(Err(error)) => {
                tracing::warn!(%error, "no thread to flush in; flushing at every write");
                Self {
                    mode: StoreSync::Always,
                    thread: None,
                }
            }
            None => Self { mode, thread: None },
        }
    }

    /// Something was appended to `file`.
    pub(super) fn appended(&self, file: &Arc<File>) -> io::Result<()> {
        match (&self.thread, self.mode) {
            (Some((sender, _)), _) => {
                // The thread ends only with this value.
                let _ = sender.send(Order::Dirty(Arc::clone(file)));
                Ok(())
            }
            (None, StoreSync::Always) => file.sync_data(),
            (None, _) => Ok(()),
        }
    }

    /// A whole file was written and is about to be renamed.
    pub(super) fn whole(&self, file: &File) -> io::Result<()> {
        if self.mode == StoreSync::Always {
            file.sync_all()
        } else {
            Ok(())
        }
    }

    /// Waits until what was appended so far is flushed.
    pub(super) fn flush(&self) {
        if let Some((sender, _)) = &self.thread {
            let (done, wait) = mpsc::channel();
            if sender.send(Order::Flush(done)).is_ok() {
                let _ = wait.recv();
            }
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

fn flush_in_groups(orders: &mpsc::Receiver<Order>) {
    while let Ok(first) = orders.recv() {
        let mut dirty: Vec<Arc<File>> = Vec::new();
        let mut waiting = Vec::new();
        for order in std::iter::once(first).chain(orders.try_iter()) {
            match order {
                Order::Dirty(file) if dirty.iter().any(|known| Arc::ptr_eq(known, &file)) => {}
                Order::Dirty(file) => dirty.push(file),
                Order::Flush(done) => waiting.push(done),
            }
        }
        for file in dirty {
            if let Err(error) = file.sync_data() {
                tracing::error!(%error, "could not flush the journal");
            }
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}
