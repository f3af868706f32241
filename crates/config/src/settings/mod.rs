//! Settings: one table, and the layers that fill it.
//!
//! Layers, low to high: defaults, the user's `config.yml`, the project's (which may only narrow), files named by
//! `--config`, `SORTIE_*` variables, and flags.

mod describe;
mod entries;
mod kinds;
mod layer;
mod limit;
mod numbers;
mod origin;
mod table;
mod value;

pub use describe::{settings_markdown, settings_schema};
pub use entries::Entries;
pub use kinds::{FolderNames, StoreSync};
pub use layer::Flag;
pub(crate) use layer::{Layer, Owner, Trust, resolve};
pub use limit::{Depth, Limit};
pub use origin::{Origin, Setting};
pub use table::Settings;

#[cfg(test)]
#[path = "narrowing_tests.rs"]
mod narrowing_tests;
#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
