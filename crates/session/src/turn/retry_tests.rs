use proptest::prelude::*;

use super::*;
use crate::root_double;

const POLICY: Retry = Retry {
    max_retries: 3,
    base_delay_ms: 500,
    max_delay_ms: 60_000,
};

fn candidate(selector: &str) -> Candidate {
    let scripted = root_double::candidate(selector, &serde_json::json!([]));
    serde_json::from_value(scripted).unwrap()
}

fn status(http: u16, retry_after: Option<u64>) -> Fault {
    let retry_after = retry_after.map(Duration::from_secs);
    let error = ModelError::Status {
        http,
        message: "words".into(),
        retry_after,
    };
    Fault::of(&error, &candidate("p/x"))
}

fn cut() -> Fault {
    Fault::of(&ModelError::Truncated, &candidate("p/x"))
}

fn after(ms: u64) -> Next {
    Next::AskAfter(Duration::from_millis(ms))
}

fn reason(next: &Next) -> &str {
    match next {
        Next::GiveUp { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_passes_is_tried_twice_before_the_next_and_often_on_the_last() {
    let mut chain = Chain::new(POLICY, 2);
    assert_eq!(chain.failed(&cut(), 0.0), after(500));
    assert_eq!(chain.failed(&status(503, None), 0.0), after(1000));
    assert_eq!(
        (chain.failed(&cut(), 0.0), chain.candidate()),
        (Next::Ask, 1)
    );
    assert_eq!(chain.failed(&cut(), 0.0), after(500));
    assert_eq!(chain.failed(&cut(), 0.0), after(1000));
    assert_eq!(chain.failed(&cut(), 0.0), after(2000));
    insta::assert_debug_snapshot!(chain.failed(&cut(), 0.0), @r#"
    GiveUp {
        reason: "connection",
        message: "`p/x`: the answer ended early; that was try 4, the last that `retry.maxRetries` allows",
    }
    "#);
}

#[test]
fn an_answer_makes_good_for_what_went_before() {
    let mut chain = Chain::new(POLICY, 1);
    for _ in 0..5 {
        assert_eq!(chain.failed(&cut(), 0.0), after(500));
        chain.answered();
    }
}

#[test]
fn a_roll_shortens_the_wait_by_up_to_a_quarter() {
    assert_eq!(Chain::new(POLICY, 1).failed(&cut(), 1.0), after(375));
    assert_eq!(
        Chain::new(POLICY, 1).failed(&cut(), 0.5),
        Next::AskAfter(Duration::from_micros(437_500))
    );
}

#[test]
fn a_stated_wait_is_kept_or_the_model_is_left() {
    let mut chain = Chain::new(POLICY, 2);
    assert_eq!(chain.failed(&status(503, Some(20)), 0.0), after(20_000));
    assert_eq!(
        (chain.failed(&status(503, Some(61)), 0.0), chain.candidate()),
        (Next::Ask, 1)
    );
    assert_eq!(
        reason(&chain.failed(&status(503, Some(61)), 0.0)),
        "provider_error"
    );
}

#[test]
fn load_sends_to_the_next_at_once_and_then_the_root_says_how_long() {
    let mut chain = Chain::new(POLICY, 2);
    assert_eq!(
        (chain.failed(&status(429, Some(40)), 0.0), chain.candidate()),
        (Next::Ask, 1)
    );
    assert_eq!(
        (chain.failed(&status(529, None), 0.0), chain.candidate()),
        (after(500), 1)
    );
    // The root knows better than the child when either can be used.
    let wait = chain.skipped("`p` rests", Some(Duration::from_secs(9)));
    assert_eq!((wait, chain.candidate()), (after(9000), 1));
    let wait = chain.skipped("`p` rests", Some(Duration::from_secs(40)));
    assert_eq!((wait, chain.candidate()), (after(31_000), 0));
}

#[test]
fn waiting_is_limited_in_all() {
    let mut chain = Chain::new(POLICY, 1);
    assert_eq!(
        chain.skipped("`p` rests", Some(Duration::from_secs(50))),
        after(50_000)
    );
    insta::assert_debug_snapshot!(chain.skipped("`p` rests", Some(Duration::from_secs(11))), @r#"
    GiveUp {
        reason: "rate_limited",
        message: "`p` rests; waiting is limited to 60 s in all (`retry.maxDelayMs`)",
    }
    "#);
}

#[test]
fn who_is_given_up_on_for_asking_too_much_is_quoted() {
    let mut told = Vec::new();
    for fault in [status(429, Some(61)), status(503, Some(61))] {
        told.push(Chain::new(POLICY, 1).failed(&fault, 0.0));
    }
    let mut chain = Chain::new(POLICY, 1);
    chain.failed(&status(429, Some(50)), 0.0);
    chain.skipped("`p` rests", Some(Duration::from_secs(50)));
    told.push(chain.skipped("`p` rests", Some(Duration::from_secs(50))));
    chain.answered();
    told.push(chain.skipped("`p` rests", Some(Duration::from_secs(61))));
    insta::assert_debug_snapshot!(told, @r#"
    [
        GiveUp {
            reason: "rate_limited",
            message: "`p/x` answered with provider error 429: words; it asks to be left alone for 61 s, and waiting is limited to 60 s in all (`retry.maxDelayMs`)",
        },
        GiveUp {
            reason: "provider_error",
            message: "`p/x` answered with provider error 503: words; it asks to be left alone for 61 s, and waiting is limited to 60 s in all (`retry.maxDelayMs`)",
        },
        GiveUp {
            reason: "rate_limited",
            message: "`p/x` answered with provider error 429: words; `p` rests; waiting is limited to 60 s in all (`retry.maxDelayMs`)",
        },
        GiveUp {
            reason: "rate_limited",
            message: "`p` rests; waiting is limited to 60 s in all (`retry.maxDelayMs`)",
        },
    ]
    "#);
}

#[test]
fn refusals_for_load_are_counted_where_no_model_is_left() {
    let mut chain = Chain::new(POLICY, 1);
    for ms in [500, 1000, 2000] {
        assert_eq!(chain.failed(&status(429, None), 0.0), after(ms));
    }
    insta::assert_debug_snapshot!(chain.failed(&status(429, None), 0.0), @r#"
    GiveUp {
        reason: "rate_limited",
        message: "`p/x` answered with provider error 429: words; that was try 4, the last that `retry.maxRetries` allows",
    }
    "#);
}

#[test]
fn a_lasting_refusal_is_never_asked_again() {
    let mut chain = Chain::new(POLICY, 3);
    assert_eq!(
        (chain.failed(&status(401, None), 0.0), chain.candidate()),
        (Next::Ask, 1)
    );
    assert_eq!(
        (chain.failed(&status(429, None), 0.0), chain.candidate()),
        (Next::Ask, 2)
    );
    let wait = chain.skipped("`q` rests", Some(Duration::from_secs(45)));
    assert_eq!((wait, chain.candidate()), (after(30_000), 1));
    let mut chain = Chain::new(POLICY, 1);
    insta::assert_debug_snapshot!(chain.failed(&status(403, None), 0.0), @r#"
    GiveUp {
        reason: "provider_error",
        message: "`p/x` answered with provider error 403: words",
    }
    "#);
}

#[test]
fn a_model_that_may_never_be_used_leaves_nothing_to_wait_for() {
    let mut chain = Chain::new(POLICY, 1);
    insta::assert_debug_snapshot!(chain.skipped("`p` is switched off", None), @r#"
    GiveUp {
        reason: "no_model",
        message: "no model of this agent can be used: `p` is switched off",
    }
    "#);
}

#[test]
fn quota_is_load_whatever_its_status() {
    let of = |http: u16, message: &str| {
        let message = message.to_owned();
        Fault::of(
            &ModelError::Status {
                http,
                message,
                retry_after: None,
            },
            &candidate("p/x"),
        )
        .kind
    };
    assert_eq!(of(403, "Quota exceeded for project"), FaultKind::Load);
    assert_eq!(of(503, "The model is overloaded."), FaultKind::Load);
    assert_eq!(of(503, "bad gateway"), FaultKind::Passing);
    assert_eq!(of(408, ""), FaultKind::Passing);
    assert_eq!(of(404, "no such model"), FaultKind::Lasting);
}

#[test]
fn a_script_that_ended_ends_the_session() {
    let fault = Fault::of(&ModelError::ScriptEnded(3), &candidate("script/a"));
    insta::assert_debug_snapshot!(Chain::new(POLICY, 4).failed(&fault, 0.0), @r#"
    GiveUp {
        reason: "script_ended",
        message: "`script/a`: the script has no turn for request 3: no `when` fits it, or the turns of those that do are used up",
    }
    "#);
}

#[test]
fn what_fails_for_good_is_neither_tried_again_nor_waited_for() {
    let ended = |error: ModelError| {
        let fault = Fault::of(&ModelError::ForGood(Box::new(error)), &candidate("p/x"));
        Chain::new(POLICY, 2).failed(&fault, 0.0)
    };
    let refused = |http| ModelError::Status {
        http,
        message: "words".into(),
        retry_after: Some(Duration::from_secs(1)),
    };
    assert_eq!(reason(&ended(ModelError::Truncated)), "connection");
    assert_eq!(reason(&ended(refused(401))), "provider_error");
    assert_eq!(reason(&ended(refused(500))), "provider_error");
    insta::assert_debug_snapshot!(ended(refused(429)), @r#"
    GiveUp {
        reason: "rate_limited",
        message: "`p/x` answered with provider error 429: words",
    }
    "#);
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(cut()),
        (
            prop::sample::select(vec![400_u16, 401, 408, 429, 500, 503, 529]),
            prop::option::of(0..100_u64)
        )
            .prop_map(|(http, wait)| status(http, wait)),
    ]
}

#[derive(Clone, Debug)]
enum Told {
    Failed(Fault),
    Skipped(Option<u64>),
}

proptest! {
    #[test]
    fn it_ends_in_bounded_steps_and_time(
        models in 1_usize..5,
        told in prop::collection::vec(
            prop_oneof![fault().prop_map(Told::Failed), prop::option::of(0..70_u64).prop_map(Told::Skipped)],
            1..20,
        ),
        roll in 0.0..1.0,
    ) {
        let mut chain = Chain::new(POLICY, models);
        let mut waited = Duration::ZERO;
        for (step, told) in told.iter().cycle().enumerate() {
            prop_assert!(step < 20_000, "it does not end");
            prop_assert!(chain.candidate() < models);
            let next = match told {
                Told::Failed(fault) => chain.failed(fault, roll),
                Told::Skipped(wait) => chain.skipped("rests", wait.map(Duration::from_secs)),
            };
            match next {
                Next::Ask => {}
                Next::AskAfter(wait) => {
                    prop_assert!(wait <= Duration::from_millis(POLICY.max_delay_ms));
                    waited += wait;
                }
                Next::GiveUp { .. } => break,
            }
        }
        prop_assert!(waited <= Duration::from_hours(1));
    }
}
