use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::Validator;

fn faults(schema: &Value, value: &Value) -> String {
    Validator::new(schema).unwrap().faults(value).join("\n")
}

#[test]
fn bounds_say_what_they_are_and_what_was_found() {
    let schema = json!({"properties": {
        "a": {"minimum": 1, "maximum": 0},
        "b": {"exclusiveMinimum": 1, "exclusiveMaximum": 1, "multipleOf": 2},
        "c": {"minLength": 9}, "d": {"maxLength": 1},
        "e": {"minItems": 3, "uniqueItems": true}, "f": {"maxItems": 1},
        "g": {"minProperties": 2}, "h": {"maxProperties": 0},
        "i": {"pattern": "^A$"}, "j": {"format": "date-time"}, "k": {"const": {"x": 1}},
        "l": {"contains": {"type": "null"}}, "m": {"not": {"type": "string"}}, "n": false,
        "o": {"propertyNames": {"maxLength": 1}}, "p": {"prefixItems": [true], "items": false},
        "q": {"dependentRequired": {"x": ["y"]}}, "r": {"unevaluatedProperties": false},
        "s": {"oneOf": [{"minimum": 0}, {"minimum": 1}]},
    }});
    let value = json!({
        "a": 0.5, "b": 1, "c": "äöü", "d": "äöü", "e": [1, 1], "f": [1, 2], "g": {"x": 1}, "h": {"x": 1},
        "i": "AB", "j": "yesterday", "k": {"x": 2}, "l": [1], "m": "x", "n": 1, "o": {"long": 1}, "p": [1, 2],
        "q": {"x": 1}, "r": {"x": 1}, "s": 2,
    });
    assert_snapshot!(faults(&schema, &value), @"");
}

#[test]
fn alternatives_of_single_values_are_one_list() {
    let schema = json!({"properties": {"a": {"anyOf": [{"type": "integer"}, {"enum": ["x", "y"]}, {"const": null}]}}});
    assert_snapshot!(faults(&schema, &json!({"a": "z"})), @"");
}

#[test]
fn the_shape_that_was_meant_is_the_one_that_is_explained() {
    let schema = json!({"oneOf": [
        {"type": "object", "required": ["kind", "path"], "properties": {"kind": {"const": "file"}, "path": {"type": "string"}}},
        {"type": "object", "required": ["kind", "url"], "properties": {"kind": {"const": "page"}, "url": {"type": "string"}}},
        {"type": "null"},
    ]});
    assert_snapshot!(faults(&schema, &json!({"kind": "file", "path": 5})), @"");
    assert_snapshot!(faults(&schema, &json!({"kind": "page"})), @"");
    assert_snapshot!(faults(&schema, &json!({"kind": "mail"})), @"");
    assert_snapshot!(faults(&schema, &json!({})), @"");
    assert_snapshot!(faults(&schema, &json!(5)), @"");
}

#[test]
fn long_values_and_lists_are_cut() {
    let many: Vec<_> = (0..40).collect();
    assert_snapshot!(faults(&json!({"enum": many}), &json!("x".repeat(500))), @"");
}

#[test]
fn names_with_patterns_are_not_listed_as_the_only_ones() {
    let schema = json!({"patternProperties": {"^x-": true}, "additionalProperties": false});
    assert_snapshot!(faults(&schema, &json!({"y": 1})), @"");
    assert_snapshot!(faults(&json!({"additionalProperties": false}), &json!({"y": 1, "z": 1})), @"");
}
