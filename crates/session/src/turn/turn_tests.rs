//! Calls, and what is handed in.

use std::path::Path;

use serde_json::json;
use sortie_protocol::{Call, Down, Ending, Origin, Record, RecordKind, Reply, Up};

use crate::root_double::{fresh, play, play_with};

#[tokio::test(start_paused = true)]
async fn a_tool_starts_only_when_its_record_is_on_disk() {
    let (folder, plan) = fresh(&json!([
        {"tool": "write", "args": {"path": "x", "content": "y"}},
        {"finish": {"data": 1}},
    ]));
    let file = folder.path().join("x");
    let mut checked = false;
    let heard = play_with(
        plan,
        vec![],
        Box::new(|up| {
            if let Up::Record(Record {
                kind: RecordKind::ToolCall(call),
                ..
            }) = up
                && call.name == "write"
            {
                assert!(!Path::new(&file).exists());
                checked = true;
            }
            None
        }),
    )
    .await;
    assert!(file.exists());
    assert_eq!(heard.report().data, Some(json!(1)));
    drop(heard);
    assert!(checked);
}

#[tokio::test(start_paused = true)]
async fn records_are_numbered_without_gaps_and_answers_follow_their_calls() {
    let (_folder, plan) = fresh(&json!([
        {"think": "hm", "text": "looking", "tools": [
            {"tool": "task", "args": {"context": "c", "tasks": [{"task": "a"}]}},
            {"tool": "read", "args": {"path": "agent://A"}},
        ]},
        {"finish": {"text": "all done"}},
    ]));
    let heard = play(plan).await;
    let numbers: Vec<_> = heard.records().map(|record| record.n).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        heard.texts(),
        [
            r#"true task: done: {"context":"c","tasks":[{"task":"a"}]}"#,
            "true read: read agent://A",
            "true yield: the session is over",
        ]
    );
    let report = heard.report();
    assert_eq!(report.text.as_deref(), Some("all done"));
    assert_eq!(
        report.ending,
        Ending::Yielded {
            tries: 1,
            faults: vec![]
        }
    );
}

