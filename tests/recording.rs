//! Whatever a model answered, the recording of it answers the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, time::Duration};

use futures_util::StreamExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use sortie_config::{Environment, Places, Scripts};
use sortie_executor::{Recording, history::StoredRun};
use sortie_protocol::{
    AssistantTurn, Candidate, Record, RecordKind, StopReason, Thought, ToolCall, Usage,
};
use sortie_session::model::{
    Answer, Chunk, ModelClient, ModelRequest, Patience, script::ScriptClient,
};

/// The folder of its own that the recorded task had.
const SCRATCH: &str = "/runs/1/scratch/A";

/// A run in `dir` of one task, `A`, that was answered so.
fn leave(dir: &Path, answers: &[AssistantTurn]) {
    let journal = json!({"at": 0, "entry": "accepted", "id": "A", "agent": "task", "label": null});
    let plan = json!({"plan": {"scratch": SCRATCH}});
    let records = (1..).zip(answers).map(|(n, answer)| Record {
        n,
        at: 0,
        kind: RecordKind::Assistant(answer.clone()),
    });
    let lines: Vec<_> = records
        .map(|record| serde_json::to_string(&record).unwrap() + "\n")
        .collect();
    fs::create_dir(dir.join("plans")).unwrap();
    fs::write(dir.join("plans/A.json"), plan.to_string()).unwrap();
    fs::write(dir.join("A.jsonl"), lines.concat()).unwrap();
    fs::write(dir.join("journal.jsonl"), format!("{journal}\n")).unwrap();
}

/// The model that answers from the recording of the run in `dir`, once the plan has been on the wire.
fn scripted(dir: &Path) -> Candidate {
    let run = StoredRun::load(dir).unwrap();
    let script = Recording::default().script(&run, "again").unwrap();
    fs::write(dir.join("again.yaml"), script).unwrap();
    let places = Places::find(dir, &Environment::from_iter([("HOME", dir)]), &[]).unwrap();
    let entries = Scripts::load("again", dir, &places).unwrap();
    let matching: Vec<_> = entries
        .into_iter()
        .filter(|entry| entry.when.matches_child("task", "A", 1))
        .collect();
    let wired = json!({
        "selector": "script/again", "provider": "script", "api": "script", "baseUrl": "", "wireName": "again",
        "effort": null, "script": matching,
    });
    serde_json::from_str(&wired.to_string()).unwrap()
}

fn ask(client: &ScriptClient, candidate: &Candidate, n: u64) -> Option<Answer> {
    let request = ModelRequest {
        n,
        candidate,
        place: 0,
        system: "",
        transcript: &[],
        tools: &[],
        must_call: None,
        patience: Patience {
            first: Duration::MAX,
            idle: Duration::MAX,
        },
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let chunks = client.stream(request).await.ok()?;
        let chunks: Vec<_> = chunks.collect().await;
        match chunks.into_iter().last() {
            Some(Ok(Chunk::End(answer))) => Some(answer),
            other => panic!("{other:?}"),
        }
    })
}

/// All that a replay can tell of an answer: no signature, and no ids.
fn told(answer: &Answer) -> Value {
    let thoughts = answer.thoughts.iter().map(|thought| thought.text.as_str());
    let thoughts: Vec<_> = thoughts.filter(|text| !text.is_empty()).collect();
    let calls = answer
        .calls
        .iter()
        .map(|call| json!([call.name, call.args]));
    // Whoever calls nothing wants no tools run, whatever its provider says.
    let stop = match answer.stop {
        StopReason::ToolUse if answer.calls.is_empty() => StopReason::Stop,
        stop => stop,
    };
    json!({
        "thoughts": thoughts.join("\n\n"),
        "text": answer.text,
        "calls": calls.collect::<Vec<_>>(),
        "stop": stop,
        "usage": answer.usage,
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z \\n\\t:#'\"\\\\-]{0,20}",
        "(\\$|\\{scratch\\}|/runs/1/scratch/A|/runs/1/B.md| |x){0,8}",
        "(true|null|~|007|1e3|no|---)",
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(any_text(), inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_yield() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        Just(json!("text")),
        Just(json!(["findings"])),
        Just(json!(["a", "b"])),
        Just(json!([])),
        any_json(),
    ];
    (
        prop::option::of(kind),
        prop::option::of(any_json()),
        prop::option::of(any_json()),
    )
        .prop_map(|(kind, data, error)| {
            let fields = [("type", kind), ("data", data), ("error", error)];
            let given = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(given.collect())
        })
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let call = prop_oneof![
        (Just("yield".to_owned()), any_yield()),
        (Just("yield".to_owned()), any_json()),
        (Just("read".to_owned()), any_json()),
        ("\\PC{1,12}", any_json()),
    ];
    call.prop_map(|(name, args)| ToolCall {
        id: "call".into(),
        name,
        args,
    })
}

fn any_usage() -> impl Strategy<Value = Usage> {
    let figure = || prop::option::of(0..u64::from(u32::MAX));
    (figure(), figure(), figure(), prop::option::of(0.0..9.0)).prop_map(
        |(input, output, cache_read, cost)| Usage {
            input,
            output,
            cache_read,
            cost,
            ..Usage::default()
        },
    )
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let stop = prop::sample::select(vec![
        StopReason::Stop,
        StopReason::ToolUse,
        StopReason::Length,
        StopReason::Refusal,
    ]);
    let thought = any_text().prop_map(|text| Thought {
        text,
        signature: Some("signed".into()),
        ..Thought::default()
    });
    (
        prop::collection::vec(thought, 0..3),
        any_text(),
        prop::collection::vec(any_call(), 0..4),
        stop,
        any_usage(),
    )
        .prop_map(|(thoughts, text, calls, stop, usage)| Answer {
            thoughts,
            text,
            calls,
            stop,
            usage,
        })
}

/// `text` as the replay says it, with the recorded folders where its own stand.
fn as_recorded(value: &Value, scratch: &str) -> Value {
    let text = serde_json::to_string(value).unwrap();
    let text = text
        .replace(&format!("{scratch}/../../"), "/runs/1/")
        .replace(scratch, SCRATCH);
    serde_json::from_str(&text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_recording_answers_as_the_model_did(answers in prop::collection::vec(any_answer(), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let turns: Vec<_> = answers
            .iter()
            .cloned()
            .map(|Answer { thoughts, text, calls, stop, usage }| AssistantTurn {
                candidate: 0,
                thoughts,
                text,
                calls,
                stop,
                usage,
            })
            .collect();
        leave(folder.path(), &turns);
        let candidate = scripted(folder.path());
        let client = ScriptClient::new("/elsewhere/scratch/A".into());
        for (n, answer) in (1..).zip(&answers) {
            let again = ask(&client, &candidate, n).unwrap();
            prop_assert_eq!(as_recorded(&told(&again), "/elsewhere/scratch/A"), told(answer));
        }
        prop_assert_eq!(ask(&client, &candidate, answers.len() as u64 + 1), None);
    }
}
