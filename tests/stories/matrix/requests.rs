//! A request that gets no whole answer.

use sortie_testkit::Turn;

use super::Row;

fn talk() -> Turn {
    Turn::text("Halfway through")
}

#[test]
fn a_cut_is_asked_for_again_and_leaves_nothing_behind() {
    let row = Row::once(talk()).breaking(Turn::cutting_after);
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
fn a_torn_frame_is_a_cut() {
    let row = Row::once(talk()).breaking(Turn::tearing_after);
    insta::assert_snapshot!(row.told(), @"
    exit 0, requests 2: completed
    output: all done
    ");
}

#[test]
fn a_cut_that_lasts_is_a_lost_connection() {
    let row = Row::always(talk()).breaking(Turn::cutting_after);
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 3: failed
    reason: connection
    message: `local/small`: the answer ended early; that was try 3, the last that `retry.maxRetries` allows
    output: Halfw
    warning: the last text is partial: the answer that held it broke off
    ");
}

#[test]
fn a_cut_before_the_first_word() {
    insta::assert_snapshot!(Row::always(Turn::cut_after(0)).told(), @"
    exit 1, requests 3: failed
    reason: connection
    message: `local/small`: the connection failed: nothing came that is an answer; the endpoint is `[BASE]` (`baseUrl` of `local`); that was try 3, the last that `retry.maxRetries` allows
    output: (none)
    ");
}

#[test]
fn a_stall_trips_the_idle_clock() {
    let row = Row::always(talk())
        .breaking(Turn::stalling_after)
        .set("task.idleMs: 500");
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 1: timed_out
    reason: idle
    message: the model fell silent in its answer for 500 ms (`task.idleMs`)
    output: Halfw
    warning: the last text is partial: the answer that held it broke off
    ");
}

#[test]
fn a_stall_before_the_first_word_trips_the_first_clock() {
    let row = Row::always(Turn::stall()).set("task.firstActivityMs: 300");
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 1: timed_out
    reason: first_activity
    message: no answer began within 300 ms (`task.firstActivityMs`)
    output: (none)
    ");
}

#[test]
fn a_provider_that_never_answers_trips_the_first_clock() {
    let row = Row::always(Turn::silent()).set("task.firstActivityMs: 300");
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 1: timed_out
    reason: first_activity
    message: no answer began within 300 ms (`task.firstActivityMs`)
    output: (none)
    ");
}

#[test]
fn a_refused_key_is_named_by_its_variable() {
    insta::assert_snapshot!(Row::always(Turn::status(401)).keyed().told(), @"
    exit 1, requests 1: failed
    reason: provider_error
    message: `local/small` answered with provider error 401: the scripted refusal; the key `LOCAL_KEY` was refused: check its value
    output: (none)
    ");
}

#[test]
fn a_missing_key_is_said_to_be_missing() {
    insta::assert_snapshot!(Row::always(Turn::status(401)).told(), @"
    exit 1, requests 1: failed
    reason: provider_error
    message: `local/small` answered with provider error 401: the scripted refusal; no key was sent: name one as `apiKey` of `local` in `models.yml`
    output: (none)
    ");
}

#[test]
fn a_limit_is_waited_for_as_long_as_the_provider_says() {
    let limited = Turn::status(429).header("retry-after-ms", "50");
    insta::assert_snapshot!(Row::once(limited).told(), @"
    exit 0, requests 2: completed
    output: all done
    ");
}

#[test]
fn a_limit_that_lasts_is_given_up_on() {
    let limited = Turn::status(429).header("retry-after-ms", "50");
    insta::assert_snapshot!(Row::always(limited).told(), @"
    exit 1, requests 3: failed
    reason: rate_limited
    message: `local/small` answered with provider error 429: the scripted refusal; that was try 3, the last that `retry.maxRetries` allows
    output: (none)
    ");
}

#[test]
fn a_limit_that_asks_for_too_much_is_not_waited_for() {
    let limited = Turn::status(429).retry_after(3600);
    insta::assert_snapshot!(Row::always(limited).told(), @"
    exit 1, requests 1: failed
    reason: rate_limited
    message: `local/small` answered with provider error 429: the scripted refusal; it asks to be left alone for 3600 s, and waiting is limited to 2 s in all (`retry.maxDelayMs`)
    output: (none)
    ");
}

#[test]
fn a_limit_without_a_time_rests_for_longer_than_is_waited_here() {
    insta::assert_snapshot!(Row::always(Turn::status(429)).told(), @"
    exit 1, requests 1: failed
    reason: rate_limited
    message: `local/small` answered with provider error 429: the scripted refusal; `local` is cooling down for N s; waiting is limited to 2 s in all (`retry.maxDelayMs`)
    output: (none)
    ");
}

#[test]
fn a_broken_provider_is_asked_again() {
    insta::assert_snapshot!(Row::once(Turn::status(500)).told(), @"
    exit 0, requests 2: completed
    output: all done
    ");
}

#[test]
fn a_provider_that_stays_broken_is_given_up_on() {
    insta::assert_snapshot!(Row::always(Turn::status(500)).told(), @"
    exit 1, requests 3: failed
    reason: provider_error
    message: `local/small` answered with provider error 500: the scripted refusal; that was try 3, the last that `retry.maxRetries` allows
    output: (none)
    ");
}

#[test]
fn a_frame_that_is_no_json_is_no_answer_and_asked_for_again() {
    insta::assert_snapshot!(Row::once(Turn::bad_json()).told(), @"
    exit 0, requests 2: completed
    output: all done
    ");
}
