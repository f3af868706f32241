//! The definitions: agents on disk, and the bundled ones.
