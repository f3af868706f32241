use std::os::unix::fs::symlink;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tools::fixture::Bench;

fn edits(pairs: &[(&str, &str)]) -> Value {
    let edits: Vec<_> = pairs
        .iter()
        .map(|(old, new)| json!({"oldText": old, "newText": new}))
        .collect();
    json!({"path": "a.rs", "edits": edits})
}

async fn refused(content: &str, pairs: &[(&str, &str)]) -> String {
    let bench = Bench::new();
    bench.file("a.rs", content);
    let text = bench.failed("edit", edits(pairs)).await;
    assert_eq!(bench.content("a.rs"), content);
    text
}

#[tokio::test]
async fn several_places_change_at_once() {
    let bench = Bench::new();
    bench.file("a.rs", "one\ntwo\nthree\nfour\n");
    let text = bench
        .done(
            "edit",
            edits(&[("four", "4"), ("one\n", "1\n1.5\n"), ("three", "")]),
        )
        .await;
    assert_eq!(text, "edited `a.rs` in lines 1, 4, 5\n");
    assert_eq!(bench.content("a.rs"), "1\n1.5\ntwo\n\n4\n");
    let text = bench.done("edit", edits(&[("two", "2")])).await;
    assert_eq!(text, "edited `a.rs` in line 3\n");
}

#[tokio::test]
async fn places_are_those_of_the_file_as_it_was() {
    let bench = Bench::new();
    bench.file("a.rs", "a b");
    bench.done("edit", edits(&[("a", "b"), ("b", "a")])).await;
    assert_eq!(bench.content("a.rs"), "b a");
}

#[tokio::test]
async fn line_ends_and_the_mark_stay() {
    let bench = Bench::new();
    bench.file("a.rs", "\u{FEFF}one\r\ntwo\r\nthree\r\n");
    bench
        .done("edit", edits(&[("one\ntwo", "1\n2\n2.5")]))
        .await;
    assert_eq!(bench.content("a.rs"), "\u{FEFF}1\r\n2\r\n2.5\r\nthree\r\n");
    // Lines of both kinds: each place keeps its own.
    bench.file("a.rs", "one\r\ntwo\r\nthree\nfour\n");
    bench
        .done(
            "edit",
            edits(&[("one\ntwo", "1\n2"), ("three\nfour", "3\n4")]),
        )
        .await;
    assert_eq!(bench.content("a.rs"), "1\r\n2\r\n3\n4\n");
}

