use insta::assert_snapshot;
use serde_json::json;

use super::*;

const fn shared<T: Send + Sync>() {}
const _: () = shared::<Validator>();

fn faults(schema: &Value, value: &Value) -> String {
    Validator::new(schema).unwrap().faults(value).join("\n")
}

fn report() -> Value {
    json!({
        "type": "object",
        "required": ["verdict", "notes", "score"],
        "additionalProperties": false,
        "properties": {
            "verdict": {"type": "string", "enum": ["pass", "fail"]},
            "score": {"type": "integer", "minimum": 0, "maximum": 10},
            "notes": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/note"}},
        },
        "$defs": {
            "note": {
                "type": "object",
                "required": ["file", "line"],
                "additionalProperties": false,
                "properties": {"file": {"type": "string"}, "line": {"type": ["integer", "null"]}},
            },
        },
    })
}

#[test]
fn a_value_that_fits_has_no_faults() {
    let value = json!({"verdict": "pass", "score": 3, "notes": [{"file": "a.rs", "line": null}]});
    assert_eq!(faults(&report(), &value), "");
}

#[test]
fn every_fault_is_told_at_once() {
    let value =
        json!({"verdict": "maybe", "notes": [{"line": "4", "col": 1, "x": 2}, 7], "extra": 1});
    assert_snapshot!(faults(&report(), &value), @r#"
    missing `score`
    verdict: should be one of "pass", "fail", but is the string "maybe"
    notes[0]: missing `file`
    notes[0].line: should be null or an integer, but is the string "4"
    notes[0]: has `col`, `x`, which are not allowed here; allowed: `file`, `line`
    notes[1]: should be an object, but is the number 7
    has `extra`, which is not allowed here; allowed: `verdict`, `score`, `notes`
    "#);
    assert_snapshot!(faults(&report(), &json!({})), @"missing `verdict`, `notes`, `score`");
    assert_snapshot!(faults(&report(), &json!("done")), @r#"should be an object, but is the string "done""#);
    assert_snapshot!(faults(&report(), &json!({"verdict": 1, "score": 11, "notes": []})), @r#"
    verdict: should be one of "pass", "fail", but is the number 1
    score: should be at most 10, but is the number 11
    notes: should have at least 1 item, but has 0
    "#);
}

#[test]
fn a_schema_with_faults_makes_no_validator() {
    let error = Validator::new(&json!({"type": "text"})).unwrap_err();
    assert_snapshot!(error, @r#"`type`: should be "array", "boolean", "integer", "null", "number", "object", "string" or an array, but is the string "text""#);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let list = json!({"type": "object", "required": ["next"], "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}});
    assert_eq!(faults(&list, &json!({"next": {"next": null}})), "");
    assert_snapshot!(faults(&list, &json!({"next": {"next": 1}})), @"next.next: should be an object or null, but is the number 1");
    assert_eq!(faults(&json!({"$ref": "#"}), &json!(1)), "");
}
