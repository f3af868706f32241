//! Real processes: the testkit's child, which keeps no promise, and scripts that keep none either.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use sortie_protocol::{Batch, RunEventKind, RunId, RunResult};
use sortie_testkit::{alive, child, wait_until};

use crate::{
    Run,
    stage::{Stage, ending},
};

const GRACE: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(20);

/// A stage whose children are `engine`, with a grace of a second.
fn stage(engine: &Path, settings: &str) -> Stage {
    let engine = engine.display();
    Stage::new(&format!(
        "engine: {engine}\ntask.killGraceMs: 1000\n{settings}"
    ))
}

/// A stage whose children are the shell script `body`.
fn scripted(body: &str) -> Stage {
    let stage = Stage::new("");
    let path = stage.project.path("engine");
    let hello = r#"{"kind":"hello","version":1,"pid":1,"armed":true}"#;
    fs::write(&path, format!("#!/bin/sh\necho '{hello}'\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    stage
        .project
        .config(&format!("engine: {}\n", path.display()));
    stage
}

fn start(stage: &Stage, tasks: &[Value]) -> Run {
    let tasks: Vec<_> = tasks
        .iter()
        .enumerate()
        .map(|(n, told)| json!({"name": format!("T{n}"), "agent": "n", "task": told.to_string()}))
        .collect();
    let batch: Batch = serde_json::from_value(json!({"tasks": tasks})).unwrap();
    Run::start(stage.config(), batch, stage.options()).unwrap()
}

async fn run(settings: &str, told: Value) -> (Stage, RunResult) {
    let stage = stage(&child::binary(), settings);
    let result = start(&stage, &[told]).finish().await;
    nothing_is_left(result.run.as_ref().unwrap());
    (stage, result)
}

/// Proves that no process of the run lives, and that nobody is left to be reaped.
fn nothing_is_left(run: &RunId) {
    let left = alive::in_session_of_run(run.as_str());
    assert!(left.is_empty(), "{left:#?}");
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let children: BTreeSet<String> = threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    // A test alone in its process has no other children.
    if std::env::var_os("NEXTEST").is_some() {
        assert!(children.is_empty(), "{children:?}");
    }
}

/// Waits until a grandchild grows `file`, while the run goes on.
async fn growing(file: &Path) {
    let file = file.to_owned();
    let grows = move || fs::metadata(&file).is_ok_and(|file| file.len() > 0);
    let waited = tokio::task::spawn_blocking(move || wait_until(LIMIT, grows));
    assert!(waited.await.unwrap());
}

/// C22 a: the child exits on TERM, and its own child ignores it and holds the pipe.
#[tokio::test]
async fn a_cancel_returns_within_its_grace_and_leaves_nobody() {
    for escape in [false, true] {
        let stage = stage(&child::binary(), "");
        let path = stage.project.path("tick.log");
        let told = json!({"do": "leave-on-term", "file": path, "escape": escape});
        let run = start(&stage, &[told]);
        growing(&path).await;
        let since = Instant::now();
        run.stopper().ask();
        let result = run.finish().await;
        assert!(since.elapsed() < GRACE + Duration::from_secs(1));
        assert_eq!(
            ending(&result.tasks[0]),
            "T0 cancelled cancelled: it was stopped"
        );
        nothing_is_left(&result.run.unwrap());
        let len = || fs::metadata(&path).unwrap().len();
        let before = len();
        assert!(!wait_until(Duration::from_millis(300), || len() != before));
    }
}

/// C22 b: the same when the total clock runs out. The slot is free, and the next task starts at once.
#[tokio::test]
async fn a_clock_returns_within_its_grace_and_leaves_nobody() {
    let stage = stage(
        &child::binary(),
        "task: {maxRuntimeMs: 1000, maxConcurrency: 1}\n",
    );
    let path = stage.project.path("tick.log");
    let since = Instant::now();
    let stuck = json!({"do": "leave-on-term", "file": path});
    let result = start(&stage, &[stuck, json!({"do": "finish"})])
        .finish()
        .await;
    assert!(since.elapsed() < 2 * GRACE + Duration::from_secs(1));
    insta::assert_snapshot!(ending(&result.tasks[0]), @"T0 timed_out total: it was not done within 1000 ms (`task.maxRuntimeMs`)");
    assert_eq!(ending(&result.tasks[1]), "T1 completed");
    nothing_is_left(&result.run.unwrap());
}

#[tokio::test]
async fn who_does_not_listen_is_ended_all_the_same() {
    for deed in ["ignore-cancel", "ignore-term"] {
        let stage = stage(&child::binary(), "");
        let run = start(&stage, &[json!({"do": deed})]);
        let mut events = run.events();
        let stopper = run.stopper();
        while let Some(event) = events.recv().await {
            if matches!(event.kind, RunEventKind::Launched { .. }) {
                break;
            }
        }
        let since = Instant::now();
        stopper.ask();
        let result = run.finish().await;
        assert!(since.elapsed() < GRACE + Duration::from_secs(1), "{deed}");
        assert_eq!(
            ending(&result.tasks[0]),
            "T0 cancelled cancelled: it was stopped"
        );
        nothing_is_left(&result.run.unwrap());
    }
}

#[tokio::test]
async fn what_a_child_leaves_behind_ends_with_it() {
    for escape in [false, true] {
        let stage = stage(&child::binary(), "");
        let path = stage.project.path("tick.log");
        let since = Instant::now();
        let told = json!({"do": "grandchild", "file": path, "escape": escape});
        let result = start(&stage, &[told]).finish().await;
        // The grandchild holds the pipe; nobody waits for it.
        assert!(since.elapsed() < Duration::from_secs(5));
        assert_eq!(ending(&result.tasks[0]), "T0 completed");
        nothing_is_left(&result.run.unwrap());
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_ends_its_processes() {
    let stage = stage(&child::binary(), "");
    let path = stage.project.path("tick.log");
    let told = [
        json!({"do": "leave-on-term", "file": path, "escape": true}),
        json!({"do": "ignore-term"}),
    ];
    let run = start(&stage, &told);
    let id = run.id().clone();
    let mut events = run.events();
    growing(&path).await;
    drop(run);
    // Until nobody is left who could tell anything.
    while events.recv().await.is_some() {}
    nothing_is_left(&id);
    let journal = stage.journal();
    assert!(
        journal.contains(&"ended T1 cancelled".to_owned()),
        "{journal:?}"
    );
}

#[test]
fn a_runtime_that_goes_away_takes_the_processes_along() {
    let stage = stage(&child::binary(), "");
    let path = stage.project.path("tick.log");
    let told = [
        json!({"do": "leave-on-term", "file": path, "escape": true}),
        json!({"do": "ignore-term"}),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = runtime.block_on(async {
        let run = start(&stage, &told);
        growing(&path).await;
        run
    });
    drop(runtime);
    nothing_is_left(run.id());
}

#[tokio::test]
async fn a_flood_of_words_neither_stalls_nor_grows() {
    let (stage, result) = run("", json!({"do": "flood-stderr", "bytes": 8 << 20})).await;
    assert_eq!(ending(&result.tasks[0]), "T0 completed");
    let log = fs::metadata(stage.project.path("run/T0.log")).unwrap();
    assert!(log.len() < (1 << 20) + 100, "{}", log.len());

    let stage = self::stage(&child::binary(), "");
    let run = start(&stage, &[json!({"do": "flood-events", "count": 20_000})]);
    // A listener that does not listen.
    let mut events = run.events();
    let result = run.finish().await;
    assert_eq!(ending(&result.tasks[0]), "T0 completed");
    let mut count = 0;
    let mut last = None;
    while let Ok(event) = events.try_recv() {
        (count, last) = (count + 1, Some(event.kind));
    }
    assert!(count < 5_000, "{count}");
    assert_eq!(last, Some(RunEventKind::Finished));
}

#[tokio::test]
async fn a_record_of_any_size_arrives_whole() {
    let (stage, result) = run("", json!({"do": "huge-record", "bytes": 4 << 20})).await;
    assert_eq!(ending(&result.tasks[0]), "T0 completed");
    let transcript = stage.project.read("run/T0.jsonl");
    assert!(transcript.len() > 4 << 20 && transcript.ends_with('\n'));
}

/// C21 a: half a result and exit code 0.
#[tokio::test]
async fn half_a_report_is_none() {
    let (_, result) = run("", json!({"do": "half-result", "text": "x".repeat(100)})).await;
    insta::assert_snapshot!(ending(&result.tasks[0]), @r#"T0 crashed no_report: the process ended without a report; it wrote what is no message: a line that was cut off: {"kind":"finished","report":{"ending":{"ending":"yielded","tries":1,"faults":[]},"text":"xxxxxxx"#);
}

/// C21 b: a result, and then exit code 1 with `disk full`.
#[tokio::test]
async fn a_whole_report_stands_after_a_bad_exit() {
    let (stage, result) = run("", json!({"do": "exit-after-result"})).await;
    assert_eq!(ending(&result.tasks[0]), "T0 completed");
    insta::assert_snapshot!(result.tasks[0].warnings.join("\n"), @"the process ended with exit code 1 after its report: disk full");
    assert_eq!(stage.project.read("run/T0.log"), "disk full\n");
}

#[tokio::test]
async fn lines_that_are_no_messages_go_to_the_log() {
    let (stage, result) = run("", json!({"do": "garbage", "count": 2})).await;
    assert_eq!(ending(&result.tasks[0]), "T0 completed");
    insta::assert_snapshot!(result.tasks[0].warnings.join("\n"), @"the process wrote what is no message: Warning: line 0 is not JSON (expected value at line 1 column 1)");
    insta::assert_snapshot!(stage.project.read("run/T0.log"), @r"
    Warning: line 0 is not JSON (expected value at line 1 column 1)
    Warning: line 1 is not JSON (expected value at line 1 column 1)
    ");
    let (_, result) = run("", json!({"do": "garbage", "count": 10})).await;
    insta::assert_snapshot!(ending(&result.tasks[0]), @"T0 crashed wire: the process does not speak the wire: 10 lines were no messages; it wrote what is no message: Warning: line 0 is not JSON (expected value at line 1 column 1)");
}

#[tokio::test]
async fn another_version_of_the_wire_is_named() {
    let stage = Stage::new("");
    let engine = child::told(stage.project.root(), &json!({"do": "hello-version"}));
    stage
        .project
        .config(&format!("engine: {}\n", engine.display()));
    let result = start(&stage, &[json!({})]).finish().await;
    let told = ending(&result.tasks[0]);
    let expected =
        "T0 crashed wire: the process does not speak the wire: it speaks version 99, not 1";
    assert!(told.starts_with(expected), "{told}");
    nothing_is_left(&result.run.unwrap());
}

#[tokio::test]
async fn tasks_of_a_child_are_processes_too() {
    let nested = json!({"do": "requests", "count": 3, "text": "deep"});
    let args =
        json!({"context": "c", "tasks": [{"name": "x", "agent": "n", "task": nested.to_string()}]});
    let (_, result) = run(
        "task.maxConcurrency: 1\n",
        json!({"do": "spawn", "args": args}),
    )
    .await;
    let task = &result.tasks[0];
    assert!(task.output.as_deref().unwrap().contains("deep"));
    assert_eq!(ending(&task.children[0]), "T0.x completed");
    assert_eq!((task.requests, task.children[0].requests), (0, 3));
}

/// C24 f: a failure that names the path, and no try with anything else.
#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let stage = stage(Path::new("/nowhere/engine"), "");
    let result = start(&stage, &[json!({})]).finish().await;
    insta::assert_snapshot!(stage.without_places(&ending(&result.tasks[0])), @"T0 failed spawn_failed: `/nowhere/engine` could not be started in `[PROJECT]`: No such file or directory (os error 2)");
    insta::assert_snapshot!(stage.journal().join("\n"), @r"
    started
    accepted T0
    ended T0 failed
    finished
    ");
}

/// The descriptors that whoever started this process hands down to everybody.
fn inherited() -> BTreeSet<String> {
    const CLOEXEC: u32 = 0o2_000_000;
    let entries = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let hands_down = |path: PathBuf| {
        let info = fs::read_to_string(path).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| u32::from_str_radix(flags.trim(), 8).unwrap() & CLOEXEC == 0)
    };
    entries
        .filter(|entry| hands_down(entry.path()))
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[tokio::test]
async fn no_descriptor_of_the_root_reaches_a_child() {
    let inherited = inherited();
    let stage = scripted("ls /proc/self/fd >&2; kill -9 $$");
    let told = [json!({}), json!({}), json!({})];
    let result = start(&stage, &told).finish().await;
    for task in &result.tasks {
        let log = stage.project.read(format!("run/{}.log", task.id));
        // `ls` opened the folder itself.
        let own = ["0", "1", "2", "3"];
        let foreign: Vec<&str> = log
            .lines()
            .filter(|fd| !own.contains(fd) && !inherited.contains(*fd))
            .collect();
        assert!(foreign.is_empty(), "{foreign:?}");
        assert!(log.lines().count() >= own.len(), "{log}");
    }
    nothing_is_left(&result.run.unwrap());
}

#[tokio::test]
async fn who_closes_its_pipe_and_lives_on_is_ended() {
    let stage = scripted("exec >&-; exec sleep 1000");
    let result = start(&stage, &[json!({})]).finish().await;
    insta::assert_snapshot!(ending(&result.tasks[0]), @"T0 crashed wire: the process does not speak the wire: it closed its end and lived on");
    nothing_is_left(&result.run.unwrap());
}
