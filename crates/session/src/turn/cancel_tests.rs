//! Being told to stop.

use std::time::Duration;

use serde_json::json;
use sortie_protocol::{Call, Down, Ending, Event, EventKind, Up};
use tokio::time::Instant;

use crate::root_double::{fresh, play_with};

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_a_stream_at_once_and_keeps_what_was_said() {
    let (_folder, plan) = fresh(&json!([{"text": "half of", "stall": true}]));
    let began = Instant::now();
    let heard = play_with(
        plan,
        vec![],
        Box::new(|up| {
            let text = matches!(
                up,
                Up::Event(Event {
                    kind: EventKind::Text { .. }
                })
            );
            text.then(|| {
                vec![Down::Cancel {
                    reason: "enough".into(),
                }]
            })
        }),
    )
    .await;
    assert!(began.elapsed() < Duration::from_secs(1));
    insta::assert_json_snapshot!(heard.report(), @r#"
    {
      "ending": {
        "ending": "cancelled"
      },
      "lastText": "half of",
      "warnings": [
        "the last text is partial: the answer that held it broke off"
      ]
    }
    "#);
    insta::assert_json_snapshot!(heard.ended(), @r#"
    [
      {
        "admit": 1,
        "candidate": 0,
        "status": {
          "status": "abandoned"
        },
        "usage": {
          "input": null,
          "output": null,
          "cacheRead": null,
          "cacheWrite": null,
          "reasoning": null,
          "cost": null
        }
      }
    ]
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_takes_questions_back_and_answers_the_calls_that_did_not_start() {
    let (_folder, plan) = fresh(&json!([
        {"tools": [
            {"tool": "task", "args": {"tasks": []}},
            {"tool": "bash", "args": {"command": "touch never"}},
        ]},
    ]));
    let heard = play_with(
        plan,
        vec![],
        Box::new(|up| match up {
            Up::Call {
                call: Call::Spawn { .. },
                ..
            } => Some(vec![Down::Cancel {
                reason: "stop".into(),
            }]),
            _ => None,
        }),
    )
    .await;
    assert_eq!(heard.report().ending, Ending::Cancelled);
    assert!(heard.0.iter().any(|up| matches!(up, Up::Drop { .. })));
    insta::assert_snapshot!(heard.texts().join("\n"), @r"
    false task: stopped: the session was told to stop
    false bash: not run: the session was told to stop
    ");
}

#[tokio::test]
async fn a_cancel_ends_a_command_and_keeps_its_output() {
    let (_folder, plan) = fresh(&json!([
        {"tool": "bash", "args": {"command": "echo so far; exec sleep 1000"}},
    ]));
    let heard = play_with(
        plan,
        vec![],
        Box::new(|up| {
            let started = matches!(
                up,
                Up::Event(Event {
                    kind: EventKind::ToolStarted { .. }
                })
            );
            started.then(|| {
                vec![Down::Cancel {
                    reason: "stop".into(),
                }]
            })
        }),
    )
    .await;
    assert_eq!(heard.report().ending, Ending::Cancelled);
    assert_eq!(heard.results().len(), 1);
    assert!(!heard.results()[0].ok);
}
