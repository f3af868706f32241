//! What the tests of every room stand on; no program that people run contains it.
//!
//! [`ModelServer`] is a provider that does what providers do to their callers, [`child`] finds the child that keeps
//! no promise, [`Project`] is a project and a home of their own, and [`alive`] says what still runs.

pub mod alive;
pub mod child;
mod project;
mod server;
mod unprivileged;
mod wait;

pub use project::Project;
pub use server::{Hangup, ModelServer, Request, Step, Turn};
pub use unprivileged::Unprivileged;
pub use wait::wait_until;
