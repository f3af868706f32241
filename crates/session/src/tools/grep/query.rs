//! What a call of `grep` asks for.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use serde_json::Value;

use crate::tools::arguments::Arguments;

/// Every argument.
const ARGUMENTS: &[&str] = &[
    "pattern",
    "path",
    "glob",
    "context",
    "before",
    "after",
    "ignoreCase",
    "literal",
    "multiline",
    "show",
    "limit",
];

/// What other tools of this kind call them, where it means just the same.
pub(super) const ALIASES: &[(&str, &str)] = &[
    ("query", "pattern"),
    ("regex", "pattern"),
    ("include", "glob"),
    ("-A", "after"),
    ("-B", "before"),
    ("-C", "context"),
    ("-i", "ignoreCase"),
    ("fixedStrings", "literal"),
    ("head_limit", "limit"),
];

/// What other tools have that is something else here, and what to do.
const ELSEWHERE: &[(&str, &str)] = &[
    ("-n", "lines have their numbers always"),
    ("output_mode", "`show` is `lines` or `files`"),
    ("type", "`glob` picks files, as `*.rs`"),
];

/// The most lines around a match.
const CONTEXT: u32 = 50;
/// The most matching lines, or files, of one answer.
pub(super) const MOST: u32 = 2_000;
/// The same where a call names no number.
const USUAL: u32 = 200;
/// The most matching lines of one file that is among others.
const OF_ONE_FILE: u64 = 50;
/// How large a pattern may become when it is compiled, in bytes: the usual limit of the `regex` crate.
const COMPILED: usize = 10 << 20;
/// The longest pattern whose literal form is spelled out, in bytes.
const SPELLED_OUT: usize = 80;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// The lines that match, and those around them.
    Lines,
    /// The files that have any, and how many.
    Files,
}

/// One search.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) show: Show,
    /// Lines that are shown before a match.
    pub(super) before: u64,
    /// Lines that are shown after a match.
    pub(super) after: u64,
    /// Whether a match may go on over the end of a line.
    pub(super) multiline: bool,
    /// The most matching lines of the answer, or files.
    pub(super) limit: u64,
    /// The most matching lines of one file.
    pub(super) of_one_file: u64,
    hint: &'static str,
}

/// Reads the arguments of a call.
pub(super) fn arguments(args: &Value) -> Result<Arguments<'_>, String> {
    for (name, instead) in ELSEWHERE {
        if args.get(*name).is_some() {
            return Err(format!("unknown argument `{name}`; {instead}"));
        }
    }
    Arguments::read(args, ARGUMENTS)
}

impl Query {
    /// Reads the arguments. A file that is searched `alone` is not held to the share of one among many.
    pub(super) fn read(args: Arguments<'_>, alone: bool) -> Result<Self, String> {
        let pattern = args.text("pattern")?;
        if pattern.is_empty() {
            return Err("`pattern` is empty, expected a regular expression".into());
        }
        let multiline = args.flag("multiline")?;
        let literal = args.flag("literal")?;
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(args.flag("ignoreCase")?)
            .fixed_strings(literal)
            .multi_line(true)
            // Else `$` would never match in a file whose lines end in CR LF.
            .crlf(true)
            .size_limit(COMPILED);
        if multiline {
            builder.line_terminator(None);
        }
        let matcher = builder
            .build(pattern)
            .map_err(|error| fault(pattern, &error))?;
        let around = args.number("context", 0..=CONTEXT)?.unwrap_or(0);
        let before = args.number("before", 0..=CONTEXT)?.unwrap_or(around);
        let after = args.number("after", 0..=CONTEXT)?.unwrap_or(around);
        let show = match args.word("show", &["lines", "files"])? {
            Some("files") => Show::Files,
            _ => Show::Lines,
        };
        let limit = u64::from(args.number("limit", 1..=MOST)?.unwrap_or(USUAL));
        Ok(Self {
            matcher,
            show,
            before: before.into(),
            after: after.into(),
            multiline,
            limit,
            of_one_file: if alone { limit } else { OF_ONE_FILE },
            hint: hint(pattern, literal),
        })
    }

    /// Why nothing was found, perhaps.
    pub(super) fn hint(&self) -> &'static str {
        self.hint
    }
}

/// Other tools write some things differently, and such a pattern is no error here: it means something else.
fn hint(pattern: &str, literal: bool) -> &'static str {
    if literal && pattern.contains('\\') {
        "; with `literal` a backslash is itself"
    } else if !literal && pattern.contains(r"\|") {
        r"; `\|` is the sign itself, either of two is `a|b`"
    } else if !literal && (pattern.contains(r"\(") && pattern.contains(r"\)")) {
        r"; `\(` is the sign itself, a group is `(a)`"
    } else {
        ""
    }
}

fn fault(pattern: &str, error: &grep_regex::Error) -> String {
    if let ErrorKind::NotAllowed(_) = error.kind() {
        return "`pattern` holds the end of a line, and lines are searched one by one; set `multiline: true`, or use `$`"
            .into();
    }
    let Err(told) = regex_syntax::parse(pattern) else {
        return format!("`pattern` cannot be searched for: {error}");
    };
    let told = told.to_string();
    let told = told.trim_start_matches("regex parse error:\n");
    let told = told.replace("\nerror: ", "\n");
    let as_it_stands = if pattern.len() > SPELLED_OUT || pattern.contains(char::is_control) {
        String::new()
    } else {
        format!(", or write `{}`", regex_syntax::escape(pattern))
    };
    format!(
        "`pattern` is no regular expression:\n{told}\nto find it as it stands set `literal: true`{as_it_stands}"
    )
}
