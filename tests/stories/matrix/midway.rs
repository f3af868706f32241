//! An answer that goes wrong where it hurts most: within a call, or by the provider's own word.

use serde_json::json;
use sortie_testkit::Turn;

use super::{Row, hand_in};

/// A call with an effect that can be seen afterwards.
fn writes() -> Turn {
    Turn::tool(
        "write",
        json!({"path": "out.txt", "content": "half of a call"}),
    )
}

#[test]
fn a_call_that_was_cut_off_is_not_run() {
    for breaks in [Turn::cutting_after, Turn::tearing_after] {
        let looks = Turn::tool("glob", json!({"pattern": "*.txt"}));
        let (told, last) = Row::of([writes(), looks, hand_in()])
            .breaking(breaks)
            .played();
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @"
            exit 0, requests 3: completed
            output: all done
            ");
        }
        for request in last {
            // Only the look came of it, and it found what had been there before.
            assert_eq!(request.turn(), 1, "{request:?}");
            let found = request.results().concat();
            assert!(
                found.contains("in.txt") && !found.contains("out.txt"),
                "{found}"
            );
            assert!(!request.body.to_string().contains("half of a call"));
        }
    }
}

#[test]
fn a_call_that_is_always_cut_off_is_a_lost_connection() {
    let row = Row::always(writes()).breaking(Turn::cutting_after);
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 3: failed
    reason: connection
    message: `local/small`: the answer ended early; that was try 3, the last that `retry.maxRetries` allows
    output: (none)
    ");
}

#[test]
fn a_stall_within_a_call_trips_the_idle_clock() {
    let row = Row::always(writes())
        .breaking(Turn::stalling_after)
        .set("task.idleMs: 500");
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 1: timed_out
    reason: idle
    message: the model fell silent in its answer for 500 ms (`task.idleMs`)
    output: (none)
    ");
}

#[test]
fn an_error_in_the_middle_of_an_answer_is_asked_again() {
    let row = Row::once(Turn::text("Halfway through"))
        .breaking(|turn, frames| turn.failing_after(frames, 500));
    let (told, last) = row.played();
    insta::assert_snapshot!(told, @"
    exit 0, requests 2: completed
    output: all done
    ");
    for request in last {
        assert!(!request.body.to_string().contains("Halfw"), "{request:?}");
    }
}

#[test]
fn a_provider_that_says_in_its_answer_that_it_is_overloaded_rests() {
    insta::assert_snapshot!(Row::always(Turn::error_event("overloaded_error")).told(), @"
    exit 1, requests 1: failed
    reason: rate_limited
    message: `local/small` answered with provider error 529: the scripted error; `local` is cooling down for N s; waiting is limited to 2 s in all (`retry.maxDelayMs`)
    output: (none)
    ");
}
