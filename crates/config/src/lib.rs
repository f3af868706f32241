//! Settings and models on disk: the only room that reads or writes them.
//!
//! [`Config::load`] reads everything once, when a run starts: where things are ([`Places`]), how the run behaves
//! ([`Settings`]), and which models there are ([`Models`]). Faults in what people wrote are [`Problem`]s that know
//! the file, the line, and the column, since files are read as trees in which every value knows where it stands
//! ([`Node`]).

mod config;
mod document;
mod environment;
mod fields;
mod memory;
mod models;
mod open;
mod places;
mod problem;
mod scripts;
mod settings;
#[cfg(test)]
mod shown;

pub use config::{Config, LoadOptions};
pub use document::{Kind, Node};
pub use environment::Environment;
pub use models::{
    Available, Hidden, Input, KeySource, LeftOut, Model, Models, Provider, ProviderSource, Running,
    Start, ThinkingMode, Unsayable,
};
pub use places::Places;
pub use problem::{Problem, Source, nearest};
pub use scripts::{Scripts, Unwritable};
pub use settings::{
    Depth, Entries, Flag, FolderNames, Limit, Origin, Setting, Settings, StoreSync,
    settings_markdown, settings_schema,
};
