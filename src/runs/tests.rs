use std::path::PathBuf;

use sortie_executor::history::{RunState, StoredTask};
use sortie_protocol::TaskResult;

use super::*;
use crate::report::{problems, samples};

/// The sample run as a journal tells it, with one more task that never ended.
fn stored(id: &str) -> StoredRun {
    fn flat(tasks: Vec<TaskResult>) -> Vec<StoredTask> {
        tasks
            .into_iter()
            .flat_map(|mut task| {
                let children = std::mem::take(&mut task.children);
                let mut family = vec![StoredTask {
                    id: task.id.clone(),
                    agent: task.agent.clone(),
                    label: None,
                    state: TaskState::Ended(Box::new(task)),
                }];
                family.extend(flat(children));
                family
            })
            .collect()
    }
    let mut tasks = flat(samples::result().tasks);
    tasks.push(StoredTask {
        id: "Late".to_owned().into(),
        agent: "task".into(),
        label: None,
        state: TaskState::Started,
    });
    StoredRun {
        run: id.to_owned().into(),
        dir: PathBuf::from("/runs").join(id),
        cwd: PathBuf::from("/project"),
        started_at: 1_000_000,
        state: RunState::Interrupted,
        damaged: Vec::new(),
        tasks,
    }
}

fn shown(problem: Problem) -> String {
    problems::text(&[problem], Look::PLAIN)
}

