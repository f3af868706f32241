use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn fault(schema: &Value) -> String {
    check(schema).unwrap_err().to_string()
}

#[test]
fn usable_schemas_pass() {
    for schema in [
        json!(true),
        json!(false),
        json!({}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a b"}}, "$defs": {"a b": {}}}),
        json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"$anchor": "here"}, "c": {"$ref": "#here"}}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "$ref": "#/definitions/a"}),
        json!({"$ref": "#"}),
    ] {
        assert_eq!(check(&schema), Ok(()), "{schema}");
    }
}

#[test]
fn what_is_no_schema_is_told_so() {
    assert_snapshot!(fault(&json!("object")), @"");
    assert_snapshot!(fault(&json!(null)), @"");
    assert_snapshot!(fault(&json!([])), @"");
}

#[test]
fn every_fault_of_a_schema_is_named_with_its_place() {
    let schema = json!({
        "type": "objet",
        "required": "a",
        "properties": {"a.b": {"items": [1], "minimum": "3"}, "c": 5},
        "anyOf": [],
        "pattern": "(",
    });
    assert_snapshot!(fault(&schema).replace("; ", "\n"), @"");
}

#[test]
fn a_reference_that_leads_nowhere_is_named() {
    let schema = json!({
        "properties": {
            "a": {"$ref": "#/$defs/missing"},
            "b": {"items": {"$ref": "#nowhere"}},
            "c": {"$ref": "#/$defs/here"},
            "$ref": {"const": {"$ref": "#/not/a/reference"}},
        },
        "$defs": {"here": {"type": "string"}},
    });
    assert_snapshot!(fault(&schema).replace("; ", "\n"), @"");
}

#[test]
fn nothing_is_fetched() {
    assert_snapshot!(fault(&json!({"$ref": "http://127.0.0.1:1/schema.json"})), @"");
    assert_snapshot!(fault(&json!({"items": {"$ref": "file:///etc/passwd"}})), @"");
    assert_snapshot!(fault(&json!({"$schema": "http://example.com/draft"})), @"");
}
