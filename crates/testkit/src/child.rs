//! The child that keeps no promise: where it is, and what it can be told to do.
//!
//! It speaks the wire and does what the first `{"do": ...}` in its prompt says: see the head of its source,
//! `src/bin/sortie-testkit-child.rs`. What has to be known before the first line goes up is given as `--do`.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// The program, which cargo puts beside the tests when it builds the workspace.
///
/// # Panics
///
/// When it has not been built.
pub fn binary() -> PathBuf {
    let test = env::current_exe().expect("a test knows where it is");
    let found = test
        .ancestors()
        .skip(1)
        .take(3)
        .map(|folder| folder.join("sortie-testkit-child"))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "no `sortie-testkit-child` beside {}; build it with `cargo build -p sortie-testkit`",
            test.display()
        )
    })
}

/// Writes a program to `folder` that is the child with `behaviour` given as `--do`, and returns its path.
///
/// # Panics
///
/// When the file system refuses.
pub fn told(folder: &Path, behaviour: &Value) -> PathBuf {
    let path = folder.join("told-child");
    let quoted = |text: String| format!("'{}'", text.replace('\'', r"'\''"));
    let script = format!(
        "#!/bin/sh\nexec {} --do {} \"$@\"\n",
        quoted(binary().display().to_string()),
        quoted(behaviour.to_string()),
    );
    fs::write(&path, script).expect("the folder can be written to");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    path
}
