use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::tools::fixture::Bench;

#[tokio::test]
async fn a_folder_is_listed_with_kinds_and_sizes() {
    let bench = Bench::new();
    assert_eq!(
        bench.done("read", json!({"path": "."})).await,
        "[empty folder]\n"
    );
    bench.file("b/c.txt", "not listed");
    bench.file("a.txt", "five\n");
    bench.file(".hidden", "");
    bench.file("large", vec![0; 1_600_000]);
    bench.file("two\nlines", "x");
    nix::unistd::mkfifo(&bench.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (to, name) in [
        ("a.txt", "to-file"),
        ("b", "to-folder"),
        ("gone", "to-nothing"),
        ("loop", "loop"),
    ] {
        symlink(to, bench.path(name)).unwrap();
    }
    insta::assert_snapshot!(bench.done("read", json!({"path": "."})).await, @r#"
    .hidden  0 B
    a.txt  5 B
    b/
    large  1.6 MiB
    loop -> loop (leads nowhere)
    pipe  (pipe)
    to-file -> a.txt
    to-folder/ -> b
    to-nothing -> gone (leads nowhere)
    "two\nlines"  1 B
    "#);
}

#[tokio::test]
async fn a_large_folder_is_paged_through() {
    let bench = Bench::new();
    for n in 1..=ENTRIES + 1 {
        bench.file(&format!("many/{n:04}"), "");
    }
    let text = bench.done("read", json!({"path": "many"})).await;
    let lines: Vec<_> = text.lines().collect();
    insta::assert_snapshot!(format!("{}\n{}", lines[..2].join("\n"), lines[500..].join("\n")), @r#"
    [entries 1-500 of 501]
    0001  0 B
    0500  0 B
    [more follows; read on with range "501-", or look for names with `glob`]
    "#);
    let mut texts = Vec::new();
    for range in ["501-", "2-3"] {
        texts.push(
            bench
                .done("read", json!({"path": "many", "range": range}))
                .await,
        );
    }
    for range in ["502-", "1:1-9"] {
        texts.push(
            bench
                .failed("read", json!({"path": "many", "range": range}))
                .await
                + "\n",
        );
    }
    insta::assert_snapshot!(texts.join("--\n"), @"
    [entries 501 of 501]
    0501  0 B
    --
    [entries 2-3 of 501]
    0002  0 B
    0003  0 B
    --
    `range` starts after the end of `many`, which has 501 entries
    --
    `many` is a folder; `range` counts its entries, as `501-`
    ");
}

#[test]
fn sizes_are_short_and_never_too_small() {
    let sizes = [0, 1_023, 1_024, 1_025, 1_600_000, 1 << 30, u64::MAX].map(size);
    insta::assert_snapshot!(sizes.join(", "), @"0 B, 1023 B, 1 KiB, 1.1 KiB, 1.6 MiB, 1 GiB, 1677721.6 TiB");
}
