//! Many files, searched side by side and told in the order of their paths.

use std::{
    panic,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use super::{
    look::{Look, Looker},
    page::Page,
    query::Query,
};
use crate::tools::{
    ToolContext,
    search::{Entry, Kind, Pick, Unreadable, Walk},
};

/// How many entries of the walk are searched at a time. What they hold is in memory until it is told.
const BATCH: usize = 128;
/// How many files are worth a further thread.
const WORTH_A_THREAD: usize = 16;
/// The most threads; other children of the same root want the processor too.
const THREADS: usize = 4;

/// A search on its way.
pub(super) struct Sweep<'a> {
    query: &'a Query,
    context: &'a ToolContext,
    page: Page<'a>,
}

type Step = Result<PathBuf, Unreadable>;

impl<'a> Sweep<'a> {
    /// One that writes what it finds to `page`.
    pub(super) fn new(query: &'a Query, context: &'a ToolContext, page: Page<'a>) -> Self {
        Self {
            query,
            context,
            page,
        }
    }

    /// Searches one file.
    pub(super) fn file(mut self, path: &Path) -> Result<Page<'a>, String> {
        self.batch(vec![Ok(path.to_owned())])?;
        Ok(self.page)
    }

    /// Searches the files of a folder that `pick` means, while another thread walks ahead. It ends early once what it
    /// could still find out is not worth the time.
    pub(super) fn folder(mut self, folder: &Path, pick: Pick) -> Result<Page<'a>, String> {
        thread::scope(|scope| {
            let (sender, batches) = mpsc::sync_channel(1);
            scope.spawn(move || walk(Walk::new(folder, pick), &sender));
            for batch in batches {
                self.batch(batch)?;
                if self.page.is_over() {
                    break;
                }
            }
            Ok(self.page)
        })
    }

    fn batch(&mut self, steps: Vec<Step>) -> Result<(), String> {
        let looker = Looker {
            query: self.query,
            keys: &self.context.keys,
            cancel: &self.context.cancel,
            room: self.context.output_limit,
            briefly: self.page.is_full(),
        };
        let looks = side_by_side(looker, &steps);
        if self.context.cancel.is_cancelled() {
            return Err("cancelled".into());
        }
        let mut looks = looks.into_iter();
        for step in steps {
            match step {
                Err(unreadable) => self.page.add_unread(unreadable),
                Ok(path) => {
                    let look = looks.next().unwrap_or(Look::Nothing);
                    self.page.add(&path, look);
                }
            }
        }
        Ok(())
    }
}

/// Sends the files of `walk`, until nobody wants more.
fn walk(walk: Walk, sender: &mpsc::SyncSender<Vec<Step>>) {
    let file = |found: Result<Entry, Unreadable>| match found {
        Ok(entry) => (entry.kind == Kind::File).then_some(Ok(entry.path)),
        Err(unreadable) => Some(Err(unreadable)),
    };
    let mut steps = walk.filter_map(file).peekable();
    while steps.peek().is_some() {
        let batch = steps.by_ref().take(BATCH).collect();
        if sender.send(batch).is_err() {
            return;
        }
    }
}

/// A look at each file of `steps`, in their order.
fn side_by_side(looker: Looker<'_>, steps: &[Step]) -> Vec<Look> {
    let files: Vec<_> = steps.iter().flatten().collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut searcher = looker.searcher();
        let mut looks = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(place) else {
                return looks;
            };
            looks.push((place, looker.look(&mut searcher, file)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let others = cores.min(THREADS).min(1 + files.len() / WORTH_A_THREAD) - 1;
    let mut looks = thread::scope(|scope| {
        let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
        let mut looks = work();
        for other in others {
            match other.join() {
                Ok(more) => looks.extend(more),
                Err(panic) => panic::resume_unwind(panic),
            }
        }
        looks
    });
    looks.sort_by_key(|(place, _)| *place);
    looks.into_iter().map(|(_, look)| look).collect()
}
