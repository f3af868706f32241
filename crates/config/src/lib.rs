//! Settings and models on disk: the only room that reads or writes them.

mod document;
mod problem;

pub use document::{Kind, Node};
pub use problem::{Problem, Source, nearest};
