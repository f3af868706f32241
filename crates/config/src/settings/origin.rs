//! A value, and who said it.

use std::{fmt, ops::Deref, path::PathBuf};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A file says so.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A variable says so.
    Variable(String),
    /// A flag of the command line says so.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// A value, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Who said it.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// A value that nobody set.
    pub(crate) fn default(value: T) -> Self {
        Self {
            value,
            origin: Origin::Default,
        }
    }
}

impl<T> Deref for Setting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