#[tokio::test]
async fn a_link_and_the_mode_stay() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let path = bench.file("real.rs", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    symlink("real.rs", bench.path("a.rs")).unwrap();
    bench.done("edit", edits(&[("old", "new")])).await;
    assert_eq!(bench.content("real.rs"), "new");
    assert!(bench.path("a.rs").is_symlink());
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[tokio::test]
async fn one_bad_edit_keeps_the_others_from_happening() {
    let text = refused(
        "one\ntwo\ntwo\n",
        &[
            ("one", "1"),
            ("two", "2"),
            ("zzz", "3"),
            ("e\ntwo\ntw", "x"),
        ],
    )
    .await;
    insta::assert_snapshot!(text, @r#"
    `a.rs` was not changed
    `edits[1]`: `oldText` occurs 2 times, in lines 2, 3; add text around it until it is the only one
    `edits[2]`: `oldText` does not occur in the file, and nothing like it; read the file again
    `edits[3]`: it overlaps `edits[0]` in line 1; make one edit of both
    "#);
}

#[tokio::test]
async fn places_that_overlap_each_other_are_two() {
    insta::assert_snapshot!(refused("aaa\n", &[("aa", "b")]).await, @r#"
    `a.rs` was not changed
    `edits[0]`: `oldText` occurs 2 times, in line 1; add text around it until it is the only one
    "#);
}

#[tokio::test]
async fn a_text_that_is_everywhere_names_the_first_places() {
    insta::assert_snapshot!(refused(&"x\n".repeat(30), &[("x", "y")]).await, @r#"
    `a.rs` was not changed
    `edits[0]`: `oldText` occurs 30 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and further down; add text around it until it is the only one
    "#);
}

const CODE: &str = "\
fn main() {
    let name = \"world\";
    if name.is_empty() {
        return;
    }
    println!(\"hello {name}\");
}
";

#[tokio::test]
async fn a_near_miss_is_shown_with_how_it_differs() {
    let mut texts = Vec::new();
    for old in [
        // Indented by a tab.
        "\tif name.is_empty() {\n\t\treturn;\n\t}",
        // Curly quotes.
        "let name = \u{201C}world\u{201D};",
        // Another case.
        "FN MAIN() {",
        // Other words.
        "    if name.is_null() {\n        return;\n    }",
        // Other words in the only line.
        "println!(\"hallo {name}!\")",
        // Nothing like it.
        "SELECT * FROM accounts WHERE id = 7",
        "\n\n\n",
    ] {
        texts.push(refused(CODE, &[(old, "new")]).await);
    }
    insta::assert_snapshot!(texts.join("\n"), @r#"
    `a.rs` was not changed
    `edits[0]`: `oldText` does not occur in the file; the nearest place is lines 3-5, which differs only in whitespace (`-` is `oldText`, `+` the file):
    -	if name.is_empty() {
    -		return;
    -	}
    +    if name.is_empty() {
    +        return;
    +    }
    `a.rs` was not changed
    `edits[0]`: `oldText` does not occur in the file; the nearest place is line 2, which differs only in quotes and whitespace (`-` is `oldText`, `+` the file):
    -let name = “world”;
    +    let name = "world";
    `a.rs` was not changed
    `edits[0]`: `oldText` does not occur in the file; the nearest place is line 1, which differs only in case, quotes and whitespace (`-` is `oldText`, `+` the file):
    -FN MAIN() {
    +fn main() {
    `a.rs` was not changed
    `edits[0]`: `oldText` does not occur in the file; the nearest place is lines 3-5 (`-` is `oldText`, `+` the file):
    -    if name.is_null() {
    +    if name.is_empty() {
             return;
         }
    `a.rs` was not changed
    `edits[0]`: `oldText` does not occur in the file; the nearest place is line 6 (`-` is `oldText`, `+` the file):
    -println!("hallo {name}!")
    +    println!("hello {name}");
    `a.rs` was not changed
    `edits[0]`: `oldText` does not occur in the file, and nothing like it; read the file again
    `a.rs` was not changed
    `edits[0]`: `oldText` does not occur in the file, and nothing like it; read the file again
    "#);
}

#[tokio::test]
async fn what_cannot_be_edited_is_said() {
    let bench = Bench::new();
    bench.file("main.rs", "x");
    bench.file("latin1", b"caf\xe9");
    fs::create_dir(bench.path("folder")).unwrap();
    let one = json!([{"oldText": "x", "newText": "y"}]);
    let mut faults = Vec::new();
    for args in [
        json!({"path": "mian.rs", "edits": one}),
        json!({"path": "latin1", "edits": one}),
        json!({"path": "folder", "edits": one}),
        json!({"path": "main.rs"}),
        json!({"path": "main.rs", "edits": []}),
        json!({"path": "main.rs", "edits": {"oldText": "x", "newText": "y"}}),
        json!({"path": "main.rs", "edits": [{"oldText": "x"}]}),
        json!({"path": "main.rs", "edits": [{"oldText": "", "newText": "y"}]}),
        json!({"path": "main.rs", "edits": [{"oldText": "x", "newText": "x"}]}),
        json!({"path": "main.rs", "edits": [{"old_string": "x", "newText": "y"}]}),
    ] {
        faults.push(bench.failed("edit", args).await);
    }
    insta::assert_snapshot!(faults.join("\n"), @r#"
    `mian.rs` does not exist; near it: `main.rs`
    `latin1` is not UTF-8, so it cannot be edited
    `folder` is no regular file
    `edits` is missing, expected a list of `{oldText, newText}`
    `edits` is empty, expected at least one `{oldText, newText}`
    `edits` is an object, expected a list of `{oldText, newText}`
    `edits[0]`: `newText` is missing, expected a text
    `edits[0]`: `oldText` is empty, expected text of the file; `write` makes a file
    `edits[0]`: `oldText` and `newText` are the same
    `edits[0]`: unknown argument `old_string`, expected `oldText`, `newText`
    "#);
}

#[test]
fn a_search_in_a_large_file_ends_soon() {
    let body: String = (0..200_000)
        .map(|n| format!("let value_{n} = {n};"))
        .collect::<Vec<_>>()
        .join("\n");
    let before = std::time::Instant::now();
    let near = nearest(&body, "let velue_77 = 78;");
    assert!(before.elapsed().as_secs() < 20, "{:?}", before.elapsed());
    assert!(near.is_some());
}

#[tokio::test]
async fn a_key_in_the_file_is_not_shown_and_cannot_be_quoted() {
    let bench = Bench::new().with_key("A_KEY", "sk-1234567890");
    let long = "x".repeat(290);
    bench.file("e.env", format!("# the key\nA={long}sk-1234567890\nB=2\n"));
    let quoted = format!("A={long}[key A_KEY]");
    let mut texts = Vec::new();
    for old in [quoted, format!("a={long}")] {
        let args = json!({"path": "e.env", "edits": [{"oldText": old, "newText": ""}]});
        texts.push(bench.failed("edit", args).await.replace(&long, "xxx"));
    }
    insta::assert_snapshot!(texts.join("--\n"), @"
    `e.env` was not changed
    `edits[0]`: `oldText` holds `[key A_KEY]`, which stands for a key that is not shown; edit the text around it--
    `e.env` was not changed
    `edits[0]`: `oldText` does not occur in the file; the nearest place is line 2, which differs only in case, quotes and whitespace (`-` is `oldText`, `+` the file):
    -a=xxx
    +A=xxx[key A_K
    ");
}

proptest! {
    #[test]
    fn an_edit_changes_its_place_and_nothing_else(before in "[a-c\n]{0,20}", after in "[a-c\n]{0,20}", new in "[a-z\n]{0,9}") {
        let text = Text::read(format!("{before}[X]{after}"));
        let change = Change { old: "[X]", new: &new };
        let places = place_all(&text, &[change], &Redactor::default()).ok().unwrap();
        let (body, lines) = apply(&text.body, &places);
        prop_assert_eq!(text.dressed(&body), format!("{before}{new}{after}"));
        prop_assert_eq!(lines, vec![before.matches('\n').count() + 1]);
    }

    #[test]
    fn undressing_and_dressing_is_nothing(content in "\u{FEFF}?([a-b]{0,3}\r?\n?){0,9}") {
        let text = Text::read(content.clone());
        prop_assert_eq!(text.dressed(&text.body), content);
    }

    #[test]
    fn no_text_makes_the_search_panic(body in "([a-bé ]{0,5}\r?\n?){0,9}", old in "([a-bé ]{0,5}\r?\n?){0,5}") {
        if let Some(near) = nearest(&body, &old) {
            prop_assert!(near.to_string().starts_with("the nearest place is line"));
        }
    }
}
