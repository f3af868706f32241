//! The definitions: agents on disk, and the bundled ones.
//!
//! - [`Catalog::discover`] walks the folders that [`Places`](sortie_config::Places) names and reads every agent file.
//! - [`AgentDefinition`] is what one file says: normalised, every field with its place, and checked against no policy.
//! - [`Catalog::find`] looks a name up: found, there but invalid, or unknown.
//!
//! A bad file never hides a good one. It becomes a [`Problem`](sortie_config::Problem) beside it.

mod catalog;
mod definition;
mod fields;
mod header;
mod read;
mod recover;
mod walk;

pub use catalog::{Catalog, Lookup, Shadowed};
pub use definition::{
    AgentDefinition, Field, HandOver, Span, ToolEntry, ToolKind, Tools, UnknownKey,
};