#[test]
fn a_listing_shows_ids_as_far_as_they_differ() {
    let ids = [
        "01990000-1111-7000-8000-000000000002",
        "01990000-1112-7000-8000-000000000001",
        "01980000-0000-7000-8000-000000000001",
    ];
    let listing = Listing::of(&ids.map(stored));
    insta::assert_snapshot!(listing.text(1_125_000, Look::PLAIN), @"
    RUN            STARTED         STATE        TASKS
    01990000-1111  2 min 05 s ago  interrupted  2 of 4 completed, 2 nested
    01990000-1112  2 min 05 s ago  interrupted  2 of 4 completed, 2 nested
    01980000       2 min 05 s ago  interrupted  2 of 4 completed, 2 nested
    ");
}

#[test]
fn a_listing_as_json_has_a_row_a_run() {
    let listing = Listing::of(&[stored("01990000-1111-7000-8000-000000000002")]);
    let json = serde_json::to_string_pretty(&listing).unwrap();
    insta::assert_snapshot!(json, @r#"
    {
      "runs": [
        {
          "run": "01990000-1111-7000-8000-000000000002",
          "runDir": "/runs/01990000-1111-7000-8000-000000000002",
          "startedAt": 1000000,
          "state": "interrupted",
          "tasks": 4,
          "completed": 2,
          "invalid": 0,
          "nested": 2
        }
      ]
    }
    "#);
}

#[test]
fn data_that_does_not_fit_is_counted_apart() {
    let mut run = stored("01990000-1111-7000-8000-000000000002");
    let TaskState::Ended(map) = &mut run.tasks[0].state else {
        panic!("it has ended");
    };
    map.structured.as_mut().unwrap().status = sortie_protocol::StructuredStatus::Invalid;
    let listing = Listing::of(&[run]).text(1_125_000, Look::PLAIN);
    assert!(
        listing.contains("2 of 4 completed, 1 with invalid data, 2 nested"),
        "{listing}"
    );
}

#[test]
fn a_run_says_briefly_which_tasks_have_no_result() {
    let mut run = stored("01990000-1111-7000-8000-000000000002");
    run.tasks.truncate(1);
    for n in 0..1_500 {
        run.tasks.push(StoredTask {
            id: format!("T{n}").into(),
            agent: "task".into(),
            label: None,
            state: if n < 12 {
                TaskState::Started
            } else {
                TaskState::Queued
            },
        });
    }
    run.damaged = vec![3, 7];
    let end = |run: &StoredRun| {
        let text = RunSheet::of(run).text(Look::PLAIN);
        text[text.find("run 0199").unwrap()..].to_owned()
    };
    insta::assert_snapshot!(end(&run), @"
    run 01990000-1111-7000-8000-000000000002: 1 of 1,501 tasks completed, 3 requests, 1,250 tokens, $0.0016
    everything is in /runs/01990000-1111-7000-8000-000000000002
    an output whole: sortie runs output 01990000-1111-7000-8000-000000000002/Map
    the run was interrupted: its process is gone
    started, without a result (12): T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, and 2 more
    never started (1,488): T12, T13, T14, T15, T16, T17, T18, T19, T20, T21, and 1,478 more
    damaged lines of `journal.jsonl`, which may have told more: 3, 7
    ");
    run.damaged.clear();
    run.tasks.remove(0);
    run.state = RunState::Going;
    insta::assert_snapshot!(end(&run), @"
    run 01990000-1111-7000-8000-000000000002: 0 of 1,500 tasks completed
    everything is in /runs/01990000-1111-7000-8000-000000000002
    the run is still going
    at work (12): T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, and 2 more
    queued (1,488): T12, T13, T14, T15, T16, T17, T18, T19, T20, T21, and 1,478 more
    ");
    run.tasks.clear();
    insta::assert_snapshot!(end(&run), @"
    run 01990000-1111-7000-8000-000000000002: no task was accepted so far
    everything is in /runs/01990000-1111-7000-8000-000000000002
    the run is still going
    ");
}

#[test]
fn a_task_that_was_cancelled_says_so_once() {
    let mut result = samples::result().tasks.remove(0);
    result.outcome = sortie_protocol::Outcome::new(
        sortie_protocol::OutcomeKind::Cancelled,
        "cancelled",
        "it was stopped",
    );
    let text = sheet::task_text(&result, Look::PLAIN);
    assert!(text.contains("outcome     cancelled\n"), "{text}");
}

#[test]
fn a_run_that_was_interrupted_says_what_is_missing() {
    let sheet = RunSheet::of(&stored("01990000-1111-7000-8000-000000000002"));
    let text = sheet.text(Look::PLAIN);
    let end: Vec<_> = text
        .lines()
        .skip_while(|line| !line.starts_with("run "))
        .collect();
    insta::assert_snapshot!(end.join("\n"), @"
    run 01990000-1111-7000-8000-000000000002: 2 of 4 tasks completed, 2 nested, 13 requests, 5,000 tokens, $0.0016
    everything is in /runs/01990000-1111-7000-8000-000000000002
    an output whole: sortie runs output 01990000-1111-7000-8000-000000000002/Map
    the run was interrupted: its process is gone
    started, without a result (1): Late
    ");
    let json = serde_json::to_value(&sheet).unwrap();
    assert_eq!(json["state"], "interrupted");
    assert_eq!(json["unfinished"], serde_json::json!(["Late"]));
    assert_eq!(json["neverStarted"], serde_json::json!([]));
    assert_eq!(json["tasks"][1]["children"][0]["id"], "Split.Left");
}

#[test]
fn a_task_says_what_really_ran() {
    let run = stored("01990000-1111-7000-8000-000000000002");
    let result = ended(&run, &"Port".to_owned().into()).unwrap();
    assert_eq!(sheet::with_children(&run, result).children, []);
    insta::assert_snapshot!(sheet::task_text(result, Look::PLAIN), @"
    task        Port
    outcome     timed_out (first_activity)
    message     no byte came for 120 s after a request (`task.firstActivityMs`)
    agent       task (bundled)
    tools       read, yield
    model       local/small (openai-completions), asked for as @smol
    used        3 requests, 2.2 s
    warning     the tool `lsp` is not built yet and was left out
    transcript  /runs/01990000-0000-7000-8000-000000000001/Port.jsonl
    ");
}

#[test]
fn a_task_comes_with_the_tasks_below_it() {
    let run = stored("01990000-1111-7000-8000-000000000002");
    let result = ended(&run, &"Split".to_owned().into()).unwrap();
    assert!(result.children.is_empty());
    assert_eq!(sheet::with_children(&run, result).children.len(), 2);
}

#[test]
fn an_output_needs_a_task_that_has_one() {
    let run = stored("01990000-1111-7000-8000-000000000002");
    insta::assert_snapshot!(shown(only_task(&run).unwrap_err()), @"
    × run `01990000-1111-7000-8000-000000000002` has 6 tasks: Map, Split, Split.Left, Split.Right, Port, Late
    help: name one of them, as in `01990000-1111-7000-8000-000000000002/Map`
    ");
    let late = ended(&run, &"Late".to_owned().into()).unwrap_err();
    insta::assert_snapshot!(shown(late), @"
    × `Late` has no result: it started and never ended
    help: `sortie runs transcript 01990000-1111-7000-8000-000000000002/Late` shows what was said in it
    ");
}

#[test]
fn a_transcript_cannot_drive_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = stored("01990000-1111-7000-8000-000000000002");
    run.dir = folder.path().to_owned();
    let record = serde_json::json!({
        "n": 1, "at": 1, "record": "user", "origin": "assignment", "text": "a\u{1b}[2Jb\u{202e}c\n",
    });
    fs::write(folder.path().join("Late.jsonl"), format!("{record}\n")).unwrap();
    let late = run.task("Late").unwrap();
    let transcript = Transcript::of(&run, late).unwrap();
    let look = Look {
        terminal: true,
        color: true,
        ..Look::PLAIN
    };
    let text = transcript.text(Detail::Short, look);
    let plain = console::strip_ansi_codes(&text);
    insta::assert_snapshot!(plain, @"
    #1 assignment
    a[2Jbc

    [the task has no result: its run was interrupted]
    ");
    assert_ne!(text, plain);
    let piped = transcript.text(Detail::Short, Look::PLAIN);
    assert!(piped.contains("a\u{1b}[2Jb\u{202e}c"), "{piped:?}");

    run.state = RunState::Going;
    fs::write(folder.path().join("Late.jsonl"), "{\"n\": 1").unwrap();
    let late = run.task("Late").unwrap();
    let transcript = Transcript::of(&run, late).unwrap();
    insta::assert_snapshot!(transcript.text(Detail::Short, Look::PLAIN), @"[nothing was said so far]");
    fs::remove_file(folder.path().join("Late.jsonl")).unwrap();
    insta::assert_snapshot!(shown(Transcript::of(&run, late).unwrap_err()), @"  × `Late` has no transcript: its file is gone");
}

#[test]
fn an_id_that_leads_nowhere_says_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let environment = sortie_config::Environment::from_iter([("SORTIE_AGENT_DIR", home.path())]);
    let places = Places::find(home.path(), &environment, &[]).unwrap();
    insta::assert_snapshot!(shown(find(&places, "0199").unwrap_err()), @"
    × no run and no task of this project is called `0199`
    help: `sortie runs list` shows this project's runs
    ");
}
