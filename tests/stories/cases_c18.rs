//! C18: a schema, and a model that needs several tries, over every API.

use std::fs;

use serde_json::{Value, json};
use sortie_protocol::{Api, StructuredStatus, TaskResult};
use sortie_testkit::{ModelServer, Project, Request, Turn};

use crate::support::{end_of, models_over, over_every_api, sortie};

fn schema() -> Value {
    json!({
        "type": "object", "required": ["verdict", "notes"], "additionalProperties": false,
        "properties": {
            "verdict": {"enum": ["pass", "fail"]},
            "notes": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 10}},
        },
    })
}

/// What is left of a strict review whose model took some turns.
struct Played {
    code: Option<i32>,
    task: TaskResult,
    requests: Vec<Request>,
    /// What the model was told of each try: whether it was taken, and the words.
    told: Vec<(bool, String)>,
}

/// Plays `turns` over every API, the last of them for ever, and sees to what has to hold of every such task.
fn play(turns: &[Turn]) -> Vec<Played> {
    let played = over_every_api(|api| review(api, turns.to_vec()));
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for one in &played {
        // Nothing was said to be taken that does not fit.
        let structured = one.task.structured.as_ref().unwrap();
        let fits = structured
            .data
            .as_ref()
            .is_some_and(|data| validator.is_valid(data));
        assert_eq!(one.told.iter().any(|(ok, _)| *ok), fits, "{:?}", one.told);
        // And nothing is a success that was not taken.
        assert_eq!(one.task.outcome.is_completed(), fits);
        assert_eq!(structured.status == StructuredStatus::Valid, fits);
        assert_eq!(one.code, Some(i32::from(!fits)));
        // Every API has the same to tell.
        assert_eq!(one.told, played[0].told);
        assert_eq!(one.task.outcome, played[0].task.outcome);
        assert_eq!(one.task.warnings, played[0].task.warnings);
    }
    played
}

fn review(api: Api, turns: Vec<Turn>) -> Played {
    let server =
        ModelServer::answering(move |request| turns[request.turn().min(turns.len() - 1)].clone());
    let project = Project::new();
    let task = json!({"name": "One", "agent": "rev", "task": "review", "outputSchema": schema()});
    let batch = json!({"model": "local/small", "schemaMode": "strict", "tasks": [task]});
    project
        .user_file("models.yml", models_over(api, &server.base_url(api), ""))
        .agent("rev", "---\nname: rev\ndescription: reviews\n---\nx\n")
        .file("batch.json", batch.to_string());
    let ended = sortie(&project, &["run", "batch.json", "--json"]);
    let task = ended.task("One");
    let transcript = task.artifacts.transcript.as_ref().unwrap();
    let records = fs::read_to_string(transcript).unwrap();
    let records = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told = records
        .filter(|record| record["record"] == "tool_result" && record["name"] == "yield")
        .map(|record| {
            let text = record["text"].as_str().unwrap().to_owned();
            (record["ok"] == true, text)
        });
    Played {
        code: ended.code,
        told: told.collect(),
        requests: server.requests(),
        task,
    }
}

fn hand_in(data: &Value) -> Turn {
    Turn::tool("yield", json!({"data": data}))
}

#[test]
fn a_one_reply_lists_every_fault_and_the_second_try_is_accepted() {
    let right = json!({"verdict": "pass", "notes": ["looks right to me"]});
    let turns = [
        hand_in(&json!({"verdict": "Pass.", "extra": 1})),
        hand_in(&right),
    ];
    for played in play(&turns) {
        let Played { task, told, .. } = &played;
        insta::allow_duplicates! {
            insta::assert_snapshot!(told[0].1, @r#"
            not accepted:
            - missing `notes`
            - verdict: should be one of "pass", "fail", but is the string "Pass."
            - has `extra`, which is not allowed here; allowed: `verdict`, `notes`
            Call `yield` again with all of this put right. Two tries are left.
            "#);
        }
        // That is also what the model got.
        let got = played.requests[1].results().concat();
        assert!(got.ends_with(&told[0].1), "{got}");
        assert_eq!(end_of(task), ("completed".into(), None));
        assert_eq!(task.structured.as_ref().unwrap().data, Some(right.clone()));
        assert_eq!(task.warnings, ["the result fitted the schema on try 2"]);
        assert_eq!(played.requests.len(), 2);
    }
}

#[test]
fn b_three_tries_end_it_with_all_there_is() {
    let wrong = hand_in(&json!({"verdict": "maybe"}));
    let turns = [
        Turn::text("long careful review text"),
        wrong.clone(),
        wrong.clone(),
        wrong,
        hand_in(&json!({"verdict": "pass", "notes": ["never reached here"]})),
    ];
    for played in play(&turns) {
        let Played { task, .. } = &played;
        assert_eq!(
            end_of(task),
            ("schema_violation".into(), Some("schema_violation"))
        );
        insta::allow_duplicates! {
            insta::assert_snapshot!(task.outcome.message.as_deref().unwrap(), @r#"no result fitted the schema in 3 tries: missing `notes`; verdict: should be one of "pass", "fail", but is the string "maybe""#);
        }
        // The review, the last data, and its faults.
        let output = task.output.as_deref().unwrap();
        assert!(output.contains("long careful review text"), "{output}");
        let structured = task.structured.as_ref().unwrap();
        assert_eq!(structured.status, StructuredStatus::Invalid);
        assert_eq!(structured.data, Some(json!({"verdict": "maybe"})));
        let faults = structured.error.as_deref().unwrap();
        assert!(
            faults.contains("missing `notes`") && faults.contains("verdict: "),
            "{faults}"
        );
        // The text and three tries; what would have been right is never asked for.
        assert_eq!(played.requests.len(), 4);
        assert_eq!(played.told.len(), 3);
    }
}

#[test]
fn c_the_last_try_counts_and_the_number_of_tries_is_shown() {
    let short = hand_in(&json!({"verdict": "pass", "notes": ["x"]}));
    let right = json!({"verdict": "pass", "notes": ["aaaaaaaaaa"]});
    for played in play(&[short.clone(), short, hand_in(&right)]) {
        let Played { task, .. } = &played;
        assert_eq!(end_of(task), ("completed".into(), None));
        assert_eq!(task.structured.as_ref().unwrap().data, Some(right.clone()));
        assert_eq!(task.warnings, ["the result fitted the schema on try 3"]);
        assert_eq!(played.requests.len(), 3);
    }
}

#[test]
fn d_stopping_after_a_rejection_is_not_told_as_if_nothing_had_been_handed_in() {
    let turns = [
        hand_in(&json!({"verdict": "maybe"})),
        Turn::text("I stop here"),
    ];
    for played in play(&turns) {
        let Played { task, .. } = &played;
        assert_eq!(end_of(task), ("incomplete".into(), Some("no_report")));
        insta::allow_duplicates! {
            insta::assert_snapshot!(task.outcome.message.as_deref().unwrap(), @r#"the model ended its turn with text and no `yield`, after 3 reminders; the last `yield` was rejected: missing `notes`; verdict: should be one of "pass", "fail", but is the string "maybe""#);
        }
        assert_eq!(task.output.as_deref(), Some("I stop here"));
        // The try, and a stop after each of three reminders.
        assert_eq!(played.requests.len(), 5);
    }
}
