use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::tools::fixture::Bench;

#[tokio::test]
async fn a_file_comes_back_as_it_is() {
    let bench = Bench::new();
    for content in ["alpha\nbeta\n", "no end", "\r\n\ttabs\r\n", "\u{FEFF}ü\n"] {
        let path = bench.file("a.txt", content);
        assert_eq!(bench.done("read", json!({"path": "a.txt"})).await, content);
        assert_eq!(
            bench
                .done("read", json!({"path": path, "range": null}))
                .await,
            content
        );
    }
}

#[tokio::test]
async fn a_range_says_which_lines_it_is() {
    let bench = Bench::new();
    bench.file("a.txt", "1\n2\n3\n4\n5");
    let mut texts = Vec::new();
    for range in ["2-3", "4-", "5", "3-99", "1-5"] {
        texts.push(
            bench
                .done("read", json!({"path": "a.txt", "range": range}))
                .await,
        );
    }
    insta::assert_snapshot!(texts.join("\n--\n"), @r#"
    [lines 2-3 of 5]
    2
    3

    --
    [lines 4-5 of 5]
    4
    5
    --
    [line 5 of 5]
    5
    --
    [lines 3-5 of 5]
    3
    4
    5
    --
    1
    2
    3
    4
    5
    "#);
}

#[tokio::test]
async fn what_cannot_be_read_is_said() {
    let bench = Bench::new();
    bench.file("src/parser.rs", "");
    bench.file("src/README.md", "one\n");
    bench.file("src/logo.png", b"\x89PNG\0\0\0");
    nix::unistd::mkfifo(&bench.path("src/pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink("nowhere", bench.path("src/dangling")).unwrap();
    let mut faults = Vec::new();
    for args in [
        json!({"path": "src/parsre.rs"}),
        json!({"path": "src/readme.MD"}),
        json!({"path": "src/unlike-anything"}),
        json!({"path": "lib/deep/a.rs"}),
        json!({"path": "src/dangling"}),
        json!({"path": "src/logo.png"}),
        json!({"path": "src/pipe"}),
        json!({"path": "src/README.md/x"}),
        json!({"path": "src/README.md", "range": "2-"}),
        json!({"path": "src/README.md", "range": "0-4"}),
        json!({"path": "src/README.md", "range": "5-4"}),
        json!({"path": "src/README.md", "range": "all"}),
        json!({"path": "src/README.md", "offset": 4}),
    ] {
        faults.push(bench.failed("read", args).await);
    }
    insta::assert_snapshot!(faults.join("\n"), @r#"
    `src/parsre.rs` does not exist; near it: `parser.rs`
    `src/readme.MD` does not exist; near it: `README.md`
    `src/unlike-anything` does not exist
    `lib/deep/a.rs` does not exist, and neither does its folder `lib/deep`
    `src/dangling` is a link to `nowhere`, which does not exist
    `src/logo.png` is no text: a binary file of 7 bytes
    `src/pipe` is no regular file
    `src/README.md/x` cannot be read: Not a directory (os error 20)
    `range` starts after the end of `src/README.md`, which is line 1
    `range` is `0-4`, expected lines from 1 as `10-40`, `10-` or `10`
    `range` is `5-4`, expected lines from 1 as `10-40`, `10-` or `10`
    `range` is `all`, expected lines from 1 as `10-40`, `10-` or `10`
    unknown argument `offset`, expected `path`, `range`
    "#);
}

#[tokio::test]
async fn a_folder_is_listed() {
    let bench = Bench::new();
    assert_eq!(
        bench.done("read", json!({"path": "."})).await,
        "[empty folder]\n"
    );
    bench.file("b/c.txt", "");
    bench.file("a.txt", "");
    bench.file(".hidden", "");
    assert_eq!(
        bench.done("read", json!({"path": "."})).await,
        ".hidden\na.txt\nb/\n"
    );
    for n in 0..NAMES {
        bench.file(&format!("many/{n:04}"), "");
    }
    bench.file("many/last", "");
    let text = bench.done("read", json!({"path": "many"})).await;
    assert!(text.ends_with("0499\n[1 more]\n"), "{text}");
}

#[tokio::test]
async fn what_is_no_utf8_is_shown_with_a_note() {
    let bench = Bench::new();
    bench.file("latin1.txt", b"caf\xe9\n");
    insta::assert_snapshot!(bench.done("read", json!({"path": "latin1.txt"})).await, @r#"
    caf�
    [not UTF-8: what is no text is shown as �]
    "#);
}
