use serde_json::json;

use crate::{
    summary::checked::{covers, ranges},
    tools::fixture::Bench,
};

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.context.summarize = true;
    bench
}

/// A source of `count` functions.
fn source(count: usize) -> String {
    let functions: Vec<_> = (0..count)
        .map(|n| format!("/// Says {n}.\npub fn say{n}() {{\n    println!(\"this is {n}\");\n    println!(\"and that was it\");\n}}\n\n"))
        .collect();
    functions.concat()
}

#[tokio::test]
async fn a_long_source_file_is_summarised_and_read_back_by_the_ranges_it_shows() {
    let bench = bench();
    // In the last, what is left out at once is more than one answer holds.
    let huge = format!(
        "fn f() {{\n{}}}\n",
        "    some_step(\"of many\");\n".repeat(9_000)
    );
    for text in [
        source(100),
        source(900),
        source(100).replace('\n', "\r\n"),
        huge,
    ] {
        bench.file("a.rs", &text);
        let summary = bench.done("read", json!({"path": "a.rs"})).await;
        assert!(summary.starts_with("[summary of "), "{summary}");
        covers(&summary, &text);
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        for (range, shown) in ranges(&summary) {
            if shown {
                continue;
            }
            let args =
                json!({"path": "a.rs", "range": format!("{}-{}", range.start(), range.end())});
            let answer = bench.done("read", args).await;
            let (heading, body) = answer.split_once('\n').unwrap();
            assert!(heading.starts_with("[line"), "{heading}");
            assert_eq!(body, lines[range.start() - 1..*range.end()].concat());
        }
    }
}

#[tokio::test]
async fn what_is_asked_for_in_part_or_not_wanted_in_short_is_shown_as_it_is() {
    let mut bench = bench();
    let text = source(100);
    bench.file("a.rs", &text);
    bench.file("a.txt", &text);
    bench.file("short.rs", source(20));
    bench.file("bytes.rs", [text.as_bytes(), b"// caf\xe9\n"].concat());
    assert_eq!(
        bench
            .done("read", json!({"path": "a.rs", "range": "1-"}))
            .await,
        text
    );
    assert_eq!(bench.done("read", json!({"path": "a.txt"})).await, text);
    assert_eq!(
        bench.done("read", json!({"path": "short.rs"})).await,
        source(20)
    );
    let lossy = bench.done("read", json!({"path": "bytes.rs"})).await;
    assert!(lossy.starts_with(&text), "{lossy}");
    bench.context.summarize = false;
    assert_eq!(bench.done("read", json!({"path": "a.rs"})).await, text);
}

#[tokio::test]
async fn what_is_too_long_to_parse_is_shown_as_far_as_it_goes() {
    let bench = bench();
    bench.file("a.rs", source(25_000));
    let shown = bench.done("read", json!({"path": "a.rs"})).await;
    assert!(shown.starts_with("[lines 1-"), "{shown}");
    assert!(shown.ends_with("-\"]\n"), "{shown}");
}
