use serde_json::json;

use super::*;

fn lines(records: &[serde_json::Value]) -> String {
    let lines: Vec<_> = records.iter().map(|record| format!("{record}\n")).collect();
    lines.concat()
}

fn talk() -> String {
    lines(&[
        json!({"n": 1, "at": 5_000, "record": "user", "origin": "assignment", "text": "look\n"}),
        json!({"n": 2, "at": 6_240, "record": "assistant", "candidate": 0, "stop": "tool_use",
            "thoughts": [{"text": "First the file."}, {"text": "", "signature": "x"}], "text": "I read it.",
            "calls": [
                {"id": "a", "name": "read", "args": {"path": "src/a.rs", "range": "1-3"}},
                {"id": "b", "name": "write", "args": {"path": "b.txt", "content": "one\ntwo\n"}},
                {"id": "c", "name": "bash", "args": "{\"command\": "},
            ],
            "usage": {"input": 1_200, "cacheRead": 800, "output": 40, "reasoning": 12, "cost": 0.001}}),
        json!({"n": 3, "at": 6_250, "record": "tool_call", "id": "a", "name": "read", "args": {}}),
        json!({"n": 4, "at": 6_260, "record": "tool_result", "call": "a", "name": "read", "ok": true, "text": "fn a() {}"}),
        json!({"n": 5, "at": 6_260, "record": "tool_result", "call": "c", "name": "bash", "ok": false, "text": "the arguments are no JSON"}),
        json!({"n": 6, "at": 9_999, "record": "user", "origin": "reminder", "text": "report"}),
        json!({"n": 7, "at": 9_999, "record": "assistant", "candidate": 1, "stop": "length", "usage": {"output": 9}}),
        json!({"n": 8, "at": 9_999, "record": "assistant", "candidate": 0, "stop": "stop"}),
    ])
}

#[test]
fn who_said_what_is_told_in_order() {
    let text = format!("{}no record\n{{\"n\": 9, ", talk());
    let transcript = Transcript::parse(&text);
    assert_eq!(transcript.damaged, [9]);
    insta::assert_snapshot!(transcript.text(Detail::Short), @r#"
    #1 assignment
    look

    #2 assistant, after 1.2 s
    [thinking] First the file.
    [thinking] not shown by the provider
    I read it.
    > 2.1 read
        path: src/a.rs
        range: 1-3
    > 2.2 write
        path: b.txt
        content:
            one
            two
    > 2.3 bash
        {"command": 
    [tokens: 1200 in, 800 from the cache, 40 out, 12 of them thinking; $0.0010]

    #4 answer of 2.1 read, after 1.2 s
    fn a() {}

    #5 failure of 2.3 bash, after 1.2 s
    the arguments are no JSON

    #6 reminder, after 4.9 s
    report

    #7 assistant (`candidates[1]` of the plan), after 4.9 s
    [cut off at the output limit]
    [tokens: 9 out]

    #8 assistant, after 4.9 s
    [nothing]

    [call 2.2 has no answer]
    [line 9 of the transcript is damaged, and left out]
    [the last line of the transcript is not whole, and left out]
    "#);
}

#[test]
fn what_is_long_is_told_whole_or_in_short() {
    let long: Vec<_> = (1..=400).map(|n| format!("line {n}\n")).collect();
    let long = long.concat();
    let text = lines(&[
        json!({"n": 1, "at": 0, "record": "user", "origin": "assignment", "text": long}),
        json!({"n": 2, "at": 0, "record": "assistant", "candidate": 0, "stop": "tool_use", "thoughts": [{"text": "ä".repeat(2_000)}],
            "calls": [{"id": "a", "name": "write", "args": {"content": long, "path": "p".repeat(400)}}]}),
        json!({"n": 3, "at": 0, "record": "tool_result", "call": "a", "name": "write", "ok": true, "text": long}),
    ]);
    let transcript = Transcript::parse(&text);
    let whole = transcript.text(Detail::Whole);
    assert_eq!(whole.matches("line 400").count(), 3);
    assert!(!whole.contains("more bytes"));
    let passages = transcript.passages(Detail::Short);
    assert!(
        passages[0].body.ends_with("line 400\n"),
        "an assignment is never cut"
    );
    assert!(passages[1].body.starts_with(&format!(
        "[thinking] {} [2000 more bytes]\n> 2.1 write\n",
        "ä".repeat(1_000)
    )));
    insta::assert_snapshot!(passages[1].body.split_once('\n').unwrap().1.replace(&"p".repeat(300), "[300 p]"), @"
    > 2.1 write
        content:
            line 1
            line 2
            line 3
            line 4
            line 5
            line 6
            [3451 more bytes]
        path: [300 p] [100 more bytes]
    ");
    assert!(
        passages[2].body.ends_with("line 20\n[3342 more bytes]\n"),
        "{}",
        passages[2].body
    );
}

#[test]
fn nothing_is_no_fault() {
    assert_eq!(Transcript::parse(""), Transcript::default());
    assert_eq!(Transcript::default().text(Detail::Whole), "");
    assert!(Transcript::parse("{").torn);
}
