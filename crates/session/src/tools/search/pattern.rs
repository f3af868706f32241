//! A glob.

use std::path::{Path, PathBuf};

use globset::{ErrorKind, GlobBuilder, GlobMatcher};

use super::start::{check, shown};
use crate::tools::arguments::Named;

/// A glob, with the part of it that is a plain path taken off its front: that much of a tree need not be walked.
///
/// `*` and `?` stay within a name, `**` goes through folders. A pattern without a `/` is matched with names at every
/// depth. What is spelled just like the pattern is meant as well, whatever its brackets say.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Pattern {
    /// The folder that everything else is below.
    pub(in crate::tools) base: PathBuf,
    /// The path that is spelled like the pattern.
    pub(in crate::tools) exact: PathBuf,
    /// How many levels below `base` a match can be; `None`: any.
    pub(super) depth: Option<usize>,
    /// Whether it asks for names that begin with a dot.
    pub(super) hidden: bool,
    /// It ends in `/`.
    folders_only: bool,
    matcher: GlobMatcher,
}

impl Pattern {
    /// The pattern `text`, relative to the folder `from`. `name` is the argument it came in.
    pub(in crate::tools) fn new(name: &str, text: &str, from: &Path) -> Result<Self, String> {
        let bare = text.trim_end_matches('/');
        if bare.is_empty() {
            return Err(format!(
                "`{name}` is `{text}`, expected a glob such as `src/**/*.rs`"
            ));
        }
        let (front, rest) = split(bare);
        let anywhere = !bare.contains('/');
        let whole = if anywhere {
            format!("**/{rest}")
        } else {
            rest.to_owned()
        };
        let glob = GlobBuilder::new(&whole)
            .literal_separator(true)
            .empty_alternates(true)
            .build();
        let glob = glob.map_err(|error| {
            format!(
                "`{name}` is `{text}`, which is no glob: {}; a special character that means itself is written in brackets, as `[[]`",
                fault(error.kind())
            )
        })?;
        Ok(Self {
            // Without the dots and slashes that mean nothing.
            base: from.join(front).components().collect(),
            exact: from.join(bare),
            depth: (!whole.contains("**")).then(|| whole.matches('/').count() + 1),
            hidden: names_hidden(rest),
            folders_only: bare.len() < text.len(),
            matcher: glob.compile_matcher(),
        })
    }

    /// Refuses a pattern that starts from a folder that is not there.
    pub(in crate::tools) fn check(&self, cwd: &Path) -> Result<(), String> {
        let text = shown(&self.base, cwd);
        check(
            &Named {
                text: &text,
                path: self.base.clone(),
            },
            cwd,
        )?;
        if self.base.is_dir() {
            Ok(())
        } else {
            Err(format!("`{text}` is no folder"))
        }
    }

    /// Whether it means the entry `path`.
    pub(in crate::tools) fn takes(&self, path: &Path, is_folder: bool) -> bool {
        if self.folders_only && !is_folder {
            return false;
        }
        path == self.exact
            || path
                .strip_prefix(&self.base)
                .is_ok_and(|rest| self.matcher.is_match(rest))
    }
}

fn fault(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::UnclosedClass => "a `[` has no `]`".into(),
        ErrorKind::UnclosedAlternates => "a `{` has no `}`".into(),
        ErrorKind::UnopenedAlternates => "a `}` has no `{`".into(),
        ErrorKind::InvalidRange(from, to) => format!("`{from}-{to}` goes backwards"),
        ErrorKind::DanglingEscape => "nothing follows its last `\\`".into(),
        other => other.to_string(),
    }
}

/// `pattern` as a plain path up to a `/`, and the rest, which is at least one name.
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{', '\\']);
    let plain = &pattern[..special.unwrap_or(pattern.len())];
    let front = plain.rfind('/').map_or(0, |slash| slash + 1);
    pattern.split_at(front)
}

