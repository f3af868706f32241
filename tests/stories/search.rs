//! An agent that finds its way with `grep` and `glob`.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::Path,
};

use serde_json::Value;
use sortie_protocol::TaskResult;
use sortie_testkit::{Project, Unprivileged};

use crate::support::{Running, SORTIE, sortie};

const LOOKER: &str =
    "---\nname: looker\ndescription: Looks around.\ntools: [search, find]\n---\nLook.\n";

const BATCH: &str =
    "model: script/play\ntasks: [{name: Look, agent: looker, task: find the parser}]\n";

/// Both tools side by side, a mistake in each, and the end.
const PLAY: &str = r#"
- turns:
    - tools:
        - {tool: glob, args: {pattern: "src/**/*.rs"}}
        - {tool: grep, args: {pattern: "fn pars", glob: "*.rs", after: 1}}
    - tools:
        - {tool: Grep, args: {pattern: "parse("}}
        - {tool: find, args: {pattern: "scr/*.rs"}}
    - {finish: {text: "in src/parser.rs"}}
"#;

/// What each tool answered, in order, with whether it could do what it was asked.
fn answers(task: &TaskResult) -> String {
    let transcript = task.artifacts.transcript.as_ref().unwrap();
    let text = fs::read_to_string(transcript).unwrap();
    let records = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers = records
        .filter(|record| record.get("ok").is_some())
        .map(|answer| {
            format!(
                "{} {}:\n{}",
                answer["name"].as_str().unwrap(),
                answer["ok"],
                answer["text"].as_str().unwrap()
            )
        });
    answers.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_planning_agent_searches_by_any_name_of_the_tools() {
    let project = Project::new();
    project.file(".sortie/agents/looker.md", LOOKER);
    project.file("batch.yaml", BATCH);
    project.file("play.yaml", PLAY);
    project.file(".gitignore", "built/\n");
    project.file("built/src/copy.rs", "fn parse() {}\n");
    project.file("src/lib.rs", "mod parser;\n");
    project.file("src/parser.rs", "fn parse() {\n    todo!()\n}\n");
    let ended = sortie(&project, &["run", "batch.yaml", "--plan", "--json"]).expect(0);
    let task = ended.task("Look");
    assert_eq!(task.tools, ["grep", "glob", "yield"]);
    assert!(task.warnings.is_empty(), "{task:#?}");
    insta::assert_snapshot!(answers(&task), @r"
    glob true:
    src/lib.rs
    src/parser.rs

    grep true:
    src/parser.rs
    1: fn parse() {
    2-     todo!()

    Grep false:
    `pattern` is no regular expression:
        parse(
             ^
    unclosed group
    to find it as it stands set `literal: true`, or write `parse\(`
    find false:
    `scr` does not exist; near it: `src`
    yield true:
    the session is over
    ");
}

#[test]
fn what_a_user_may_not_read_is_counted_and_the_rest_is_searched() {
    let program = Unprivileged::copy_of(SORTIE);
    let dir = program.dir();
    let file = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
    fs::create_dir_all(dir.join(".sortie/agent/agents")).unwrap();
    fs::create_dir(dir.join("tree")).unwrap();
    file(".sortie/agent/agents/looker.md", LOOKER);
    file("batch.yaml", BATCH);
    file(
        "play.yaml",
        r#"
- turns:
    - tool: grep
      args: {pattern: needle, path: tree, show: files}
    - tool: glob
      args: {pattern: "*.txt", path: tree}
    - tool: grep
      args: {pattern: needle, path: tree/secret.txt}
    - {finish: {text: done}}
"#,
    );
    file("tree/open.txt", "needle\n");
    file("tree/secret.txt", "needle\n");
    fs::set_permissions(
        dir.join("tree/secret.txt"),
        fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    make_closed(&dir.join("tree/closed"));
    let mut command = program.command();
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .args(["run", "batch.yaml", "--json", "--run-dir", "run"]);
    let ended = Running::start_in(&dir.join("run"), &mut command).end();
    fs::set_permissions(dir.join("tree/closed"), fs::Permissions::from_mode(0o755)).unwrap();
    insta::assert_snapshot!(answers(&ended.expect(0).task("Look")), @"
    grep true:
    tree/open.txt: 1
    [2 files or folders could not be read, first `tree/closed`: Permission denied (os error 13)]

    glob true:
    tree/open.txt
    tree/secret.txt
    [`tree/closed` could not be read: Permission denied (os error 13)]

    grep false:
    `tree/secret.txt` cannot be read: Permission denied (os error 13)
    yield true:
    the session is over
    ");
}

/// A folder with a file in it that only root may enter.
fn make_closed(folder: &Path) {
    fs::DirBuilder::new().mode(0o755).create(folder).unwrap();
    fs::write(folder.join("hidden.txt"), "needle\n").unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o000)).unwrap();
}
