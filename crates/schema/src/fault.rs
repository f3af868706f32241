//! What is wrong with a schema.

use std::fmt;

use thiserror::Error;

/// Everything that makes a schema unusable, in the order in which it stands there. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct SchemaFaults(Vec<SchemaFault>);

/// One thing that is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// Where in the schema: `properties.notes.items`; empty is the schema itself.
    pub path: String,
    /// What is wrong there, as a fragment.
    pub message: String,
}

impl SchemaFaults {
    /// Each fault.
    pub fn iter(&self) -> impl Iterator<Item = &SchemaFault> {
        self.0.iter()
    }

    pub(crate) fn one(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self(vec![SchemaFault {
            path: path.into(),
            message: message.into(),
        }])
    }

    /// `Ok` where nothing was found.
    pub(crate) fn unless_empty(faults: Vec<SchemaFault>) -> Result<(), Self> {
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Self(faults))
        }
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for SchemaFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}
