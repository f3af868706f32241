//! Settings: one table, and the layers that fill it.
//!
//! Layers, low to high: defaults, the user's `config.yml`, the project's (which may only narrow), files named by
//! `--config`, `SORTIE_*` variables, and flags.

mod describe;
mod kinds;
mod layer;
mod limit;
mod origin;
mod table;
mod value;

pub use describe::{settings_markdown, settings_schema};
pub use kinds::{Entries, FolderNames, StoreSync};
pub use layer::Flag;
pub(crate) use layer::{Layer, Owner, Trust, resolve};
pub use limit::{Depth, Limit};
pub use origin::{Origin, Setting};
pub use table::Settings;

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
