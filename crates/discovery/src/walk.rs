//! Finding the agent files of a folder.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use sortie_config::Problem;

use crate::header::FILE_LIMIT;

/// Something that a walk came upon.
#[derive(Debug)]
pub(crate) enum Found {
    /// A Markdown file and its text.
    File { path: PathBuf, text: String },
    /// Something that cannot be read.
    Problem(Problem),
}

/// Reads the Markdown files of `folder` and its sub-folders, sorted by relative path. A folder that is not there has
/// none.
///
/// A link is followed once, and only to a place within `boundary`. Nothing that cannot be read stops the rest.
pub(crate) fn agent_files(folder: &Path, boundary: &Path) -> Vec<Found> {
    let Ok(real) = fs::canonicalize(folder) else {
        return Vec::new();
    };
    let boundary = fs::canonicalize(boundary).unwrap_or_else(|_| boundary.to_owned());
    if !real.starts_with(&boundary) {
        return vec![Found::Problem(leads_out(folder))];
    }
    let mut walk = Walk {
        boundary,
        seen: HashSet::from([real]),
        found: Vec::new(),
    };
    walk.folder(folder);
    walk.found
}

struct Walk {
    /// The real path of the folder that no link may leave.
    boundary: PathBuf,
    /// The real paths of the folders that were walked.
    seen: HashSet<PathBuf>,
    found: Vec<Found>,
}

impl Walk {
    fn folder(&mut self, folder: &Path) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(folder, "this folder cannot be read", &error),
        };
        let mut known = Vec::new();
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok(entry) => known.push(entry),
                Err(error) => {
                    self.unreadable(folder, "an entry of this folder cannot be read", &error);
                }
            }
        }
        // No result may depend on the order in which the system lists a folder.
        known.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (path, kind) in known {
            if kind.is_symlink() {
                self.link(&path);
            } else if kind.is_dir() {
                self.enter(&path);
            } else if kind.is_file() {
                self.file(&path);
            }
        }
    }

    fn enter(&mut self, folder: &Path) {
        match fs::canonicalize(folder) {
            Ok(real) => {
                if self.seen.insert(real) {
                    self.folder(folder);
                }
            }
            Err(error) => self.unreadable(folder, "this folder cannot be read", &error),
        }
    }

    fn link(&mut self, path: &Path) {
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if is_markdown(path) => {
                return self.unreadable(path, "this link leads nowhere", &error);
            }
            Err(_) => return,
        };
        let (folder, file) = (target.is_dir(), target.is_file());
        if !folder && (!file || !is_markdown(path)) {
            return;
        }
        if !target.starts_with(&self.boundary) {
            return self.found.push(Found::Problem(leads_out(path)));
        }
        if folder {
            if self.seen.insert(target) {
                self.folder(path);
            }
        } else {
            self.file(path);
        }
    }

    fn file(&mut self, path: &Path) {
        if !is_markdown(path) {
            return;
        }
        match read(path) {
            Ok(text) => self.found.push(Found::File {
                path: path.to_owned(),
                text,
            }),
            Err(error) => self.unreadable(path, "this file cannot be read", &error),
        }
    }

    fn unreadable(&mut self, path: &Path, what: &str, error: &io::Error) {
        let problem = Problem::error(format!("{what}: {error}")).in_file(path);
        self.found.push(Found::Problem(problem));
    }
}

fn leads_out(link: &Path) -> Problem {
    Problem::warning("this link leads out of the project and is not followed")
        .in_file(link)
        .help("copy what it leads to, or put it into your own agents folder")
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn read(path: &Path) -> io::Result<String> {
    let size = fs::metadata(path)?.len();
    if size > FILE_LIMIT {
        return Err(io::Error::other(format!(
            "it is longer than {FILE_LIMIT} bytes"
        )));
    }
    String::from_utf8(fs::read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].split(|&b| b == b'\n').count();
        io::Error::other(format!("line {line} is not UTF-8 text"))
    })
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
