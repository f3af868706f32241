use proptest::prelude::*;
use serde_json::json;
use sortie_protocol::{SchemaMode, SchemaSource};

use super::*;

fn desk(mode: SchemaMode, schema: Value) -> Desk {
    Desk::new(Some(PlannedSchema {
        source: SchemaSource::Caller,
        mode,
        schema,
    }))
}

fn review(mode: SchemaMode) -> Desk {
    let schema = json!({
        "type": "object", "required": ["verdict", "findings"], "additionalProperties": false,
        "properties": {
            "verdict": {"enum": ["pass", "fail"]},
            "findings": {"type": "array", "items": {"type": "object", "required": ["title"]}},
        },
    });
    desk(mode, schema)
}

fn accepted(verdict: Verdict) -> HandedIn {
    match verdict {
        Verdict::Final(handed_in) => handed_in,
        other => panic!("{other:?}"),
    }
}

fn rejected(verdict: Verdict) -> String {
    match verdict {
        Verdict::Rejected { text } => text,
        other => panic!("{other:?}"),
    }
}

fn is_part(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Part { .. })
}

#[test]
fn an_error_gives_up_whatever_the_schema() {
    let verdict =
        review(SchemaMode::Strict).submit(&json!({"error": "no access", "type": ["x"]}), None);
    assert_eq!(
        accepted(verdict).ending,
        Ending::GaveUp {
            error: "no access".into()
        }
    );
}

