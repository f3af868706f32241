use std::fs;

use super::*;
use crate::{Environment, shown::shown};

fn world() -> (tempfile::TempDir, Places) {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::from_iter([("HOME", home.path())]);
    fs::create_dir_all(home.path().join(".sortie/agent/scripts")).unwrap();
    fs::create_dir_all(home.path().join("batch/sub")).unwrap();
    let places = Places::find(home.path(), &environment, &[]).unwrap();
    (home, places)
}

/// What a script of this text is read as.
fn load(text: &str) -> Result<Vec<ScriptEntry>, String> {
    let (home, places) = world();
    let beside = home.path().join("batch");
    fs::write(beside.join("s.yaml"), text).unwrap();
    Scripts::load("s", &beside, &places).map_err(|problem| shown([&problem], &beside))
}

fn problem(text: &str) -> String {
    load(text).unwrap_err()
}

#[test]
fn every_part_of_a_turn_is_read() {
    let entries = load(
        "
- when: {agent: scout, task: 'Lead.*', depth: 2, request: 1}
  turns:
    - {think: hm, text: '', tool: read, args: {path: a}, usage: {input: 10, output: 5, cost: 0.5}}
    - tools: [{tool: read, args: {path: a}}, {tool: todo}]
- turns:
    - {finish: {data: null}}
    - {finish: {section: findings, data: [1, {a: b}]}}
    - {finish: {text: done}, end: length}
    - {error: {status: 429, retryAfterS: 1.5, message: slow down}, repeat: true}
    - {text: half, cut: true}
    - {stall: true}
    - {finish: {error: gave up}}
",
    )
    .unwrap();
    assert_eq!(entries[0].when.task.as_deref(), Some("Lead.*"));
    assert_eq!(entries[0].when.depth, Some(2));
    let turns = entries.iter().flat_map(|entry| &entry.turns);
    let lines: Vec<String> = turns
        .map(|turn| serde_json::to_string(turn).unwrap())
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"think":"hm","text":"","tool":"read","args":{"path":"a"},"usage":{"input":10,"output":5,"cacheRead":null,"cacheWrite":null,"reasoning":null,"cost":0.5}}
    {"tools":[{"tool":"read","args":{"path":"a"}},{"tool":"todo","args":null}]}
    {"finish":{"data":null}}
    {"finish":{"data":[1,{"a":"b"}],"section":"findings"}}
    {"finish":{"text":"done"},"end":"length"}
    {"error":{"status":429,"message":"slow down","retryAfterS":1.5},"repeat":true}
    {"text":"half","cut":true}
    {"stall":true}
    {"finish":{"error":"gave up"}}
    "#);
    // What is written as JSON reads as the same.
    let json = serde_json::to_string(&entries).unwrap();
    assert_eq!(load(&json).unwrap(), entries);
}

#[test]
fn a_script_is_found_beside_the_batch_and_then_in_the_users_folder() {
    let (home, places) = world();
    let beside = home.path().join("batch");
    let write = |path: &str, text: &str| {
        fs::write(
            home.path().join(path),
            format!("- turns: [{{text: {text}}}]\n"),
        )
        .unwrap();
    };
    let text = |name: &str| {
        let entries = Scripts::load(name, &beside, &places).unwrap();
        entries[0].turns[0].text.clone().unwrap()
    };
    write(".sortie/agent/scripts/s.yml", "users");
    assert_eq!(text("s"), "users");
    write("batch/s.yml", "beside");
    assert_eq!(text("s"), "beside");
    write("batch/s.yaml", "first");
    assert_eq!(text("s"), "first");
    write("batch/sub/t.yaml", "below");
    assert_eq!(text("sub/t"), "below");
}

