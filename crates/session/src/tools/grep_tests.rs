use serde_json::json;

use crate::tools::fixture::Bench;

/// A small project.
pub(super) fn tree() -> Bench {
    let bench = Bench::new();
    bench.file("src/lib.rs", "mod parser;\n\npub fn parse() {}\n");
    bench.file(
        "src/parser.rs",
        "fn parse() {\n    next();\n    next();\n}\n\n\n\nfn parse_all() {}\n",
    );
    bench.file("README.md", "How to parse.\n");
    bench
}

/// A text per call, each of a success.
pub(super) async fn all(
    bench: &Bench,
    calls: impl IntoIterator<Item = serde_json::Value>,
) -> String {
    let mut texts = Vec::new();
    for args in calls {
        texts.push(bench.done("grep", args).await);
    }
    texts.join("=====\n")
}

#[tokio::test]
async fn matches_are_grouped_by_file_in_the_order_of_paths() {
    insta::assert_snapshot!(all(&tree(), [json!({"pattern": "parse"})]).await, @"
    README.md
    1: How to parse.

    src/lib.rs
    1: mod parser;
    3: pub fn parse() {}

    src/parser.rs
    1: fn parse() {
    8: fn parse_all() {}
    ");
}

#[tokio::test]
async fn lines_around_a_match_are_marked() {
    let calls = [
        json!({"pattern": "fn parse", "path": "src", "context": 1}),
        json!({"pattern": "fn parse", "path": "src/parser.rs", "after": 2}),
        json!({"pattern": "next", "path": "src/parser.rs", "context": 1, "before": 0}),
    ];
    insta::assert_snapshot!(all(&tree(), calls).await, @"
    src/lib.rs
    2- 
    3: pub fn parse() {}

    src/parser.rs
    1: fn parse() {
    2-     next();
    --
    7- 
    8: fn parse_all() {}
    =====
    src/parser.rs
    1: fn parse() {
    2-     next();
    3-     next();
    --
    8: fn parse_all() {}
    =====
    src/parser.rs
    2:     next();
    3:     next();
    4- }
    ");
}

#[tokio::test]
async fn a_search_is_narrowed() {
    let calls = [
        json!({"pattern": "PARSE", "ignoreCase": true, "glob": "*.md"}),
        json!({"pattern": "parse", "glob": "src/*.rs", "show": "files"}),
        json!({"pattern": "parse", "glob": "!*.rs"}),
        json!({"pattern": "parse", "glob": "!src/"}),
        json!({"pattern": "parse", "glob": "README.md", "path": "."}),
        json!({"pattern": "parse()", "literal": true, "path": "src/lib.rs"}),
        json!({"pattern": r"parse\(\)$", "path": "src/lib.rs"}),
        json!({"pattern": r"\{\n.*next", "multiline": true}),
        json!({"query": "how", "-i": true, "include": "*.md", "-C": 0}),
    ];
    insta::assert_snapshot!(all(&tree(), calls).await, @r"
    README.md
    1: How to parse.
    =====
    src/lib.rs: 2
    src/parser.rs: 2
    =====
    README.md
    1: How to parse.
    =====
    README.md
    1: How to parse.
    =====
    README.md
    1: How to parse.
    =====
    src/lib.rs
    3: pub fn parse() {}
    =====
    [no match in `src/lib.rs`; `\(` is the sign itself, a group is `(a)`]
    =====
    src/parser.rs
    1: fn parse() {
    2:     next();
    =====
    README.md
    1: How to parse.
    ");
}

#[tokio::test]
async fn nothing_found_says_what_was_searched() {
    let bench = tree();
    bench.file("logo.png", b"\x89PNG\0\0parse\n");
    bench.file("other.bin", b"\0");
    let calls = [
        json!({"pattern": "absent"}),
        json!({"pattern": "absent", "path": "src"}),
        json!({"pattern": "absent", "path": "src/lib.rs"}),
        json!({"pattern": "absent", "glob": "*.md"}),
        json!({"pattern": "parse", "glob": "*.py", "path": "src"}),
        json!({"pattern": r"foo\|bar", "path": "src/lib.rs"}),
        json!({"pattern": r"foo\(bar\)", "path": "src/lib.rs"}),
        json!({"pattern": r"foo\.bar", "path": "src/lib.rs", "literal": true}),
    ];
    insta::assert_snapshot!(all(&bench, calls).await, @r"
    [no match in 3 files in the working folder; 2 binary files were passed over; hidden and ignored files are left out unless they are named]
    =====
    [no match in 2 files in `src`; hidden and ignored files are left out unless they are named]
    =====
    [no match in `src/lib.rs`]
    =====
    [no match in 1 file of `*.md` in the working folder; hidden and ignored files are left out unless they are named]
    =====
    [no file of `*.py` in `src`; hidden and ignored files are left out unless they are named]
    =====
    [no match in `src/lib.rs`; `\|` is the sign itself, either of two is `a|b`]
    =====
    [no match in `src/lib.rs`; `\(` is the sign itself, a group is `(a)`]
    =====
    [no match in `src/lib.rs`; with `literal` a backslash is itself]
    ");
    bench.file("src/third.bin", b"\0");
    insta::assert_snapshot!(
        all(&bench, [json!({"pattern": "absent", "path": "src"})]).await,
        @"[no match in 2 files in `src`; 1 binary file was passed over; hidden and ignored files are left out unless they are named]"
    );
}

#[tokio::test]
async fn what_cannot_be_searched_is_said() {
    let bench = tree();
    bench.file("logo.png", b"\x89PNG\0\0parse\n");
    bench.file(".git/config", "parse");
    nix::unistd::mkfifo(&bench.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut faults = Vec::new();
    for args in [
        json!({}),
        json!({"pattern": ""}),
        json!({"pattern": "foo("}),
        json!({"pattern": "a{b", "path": "src"}),
        json!({"pattern": "(?=x)"}),
        json!({"pattern": r"a\nb"}),
        json!({"pattern": "a\nb", "literal": true}),
        json!({"pattern": "(?:a{1000}){1000}"}),
        json!({"pattern": "x", "path": "srcs"}),
        json!({"pattern": "x", "path": "logo.png"}),
        json!({"pattern": "x", "path": "pipe"}),
        json!({"pattern": "x", "path": ".git/config"}),
        json!({"pattern": "x", "path": "agent://Scout"}),
        json!({"pattern": "x", "path": "README.md", "glob": "*.md"}),
        json!({"pattern": "x", "glob": "srcs/*.rs"}),
        json!({"pattern": "x", "glob": "README.md/*"}),
        json!({"pattern": "x", "glob": "{a,b"}),
        json!({"pattern": "x", "context": -1}),
        json!({"pattern": "x", "limit": 100_000}),
        json!({"pattern": "x", "show": "count"}),
        json!({"pattern": "x", "regex": "y"}),
        json!({"pattern": "x", "output_mode": "content"}),
        json!({"pattern": "x", "-n": true}),
        json!({"pattern": "x", "type": "rust"}),
        json!({"pattern": "x", "ignore_case": true}),
    ] {
        faults.push(bench.failed("grep", args).await);
    }
    insta::assert_snapshot!(faults.join("\n"), @r"
    `pattern` is missing, expected a text
    `pattern` is empty, expected a regular expression
    `pattern` is no regular expression:
        foo(
           ^
    unclosed group
    to find it as it stands set `literal: true`, or write `foo\(`
    `pattern` is no regular expression:
        a{b
          ^
    repetition quantifier expects a valid decimal
    to find it as it stands set `literal: true`, or write `a\{b`
    `pattern` is no regular expression:
        (?=x)
        ^^^
    look-around, including look-ahead and look-behind, is not supported
    to find it as it stands set `literal: true`, or write `\(\?=x\)`
    `pattern` holds the end of a line, and lines are searched one by one; set `multiline: true`, or use `$`
    `pattern` holds the end of a line, and lines are searched one by one; set `multiline: true`, or use `$`
    `pattern` cannot be searched for: compiled regex exceeds size limit of 10485760
    `srcs` does not exist; near it: `src`
    `logo.png` is no text: a binary file of 12 bytes
    `pipe` is no regular file
    `.git/config` is git's own and is not searched
    `agent://Scout` is an address, and only files are searched; `read` opens it
    `glob` is `*.md`, which picks files of a folder, and `README.md` is a file
    `srcs` does not exist; near it: `src`
    `README.md` is no folder
    `glob` is `{a,b`, which is no glob: a `{` has no `}`; a special character that means itself is written in brackets, as `[[]`
    `context` is `-1`, expected a whole number from 0 to 50
    `limit` is `100000`, expected a whole number from 1 to 2000
    `show` is `count`, expected one of `lines`, `files`
    `regex` stands for `pattern`, which is there too and says something else
    unknown argument `output_mode`; `show` is `lines` or `files`
    unknown argument `-n`; lines have their numbers always
    unknown argument `type`; `glob` picks files, as `*.rs`
    unknown argument `ignore_case` (did you mean `ignoreCase`?), expected `pattern`, `path`, `glob`, `context`, `before`, `after`, `ignoreCase`, `literal`, `multiline`, `show`, `limit`
    ");
}

#[tokio::test]
async fn a_cancelled_search_ends() {
    let bench = tree();
    bench.context.cancel.cancel();
    let text = bench.failed("grep", json!({"pattern": "parse"})).await;
    assert_eq!(text, "cancelled");
    for args in [
        json!({"pattern": "parse"}),
        json!({"pattern": "parse", "path": "README.md"}),
    ] {
        assert_eq!(super::grep(&args, &bench.context), Err("cancelled".into()));
    }
}
