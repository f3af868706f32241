//! What people do with sortie, through the real program and real processes.
//!
//! One module a theme. Nothing here reaches beyond loopback, and nothing waits for time to pass where it can wait for
//! what is meant to happen.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on has failed, wherever it is"
)]

mod addresses;
mod apis;
mod cases_c16;
mod cases_c18;
mod clocks;
mod doors;
mod dry_run;
mod history;
mod interrupt;
mod keys;
mod kill;
mod matrix;
mod one_slot;
mod outcomes;
mod preflight;
mod quickstart;
mod record;
mod recursion;
mod schema;
mod search;
mod stubborn;
mod support;
mod transcript;
mod transport;
