use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sortie_protocol::{
    Usage,
    script::{Finish, ScriptCall, ScriptError, Turn, When},
};

use super::*;

#[test]
fn a_script_is_pleasant_to_read() {
    let turns = vec![
        Turn {
            think: Some("Two files.\nFirst the one, then the other.".into()),
            tool: Some("write".into()),
            args: Some(json!({"path": "a.md", "content": "# A\n\n- one\n  - two\n"})),
            usage: Some(Usage {
                input: Some(1_200),
                cost: Some(0.000_25),
                ..Usage::default()
            }),
            ..Turn::default()
        },
        Turn {
            text: Some("007".into()),
            tools: vec![ScriptCall {
                tool: "todo".into(),
                args: json!({}),
            }],
            ..Turn::default()
        },
        Turn::default(),
        Turn {
            finish: Some(Finish {
                data: Some(Value::Null),
                ..Finish::default()
            }),
            end: Some("length".into()),
            ..Turn::default()
        },
        Turn {
            error: Some(ScriptError {
                status: 429,
                message: Some("slow down: 2 of 2".into()),
                retry_after_s: Some(1.5),
            }),
            repeat: true,
            ..Turn::default()
        },
    ];
    let entry = ScriptEntry {
        when: When {
            task: Some("Lead.One".into()),
            ..When::default()
        },
        turns,
    };
    insta::assert_snapshot!(write("made of a run\nin two lines", &[entry]).unwrap(), @r#"
    # made of a run
    # in two lines
    - when:
        task: Lead.One
      turns:
      - think: |-
          Two files.
          First the one, then the other.
        tool: write
        args:
          path: a.md
          content: |
            # A

            - one
              - two
        usage:
          input: 1200
          cost: 0.00025
      - text: "007"
        tools:
        - tool: todo
          args: {}
      - {}
      - finish:
          data: null
        end: length
      - error:
          status: 429
          message: "slow down: 2 of 2"
          retryAfterS: 1.5
        repeat: true
    "#);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ \\n\\t\\r#:|>'\"\\\\%@`,&*!?{}\\[\\]-]{0,12}",
        "( |a|\\n){0,9}",
        "(true|null|~|1e3|0x1f|1_000|\\.inf|007|no|2026-01-01|---|\\.\\.\\.)",
        "a{90} b\\n? c{100}",
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(any_text(), inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn what_a_model_says_is_read_back_as_it_was_said(
        text in any_text(),
        think in any_text(),
        args in any_json(),
        other in any_json(),
    ) {
        let turn = Turn {
            think: Some(think),
            text: Some(text),
            tools: vec![
                ScriptCall { tool: "a".into(), args },
                ScriptCall { tool: "b".into(), args: other },
            ],
            ..Turn::default()
        };
        let entries = [ScriptEntry { when: When::default(), turns: vec![turn] }];
        prop_assert!(write("", &entries).is_ok(), "{:?}", write("", &entries));
    }
}
