//! Running a program as somebody who may do little.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// The user and the group of somebody who owns nothing.
const NOBODY: u32 = 65_534;

/// A copy of a program, in a folder of its own that belongs to user 65534.
///
/// Root may do things that others may not, and test machines often run as root: what has to work for everybody is
/// tried with this.
#[derive(Debug)]
pub struct Unprivileged {
    dir: TempDir,
    binary: PathBuf,
}

impl Unprivileged {
    /// Copies `binary`.
    ///
    /// # Panics
    ///
    /// When the file system refuses.
    pub fn copy_of(binary: impl AsRef<Path>) -> Self {
        let binary = binary.as_ref();
        let dir = tempfile::Builder::new()
            .prefix("sortie-nobody-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir()
            .expect("a temporary folder can be made");
        let copy = dir
            .path()
            .join(binary.file_name().expect("a program has a name"));
        fs::copy(binary, &copy).unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        if is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).expect("root gives folders away");
        }
        Self { dir, binary: copy }
    }

    /// The folder, which that user may write to.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A command that runs the copy as that user, or as the user of this process when that is not root.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(self.dir()).env("HOME", self.dir());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_runs_as_nobody_and_may_write_to_its_folder() {
        let shell = Unprivileged::copy_of("/bin/sh");
        let output = shell
            .command()
            .args(["-c", "id -u && touch here && echo written"])
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        assert!(!output.starts_with("0\n"), "{output}");
        assert!(output.ends_with("written\n"), "{output}");
    }
}
