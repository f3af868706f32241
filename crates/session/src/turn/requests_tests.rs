//! Requests: when they go out, and what stands in them.

use std::time::Duration;

use serde_json::json;
use sortie_protocol::{
    BudgetKind, Call, Down, Ending, Event, EventKind, Origin, Record, RecordKind, Reply, Up,
};
use tokio::time::Instant;

use crate::root_double::{candidate, fresh, play, play_slowly, play_with};

#[tokio::test(start_paused = true)]
async fn the_model_is_asked_once_to_wrap_up() {
    let look = json!({"tool": "read", "args": {"path": "agent://A"}});
    let (_folder, mut plan) = fresh(&json!([look, look, look, look, {"finish": {"data": 1}}]));
    plan.budgets.soft_requests = Some(2);
    let heard = play(plan).await;
    let reminders = heard.said(Origin::Reminder);
    assert_eq!(reminders.len(), 1);
    assert!(
        reminders[0].starts_with("You have used 2 model requests"),
        "{}",
        reminders[0]
    );
}

#[tokio::test(start_paused = true)]
async fn mail_joins_before_the_next_request_and_is_told_of_once_it_stands_there() {
    let (_folder, plan) = fresh(&json!([
        {"tool": "read", "args": {"path": "agent://A"}},
        {"finish": {"data": 1}},
    ]));
    let heard = play_with(
        plan,
        vec![],
        Box::new(|up| match up {
            Up::Call {
                id,
                call: Call::Read { .. },
            } => Some(vec![
                Down::Steer {
                    text: "look left".into(),
                },
                Down::Deliver {
                    id: "d1".into(),
                    text: "job done".into(),
                },
                Down::Reply {
                    id: *id,
                    reply: Reply::Stored {
                        text: "A".into(),
                        note: None,
                    },
                },
            ]),
            _ => None,
        }),
    )
    .await;
    assert_eq!(heard.said(Origin::Steer), ["look left"]);
    assert_eq!(heard.said(Origin::Delivery), ["job done"]);
    let place = |wanted: &dyn Fn(&Up) -> bool| heard.0.iter().position(wanted).unwrap();
    let stands = place(&|up| {
        matches!(
            up,
            Up::Record(Record {
                kind: RecordKind::User {
                    origin: Origin::Delivery,
                    ..
                },
                ..
            })
        )
    });
    let told = place(&|up| matches!(up, Up::Delivered { id } if id == "d1"));
    assert!(stands < told);
}

