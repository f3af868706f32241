//! What `grep` and `glob` share: where a search starts, which names it means, and the walk over a tree.
//!
//! - `start`: the argument `path`.
//! - `pattern`: a glob, taken apart into the folder that it starts from and what has to match below it.
//! - `walk`: the entries of a tree that are meant, in one order, without what its ignore files leave out.

mod pattern;
mod start;
mod walk;

pub(super) use pattern::Pattern;
pub(super) use start::{shown, start};
pub(super) use walk::{Entry, Kind, Pick, Unread, Unreadable, Walk};

/// What both tools say when they found nothing.
pub(super) const LEFT_OUT: &str = "hidden and ignored files are left out unless they are named";
