//! A whole answer that is no step forward.

use serde_json::json;
use sortie_testkit::{Request, Turn};

use super::Row;

/// What the model was told of its last call: the same over every API.
#[track_caller]
fn answered(last: &[Request]) -> String {
    let told = last.iter().map(|request| {
        let text = request.results().join("\n");
        // Where an API has no mark for a failure, a word says it.
        text.trim_start_matches("error: ").to_owned()
    });
    let told: Vec<_> = told.collect();
    for other in &told {
        assert_eq!(other, &told[0]);
    }
    told[0].clone()
}

fn broken() -> Turn {
    Turn::tool_text("read", "{\"path\": \"in.txt")
}

#[test]
fn a_model_is_told_that_its_arguments_are_no_json() {
    let (told, last) = Row::once(broken()).played();
    insta::assert_snapshot!(told, @"
    exit 0, requests 2: completed
    output: all done
    ");
    insta::assert_snapshot!(answered(&last), @"the arguments are no JSON (EOF while parsing a string at line 1 column 16); send the call again, whole, and in smaller pieces if it was cut off");
}

#[test]
fn a_model_whose_arguments_are_never_json_uses_up_its_budget() {
    let row = Row::always(broken()).set("task.budget.requests: 4");
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 4: budget
    reason: requests
    message: its budget was used up (`task.budget.requests`)
    output: (none)
    ");
}

fn unknown() -> Turn {
    Turn::tool("reed", json!({"path": "in.txt"}))
}

#[test]
fn a_model_is_told_which_tools_there_are() {
    let (told, last) = Row::once(unknown()).played();
    insta::assert_snapshot!(told, @"
    exit 0, requests 2: completed
    output: all done
    ");
    insta::assert_snapshot!(answered(&last), @"there is no tool `reed` here; the tools are `read`, `grep`, `glob`, `write`, `edit`, `bash`, `todo`, `task`, `yield`");
}

#[test]
fn a_model_that_knows_no_tool_uses_up_its_budget() {
    let row = Row::always(unknown()).set("task.budget.requests: 4");
    insta::assert_snapshot!(row.told(), @"
    exit 1, requests 4: budget
    reason: requests
    message: its budget was used up (`task.budget.requests`)
    output: (none)
    ");
}

#[test]
fn a_model_that_says_nothing_is_reminded() {
    insta::assert_snapshot!(Row::once(Turn::empty()).told(), @"
    exit 0, requests 2: completed
    output: all done
    ");
}

#[test]
fn nothing_is_never_a_result() {
    insta::assert_snapshot!(Row::always(Turn::empty()).told(), @"
    exit 1, requests 4: incomplete
    reason: no_report
    message: the model ended its turn with nothing at all, after 3 reminders
    output: (none)
    ");
    insta::assert_snapshot!(Row::always(Turn::text(" \n ")).told(), @"
    exit 1, requests 4: incomplete
    reason: no_report
    message: the model ended its turn with nothing at all, after 3 reminders
    output: (none)
    ");
}

#[test]
fn nothing_cannot_be_handed_in() {
    let blank = Turn::tool("yield", json!({"data": " \n"}));
    insta::assert_snapshot!(Row::always(blank).told(), @"
    exit 1, requests 3: incomplete
    reason: no_report
    message: 3 `yield` calls in a row could not be accepted; the last: the result is blank: say in it what was found or done, or give the reason as `error` if there is nothing to report
    output: (none)
    ");
    let unsaid = Turn::tool("yield", json!({"type": "text"}));
    insta::assert_snapshot!(Row::always(unsaid).told(), @"
    exit 1, requests 3: incomplete
    reason: no_report
    message: 3 `yield` calls in a row could not be accepted; the last: there is no text to hand in: write the report as your message in the same turn, or give it as `data`
    output: (none)
    ");
}

#[test]
fn a_model_that_declines_is_asked_again() {
    insta::assert_snapshot!(Row::once(Turn::refusal()).told(), @"
    exit 0, requests 2: completed
    output: all done
    ");
}

#[test]
fn a_model_that_keeps_declining_has_not_completed() {
    insta::assert_snapshot!(Row::always(Turn::refusal()).told(), @"
    exit 1, requests 4: incomplete
    reason: no_report
    message: the model declined to go on, after 3 reminders
    output: I will not do that.
    ");
}

#[test]
fn a_model_that_was_cut_short_is_asked_to_go_on() {
    insta::assert_snapshot!(Row::once(Turn::length()).told(), @"
    exit 0, requests 2: completed
    output: all done
    ");
}

#[test]
fn a_model_that_is_always_cut_short_has_not_completed() {
    insta::assert_snapshot!(Row::always(Turn::length()).told(), @"
    exit 1, requests 4: incomplete
    reason: no_report
    message: the model ran into its output limit (`maxTokens` of `local/small`, 8000 tokens), after 3 reminders
    output: As much as fits
    ");
}