#[tokio::test(start_paused = true)]
async fn somebody_who_steers_an_idle_model_gets_a_turn_before_any_reminder() {
    let (_folder, plan) = fresh(&json!([{"text": "done?"}, {"finish": {"data": 1}}]));
    let heard = play_slowly(
        plan,
        Box::new(|up| {
            let speaks = matches!(
                up,
                Up::Event(Event {
                    kind: EventKind::Text { .. }
                })
            );
            speaks.then(|| {
                vec![Down::Steer {
                    text: "not yet".into(),
                }]
            })
        }),
    )
    .await;
    assert_eq!(heard.said(Origin::Reminder), Vec::<String>::new());
    assert_eq!(heard.said(Origin::Steer), ["not yet"]);
    assert_eq!(heard.report().data, Some(json!(1)));
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_ends_it_before_the_request() {
    let (_folder, plan) = fresh(&json!([{"finish": {"data": 1}}]));
    let heard = play_with(
        plan,
        vec![],
        Box::new(|up| match up {
            Up::Call {
                id,
                call: Call::Admit { .. },
            } => Some(vec![Down::Reply {
                id: *id,
                reply: Reply::Spent {
                    budget: BudgetKind::Tokens,
                },
            }]),
            _ => None,
        }),
    )
    .await;
    assert_eq!(
        heard.report().ending,
        Ending::Budget {
            budget: BudgetKind::Tokens
        }
    );
    assert_eq!(heard.ended().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_limited_model_is_left_for_the_next_and_the_root_hears_of_it_first() {
    let (_folder, mut plan) = fresh(&json!([{"error": {"status": 429, "retryAfterS": 7}}]));
    let second = candidate("p/y", &json!([{"finish": {"data": "y"}}]));
    plan.candidates
        .push(serde_json::from_value(second).unwrap());
    let began = Instant::now();
    let heard = play(plan).await;
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(heard.report().data, Some(json!("y")));
    insta::assert_json_snapshot!(heard.ended(), @r#"
    [
      {
        "admit": 1,
        "candidate": 0,
        "status": {
          "status": "refused",
          "http": 429,
          "message": "the script says so"
        },
        "retry_after_ms": 7000,
        "usage": {
          "input": null,
          "output": null,
          "cacheRead": null,
          "cacheWrite": null,
          "reasoning": null,
          "cost": null
        }
      },
      {
        "admit": 2,
        "candidate": 1,
        "status": {
          "status": "answered"
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
    insta::assert_json_snapshot!(heard.events()[0], @r#"
    {
      "event": "switch",
      "from": "p/x",
      "to": "p/y",
      "why": "`p/x` answered with provider error 429: the script says so"
    }
    "#);
    let ended = heard
        .0
        .iter()
        .position(|up| matches!(up, Up::Ended(_)))
        .unwrap();
    let second = heard
        .0
        .iter()
        .position(|up| {
            matches!(
                up,
                Up::Call {
                    call: Call::Admit { candidate: 1 },
                    ..
                }
            )
        })
        .unwrap();
    assert!(ended < second);
}

#[tokio::test(start_paused = true)]
async fn with_no_model_left_it_waits_as_long_as_the_root_says() {
    let (_folder, plan) = fresh(&json!([{"error": {"status": 429}}, {"finish": {"data": 1}}]));
    let began = Instant::now();
    let mut limited_until = None;
    let heard = play_with(
        plan,
        vec![],
        Box::new(move |up| match up {
            Up::Ended(_) => {
                limited_until = Some(Instant::now() + Duration::from_secs(30));
                None
            }
            Up::Call {
                id,
                call: Call::Admit { .. },
            } => {
                let left = limited_until?.checked_duration_since(Instant::now())?;
                let ready_in_ms = Some(u64::try_from(left.as_millis()).unwrap() + 1);
                let why = "`p` rests".into();
                Some(vec![Down::Reply {
                    id: *id,
                    reply: Reply::Skip { why, ready_in_ms },
                }])
            }
            _ => None,
        }),
    )
    .await;
    assert_eq!(heard.report().data, Some(json!(1)));
    let took = began.elapsed();
    assert!(
        took >= Duration::from_secs(30) && took < Duration::from_secs(31),
        "{took:?}"
    );
    assert_eq!(heard.ended().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_revived_session_goes_on_where_it_was_cut_off() {
    let (_folder, first) = fresh(&json!([
        {"tools": [
            {"tool": "read", "args": {"path": "agent://A"}},
            {"tool": "bash", "args": {"command": "true"}},
        ]},
        {"finish": {"data": 1}},
    ]));
    let whole = play(first).await;
    // Killed after the call of `bash` was on disk and before its answer was.
    let stored: Vec<_> = whole
        .records()
        .take_while(|record| !matches!(&record.kind, RecordKind::ToolResult(result) if result.name == "bash"))
        .cloned()
        .collect();
    let last = stored.last().unwrap().n;
    let (_folder, second) = fresh(&json!([{"finish": {"data": 2}}]));
    let heard = play_with(second, stored, Box::new(|_| None)).await;
    assert_eq!(heard.records().next().unwrap().n, last + 1);
    insta::assert_snapshot!(heard.texts().join("\n"), @r"
    false bash: not run, or its answer was lost: the session was interrupted; look at the state of things before you repeat it
    true yield: the session is over
    ");
    assert_eq!(heard.report().data, Some(json!(2)));
}

#[tokio::test(start_paused = true)]
async fn mail_that_comes_while_a_request_waits_to_be_let_out_stands_in_it() {
    let (_folder, plan) = fresh(&json!([{"error": {"status": 500}}, {"finish": {"data": 1}}]));
    let heard = play_with(
        plan,
        vec![],
        Box::new(|up| match up {
            Up::Call {
                id,
                call: Call::Admit { .. },
            } if *id == 2 => {
                let steer = Down::Steer {
                    text: "look left".into(),
                };
                Some(vec![
                    steer,
                    Down::Reply {
                        id: 2,
                        reply: Reply::Go,
                    },
                ])
            }
            _ => None,
        }),
    )
    .await;
    let stands = |up: &Up| {
        matches!(
            up,
            Up::Record(Record {
                kind: RecordKind::User {
                    origin: Origin::Steer,
                    ..
                },
                ..
            })
        )
    };
    let last_ended = heard
        .0
        .iter()
        .rposition(|up| matches!(up, Up::Ended(_)))
        .unwrap();
    assert!(heard.0[..last_ended].iter().any(stands));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cannot_be_told_which_tool_to_call_is_asked_without() {
    let stop = json!({"text": "done"});
    let (_folder, plan) =
        fresh(&json!([stop, stop, stop, {"error": {"status": 400}}, {"finish": {"data": 1}}]));
    let heard = play(plan).await;
    assert_eq!(heard.report().data, Some(json!(1)));
    assert_eq!(heard.ended().len(), 5);
}