#[tokio::test(start_paused = true)]
async fn calls_of_task_run_side_by_side_and_are_answered_in_their_order() {
    let task = |name: &str| json!({"tool": "task", "args": {"tasks": [{"task": name}]}});
    let (_folder, plan) = fresh(&json!([
        {"tools": [task("one"), task("two"), task("three")]},
        {"finish": {"data": 1}},
    ]));
    let mut open = Vec::new();
    let heard = play_with(
        plan,
        vec![],
        Box::new(move |up| {
            let Up::Call {
                id,
                call: Call::Spawn { args },
            } = up
            else {
                return None;
            };
            open.push((*id, args["tasks"][0]["task"].to_string()));
            // Answered only once all of them are there, the last first.
            let all = if open.len() == 3 {
                std::mem::take(&mut open)
            } else {
                vec![]
            };
            Some(
                all.into_iter()
                    .rev()
                    .map(|(id, text)| Down::Reply {
                        id,
                        reply: Reply::Text { ok: true, text },
                    })
                    .collect(),
            )
        }),
    )
    .await;
    assert_eq!(
        heard.texts()[..3],
        [
            "true task: \"one\"",
            "true task: \"two\"",
            "true task: \"three\""
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_cannot_be_carried_out_are_answered_with_what_can() {
    let (_folder, mut plan) = fresh(&json!([
        {"tools": [
            {"tool": "delete_all", "args": {}},
            {"tool": "edit", "args": {}},
            {"tool": "read", "args": ["a"]},
            {"tool": "read", "args": "{\"path\": "},
            {"tool": "Read", "args": "{\"path\": \"agent://X\"}"},
        ]},
        {"finish": {"data": 1}},
    ]));
    plan.tools
        .retain(|tool| tool.name == "read" || tool.name == "yield");
    let heard = play(plan).await;
    insta::assert_snapshot!(heard.texts().join("\n"), @r"
    false delete_all: there is no tool `delete_all` here; the tools are `read`, `yield`
    false edit: there is no tool `edit` here; the tools are `read`, `yield`
    false read: the arguments have to be a JSON object
    false read: the arguments are no JSON (EOF while parsing a value at line 1 column 9); send the call again, whole, and in smaller pieces if it was cut off
    true Read: read agent://X
    true yield: the session is over
    ");
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_the_root_is_refused_by_the_root() {
    let (_folder, mut plan) = fresh(&json!([
        {"tool": "task", "args": {"tasks": []}},
        {"finish": {"data": 1}},
    ]));
    plan.tools.retain(|tool| tool.name == "yield");
    let heard = play(plan).await;
    let asked = heard
        .calls()
        .into_iter()
        .any(|call| matches!(call, Call::Spawn { .. }));
    assert!(asked, "{:?}", heard.texts());
}

#[tokio::test(start_paused = true)]
async fn what_stands_after_an_accepted_yield_is_not_run() {
    let (folder, plan) = fresh(&json!([
        {"tools": [
            {"tool": "write", "args": {"path": "before", "content": ""}},
            {"tool": "yield", "args": {"data": 1}},
            {"tool": "write", "args": {"path": "after", "content": ""}},
        ]},
    ]));
    let heard = play(plan).await;
    assert!(folder.path().join("before").exists());
    assert!(!folder.path().join("after").exists());
    assert_eq!(heard.ended().len(), 1);
    let last = *heard.results().last().unwrap();
    assert!(!last.ok);
    assert!(last.text.starts_with("not run"), "{}", last.text);
}

#[tokio::test(start_paused = true)]
async fn a_part_goes_on_and_is_kept_beside_the_result() {
    let (_folder, plan) = fresh(&json!([
        {"finish": {"section": "findings", "data": {"title": "a"}}},
        {"finish": {"section": "findings", "data": {"title": "b"}}},
        {"finish": {"data": {"verdict": "fail"}}},
    ]));
    let heard = play(plan).await;
    let report = heard.report();
    assert_eq!(report.data, Some(json!({"verdict": "fail"})));
    assert_eq!(report.sections.len(), 2);
    assert_eq!(
        heard
            .events()
            .iter()
            .filter(|event| event["event"] == "section")
            .count(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_model_that_stops_is_reminded_three_times_and_the_last_demands_a_yield() {
    let turns = json!([{"text": "one"}, {"end": "length"}, {"end": "refusal"}, {"text": "four"}, {"text": "never"}]);
    let (_folder, plan) = fresh(&turns);
    let heard = play(plan).await;
    assert_eq!(heard.said(Origin::Reminder).len(), 3);
    assert_eq!(heard.ended().len(), 4);
    insta::assert_json_snapshot!(heard.report(), @r#"
    {
      "ending": {
        "ending": "incomplete",
        "message": "the model ended its turn with text and no `yield`, after 3 reminders"
      },
      "lastText": "four"
    }
    "#);
}

#[tokio::test(start_paused = true)]
async fn prose_counts_where_the_plan_says_so_and_there_is_no_schema() {
    let turns = json!([{"text": "the answer"}, {}, {}, {}]);
    let (_folder, mut accepting) = fresh(&turns);
    accepting.accept_prose = true;
    let heard = play(accepting.clone()).await;
    insta::assert_json_snapshot!(heard.report(), @r#"
    {
      "ending": {
        "ending": "yielded",
        "tries": 0,
        "faults": []
      },
      "text": "the answer",
      "lastText": "the answer",
      "warnings": [
        "nothing was handed in with `yield`; the last text is taken for the report (`task.acceptProse`)"
      ]
    }
    "#);
    accepting.schema = serde_json::from_value(
        json!({"source": "caller", "mode": "permissive", "schema": {"type": "object"}}),
    )
    .unwrap();
    let heard = play(accepting).await;
    assert!(matches!(heard.report().ending, Ending::Incomplete { .. }));
}
