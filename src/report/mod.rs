//! The only room that prints. Everything else hands it values.
//!
//! Results go to stdout; progress and problems go to stderr. The texts are made by pure functions ([`summary`],
//! [`problems`], [`lines`], [`table`]) and written by threads of their own ([`progress`], [`events`], [`print`]), so
//! that a terminal that is slow, stopped, or gone never holds a run up.

mod board;
pub(crate) mod events;
mod excerpt;
pub(crate) mod figures;
mod lines;
mod look;
pub(crate) mod print;
pub(crate) mod problems;
pub(crate) mod progress;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod summary;
pub(crate) mod table;
mod text;

pub(crate) use look::Look;
pub(crate) use text::{few, on_one_line, without_controls};
