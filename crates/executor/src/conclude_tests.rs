use serde_json::json;
use sortie_protocol::{Clock, SchemaMode, SchemaSource, Section};

use super::*;

const CLOCKS: Clocks = Clocks {
    first_activity_ms: 1,
    idle_ms: 2,
    total_ms: 3,
    kill_grace_ms: 4,
    bash_timeout_ms: 5,
};

fn report(ending: Ending) -> Report {
    Report {
        ending,
        text: None,
        data: None,
        sections: Vec::new(),
        last_text: None,
        warnings: Vec::new(),
    }
}

fn yielded() -> Report {
    report(Ending::Yielded {
        tries: 1,
        faults: Vec::new(),
    })
}

fn end(report: Option<&Report>, stopped: Option<StopReason>, exit: Exit) -> End<'_> {
    End {
        report,
        stopped,
        exit,
        stderr: "disk full\n",
        stray: None,
        broke: None,
        clocks: &CLOCKS,
    }
}

fn shown(end: &End<'_>) -> String {
    let outcome = outcome(end);
    format!(
        "{} {} {}",
        outcome.kind,
        outcome.reason.unwrap_or_default(),
        outcome.message.unwrap_or_default()
    )
}

#[test]
fn an_exit_code_alone_makes_no_success() {
    insta::assert_snapshot!(shown(&end(None, None, Exit::Code(0))), @"crashed no_report the process ended without a report; its last words: disk full");
    insta::assert_snapshot!(shown(&end(None, None, Exit::Code(3))), @"crashed exit_3 the process ended with exit code 3; its last words: disk full");
    insta::assert_snapshot!(shown(&end(None, None, Exit::Signal(9))), @"crashed SIGKILL the process was ended by SIGKILL; its last words: disk full");
    let torn = End {
        stray: Some("a line that was cut off: {\"kind\""),
        ..end(None, None, Exit::Code(0))
    };
    insta::assert_snapshot!(shown(&torn), @r#"crashed no_report the process ended without a report; it wrote what is no message: a line that was cut off: {"kind"; its last words: disk full"#);
}

#[test]
fn a_stored_report_stands_whatever_came_after_it() {
    let done = yielded();
    for stopped in [
        None,
        Some(StopReason::Cancelled),
        Some(StopReason::Clock(Clock::Total)),
    ] {
        assert_eq!(
            outcome(&end(Some(&done), stopped, Exit::Code(1))),
            Outcome::completed()
        );
    }
    insta::assert_snapshot!(warnings(&end(Some(&done), None, Exit::Code(1))).join("\n"), @"the process ended with exit code 1 after its report: disk full");
}

#[test]
fn whoever_we_stop_did_not_crash() {
    let dead = Exit::Signal(9);
    insta::assert_snapshot!(shown(&end(None, Some(StopReason::Cancelled), dead)), @"cancelled cancelled it was stopped");
    insta::assert_snapshot!(shown(&end(None, Some(StopReason::Clock(Clock::FirstActivity)), dead)), @"timed_out first_activity no answer began within 1 ms (`task.firstActivityMs`)");
    insta::assert_snapshot!(shown(&end(None, Some(StopReason::Clock(Clock::Idle)), dead)), @"timed_out idle the model fell silent in its answer for 2 ms (`task.idleMs`)");
    insta::assert_snapshot!(shown(&end(None, Some(StopReason::Clock(Clock::Total)), dead)), @"timed_out total it was not done within 3 ms (`task.maxRuntimeMs`)");
    insta::assert_snapshot!(shown(&end(None, Some(StopReason::Wire), dead)), @"crashed wire the process did not say hello within 30 s; its last words: disk full");
    insta::assert_snapshot!(shown(&end(None, Some(StopReason::Store), dead)), @"failed store what it does could not be stored");
    let mute = End {
        broke: Some("a message of 9 bytes is too long to send"),
        ..end(None, Some(StopReason::Unsendable), dead)
    };
    insta::assert_snapshot!(shown(&mute), @"failed too_long it could not be told what to do: a message of 9 bytes is too long to send");
}

#[test]
fn a_child_that_reports_because_it_was_stopped_is_named_by_what_stopped_it() {
    let cancelled = report(Ending::Cancelled);
    let idle = Some(StopReason::Clock(Clock::Idle));
    assert_eq!(
        outcome(&end(Some(&cancelled), idle, Exit::Code(0))).kind,
        OutcomeKind::TimedOut
    );
    assert_eq!(
        outcome(&end(Some(&cancelled), None, Exit::Code(0))).kind,
        OutcomeKind::Cancelled
    );
}

#[test]
fn output_is_what_was_handed_in_or_what_can_be_saved() {
    let text = Report {
        text: Some("done".into()),
        data: Some(json!({"a": 1})),
        ..yielded()
    };
    assert_eq!(output(Some(&text)).unwrap(), "done");
    let data = Report {
        data: Some(json!({"a": 1})),
        ..yielded()
    };
    assert_eq!(output(Some(&data)).unwrap(), "{\n  \"a\": 1\n}");
    let parts = vec![Section {
        label: "findings".into(),
        data: json!("one"),
    }];
    let sections = Report {
        sections: parts,
        last_text: Some("x".into()),
        ..yielded()
    };
    assert_eq!(output(Some(&sections)).unwrap(), "## findings\n\none");
    let salvage = Report {
        last_text: Some("so far".into()),
        ..report(Ending::Cancelled)
    };
    assert_eq!(output(Some(&salvage)).unwrap(), "so far");
    let both = Report {
        ending: Ending::Cancelled,
        ..sections
    };
    assert_eq!(output(Some(&both)).unwrap(), "## findings\n\none\n\nx");
    assert_eq!(output(None), None);
}

#[test]
fn what_was_said_before_a_result_that_was_not_accepted_is_kept() {
    let violation = Report {
        data: Some(json!({"a": 1})),
        last_text: Some("a careful review".into()),
        ..report(Ending::SchemaViolation {
            tries: 3,
            faults: vec!["a: no".into()],
        })
    };
    assert_eq!(
        output(Some(&violation)).unwrap(),
        "{\n  \"a\": 1\n}\n\na careful review"
    );
}

#[test]
fn a_result_that_took_several_tries_says_so() {
    let third = report(Ending::Yielded {
        tries: 3,
        faults: Vec::new(),
    });
    insta::assert_snapshot!(warnings(&end(Some(&third), None, Exit::Code(0))).join("\n"), @"the result fitted the schema on try 3");
}

#[test]
fn data_is_valid_only_when_it_was_accepted_without_a_fault() {
    let schema = PlannedSchema {
        source: SchemaSource::Agent,
        mode: SchemaMode::Permissive,
        schema: json!({}),
    };
    let status = |report: Option<&Report>| structured(report, Some(&schema)).unwrap().status;
    let data = Some(json!({"a": 1}));
    assert_eq!(status(None), StructuredStatus::Unavailable);
    assert_eq!(
        status(Some(&Report {
            data: data.clone(),
            ..yielded()
        })),
        StructuredStatus::Valid
    );
    let faulty = report(Ending::Yielded {
        tries: 3,
        faults: vec!["a: no".into()],
    });
    assert_eq!(
        status(Some(&Report {
            data: data.clone(),
            ..faulty
        })),
        StructuredStatus::Invalid
    );
    let gave_up = report(Ending::GaveUp { error: "no".into() });
    assert_eq!(
        status(Some(&Report { data, ..gave_up })),
        StructuredStatus::Invalid
    );
    assert_eq!(structured(None, None), None);
}
