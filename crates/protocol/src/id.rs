//! Names of runs and of the tasks in them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One run: a root process and everything it dispatched. A UUID v7, so that runs sort by age.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// A fresh id, later than every id made before it on this machine.
    pub fn generate() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }

    /// The id as it stands in paths and on command lines.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for RunId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// One task within a run: `Parent.Child`, one checked name for each level.
///
/// It is also the stem of every file that the task leaves in the run directory.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TaskId(String);

impl TaskId {
    /// The id of a task that `parent` (`None`: the root) dispatched under `name`.
    pub fn under(parent: Option<&Self>, name: &str) -> Self {
        Self(match parent {
            Some(parent) => format!("{parent}.{name}"),
            None => name.to_owned(),
        })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part: the name that the task was dispatched under.
    pub fn name(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or(&self.0)
    }

    /// The task that dispatched this one; `None` is the root.
    pub fn parent(&self) -> Option<Self> {
        self.0
            .rsplit_once('.')
            .map(|(parent, _)| Self(parent.to_owned()))
    }

    /// How far below the root it is: 1 for a task of the root itself.
    pub fn depth(&self) -> u32 {
        u32::try_from(self.0.split('.').count()).unwrap_or(u32::MAX)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for TaskId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// What is wrong with a task's name. Names are refused, never rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameFault {
    /// Longer than a file name should be, or empty.
    #[error("a name has 1 to 48 characters")]
    Length,
    /// A character that could leave the run directory or break an id.
    #[error("a name is made of ASCII letters, digits, `_`, and `-`")]
    Character,
    /// A word that means something else to the roster or in the run directory.
    #[error("this name is reserved")]
    Reserved,
}

/// Checks a task's name against `[A-Za-z0-9_-]{1,48}` and the reserved words.
pub fn check_name(name: &str) -> Result<(), NameFault> {
    const RESERVED: [&str; 5] = ["Main", "all", "main", "sub", "advisor"];
    const RESERVED_FILES: [&str; 4] = ["run", "journal", "plans", "scratch"];
    if name.is_empty() || name.chars().count() > 48 {
        return Err(NameFault::Length);
    }
    if !name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    {
        return Err(NameFault::Character);
    }
    if RESERVED.contains(&name)
        || RESERVED_FILES
            .iter()
            .any(|word| name.eq_ignore_ascii_case(word))
    {
        return Err(NameFault::Reserved);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_ids_know_their_parent_and_depth() {
        let top = TaskId::under(None, "Lead");
        let nested = TaskId::under(Some(&top), "Scan-2");
        assert_eq!(nested.as_str(), "Lead.Scan-2");
        assert_eq!(nested.parent(), Some(top.clone()));
        assert_eq!((top.depth(), nested.depth()), (1, 2));
        assert_eq!(nested.name(), "Scan-2");
        assert_eq!(top.parent(), None);
    }

    #[test]
    fn names_that_could_leave_the_run_directory_are_refused() {
        assert_eq!(check_name("Scout_1-a"), Ok(()));
        assert_eq!(check_name(""), Err(NameFault::Length));
        assert_eq!(check_name(&"x".repeat(49)), Err(NameFault::Length));
        for bad in ["../up", "a/b", "a.b", "a b", "é", "a\0"] {
            assert_eq!(check_name(bad), Err(NameFault::Character), "{bad:?}");
        }
        for word in [
            "Main", "main", "all", "sub", "advisor", "RUN", "Journal", "plans", "scratch",
        ] {
            assert_eq!(check_name(word), Err(NameFault::Reserved), "{word}");
        }
        assert_eq!(check_name("All"), Ok(()));
    }
}
