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
    assert_snapshot!(faults(&schema, &value), @r#"
    a: should be at least 1, but is the number 0.5
    a: should be at most 0, but is the number 0.5
    b: should be more than 1, but is the number 1
    b: should be less than 1, but is the number 1
    b: should be a multiple of 2, but is the number 1
    c: should have at least 9 characters, but has 3
    d: should have at most 1 character, but has 3
    e: should have at least 3 items, but has 2
    e: should have no two equal items, but [0] and [1] are
    f: should have at most 1 item, but has 2
    g: should have at least 2 fields, but has 1
    h: should have at most 0 fields, but has 1
    i: should match the pattern `^A$`, but is the string "AB"
    j: should be in the format `date-time`, but is the string "yesterday"
    k: should be {"x":1}, but is an object
    l: has no item of the kind that it should contain
    m: should not fit {"type":"string"}
    n: nothing may be here, but there is the number 1
    o: has a name that is not allowed: should have at most 1 character, but has 4
    p[1]: nothing may be here, but there is the number 2
    q: missing `y`
    r: has `x`, which is not allowed here
    s: fits several of the shapes of which it should fit exactly one
    "#);
}

#[test]
fn alternatives_of_single_values_are_one_list() {
    let schema = json!({"properties": {"a": {"anyOf": [{"type": "integer"}, {"enum": ["x", "y"]}, {"const": null}]}}});
    assert_snapshot!(faults(&schema, &json!({"a": "z"})), @r#"a: should be an integer, "x", "y" or null, but is the string "z""#);
}

#[test]
fn the_shape_that_was_meant_is_the_one_that_is_explained() {
    let schema = json!({"oneOf": [
        {"type": "object", "required": ["kind", "path"], "properties": {"kind": {"const": "file"}, "path": {"type": "string"}}},
        {"type": "object", "required": ["kind", "url"], "properties": {"kind": {"const": "page"}, "url": {"type": "string"}}},
        {"type": "null"},
    ]});
    assert_snapshot!(faults(&schema, &json!({"kind": "file", "path": 5})), @"path: should be a string, but is the number 5");
    assert_snapshot!(faults(&schema, &json!({"kind": "page"})), @"missing `url`");
    assert_snapshot!(faults(&schema, &json!({"kind": "mail"})), @r#"kind: should be "file" or "page", but is the string "mail""#);
    assert_snapshot!(faults(&schema, &json!({})), @"fits none of the shapes it may have: (1) missing `kind`, `path`; (2) missing `kind`, `url`; (3) should be null, but is an object");
    assert_snapshot!(faults(&schema, &json!(5)), @"should be an object or null, but is the number 5");
}

#[test]
fn long_values_and_lists_are_cut() {
    let many: Vec<_> = (0..40).collect();
    assert_snapshot!(faults(&json!({"enum": many}), &json!("x".repeat(500))), @r#"should be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 16 more, but is the string "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"#);
}

#[test]
fn names_with_patterns_are_not_listed_as_the_only_ones() {
    let schema = json!({"patternProperties": {"^x-": true}, "additionalProperties": false});
    assert_snapshot!(faults(&schema, &json!({"y": 1})), @"has `y`, which is not allowed here");
    assert_snapshot!(faults(&json!({"additionalProperties": false}), &json!({"y": 1, "z": 1})), @"may have no fields");
}
