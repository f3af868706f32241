//! Where a search starts.

use std::{fs, io, path::Path};

use crate::tools::{
    arguments::{Arguments, Named},
    read::missing,
};

/// The file or folder that `path` of `args` names, which has to be there; without one the working folder.
pub(in crate::tools) fn start<'a>(args: Arguments<'a>, cwd: &Path) -> Result<Named<'a>, String> {
    let text = args.optional_text("path")?.filter(|text| !text.is_empty());
    let text = text.unwrap_or(".");
    if text.contains("://") {
        return Err(format!(
            "`{text}` is an address, and only files are searched; `read` opens it"
        ));
    }
    let named = Named {
        text,
        path: cwd.join(text),
    };
    check(&named, cwd)?;
    Ok(named)
}

/// Refuses a place that is not there, or that belongs to git.
pub(super) fn check(place: &Named<'_>, cwd: &Path) -> Result<(), String> {
    let below = place.path.strip_prefix(cwd).unwrap_or(&place.path);
    if below.components().any(|part| part.as_os_str() == ".git") {
        return Err(format!("`{}` is git's own and is not searched", place.text));
    }
    match fs::metadata(&place.path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing(place, cwd)),
        Err(error) => Err(format!("`{}` cannot be read: {error}", place.text)),
    }
}

/// A path as answers show it: from `cwd` where it lies below that.
pub(in crate::tools) fn shown(path: &Path, cwd: &Path) -> String {
    let path = path.strip_prefix(cwd).unwrap_or(path);
    if path.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        path.to_string_lossy().into_owned()
    }
}
