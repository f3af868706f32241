//! The shapes of results: JSON Schema, and the JTD dialect that other harnesses write.
//!
//! [`to_json_schema`] turns what a person wrote into JSON Schema, [`check`] says whether that can be used, and a
//! [`Validator`] names everything in a value that does not fit, in words that a model can act on.
//!
//! Nothing here opens a file or a connection: a schema stands for itself, and a `$ref` that leaves it is a fault.

mod check;
mod dialect;
mod explain;
mod fault;
mod jtd;
mod path;
mod validator;
mod words;

pub use check::check;
pub use fault::{SchemaFault, SchemaFaults};
pub use jtd::to_json_schema;
pub use validator::Validator;
