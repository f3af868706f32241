//! The decision: definition, settings, and grant in; effective policy and session plan out.
//!
//! [`resolve`] answers what one task may have, or everything that speaks against it; [`EffectivePolicy::plan`] writes
//! down what its child will do, and [`EffectivePolicy::grant`] what that child may hand down. A child's grant is never
//! wider than its parent's.
//!
//! Opens nothing and reads no clock: a decision depends on its arguments alone. A policy is made only here.

mod agent;
mod effective;
mod effort;
mod family;
mod grant;
mod limits;
mod lookup;
mod model;
mod origin;
mod parameters;
mod plan;
mod resolve;
mod roles;
mod schema;
mod scripts;
mod tool_set;
mod tools;
mod why;
mod world;

pub use effective::EffectivePolicy;
pub use grant::{Grant, RootGrant, RunModel};
pub use plan::Site;
pub use resolve::resolve;
pub use scripts::scripts_named;
pub use why::{Reason, Why};
pub use world::World;

#[cfg(test)]
mod testing;
