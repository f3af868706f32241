use serde_json::json;
use sortie_protocol::{Down, Ending, Up};
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, duplex};

use super::*;
use crate::{
    clients::Clients,
    root_double::{Heard, converse, plan, start},
};

fn some_plan() -> SessionPlan {
    let folder = TempDir::new().unwrap();
    plan(folder.path(), &json!([{"finish": {"data": 1}}]))
}

async fn refusal(opening: Vec<Down>) -> String {
    let heard: Heard = converse(opening, Box::new(|_| None)).await;
    assert_eq!(heard.0.len(), 1, "{heard:?}");
    match &heard.report().ending {
        Ending::Failed { reason, message } => format!("{reason}: {message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn another_version_is_refused_naming_both() {
    let message = refusal(vec![start(some_plan(), 7)]).await;
    insta::assert_snapshot!(message, @"protocol: the root speaks version 7 of the wire, this child version 1; use one release of both");
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_without_a_plan_that_can_be_used() {
    let prompt = Down::Prompt {
        text: "do it".into(),
    };
    insta::assert_snapshot!(refusal(vec![prompt]).await, @"protocol: a prompt came before a `start` that can be read");
    let mut plan = some_plan();
    plan.candidates.clear();
    insta::assert_snapshot!(refusal(vec![start(plan, PROTOCOL_VERSION)]).await, @"protocol: the plan names no model");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_before_the_prompt_is_answered() {
    let opening = vec![
        start(some_plan(), PROTOCOL_VERSION),
        Down::Cancel {
            reason: "never mind".into(),
        },
    ];
    let heard = converse(opening, Box::new(|_| None)).await;
    assert_eq!(heard.report().ending, Ending::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn unknown_words_and_stray_lines_are_passed_over() {
    let opening = vec![
        start(some_plan(), PROTOCOL_VERSION),
        Down::Unknown,
        Down::Prompt {
            text: "do it".into(),
        },
    ];
    let heard = converse(opening, Box::new(|_| None)).await;
    assert_eq!(heard.report().data, Some(json!(1)));
}

#[tokio::test(start_paused = true)]
async fn a_root_that_leaves_ends_the_child() {
    let (mut ours, theirs) = duplex(1 << 10);
    let (input, output) = tokio::io::split(theirs);
    let child = serve(input, output, |plan: &SessionPlan, secrets| {
        Clients::new(secrets, plan.scratch.clone())
    });
    ours.write_all(b"not ours\n").await.unwrap();
    drop(ours);
    assert_eq!(child.await, Err(Abandoned));
}

#[tokio::test(start_paused = true)]
async fn the_report_is_the_last_line_and_whatever_the_root_sends_afterwards_changes_nothing() {
    let opening = vec![
        start(some_plan(), PROTOCOL_VERSION),
        Down::Prompt {
            text: "do it".into(),
        },
    ];
    let heard = converse(
        opening,
        Box::new(|up| {
            matches!(up, Up::Ended(_)).then(|| {
                vec![Down::Prompt {
                    text: "again".into(),
                }]
            })
        }),
    )
    .await;
    assert_eq!(heard.report().data, Some(json!(1)));
    assert_eq!(heard.ended().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_key_of_the_run_stands_in_what_a_tool_answers() {
    let folder = TempDir::new().unwrap();
    // Whatever has no cut of its own is freed of keys too: the names in a folder.
    std::fs::write(folder.path().join("sk-1234567890"), "is sk-1234567890\n").unwrap();
    let turns = json!([
        {"tool": "read", "args": {"path": "."}},
        {"tool": "read", "args": {"path": "sk-1234567890"}},
        {"finish": {"data": 1}},
    ]);
    let mut secrets = Secrets::default();
    secrets.insert("A", "sk-1234567890");
    let opening = vec![
        Down::Start(Box::new(Start {
            version: PROTOCOL_VERSION,
            plan: plan(folder.path(), &turns),
            secrets,
        })),
        Down::Prompt {
            text: "do it".into(),
        },
    ];
    let heard = converse(opening, Box::new(|_| None)).await;
    assert_eq!(
        heard.texts()[..2],
        ["true read: [key A]  17 B\n", "true read: is [key A]\n"]
    );
}
