use std::os::unix::fs::symlink;

use serde_json::json;

use crate::tools::fixture::Bench;

#[tokio::test]
async fn a_file_comes_back_as_it_is() {
    let bench = Bench::new();
    for content in ["alpha\nbeta\n", "no end", "\r\n\ttabs\r\n", "ü\n"] {
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
    insta::assert_snapshot!(faults.join("\n"), @"
    `src/parsre.rs` does not exist; near it: `parser.rs`
    `src/readme.MD` does not exist; near it: `README.md`
    `src/unlike-anything` does not exist
    `lib/deep/a.rs` does not exist, and neither does its folder `lib/deep`
    `src/dangling` is a link to `nowhere`, which does not exist
    `src/logo.png` is a binary file of 7 bytes, no text
    `src/pipe` is a pipe, not a file
    `src/README.md/x` cannot be read: Not a directory (os error 20)
    `range` starts after the end of `src/README.md`, which is line 1
    `range` is `0-4`, expected lines from 1 as `10-40`, `10-` or `10`, or bytes of one line as `10:2001-4000`
    `range` is `5-4`, expected lines from 1 as `10-40`, `10-` or `10`, or bytes of one line as `10:2001-4000`
    `range` is `all`, expected lines from 1 as `10-40`, `10-` or `10`, or bytes of one line as `10:2001-4000`
    unknown argument `offset`, expected `path`, `range`
    ");
}

#[tokio::test]
async fn what_an_edit_has_to_know_is_said() {
    let bench = Bench::new();
    bench.file("latin1.txt", b"caf\xe9\n");
    bench.file("marked.txt", "\u{FEFF}one\ntwo\n");
    let utf16: Vec<u8> = "\u{FEFF}grün 🌱\r\nzwei"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    bench.file("utf16.txt", utf16);
    let mut texts = Vec::new();
    for args in [
        json!({"path": "latin1.txt"}),
        json!({"path": "marked.txt"}),
        json!({"path": "marked.txt", "range": "2"}),
        json!({"path": "utf16.txt"}),
        json!({"path": "utf16.txt", "range": "2"}),
    ] {
        texts.push(bench.done("read", args).await);
    }
    insta::assert_snapshot!(texts.join("--\n"), @"
    caf�
    [not UTF-8: what is no text is shown as �, and `edit` cannot change the file]
    --
    one
    two
    [the file starts with a byte order mark, which is not shown and which `edit` keeps]
    --
    [line 2 of 2]
    two
    --
    grün 🌱
    zwei
    [decoded from UTF-16 LE; `edit` cannot change the file]
    --
    [line 2 of 2]
    zwei
    [decoded from UTF-16 LE; `edit` cannot change the file]
    ");
    // The first line can be quoted as it was shown.
    let args = json!({"path": "marked.txt", "edits": [{"oldText": "one\n", "newText": "1\n"}]});
    bench.done("edit", args).await;
    assert_eq!(bench.content("marked.txt"), "\u{FEFF}1\ntwo\n");
}

#[tokio::test]
async fn files_without_a_size_are_read() {
    let bench = Bench::new();
    let text = bench
        .done("read", json!({"path": "/proc/self/status"}))
        .await;
    assert!(text.starts_with("Name:"), "{text}");
}

#[tokio::test]
async fn what_tasks_left_is_read_in_parts_too() {
    let bench = Bench::new();
    let mut texts = Vec::new();
    for range in [json!(null), json!("2-3"), json!("2:1-1")] {
        let args = json!({"path": "agent://one,two,three,four", "range": range});
        texts.push(bench.done("read", args).await);
    }
    for args in [
        json!({"path": "skill://x"}),
        json!({"path": "agent://one", "range": "7-"}),
        json!({"path": "agent://one", "lines": "7-"}),
    ] {
        texts.push(bench.failed("read", args).await + "\n");
    }
    insta::assert_snapshot!(texts.join("--\n"), @"
    one
    two
    three
    four
    [just said]
    --
    [lines 2-3 of 4]
    two
    three
    [just said]
    --
    [line 2, bytes 1-1 of 3]
    t
    [just said]
    --
    `skill://x` is no address
    --
    `range` starts after the end of `agent://one`, which is line 1
    --
    unknown argument `lines`, expected `path`, `range`
    ");
}