/// Whether some name of `pattern` begins with a dot.
fn names_hidden(pattern: &str) -> bool {
    let mut before = '/';
    pattern.chars().any(|c| {
        let begins = c == '.' && matches!(before, '/' | '{' | ',' | '[');
        before = c;
        begins
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new("pattern", text, Path::new("/here")).unwrap()
    }

    #[test]
    fn the_plain_front_is_where_the_walk_starts() {
        let parts = |text: &str| {
            let pattern = pattern(text);
            (pattern.base.display().to_string(), pattern.depth)
        };
        assert_eq!(parts("*.rs"), ("/here".into(), None));
        assert_eq!(parts("./*.rs"), ("/here".into(), Some(1)));
        assert_eq!(parts("src/*/a?.rs"), ("/here/src".into(), Some(2)));
        assert_eq!(parts("src/**/*.rs"), ("/here/src".into(), None));
        assert_eq!(parts("src/main.rs"), ("/here/src".into(), Some(1)));
        assert_eq!(parts("../a/{b/c,d}"), ("/here/../a".into(), Some(2)));
        assert_eq!(parts("/etc/*"), ("/etc".into(), Some(1)));
        assert_eq!(parts("/*"), ("/".into(), Some(1)));
    }

    #[test]
    fn what_a_pattern_means() {
        let takes = |text: &str, path: &str| pattern(text).takes(Path::new(path), false);
        assert!(takes("*.rs", "/here/a.rs"));
        assert!(takes("*.rs", "/here/deep/down/a.rs"));
        assert!(!takes("./*.rs", "/here/deep/a.rs"));
        assert!(takes("src/*.{rs,toml}", "/here/src/a.toml"));
        assert!(!takes("src/*.rs", "/here/src/deep/a.rs"));
        assert!(takes("src/**/*.rs", "/here/src/a.rs"));
        assert!(takes("src/**", "/here/src/deep/a"));
        assert!(!takes("src/**", "/here/other"));
        assert!(takes("app/[slug]/page.tsx", "/here/app/[slug]/page.tsx"));
        assert!(takes("app/[[]slug]/*", "/here/app/[slug]/x"));
        assert!(takes(r"app/\[slug]/*", "/here/app/[slug]/x"));
        assert!(!takes("src/", "/here/src"));
        assert!(pattern("src/").takes(Path::new("/here/src"), true));
    }

    #[test]
    fn a_dot_has_to_be_asked_for() {
        for text in [".env*", "**/.config/*", "{.a,b}", "{a,.b}", "[.]x", "a/.*"] {
            assert!(pattern(text).hidden, "{text}");
        }
        for text in ["*.rs", "a.b/*", "**/*.{ts,js}", "x?.y"] {
            assert!(!pattern(text).hidden, "{text}");
        }
    }

    #[test]
    fn what_is_no_glob_is_said() {
        let refused = |text: &str| Pattern::new("glob", text, Path::new("/here")).unwrap_err();
        let refusals: Vec<_> = ["", "/", "src/[a", "{a,b", "a}", "[z-a]", "x\\"]
            .map(refused)
            .into();
        insta::assert_snapshot!(refusals.join("\n"), @r"
        `glob` is ``, expected a glob such as `src/**/*.rs`
        `glob` is `/`, expected a glob such as `src/**/*.rs`
        `glob` is `src/[a`, which is no glob: a `[` has no `]`; a special character that means itself is written in brackets, as `[[]`
        `glob` is `{a,b`, which is no glob: a `{` has no `}`; a special character that means itself is written in brackets, as `[[]`
        `glob` is `a}`, which is no glob: a `}` has no `{`; a special character that means itself is written in brackets, as `[[]`
        `glob` is `[z-a]`, which is no glob: `z-a` goes backwards; a special character that means itself is written in brackets, as `[[]`
        `glob` is `x\`, which is no glob: nothing follows its last `\`; a special character that means itself is written in brackets, as `[[]`
        ");
    }
}
