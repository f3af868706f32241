//! Every text that a model reads.
//!
//! - [`agents`]: the bundled agents, as the Markdown files they are.
//! - [`system`]: the system prompt of a child, put together from its pieces.
//! - [`notes`]: what a session says to its model on the way: reminders, budgets, calls that did not run.
//! - [`tools`]: the descriptions of the tools.
//!
//! The texts are files beside this crate's sources. A `{{name}}` in one is a place that code fills; see [`fill`].

pub mod agents;
mod fill;
pub mod notes;
pub mod system;
pub mod tools;

pub use fill::fill;
