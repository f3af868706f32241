//! The variables a run was started with, as a value.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
    sync::Arc,
};

/// The environment, read once. Cheap to clone.
///
/// Nothing else in this crate looks at the process, so a test states its own variables. Keys of providers are
/// among the values, so `Debug` shows names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(Arc<BTreeMap<String, OsString>>);

impl Environment {
    /// The environment of this process. Variables whose names are not UTF-8 are left out, and `HOME` is looked up
    /// in the user database when it is not set.
    pub fn current() -> Self {
        let mut variables: BTreeMap<String, OsString> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        if variables.get("HOME").is_none_or(|home| home.is_empty())
            && let Some(home) = std::env::home_dir()
        {
            variables.insert("HOME".to_owned(), home.into_os_string());
        }
        Self(Arc::new(variables))
    }

    /// The value of a variable that is set to some UTF-8 text. An empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name)?.to_str()
    }

    /// The value of a variable that is set and not empty.
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.0
            .get(name)
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// Every variable, empty ones too, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_os_str()))
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.get_os("HOME").map(PathBuf::from)
    }
}

impl<K: Into<String>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(Arc::new(
            variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_unset_and_values_are_not_shown() {
        let environment = Environment::from_iter([("A", ""), ("KEY", "hush")]);
        assert_eq!(environment.get("A"), None);
        assert_eq!(environment.get("KEY"), Some("hush"));
        assert_eq!(format!("{environment:?}"), r#"{"A", "KEY"}"#);
    }
}
