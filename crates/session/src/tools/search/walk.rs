//! The walk over a tree.

use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
};

use ignore::{Match, WalkBuilder, gitignore::Gitignore};

use super::{pattern::Pattern, start::shown};

/// Which entries of a tree are meant.
#[derive(Clone, Debug)]
pub(in crate::tools) enum Pick {
    /// All of them.
    Every,
    /// Those that the pattern means.
    Only(Pattern),
    /// All but those, and what is below them.
    Not(Pattern),
}

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Entry {
    /// Where it is; it begins as the root of the walk does.
    pub(in crate::tools) path: PathBuf,
    /// What it is, links not followed.
    pub(in crate::tools) kind: Kind,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a socket, or the like.
    Other,
}

/// Something that could not be read.
#[derive(Debug)]
pub(in crate::tools) struct Unreadable {
    path: PathBuf,
    error: String,
}

impl Unreadable {
    /// `path`, because of `error`.
    pub(in crate::tools) fn new(path: &Path, error: &io::Error) -> Self {
        Self {
            path: path.to_owned(),
            error: error.to_string(),
        }
    }
}

/// The entries below a folder, by name within each folder, a folder before what is in it.
///
/// What `.gitignore`, `.ignore`, and the excludes of git leave out is left out, inside a repository or not, and so is
/// what begins with a dot. The root itself was named, so no rule of a folder above it may leave it out. `.git` is
/// never entered, and no link is followed.
pub(in crate::tools) struct Walk {
    entries: ignore::Walk,
    pick: Pick,
}

impl Walk {
    /// The entries below `root` that `pick` means.
    pub(in crate::tools) fn new(root: &Path, pick: Pick) -> Self {
        let root = match &pick {
            Pick::Only(pattern) => &pattern.base,
            Pick::Every | Pick::Not(_) => root,
        };
        let above = Above::of(root);
        let mut builder = WalkBuilder::new(root);
        builder
            // Where there is no repository the rules count all the same.
            .require_git(above.has_repository)
            .parents(!above.is_ignored)
            .sort_by_file_name(Ord::cmp);
        if let Pick::Only(pattern) = &pick {
            builder.hidden(!pattern.hidden).max_depth(pattern.depth);
        }
        let without = match &pick {
            Pick::Not(pattern) => Some(pattern.clone()),
            Pick::Every | Pick::Only(_) => None,
        };
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_taken_out = |pattern: &Pattern| pattern.takes(entry.path(), is_folder);
            entry.file_name() != ".git" && !without.as_ref().is_some_and(is_taken_out)
        });
        Self {
            entries: builder.build(),
            pick,
        }
    }

    fn means(&self, entry: &Entry) -> bool {
        match &self.pick {
            Pick::Only(pattern) => pattern.takes(&entry.path, entry.kind == Kind::Folder),
            Pick::Every | Pick::Not(_) => true,
        }
    }
}

impl Iterator for Walk {
    type Item = Result<Entry, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = match self.entries.next()? {
                Err(error) => return Some(Err(unreadable(&error))),
                Ok(found) => found,
            };
            if found.depth() == 0 {
                continue;
            }
            let kind = match found.file_type() {
                Some(kind) if kind.is_file() => Kind::File,
                Some(kind) if kind.is_dir() => Kind::Folder,
                _ => Kind::Other,
            };
            let path = found.into_path();
            let entry = Entry { path, kind };
            if self.means(&entry) {
                return Some(Ok(entry));
            }
        }
    }
}

/// What stands above a root.
#[derive(Clone, Copy, Debug, Default)]
struct Above {
    /// A rule leaves the root out.
    is_ignored: bool,
    /// The root is in a repository, at whose top the rules end.
    has_repository: bool,
}

impl Above {
    fn of(root: &Path) -> Self {
        let Ok(root) = root.canonicalize() else {
            return Self::default();
        };
        let top = root.ancestors().find(|folder| folder.join(".git").exists());
        let within = |folder: &&Path| top.is_none_or(|top| folder.starts_with(top));
        let mut folders = root.ancestors().skip(1).take_while(within);
        Self {
            is_ignored: folders.find_map(|folder| rule(folder, &root)) == Some(true),
            has_repository: top.is_some(),
        }
    }
}

/// Whether the ignore files of `folder` leave out `root`, which is below it; `None`: they say nothing of it.
fn rule(folder: &Path, root: &Path) -> Option<bool> {
    [".ignore", ".gitignore"].into_iter().find_map(|name| {
        // A rule that cannot be read counts for nothing in the walk either.
        let (rules, _) = Gitignore::new(folder.join(name));
        match rules.matched_path_or_any_parents(root, true) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        }
    })
}

fn unreadable(error: &ignore::Error) -> Unreadable {
    let path = place(error).map(Path::to_owned).unwrap_or_default();
    // Those around the innermost say the path again.
    let mut cause: &dyn Error = error;
    if let Some(inner) = error.io_error() {
        cause = inner;
    }
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let error = cause.to_string();
    Unreadable { path, error }
}

fn place(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            place(err)
        }
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::Partial(errors) => errors.first().and_then(place),
        _ => None,
    }
}

/// What a search could not read.
#[derive(Debug, Default)]
pub(in crate::tools) struct Unread {
    count: usize,
    first: Option<Unreadable>,
}

impl Unread {
    /// One more.
    pub(in crate::tools) fn add(&mut self, unreadable: Unreadable) {
        self.count += 1;
        self.first.get_or_insert(unreadable);
    }

    /// What an answer says of it, if there is anything to say.
    pub(in crate::tools) fn note(&self, cwd: &Path) -> Option<String> {
        let first = self.first.as_ref()?;
        let (path, error) = (shown(&first.path, cwd), &first.error);
        Some(match self.count {
            1 => format!("[`{path}` could not be read: {error}]\n"),
            count => {
                format!("[{count} files or folders could not be read, first `{path}`: {error}]\n")
            }
        })
    }
}
