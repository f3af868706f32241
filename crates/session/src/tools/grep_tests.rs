use std::os::unix::fs::symlink;

use serde_json::json;

use crate::tools::fixture::Bench;

fn tree() -> Bench {
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
async fn all(bench: &Bench, calls: impl IntoIterator<Item = serde_json::Value>) -> String {
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
async fn what_ignore_files_leave_out_is_left_out_unless_it_is_named() {
    let bench = Bench::new();
    bench.file(".gitignore", "/target/\n*.log\n");
    bench.file(".ignore", "secret.txt\n");
    bench.file("a.txt", "needle\n");
    bench.file("deep/.gitignore", "!kept.log\n");
    for path in [
        "a.log",
        "deep/b.log",
        "deep/kept.log",
        "secret.txt",
        "target/debug/c.txt",
        ".hidden/d.txt",
        ".env",
        ".git/e.txt",
        "deep/.git/f.txt",
        "deep/.github/g.yml",
    ] {
        bench.file(path, "needle\n");
    }
    let mut texts = Vec::new();
    for args in [
        json!({}),
        json!({"path": "target"}),
        json!({"path": "target/debug"}),
        json!({"path": "secret.txt"}),
        json!({"path": ".hidden"}),
        json!({"path": "deep", "glob": ".github/*"}),
        json!({"glob": ".env*"}),
        json!({"glob": "target/**/*.txt"}),
        json!({"glob": "*.log"}),
    ] {
        let mut args = args;
        args["pattern"] = "needle".into();
        args["show"] = "files".into();
        texts.push(bench.done("grep", args).await);
    }
    insta::assert_snapshot!(texts.join("--\n"), @"
    a.txt: 1
    deep/b.log: 1
    deep/kept.log: 1
    --
    target/debug/c.txt: 1
    --
    target/debug/c.txt: 1
    --
    secret.txt: 1
    --
    .hidden/d.txt: 1
    --
    deep/.github/g.yml: 1
    --
    .env: 1
    --
    target/debug/c.txt: 1
    --
    deep/b.log: 1
    deep/kept.log: 1
    ");
}

#[tokio::test]
async fn the_excludes_of_a_repository_and_its_top_count_below_it() {
    let bench = Bench::new();
    bench.file(".gitignore", "*.log\n");
    bench.file("repo/.git/info/exclude", "private.txt\n");
    bench.file("repo/.gitignore", "built/\n");
    for path in [
        "repo/sub/private.txt",
        "repo/sub/built/a.txt",
        "repo/sub/a.log",
        "repo/sub/a.txt",
    ] {
        bench.file(path, "needle\n");
    }
    let text = bench
        .done(
            "grep",
            json!({"pattern": "needle", "path": "repo/sub", "show": "files"}),
        )
        .await;
    // The rules of the outer folder end where the repository begins.
    assert_eq!(text, "repo/sub/a.log: 1\nrepo/sub/a.txt: 1\n");
}

#[tokio::test]
async fn places_outside_of_the_working_folder_are_shown_as_they_were_named() {
    let mut bench = tree();
    bench.context.cwd = bench.path("src");
    bench.file("src/parser.rs", "");
    let outside = bench.path("README.md").display().to_string();
    let text = all(
        &bench,
        [
            json!({"pattern": "parse", "path": "..", "glob": "*.md"}),
            json!({"pattern": "parse", "path": outside}),
            json!({"pattern": "pub", "path": bench.path("src")}),
            json!({"pattern": "pub", "path": "./lib.rs"}),
            json!({"pattern": "pub", "path": "../src/"}),
        ],
    )
    .await;
    let text = text.replace(&bench.folder.path().display().to_string(), "[ROOT]");
    insta::assert_snapshot!(text, @"
    ../README.md
    1: How to parse.
    =====
    [ROOT]/README.md
    1: How to parse.
    =====
    lib.rs
    3: pub fn parse() {}
    =====
    lib.rs
    3: pub fn parse() {}
    =====
    ../src/lib.rs
    3: pub fn parse() {}
    ");
}

#[tokio::test]
async fn limits_say_how_much_is_left_and_how_to_narrow() {
    let bench = Bench::new();
    bench.file("a.txt", "hit\n".repeat(60));
    bench.file("b.txt", "miss\nhit\nmiss\n");
    bench.file("c.txt", "hit\nhit\n");
    bench.file("d.txt", "hit\n");
    let tail = |text: String| {
        let parts = text.split_inclusive("\n\n").map(|part| {
            let lines: Vec<_> = part.split_inclusive('\n').collect();
            let from = lines.len().saturating_sub(4);
            format!("[+{from}]{}", lines[from..].concat())
        });
        parts.collect::<Vec<_>>().concat()
    };
    let mut texts = Vec::new();
    for args in [
        json!({}),
        json!({"path": "a.txt"}),
        json!({"limit": 51, "context": 1}),
        json!({"limit": 52}),
        json!({"limit": 53}),
        json!({"limit": 1}),
        json!({"limit": 2, "show": "files"}),
        json!({"limit": 1, "show": "files", "glob": "[cd].txt"}),
        json!({"limit": 4, "show": "files"}),
        json!({"path": "a.txt", "limit": 7}),
    ] {
        let mut args = args;
        args["pattern"] = "hit".into();
        texts.push(tail(bench.done("grep", args).await));
    }
    insta::assert_snapshot!(texts.join("=====\n"), @"
    [+49]49: hit
    50: hit
    [10 more matching lines in this file]

    [+0]b.txt
    2: hit

    [+0]c.txt
    1: hit
    2: hit

    [+0]d.txt
    1: hit

    [+0][at most 50 lines of one file are shown; name one as `path` for more]
    =====
    [+57]57: hit
    58: hit
    59: hit
    60: hit
    =====
    [+49]49: hit
    50: hit
    [10 more matching lines in this file]

    [+1]1- miss
    2: hit
    3- miss

    [+0][cut after 51 matching lines; 2 more files match; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
    =====
    [+49]49: hit
    50: hit
    [10 more matching lines in this file]

    [+0]b.txt
    2: hit

    [+0]c.txt
    1: hit
    [1 more matching line in this file]

    [+0][cut after 52 matching lines; 1 more file matches; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
    =====
    [+49]49: hit
    50: hit
    [10 more matching lines in this file]

    [+0]b.txt
    2: hit

    [+0]c.txt
    1: hit
    2: hit

    [+0][cut after 53 matching lines; 1 more file matches; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
    =====
    [+0]a.txt
    1: hit
    [59 more matching lines in this file]

    [+0][cut after 1 matching line; 3 more files match; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
    =====
    [+0]a.txt: 60
    b.txt: 1

    [+0][cut after 2 files; 2 more files match; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
    =====
    [+0]c.txt: 2

    [+0][cut after 1 file; 1 more file matches; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
    =====
    [+0]a.txt: 60
    b.txt: 1
    c.txt: 2
    d.txt: 1
    =====
    [+6]6: hit
    7: hit
    [53 more matching lines in this file]

    [+0][cut after 7 matching lines; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]
    ");
}

#[tokio::test]
async fn an_answer_that_is_long_enough_ends_at_a_match() {
    let bench = Bench::new().with_limit(1_500);
    for name in ["a", "b", "c"] {
        bench.file(name, format!("{}\nhit\nafter\n\n", "before ".repeat(20)));
    }
    bench.file("d", format!("{}\n", "hit".repeat(200)));
    let text = bench
        .done("grep", json!({"pattern": "hit", "context": 1}))
        .await;
    assert!(text.len() <= 1_500, "{}", text.len());
    insta::assert_snapshot!(text, @"
    a
    1- before before before before before before before before before before before before before before before before before before before before 
    2: hit
    3- after

    b
    1- before before before before before before before before before before before before before before before before before before before before 
    2: hit

    [cut here, where the answer is as long as it may be; 2 more files match; narrow it by `path`, `glob`, or a longer `pattern`]
    ");
}

#[tokio::test]
async fn a_long_line_is_cut_around_its_match() {
    let bench = Bench::new();
    bench.file(
        "a.min.js",
        format!("{}needle{}\n", "x".repeat(100_000), "y".repeat(900_000)),
    );
    let text = bench.done("grep", json!({"pattern": "needle"})).await;
    assert!(
        text.starts_with("a.min.js\n1: [99925 bytes cut]xxx"),
        "{text}"
    );
    assert!(text.ends_with("yyy[899781 bytes cut]\n"), "{text}");
}

#[tokio::test]
async fn keys_are_taken_out_before_a_line_is_cut_and_cannot_be_searched_for() {
    let bench = Bench::new().with_key("API_KEY", "sk-0123456789abcdef");
    bench.file(
        "conf",
        format!(
            "{}key = sk-0123456789abcdef\nkey = other\n",
            "p".repeat(290)
        ),
    );
    let text = bench.done("grep", json!({"pattern": "key"})).await;
    assert!(!text.contains("sk-0"), "{text}");
    assert!(text.contains("[key API"), "{text}");
    for pattern in ["sk-[0-9]", "sk-|other", "0123"] {
        for show in ["lines", "files"] {
            let text = bench
                .done("grep", json!({"pattern": pattern, "show": show}))
                .await;
            assert!(!text.contains("sk-0"), "{text}");
            assert!(!text.contains("1: "), "{text}");
            assert!(!text.contains("conf: 2"), "{text}");
        }
    }
}

#[tokio::test]
async fn other_encodings_are_read_as_far_as_they_can_be() {
    let bench = Bench::new();
    let utf16 = |text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
        let units = text.encode_utf16().flat_map(bytes);
        mark.into_iter().chain(units).collect::<Vec<u8>>()
    };
    bench.file("le.txt", utf16("größe\r\n", [0xFF, 0xFE], u16::to_le_bytes));
    bench.file("be.txt", utf16("größe\n", [0xFE, 0xFF], u16::to_be_bytes));
    bench.file("bom.txt", "\u{FEFF}größe\n");
    bench.file("dos.txt", "größe\r\ngrößer\r\n");
    bench.file("latin1.txt", b"gr\xf6\xdfe gr\n");
    insta::assert_snapshot!(all(&bench, [json!({"pattern": "^größe$"}), json!({"pattern": "gr"})]).await, @"
    be.txt
    1: größe

    bom.txt
    1: größe

    dos.txt
    1: größe

    le.txt
    1: größe
    =====
    be.txt
    1: größe

    bom.txt
    1: größe

    dos.txt
    1: größe
    2: größer

    latin1.txt
    1: gr��e gr
    [not UTF-8: what is no text is shown as �]

    le.txt
    1: größe
    ");
}

#[tokio::test]
async fn a_file_with_a_nul_byte_anywhere_is_binary() {
    let bench = Bench::new();
    let mut late = "needle\n".repeat(50_000).into_bytes();
    late.push(0);
    bench.file("late", late);
    bench.file("text", "needle\n");
    let text = bench
        .done("grep", json!({"pattern": "needle", "show": "files"}))
        .await;
    assert_eq!(text, "text: 1\n");
}

#[tokio::test]
async fn links_are_not_followed_and_loops_do_not_matter() {
    let bench = tree();
    symlink(".", bench.path("src/loop")).unwrap();
    symlink("src", bench.path("linked")).unwrap();
    symlink("README.md", bench.path("READ")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    let calls = [
        json!({"pattern": "parse", "show": "files"}),
        json!({"pattern": "parse", "show": "files", "path": "linked"}),
        json!({"pattern": "parse", "path": "READ"}),
    ];
    insta::assert_snapshot!(all(&bench, calls).await, @"
    README.md: 1
    src/lib.rs: 2
    src/parser.rs: 2
    =====
    linked/lib.rs: 2
    linked/parser.rs: 2
    =====
    READ
    1: How to parse.
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

#[tokio::test]
async fn many_files_come_in_order_however_they_are_searched() {
    let bench = Bench::new();
    for n in 0..1_000 {
        bench.file(&format!("{:02}/{n:04}", n % 7), "needle\n");
    }
    let text = bench
        .done(
            "grep",
            json!({"pattern": "needle", "show": "files", "limit": 1000}),
        )
        .await;
    let paths: Vec<_> = text.lines().collect();
    assert_eq!(paths.len(), 1_000);
    assert!(paths.is_sorted());
    let text = bench
        .done("grep", json!({"pattern": "needle", "limit": 5}))
        .await;
    assert!(text.ends_with("[cut after 5 matching lines; 995 more files match; narrow it by `path`, `glob`, or a longer `pattern`, or raise `limit`]\n"), "{text}");
}
