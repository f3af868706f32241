use std::os::unix::fs::symlink;

use serde_json::json;

use super::tests::{all, tree};
use crate::tools::fixture::Bench;

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
