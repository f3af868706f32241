//! Which program a child is.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// A program and the arguments that make it a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its path.
    pub path: PathBuf,
    /// Its arguments. Never the task's text.
    pub args: Vec<String>,
}

/// There is no program to start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no `sortie` to start: {tried}; set `SORTIE_BIN` to its path")]
pub struct ProgramError {
    /// Where it was looked for.
    tried: String,
}

impl Program {
    /// Another program that speaks the wire (the `engine` setting).
    pub fn engine(path: PathBuf) -> Self {
        Self {
            path,
            args: Vec::new(),
        }
    }

    /// `sortie session`: `SORTIE_BIN`, else this executable when it is `sortie`, else `sortie` beside it, else on
    /// `PATH`.
    pub fn session() -> Result<Self, ProgramError> {
        let named = std::env::var_os("SORTIE_BIN").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::find(named, std::env::current_exe().ok().as_deref(), &path)
    }

    /// This executable, whatever it is called: a host that calls `sortie_session::run_if_child` first in `main`.
    pub fn this() -> Result<Self, ProgramError> {
        std::env::current_exe()
            .map(Self::child)
            .map_err(|error| ProgramError {
                tried: format!("this executable has no path ({error})"),
            })
    }

    fn child(path: PathBuf) -> Self {
        Self {
            path,
            args: vec!["session".into()],
        }
    }

    fn find(
        named: Option<PathBuf>,
        this: Option<&Path>,
        path: &OsStr,
    ) -> Result<Self, ProgramError> {
        if let Some(named) = named.filter(|named| !named.as_os_str().is_empty()) {
            if named.is_file() {
                return Ok(Self::child(named));
            }
            return Err(ProgramError {
                tried: format!("`SORTIE_BIN` names `{}`, which is no file", named.display()),
            });
        }
        if let Some(this) = this.filter(|this| this.file_name() == Some(OsStr::new("sortie"))) {
            return Ok(Self::child(this.to_owned()));
        }
        let beside = this
            .and_then(Path::parent)
            .map(|folder| folder.join("sortie"));
        let on_path = std::env::split_paths(path).map(|folder| folder.join("sortie"));
        beside
            .into_iter()
            .chain(on_path)
            .find(|candidate| candidate.is_file())
            .map(Self::child)
            .ok_or_else(|| ProgramError {
                tried: match this {
                    Some(this) => format!(
                        "`{}` is another program, and none is beside it or on `PATH`",
                        this.display()
                    ),
                    None => "none is on `PATH`".into(),
                },
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_looked_for_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("bin")).unwrap();
        for name in ["sortie", "host", "bin/sortie", "named"] {
            std::fs::write(at(name), "").unwrap();
        }
        let path = at("bin").into_os_string();
        let find = |named: Option<&str>, this: &str| {
            Program::find(named.map(at), Some(&at(this)), &path).map(|program| program.path)
        };
        assert_eq!(find(Some("named"), "sortie"), Ok(at("named")));
        assert_eq!(find(None, "sortie"), Ok(at("sortie")));
        assert_eq!(find(None, "host"), Ok(at("sortie")));
        assert_eq!(find(None, "elsewhere/host"), Ok(at("bin/sortie")));
        let lost = find(Some("gone"), "sortie").unwrap_err().to_string();
        let shown = lost.replace(&folder.path().display().to_string(), "[DIR]");
        insta::assert_snapshot!(shown, @"no `sortie` to start: `SORTIE_BIN` names `[DIR]/gone`, which is no file; set `SORTIE_BIN` to its path");
        let nowhere =
            Program::find(None, Some(Path::new("/opt/host")), OsStr::new("")).unwrap_err();
        insta::assert_snapshot!(nowhere, @"no `sortie` to start: `/opt/host` is another program, and none is beside it or on `PATH`; set `SORTIE_BIN` to its path");
    }
}
