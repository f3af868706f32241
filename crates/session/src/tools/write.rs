//! The tool `write`: a whole file.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    io::{self, Write as _},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use serde_json::Value;
use sortie_protocol::redact::Redactor;

use super::{
    Tool, ToolAnswer, ToolContext,
    arguments::{Arguments, Named},
    blocking::on_a_thread,
};

/// Writes `content` to `path`, with the folders it needs.
#[derive(Debug)]
pub(super) struct Write;

#[async_trait]
impl Tool for Write {
    async fn run(&self, args: &Value, context: &ToolContext) -> ToolAnswer {
        let (args, cwd) = (args.clone(), context.cwd.clone());
        let keys = Arc::clone(&context.keys);
        on_a_thread(move || write(&args, &cwd, &keys)).await
    }
}

fn write(args: &Value, cwd: &Path, keys: &Redactor) -> Result<String, String> {
    let args = Arguments::read(args, &["path", "content"])?;
    let file = args.path(cwd)?;
    let content = args.text("content")?;
    if content.contains("[key ")
        && let Ok(old) = fs::read_to_string(&file.path)
        && let Some(shown) = keys.stand_in(&old, content)
    {
        return Err(format!(
            "`{}` was not written: `content` holds `{shown}`, which stands for a key that is not shown, and the file would lose it; use `edit` on the text around it",
            file.text
        ));
    }
    let was = replace(&file, content.as_bytes())?;
    let lines = content.lines().count();
    let lines = if lines == 1 {
        "1 line".to_owned()
    } else {
        format!("{lines} lines")
    };
    let what = match was {
        Was::Absent => "created",
        Was::There => "replaced",
    };
    Ok(format!("{what} `{}` ({lines})\n", file.text))
}

/// What stood in a file's place before it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Was {
    /// Nothing.
    Absent,
    /// A file; its mode was kept.
    There,
}

/// Puts a file of `content` in the place of `file`, whole or not at all: it is written beside and renamed. A link stays,
/// and the file it leads to is written. Only a file with further names (hard links) is written where it is, since those
/// would keep the old content.
pub(super) fn replace(file: &Named<'_>, content: &[u8]) -> Result<Was, String> {
    if file.text.ends_with('/') {
        return Err(format!("`{}` is the path of a folder", file.text));
    }
    try_replace(&file.path, content)
        .map_err(|error| format!("`{}` cannot be written: {error}", file.text))
}

fn try_replace(path: &Path, content: &[u8]) -> io::Result<Was> {
    let target = behind_links(path)?;
    let permissions = match fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(io::Error::other("it is a folder")),
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is no regular file")),
        Ok(found) if found.permissions().readonly() => {
            return Err(io::Error::other("it is write-protected"));
        }
        Ok(found) if found.nlink() > 1 => {
            return fs::write(&target, content).map(|()| Was::There);
        }
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(io::Error::other("it is no path of a file"));
    };
    let was = if permissions.is_some() {
        Was::There
    } else {
        Was::Absent
    };
    fs::create_dir_all(folder)?;
    let beside = folder.join(beside(name));
    let written = write_new(&beside, content, permissions);
    let moved = written.and_then(|()| fs::rename(&beside, &target));
    if moved.is_err() {
        // The first error is the one to tell; a file that was never made cannot be removed.
        let _ = fs::remove_file(&beside);
    }
    moved.map(|()| was)
}

fn write_new(path: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(content)
}

/// A name that no other call uses, hidden from listings, short enough whatever the name is.
fn beside(name: &OsStr) -> String {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let name = name.to_string_lossy();
    let name = &name[..name.floor_char_boundary(100)];
    format!(".{name}.{}-{serial}.new", std::process::id())
}

/// Where `path` leads, when it is a link, even to a file that does not exist yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many as Linux itself follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => {
                path = match path.parent() {
                    Some(folder) => folder.join(target),
                    None => target,
                };
            }
            // No link, or nothing at all.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("it is a link that leads in circles"))
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
