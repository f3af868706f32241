//! A project and a home of their own.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// A temporary project folder and, beside it, a temporary home. Both are gone when it is dropped.
#[derive(Debug)]
pub struct Project {
    _dir: TempDir,
    root: PathBuf,
    home: PathBuf,
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}

impl Project {
    /// An empty project, outside any repository, and an empty home.
    ///
    /// # Panics
    ///
    /// Like every function here, when the file system refuses.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("sortie-test-")
            .tempdir()
            .expect("a temporary folder can be made");
        // What programs report is canonical, so what tests compare with has to be too.
        let base = dir.path().canonicalize().expect("the folder is there");
        let (root, home) = (base.join("project"), base.join("home"));
        for folder in [&root, &home.join(".sortie/agent")] {
            fs::create_dir_all(folder).expect("a folder can be made");
        }
        Self {
            _dir: dir,
            root,
            home,
        }
    }

    /// The project folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The user's own folder: what `SORTIE_AGENT_DIR` names.
    pub fn agent_dir(&self) -> PathBuf {
        self.home.join(".sortie/agent")
    }

    /// A place in the project.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file of the project.
    pub fn file(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> &Self {
        write(&self.root.join(path), text.as_ref());
        self
    }

    /// Writes a file of the user's own folder: `models.yml`, `agents/x.md`.
    pub fn user_file(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> &Self {
        write(&self.agent_dir().join(path), text.as_ref());
        self
    }

    /// Writes an agent of the project, header and all.
    pub fn agent(&self, name: &str, text: &str) -> &Self {
        self.file(format!(".sortie/agents/{name}.md"), text)
    }

    /// Writes the user's `config.yml`. (A project's own may only narrow; write that with [`file`](Self::file).)
    pub fn config(&self, text: &str) -> &Self {
        self.user_file("config.yml", text)
    }

    /// Reads a file of the project.
    ///
    /// # Panics
    ///
    /// When it cannot be read as text.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.root.join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A command that runs `binary` in the project, with nothing of this process's environment but `PATH`.
    pub fn sortie(
        &self,
        binary: impl AsRef<OsStr>,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        let mut command = Command::new(binary);
        command
            .args(args)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .env("SORTIE_AGENT_DIR", self.agent_dir());
        command
    }
}

fn write(path: &Path, content: &[u8]) {
    let folder = path.parent().expect("a file stands in a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, content))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_sees_the_project_and_its_home_and_nothing_else() {
        let project = Project::new();
        project
            .agent("x", "---\nname: x\n---\n")
            .config("a: 1\n")
            .file("src/main.rs", "fn main() {}");
        let output = project
            .sortie(
                "sh",
                ["-c", "env; ls -A . .sortie/agents $SORTIE_AGENT_DIR"],
            )
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        for word in ["src", "x.md", "config.yml"] {
            assert!(output.lines().any(|line| line == word), "{output}");
        }
        assert!(output.contains(&format!("HOME={}\n", project.home().display())));
        assert!(!output.contains("CARGO"));
        assert_eq!(project.read("src/main.rs"), "fn main() {}");
    }
}
