//! What a child hands in.
//!
//! [`Desk`] receives `yield` calls and decides whether each is accepted; [`Form`] is the shape it holds them to.

mod desk;
mod form;
mod sections;
mod submission;

pub(crate) use desk::{Desk, HandedIn, Verdict};
pub(crate) use form::Form;
