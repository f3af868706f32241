//! Cases that lost results elsewhere, played against the whole loop.

use serde_json::{Value, json};
use sortie_protocol::{Ending, SessionPlan};
use tempfile::TempDir;

use crate::root_double::{plan, play};

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("a"), "alpha\n").unwrap();
    std::fs::write(folder.path().join("b"), "beta\n").unwrap();
    folder
}

/// C16: the last turn dies.
mod last_turn_dies {
    use super::*;

    fn retrying(turns: &Value, max_retries: u32) -> (TempDir, SessionPlan) {
        let folder = folder();
        let mut plan = plan(folder.path(), turns);
        plan.retry.max_retries = max_retries;
        (folder, plan)
    }

    #[tokio::test(start_paused = true)]
    async fn a_what_was_read_and_said_is_kept_as_salvage() {
        let (_folder, plan) = retrying(
            &json!([
                {"tool": "read", "args": {"path": "a"}},
                {"tool": "read", "args": {"path": "b"}},
                {"text": "Both files", "cut": true, "error": {"status": 503}},
            ]),
            0,
        );
        let heard = play(plan).await;
        let report = heard.report();
        insta::assert_json_snapshot!(report, @r#"
        {
          "ending": {
            "ending": "failed",
            "reason": "provider_error",
            "message": "`p/x` answered with provider error 503: the script says so"
          },
          "lastText": "Both files",
          "warnings": [
            "the last text is partial: the answer that held it broke off"
          ]
        }
        "#);
        let texts: Vec<_> = heard
            .results()
            .iter()
            .map(|result| result.text.clone())
            .collect();
        assert!(
            texts[0].contains("alpha") && texts[1].contains("beta"),
            "{texts:?}"
        );
        insta::assert_json_snapshot!(heard.ended().last(), @r#"
        {
          "admit": 3,
          "candidate": 0,
          "status": {
            "status": "refused",
            "http": 503,
            "message": "the script says so"
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
        "#);
    }

    #[tokio::test(start_paused = true)]
    async fn b_a_cut_turn_is_sent_again_and_leaves_nothing_behind() {
        let (_folder, plan) = retrying(
            &json!([
                {"tool": "read", "args": {"path": "a"}},
                {"text": "Bo", "cut": true},
                {"finish": {"data": "alpha"}},
            ]),
            1,
        );
        let heard = play(plan).await;
        let report = heard.report();
        assert_eq!(report.data, Some(json!("alpha")));
        assert_eq!(report.last_text, None);
        assert_eq!(report.warnings, Vec::<String>::new());
        assert_eq!(
            heard
                .results()
                .iter()
                .filter(|result| result.name == "read")
                .count(),
            1
        );
        assert!(
            !serde_json::to_string(&heard.records().collect::<Vec<_>>())
                .unwrap()
                .contains("\"Bo\"")
        );
        assert_eq!(heard.ended().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn c_a_first_request_that_fails_is_a_failure_without_an_answer() {
        let (_folder, plan) = retrying(&json!([{"error": {"status": 500}}]), 0);
        let heard = play(plan).await;
        insta::assert_json_snapshot!(heard.report(), @r#"
        {
          "ending": {
            "ending": "failed",
            "reason": "provider_error",
            "message": "`p/x` answered with provider error 500: the script says so"
          }
        }
        "#);
        // The assignment, and nothing else.
        assert_eq!(heard.records().count(), 1);
    }
}

/// C18: a schema and a model that needs several tries.
mod schema_correction {
    use super::*;

    fn reviewing(turns: &Value, mode: &str) -> (TempDir, SessionPlan) {
        let folder = folder();
        let mut plan = plan(folder.path(), turns);
        plan.schema = serde_json::from_value(json!({"source": "caller", "mode": mode, "schema": {
            "type": "object", "required": ["verdict", "notes"], "additionalProperties": false,
            "properties": {
                "verdict": {"enum": ["pass", "fail"]},
                "notes": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 10}},
            },
        }}))
        .unwrap();
        (folder, plan)
    }

    #[tokio::test(start_paused = true)]
    async fn a_one_reply_lists_every_fault_and_the_second_try_is_accepted() {
        let (_folder, plan) = reviewing(
            &json!([
                {"finish": {"data": {"verdict": "Pass.", "extra": 1}}},
                {"finish": {"data": {"verdict": "pass", "notes": ["looks right to me"]}}},
            ]),
            "strict",
        );
        let heard = play(plan).await;
        insta::assert_snapshot!(heard.results()[0].text, @r#"
        not accepted:
        - missing `notes`
        - verdict: should be one of "pass", "fail", but is the string "Pass."
        - has `extra`, which is not allowed here; allowed: `verdict`, `notes`
        Call `yield` again with all of this put right. Two tries are left.
        "#);
        assert!(!heard.results()[0].ok);
        let report = heard.report();
        assert_eq!(
            report.ending,
            Ending::Yielded {
                tries: 2,
                faults: vec![]
            }
        );
        assert_eq!(
            report.data,
            Some(json!({"verdict": "pass", "notes": ["looks right to me"]}))
        );
    }

    fn never_right() -> Value {
        let wrong = json!({"finish": {"data": {"verdict": "maybe"}}});
        json!([
            {"text": "long careful review text"}, wrong, wrong, wrong,
            {"finish": {"data": {"verdict": "pass", "notes": ["never reached here"]}}},
        ])
    }

    #[tokio::test(start_paused = true)]
    async fn b_three_tries_end_it_with_all_there_is() {
        let (_folder, plan) = reviewing(&never_right(), "strict");
        let heard = play(plan).await;
        insta::assert_json_snapshot!(heard.report(), @r#"
        {
          "ending": {
            "ending": "schema_violation",
            "tries": 3,
            "faults": [
              "missing `notes`",
              "verdict: should be one of \"pass\", \"fail\", but is the string \"maybe\""
            ]
          },
          "data": {
            "verdict": "maybe"
          },
          "lastText": "long careful review text"
        }
        "#);
        assert_eq!(heard.ended().len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn b_permissive_accepts_the_third_and_marks_it() {
        let (_folder, plan) = reviewing(&never_right(), "permissive");
        let heard = play(plan).await;
        let report = heard.report();
        let Ending::Yielded { tries: 3, faults } = &report.ending else {
            panic!("{:?}", report.ending);
        };
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert_eq!(report.data, Some(json!({"verdict": "maybe"})));
        assert_eq!(heard.ended().len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn c_the_last_try_counts_and_the_number_of_tries_is_told() {
        let short = json!({"finish": {"data": {"verdict": "pass", "notes": ["x"]}}});
        let right = json!({"finish": {"data": {"verdict": "pass", "notes": ["aaaaaaaaaa"]}}});
        let (_folder, plan) = reviewing(&json!([short, short, right]), "strict");
        let heard = play(plan).await;
        assert_eq!(
            heard.report().ending,
            Ending::Yielded {
                tries: 3,
                faults: vec![]
            }
        );
    }

    #[tokio::test(start_paused = true)]
    async fn d_stopping_after_a_rejection_is_not_told_as_if_nothing_had_been_handed_in() {
        let stop = json!({"text": "I stop here"});
        let wrong = json!({"finish": {"data": {"verdict": "maybe"}}});
        let (_folder, plan) = reviewing(&json!([wrong, stop, stop, stop, stop]), "strict");
        let heard = play(plan).await;
        insta::assert_json_snapshot!(heard.report(), @r#"
        {
          "ending": {
            "ending": "incomplete",
            "message": "the model ended its turn with text and no `yield`, after 3 reminders; the last `yield` was rejected: missing `notes`; verdict: should be one of \"pass\", \"fail\", but is the string \"maybe\""
          },
          "lastText": "I stop here"
        }
        "#);
    }

    #[tokio::test(start_paused = true)]
    async fn d_nor_when_the_script_ends_there() {
        let wrong = json!({"finish": {"data": {"verdict": "maybe"}}});
        let (_folder, plan) = reviewing(&json!([wrong, {"text": "I stop here"}]), "strict");
        let heard = play(plan).await;
        insta::assert_json_snapshot!(heard.report().ending, @r#"
        {
          "ending": "failed",
          "reason": "script_ended",
          "message": "`p/x`: the script has no turn for request 3: no `when` fits it, or the turns of those that do are used up; the last `yield` was rejected: missing `notes`; verdict: should be one of \"pass\", \"fail\", but is the string \"maybe\""
        }
        "#);
    }
}
