//! One child: turns, model clients, tools, and the yield.
//!
//! `sortie session` calls [`run`]; a host that is its own child calls [`run_if_child`] first in its `main`. Everything
//! that the child does was decided in its [`SessionPlan`](sortie_protocol::SessionPlan); it reads no settings, no
//! catalogue, and no agent file, and it speaks to its root on stdin and stdout alone.
//!
//! - `child` and `arm`: the process, from its first line to its last.
//! - `link`: the pipe.
//! - `serve`: one prompt, from `start` to `finished`.
//! - `turn`: asking, retrying, running tools, reminding.
//! - `result`: what is handed in.
//! - [`model`] and [`tools`]: whom it asks, and what it can do.
//! - `summary`: a long source file in short, for the tool `read`.

mod arm;
mod child;
mod clients;
mod descendants;
mod link;
pub mod model;
mod result;
#[cfg(test)]
mod root_double;
mod serve;
#[cfg(feature = "summary")]
mod summary;
pub mod tools;
mod turn;

pub use child::{run, run_if_child};
