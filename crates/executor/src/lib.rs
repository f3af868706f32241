//! Many children: dispatch, admission, supervision, and the store.
//!
//! A [`Run`] takes a batch to its results, and a [`DryRun`] to its plans. Read on in this order: `run` and `dispatch` (a batch is checked whole),
//! `supervise` (one child), `spawn` (a child's own tasks enter by the same dispatch). What is decided is decided by
//! pure machines beside them: `admission` (slots and providers), `lifecycle` (asking, terminating, killing), `clocks`,
//! `conclude` (how it ended), and `receipt` (what really ran).
//!
//! This room never links a session: it speaks to a process, through [`Launch`](launch::Launch).

mod admission;
mod bus;
mod clocks;
mod conclude;
mod dispatch;
mod dry_run;
mod error;
#[cfg(test)]
mod fake;
mod family;
mod gate;
mod ground;
mod groundwork;
pub mod history;
mod job;
mod keys;
pub mod launch;
mod lifecycle;
mod names;
mod receipt;
mod recording;
mod request;
mod run;
mod spawn;
#[cfg(test)]
mod stage;
mod stop;
pub mod store;
mod supervise;
pub mod transcript;
mod unix;

pub use bus::Events;
pub use dry_run::DryRun;
pub use job::PlannedTask;
pub use recording::{Recording, RecordingFile};
pub use request::{Door, Draft, read_batch, read_batch_node};
pub use run::{Run, RunOptions};
pub use sortie_policy::{Reason, Why};
pub use stop::Stopper;
pub use unix::become_root;
