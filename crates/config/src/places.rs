//! The folders that settings, models, agents, and runs live in.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{Environment, Problem};

/// The name of our own folder, in a project and in a home.
pub(crate) const OWN_DIR: &str = ".sortie";

/// Where a run looks for things. Read once; nested spawns use the same places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The folder the run was started in.
    pub cwd: PathBuf,
    /// The nearest folder, from `cwd` upwards, that holds `.git`; `cwd` outside a repository.
    pub project_root: PathBuf,
    /// The project's configuration folders that exist, most important first: for each name of `discovery.configDirs`
    /// the nearest one between `cwd` and `project_root`.
    pub project_dirs: Vec<PathBuf>,
    /// The user's own folder: `SORTIE_AGENT_DIR`, else `~/.sortie/agent`. It need not exist.
    pub user_dir: PathBuf,
    /// The user's folders, most important first: `user_dir`, and `~/NAME/agent` for each other name of
    /// `discovery.configDirs`. They need not exist.
    pub user_dirs: Vec<PathBuf>,
}

impl Places {
    /// Finds them for a run in `cwd`, where `config_dirs` are the names of `discovery.configDirs`.
    ///
    /// The only problem is a user without any folder: neither `HOME` nor `SORTIE_AGENT_DIR` is set.
    pub fn find(
        cwd: &Path,
        environment: &Environment,
        config_dirs: &[String],
    ) -> Result<Self, Problem> {
        let user_dir = user_dir(cwd, environment)?;
        let home = environment.home();
        let repository = cwd.ancestors().find(|folder| folder.join(".git").exists());
        let project_root = repository.unwrap_or(cwd).to_owned();
        let home_itself = home.as_deref().and_then(|home| fs::canonicalize(home).ok());
        let candidates: Vec<&Path> = cwd
            .ancestors()
            .take_while(|folder| folder.starts_with(&project_root))
            .filter(|folder| {
                // A home is nobody's project, even when it is a repository: `~/.sortie` is the user's.
                home_itself.is_none() || fs::canonicalize(folder).ok() != home_itself
            })
            .collect();
        let project_dirs = config_dirs
            .iter()
            .filter_map(|name| {
                candidates
                    .iter()
                    .map(|folder| folder.join(name))
                    .find(|dir| dir.is_dir())
            })
            .collect();
        let mut user_dirs: Vec<PathBuf> = config_dirs
            .iter()
            .filter_map(|name| match name.as_str() {
                OWN_DIR => Some(user_dir.clone()),
                _ => Some(home.as_ref()?.join(name).join("agent")),
            })
            .collect();
        if !user_dirs.contains(&user_dir) {
            user_dirs.insert(0, user_dir.clone());
        }
        Ok(Self {
            cwd: cwd.to_owned(),
            project_root,
            project_dirs,
            user_dir,
            user_dirs,
        })
    }

    /// The folder that this project's runs are kept in: `<user dir>/runs/<project>`.
    ///
    /// The last part begins with the name of the project's folder and ends with a number made from its whole path, so
    /// two checkouts of the same name do not meet.
    pub fn runs_dir(&self) -> PathBuf {
        self.user_dir.join("runs").join(slug(&self.project_root))
    }
}

/// The user's own folder, which is known before any setting is.
pub(crate) fn user_dir(cwd: &Path, environment: &Environment) -> Result<PathBuf, Problem> {
    if let Some(dir) = environment.get_os("SORTIE_AGENT_DIR") {
        return Ok(cwd.join(dir));
    }
    let home = environment.home().ok_or_else(|| {
        Problem::error("there is no folder for your settings: `HOME` is not set")
            .help("set `HOME`, or name a folder in `SORTIE_AGENT_DIR`")
    })?;
    Ok(home.join(OWN_DIR).join("agent"))
}

fn slug(path: &Path) -> String {
    let name: String = match path.components().next_back() {
        Some(Component::Normal(name)) => name
            .to_string_lossy()
            .chars()
            .map(|c| match c {
                c if c.is_ascii_alphanumeric() || "-_.".contains(c) => c,
                _ => '-',
            })
            .take(48)
            .collect(),
        _ => "root".to_owned(),
    };
    // FNV-1a: the same in every version of this program, unlike the standard library's hash.
    let number = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{}-{number:016x}", name.trim_start_matches('.'))
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
