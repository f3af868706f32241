use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::*;
use crate::tools::fixture::Bench;

fn names(bench: &Bench) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(bench.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_new_file_gets_the_folders_it_needs() {
    let bench = Bench::new();
    let text = bench
        .done(
            "write",
            json!({"path": "a/b/c.txt", "content": "one\ntwo\n"}),
        )
        .await;
    assert_eq!(text, "created `a/b/c.txt` (2 lines)\n");
    assert_eq!(bench.content("a/b/c.txt"), "one\ntwo\n");
}

#[tokio::test]
async fn a_file_is_replaced_whole_and_keeps_its_mode() {
    let bench = Bench::new();
    let path = bench.file("run.sh", "old and longer\n");
    fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
    let text = bench
        .done("write", json!({"path": path, "content": "new"}))
        .await;
    assert_eq!(text, format!("replaced `{}` (1 line)\n", path.display()));
    assert_eq!(bench.content("run.sh"), "new");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o750
    );
    assert_eq!(names(&bench), ["run.sh"]);
}

#[tokio::test]
async fn a_link_stays_and_its_file_is_written() {
    let bench = Bench::new();
    bench.file("real/there.txt", "old");
    symlink("real/there.txt", bench.path("link")).unwrap();
    symlink("real/fresh.txt", bench.path("dangling")).unwrap();
    bench
        .done("write", json!({"path": "link", "content": "new"}))
        .await;
    bench
        .done("write", json!({"path": "dangling", "content": "made"}))
        .await;
    assert_eq!(bench.content("real/there.txt"), "new");
    assert_eq!(bench.content("real/fresh.txt"), "made");
    assert!(bench.path("link").is_symlink());
    assert!(bench.path("dangling").is_symlink());
}

#[tokio::test]
async fn what_cannot_be_written_is_said_and_leaves_nothing() {
    let bench = Bench::new();
    fs::create_dir(bench.path("folder")).unwrap();
    let guarded = bench.file("guarded", "old");
    fs::set_permissions(&guarded, Permissions::from_mode(0o444)).unwrap();
    bench.file("file", "");
    symlink("loop", bench.path("loop")).unwrap();
    let before = names(&bench);
    let mut faults = Vec::new();
    for path in ["folder", "guarded", "file/below", "new/", "..", "loop", ""] {
        faults.push(
            bench
                .failed("write", json!({"path": path, "content": "new"}))
                .await,
        );
    }
    faults.push(
        bench
            .failed("write", json!({"path": "x", "content": {"a": 1}}))
            .await,
    );
    insta::assert_snapshot!(faults.join("\n"), @r#"
    `folder` cannot be written: it is a folder
    `guarded` cannot be written: it is write-protected
    `file/below` cannot be written: Not a directory (os error 20)
    `new/` is the path of a folder
    `..` cannot be written: it is a folder
    `loop` cannot be written: it is a link that leads in circles
    `path` is empty, expected the path of a file
    `content` is an object, expected a text
    "#);
    assert_eq!(names(&bench), before);
    assert_eq!(bench.content("guarded"), "old");
}

#[tokio::test]
async fn a_very_long_name_can_be_written() {
    let bench = Bench::new();
    let name = "ä".repeat(127);
    bench
        .done("write", json!({"path": name, "content": "x"}))
        .await;
    assert_eq!(names(&bench), [name]);
}

#[tokio::test]
async fn a_key_is_not_lost_to_what_stands_for_it() {
    let bench = Bench::new().with_key("A_KEY", "sk-1234567890");
    bench.file(".env", "A=sk-1234567890\n");
    let args = |path| json!({"path": path, "content": "A=[key A_KEY]\nB=1\n"});
    insta::assert_snapshot!(bench.failed("write", args(".env")).await, @"`.env` was not written: `content` holds `[key A_KEY]`, which stands for a key that is not shown, and the file would lose it; use `edit` on the text around it");
    assert_eq!(bench.content(".env"), "A=sk-1234567890\n");
    bench.done("write", args("notes.md")).await;
}

#[tokio::test]
async fn a_file_of_several_names_keeps_them() {
    let bench = Bench::new();
    let file = bench.file("a", "one and a long line\n");
    std::fs::hard_link(&file, bench.path("b")).unwrap();
    bench
        .done("write", json!({"path": "a", "content": "two\n"}))
        .await;
    assert_eq!(bench.content("b"), "two\n");
    let edits = json!([{"oldText": "two", "newText": "three"}]);
    bench
        .done("edit", json!({"path": "b", "edits": edits}))
        .await;
    assert_eq!(bench.content("a"), "three\n");
    let names = std::fs::read_dir(bench.folder.path()).unwrap();
    assert_eq!(names.count(), 2);
}