#[test]
fn the_last_text_is_the_report_where_there_is_no_data() {
    let mut desk = Desk::new(None);
    let handed_in = accepted(desk.submit(&json!({"type": "text"}), Some("all is well")));
    assert_eq!(handed_in.text.as_deref(), Some("all is well"));
    assert_eq!(handed_in.data, None);
    insta::assert_snapshot!(rejected(Desk::new(None).submit(&json!({"type": "text"}), None)), @r"
    not accepted:
    - there is no text to hand in: write the report as your message in the same turn, or give it as `data`
    Call `yield` again with all of this put right. Two tries are left.
    ");
}

#[test]
fn text_as_data_is_both() {
    let handed_in = accepted(Desk::new(None).submit(&json!({"data": "all is well"}), None));
    assert_eq!(handed_in.text.as_deref(), Some("all is well"));
    assert_eq!(handed_in.data, Some(json!("all is well")));
    let handed_in = accepted(Desk::new(None).submit(&json!({"data": "[1]"}), None));
    assert_eq!(
        handed_in.data,
        Some(json!("[1]")),
        "without a schema nothing is unwrapped"
    );
}

#[test]
fn a_blank_text_is_a_result_only_where_a_schema_takes_it() {
    let blank = json!({"data": " \n"});
    let mut free = Desk::new(None);
    insta::assert_snapshot!(rejected(free.submit(&blank, None)), @"
    not accepted:
    - the result is blank: say in it what was found or done, or give the reason as `error` if there is nothing to report
    Call `yield` again with all of this put right. Two tries are left.
    ");
    rejected(free.submit(&blank, None));
    let ending = accepted(free.submit(&blank, None)).ending;
    assert!(matches!(ending, Ending::Incomplete { .. }), "{ending:?}");
    let mut stated = desk(SchemaMode::Strict, json!({"type": "string"}));
    let handed_in = accepted(stated.submit(&blank, None));
    assert_eq!(handed_in.data, Some(json!(" \n")));
}

#[test]
fn a_schema_wants_data() {
    let mut desk = review(SchemaMode::Strict);
    insta::assert_snapshot!(rejected(desk.submit(&json!({"type": "text"}), Some("words"))), @r"
    not accepted:
    - `data` is missing; it has to hold the result, which has a schema
    Call `yield` again with all of this put right. Two tries are left.
    ");
    insta::assert_snapshot!(rejected(desk.submit(&json!({}), Some("words"))), @r#"
    not accepted:
    - nothing was handed in; give the result as `data`, or `type: "text"` with the report as your message, or `error`
    Call `yield` again with all of this put right. One try is left.
    "#);
    insta::assert_snapshot!(desk.rejection().unwrap(), @r#"the last `yield` was rejected: nothing was handed in; give the result as `data`, or `type: "text"` with the report as your message, or `error`"#);
    let last = accepted(desk.submit(&json!({"type": "text"}), Some("words")));
    assert!(
        matches!(last.ending, Ending::SchemaViolation { tries: 3, .. }),
        "{last:?}"
    );
    assert_eq!(last.data, None);
}

#[test]
fn json_in_a_text_is_unwrapped_when_it_fits() {
    let mut desk = review(SchemaMode::Strict);
    let inner = json!({"verdict": "pass", "findings": []});
    let handed_in = accepted(desk.submit(&json!({"data": inner.to_string()}), None));
    assert_eq!(handed_in.data, Some(inner));
    let mut texts = self::desk(SchemaMode::Strict, json!({"type": "string"}));
    let handed_in = accepted(texts.submit(&json!({"data": "{}"}), None));
    assert_eq!(handed_in.data, Some(json!("{}")));
}

#[test]
fn parts_are_checked_by_item_or_whole_and_make_the_result() {
    let mut desk = review(SchemaMode::Strict);
    assert!(is_part(&desk.submit(
        &json!({"type": ["findings"], "data": {"title": "a"}}),
        None
    )));
    assert!(is_part(&desk.submit(
        &json!({"type": ["findings"], "data": [{"title": "b"}]}),
        None
    )));
    assert!(is_part(
        &desk.submit(&json!({"type": ["verdict"], "data": "fail"}), None)
    ));
    let handed_in = accepted(desk.submit(&json!({"type": "result"}), Some("words")));
    assert_eq!(
        handed_in.ending,
        Ending::Yielded {
            tries: 1,
            faults: vec![]
        }
    );
    assert_eq!(
        handed_in.data,
        Some(json!({"findings": [{"title": "a"}, {"title": "b"}], "verdict": "fail"}))
    );
    assert_eq!(desk.close().0.len(), 3);
}

#[test]
fn data_that_lacks_what_went_before_is_completed_from_it() {
    let mut desk = review(SchemaMode::Strict);
    assert!(is_part(&desk.submit(
        &json!({"type": ["findings"], "data": {"title": "a"}}),
        None
    )));
    let handed_in = accepted(desk.submit(&json!({"data": {"verdict": "fail"}}), None));
    assert_eq!(
        handed_in.data,
        Some(json!({"findings": [{"title": "a"}], "verdict": "fail"}))
    );
}

#[test]
fn data_that_fits_by_itself_is_left_as_it_is() {
    let mut desk = Desk::new(None);
    assert!(is_part(
        &desk.submit(&json!({"type": ["note"], "data": 1}), None)
    ));
    let handed_in = accepted(desk.submit(&json!({"data": {"a": 2}}), None));
    assert_eq!(handed_in.data, Some(json!({"a": 2})));
    assert_eq!(
        desk.close().0,
        [Section {
            label: "note".into(),
            data: json!(1)
        }]
    );
}

#[test]
fn a_part_without_data_is_the_last_text() {
    let mut desk = Desk::new(None);
    assert!(is_part(
        &desk.submit(&json!({"type": ["plan", "summary"]}), Some("words"))
    ));
    let labels: Vec<_> = desk
        .close()
        .0
        .into_iter()
        .map(|section| (section.label, section.data))
        .collect();
    assert_eq!(
        labels,
        [
            ("plan".into(), json!("words")),
            ("summary".into(), json!("words"))
        ]
    );
}

#[test]
fn a_part_that_does_not_fit_is_told_where_and_which_there_are() {
    let mut desk = review(SchemaMode::Permissive);
    let wrong = json!({"type": ["findings", "notes"], "data": {"name": "a"}});
    insta::assert_snapshot!(rejected(desk.submit(&wrong, None)), @r"
    not accepted:
    - part `findings`: missing `title`
    - `notes` is no part of the result; its parts are `verdict`, `findings`
    Call `yield` again with all of this put right. Two tries are left.
    ");
    rejected(desk.submit(&wrong, None));
    assert!(
        is_part(&desk.submit(&wrong, None)),
        "the last try is accepted as it is"
    );
    let (sections, warnings) = desk.close();
    assert_eq!(sections.len(), 2);
    insta::assert_snapshot!(warnings.join("\n"), @"a part was accepted as it is: part `findings`: missing `title`; `notes` is no part of the result; its parts are `verdict`, `findings`");
}

#[test]
fn an_accepted_part_makes_good_for_what_went_before() {
    let mut desk = review(SchemaMode::Strict);
    for _ in 0..3 {
        rejected(desk.submit(&json!({"data": {}}), None));
        rejected(desk.submit(&json!({"data": {}}), None));
        assert!(is_part(
            &desk.submit(&json!({"type": ["verdict"], "data": "pass"}), None)
        ));
        assert_eq!(desk.rejection(), None);
    }
}

#[test]
fn without_a_schema_three_calls_that_hand_nothing_in_end_it() {
    let mut desk = Desk::new(None);
    rejected(desk.submit(&json!({}), None));
    rejected(desk.submit(&json!({"result": 1}), None));
    let last = accepted(desk.submit(&json!([]), None));
    insta::assert_debug_snapshot!(last.ending, @r#"
    Incomplete {
        message: "3 `yield` calls in a row could not be accepted; the last: the arguments are no JSON object; send the call again, whole",
    }
    "#);
    assert_eq!(desk.rejection(), None, "the ending says it already");
}

#[test]
fn permissive_falls_back_to_the_last_data_there_was() {
    let mut desk = review(SchemaMode::Permissive);
    rejected(desk.submit(&json!({"data": {"verdict": "pass"}}), None));
    rejected(desk.submit(&json!({}), None));
    let last = accepted(desk.submit(&json!({}), None));
    assert_eq!(last.data, Some(json!({"verdict": "pass"})));
    assert_eq!(
        last.ending,
        Ending::Yielded {
            tries: 3,
            faults: vec!["missing `findings`".into()]
        }
    );
}

#[test]
fn an_unusable_schema_is_told() {
    let mut desk = desk(SchemaMode::Strict, json!({"type": "objekt"}));
    let handed_in = accepted(desk.submit(&json!({"data": 1}), None));
    assert_eq!(
        handed_in.ending,
        Ending::Yielded {
            tries: 1,
            faults: vec![]
        }
    );
    let (_, warnings) = desk.close();
    assert!(
        warnings[0].starts_with("the result was not checked: "),
        "{warnings:?}"
    );
}

proptest! {
    #[test]
    fn it_ends_after_three_rejections_and_never_before_an_accepted_result(
        calls in prop::collection::vec(
            prop_oneof![
                Just(json!({"data": {"verdict": "maybe"}})),
                Just(json!({})),
                Just(json!({"type": ["verdict"], "data": "fail"})),
                Just(json!({"type": ["nothing"], "data": 1})),
                Just(json!("x")),
            ],
            3..30,
        ),
        strict in any::<bool>(),
    ) {
        let mut desk = review(if strict { SchemaMode::Strict } else { SchemaMode::Permissive });
        let mut in_a_row = 0;
        for call in &calls {
            match desk.submit(call, None) {
                Verdict::Rejected { text } => {
                    in_a_row += 1;
                    prop_assert!(in_a_row < 3);
                    prop_assert!(text.contains("left"));
                }
                Verdict::Part { .. } => in_a_row = 0,
                Verdict::Final(handed_in) => {
                    prop_assert_eq!(in_a_row, 2);
                    let accepted = matches!(&handed_in.ending, Ending::Yielded { faults, .. } if faults.is_empty());
                    prop_assert!(!accepted);
                    break;
                }
            }
        }
    }
}