#[test]
fn a_missing_script_says_where_it_was_looked_for() {
    let (home, places) = world();
    let problem = Scripts::load("s", &home.path().join("batch"), &places).unwrap_err();
    insta::assert_snapshot!(shown([&problem], home.path()), @r#"
    error: there is no script `s`
      looked for `s.yaml` and `s.yml` in `~/batch` and `~/.sortie/agent/scripts`
    "#);
}

#[test]
fn a_name_stays_in_its_folder() {
    let (home, places) = world();
    fs::write(home.path().join("s.yaml"), "- turns: []\n").unwrap();
    let absolute = home.path().join("s").display().to_string();
    for name in ["../s", "sub/../../s", "", "/", ".", "a\\b", &absolute] {
        let problem = Scripts::load(name, &home.path().join("batch"), &places).unwrap_err();
        assert!(problem.message().contains("cannot name a script"), "{name}");
    }
    let problem = Scripts::load("../s", &home.path().join("batch"), &places).unwrap_err();
    insta::assert_snapshot!(shown([&problem], home.path()), @r#"
    error: `../s` cannot name a script
      `script/NAME` is the file `NAME.yaml` beside the batch
    "#);
}

#[test]
fn every_fault_is_placed() {
    insta::assert_snapshot!(problem("when: {}\n"), @"~/s.yaml:1:1: error: a script is a list of entries, not a map");
    insta::assert_snapshot!(problem("- turns: [\n"), @"~/s.yaml:1:10: error: unclosed bracket '['");
    insta::assert_snapshot!(problem("- when: {}\n"), @"~/s.yaml:1:3: error: an entry says no `turns`");
    insta::assert_snapshot!(problem("- turn: []\n"), @r#"
    ~/s.yaml:1:3: error: `turn` is no key of an entry
      did you mean `turns`?
    "#);
    insta::assert_snapshot!(problem("- turns: []\n  when: {agnt: x}\n"), @r#"
    ~/s.yaml:2:10: error: `agnt` is no key of `when`
      did you mean `agent`?
    "#);
    insta::assert_snapshot!(problem("- turns: []\n  when: {depth: 0}\n"), @"~/s.yaml:2:17: error: `depth` wants a whole number, 1 or more, not `0`");
    insta::assert_snapshot!(problem("- turns:\n    - txt: hi\n"), @r#"
    ~/s.yaml:2:7: error: `txt` is no key of a turn
      did you mean `text`?
    "#);
    insta::assert_snapshot!(problem("- turns: [{text: [a]}]\n"), @"~/s.yaml:1:18: error: `text` wants text, not a list");
    insta::assert_snapshot!(problem("- turns: [{args: {}}]\n"), @"~/s.yaml:1:11: error: a turn has `args` and no `tool`");
    insta::assert_snapshot!(problem("- turns: [{tools: [{args: {}}]}]\n"), @"~/s.yaml:1:20: error: a call says no `tool`");
    insta::assert_snapshot!(problem("- turns: [{end: stopp}]\n"), @"~/s.yaml:1:17: error: `end` wants one of stop, length, refusal, not `stopp`");
    insta::assert_snapshot!(problem("- turns: [{cut: true, stall: true}]\n"), @"~/s.yaml:1:11: error: a turn ends once: it has `cut` and `stall`");
    insta::assert_snapshot!(problem("- turns: [{cut: perhaps}]\n"), @"~/s.yaml:1:17: error: `cut` wants `true` or `false`, not `perhaps`");
    insta::assert_snapshot!(problem("- turns: [{error: {status: 200}}]\n"), @"~/s.yaml:1:28: error: `status` wants an HTTP status, 400 to 599, not `200`");
    insta::assert_snapshot!(problem("- turns: [{error: {}}]\n"), @"~/s.yaml:1:19: error: `error` says no `status`");
    insta::assert_snapshot!(problem("- turns: [{finish: {}}]\n"), @"~/s.yaml:1:20: error: `finish` wants one of `data`, `text`, `error`");
    insta::assert_snapshot!(problem("- turns: [{finish: {data: 1, text: a}}]\n"), @"~/s.yaml:1:20: error: `finish` wants only one of `data`, `text`, `error`");
    insta::assert_snapshot!(problem("- turns: [{finish: {text: a, section: b}}]\n"), @"~/s.yaml:1:20: error: a `section` wants `data`");
    insta::assert_snapshot!(problem("- turns: [{usage: {input: -1}}]\n"), @"~/s.yaml:1:27: error: `input` wants a whole number, 0 or more, not `-1`");
    insta::assert_snapshot!(problem("- turns: [hello]\n"), @"~/s.yaml:1:11: error: a turn is a map, not text");
}
