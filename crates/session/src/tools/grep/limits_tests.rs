use serde_json::json;

use crate::tools::fixture::Bench;

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
async fn what_is_too_long_to_be_held_is_said() {
    let bench = Bench::new();
    bench.file("a.txt", "needle\n");
    bench.file("long.json", vec![b'x'; 17 << 20]);
    let mut texts = Vec::new();
    for multiline in [false, true] {
        let args = json!({"pattern": "needle\\s", "multiline": multiline, "show": "files"});
        texts.push(bench.done("grep", args).await);
    }
    let args = json!({"pattern": "needle", "path": "long.json"});
    texts.push(bench.failed("grep", args).await);
    insta::assert_snapshot!(texts.concat(), @"
    [no match in 1 file in the working folder; hidden and ignored files are left out unless they are named]
    [`long.json` could not be read: it has a line longer than the 16 MiB that are held at a time]
    a.txt: 1
    [`long.json` could not be read: it is longer than the 16 MiB that are held at a time]
    `long.json` cannot be read: it has a line longer than the 16 MiB that are held at a time
    ");
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
