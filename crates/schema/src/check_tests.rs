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
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}),
        json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"$anchor": "here"}, "c": {"$ref": "#here"}}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "$ref": "#/definitions/a"}),
        json!({"$ref": "#"}),
    ] {
        assert_eq!(check(&schema), Ok(()), "{schema}");
    }
}

#[test]
fn what_is_no_schema_is_told_so() {
    assert_snapshot!(fault(&json!("object")), @r#"a schema is an object, `true` or `false`; this is the string "object""#);
    assert_snapshot!(fault(&json!(null)), @"a schema is an object, `true` or `false`; this is null");
    assert_snapshot!(fault(&json!([])), @"a schema is an object, `true` or `false`; this is an array");
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
    assert_snapshot!(fault(&schema).replace("; ", "\n"), @r#"
    `properties["a.b"].items`: should be a boolean or an object, but is an array
    `properties["a.b"].minimum`: should be a number, but is the string "3"
    `properties.c`: should be a boolean or an object, but is the number 5
    `anyOf`: should have at least 1 item, but has 0
    `type`: should be "array", "boolean", "integer", "null", "number", "object", "string" or an array, but is the string "objet"
    `required`: should be an array, but is the string "a"
    "#);
}

#[test]
fn a_reference_that_leads_nowhere_is_named() {
    let schema = json!({
        "properties": {
            "a": {"$ref": "#/$defs/missing"},
            "b": {"items": {"$ref": "#nowhere"}},
            "c": {"$ref": "#/$defs/here"},
            "d": {"$ref": "#/$defs/two words"},
            "$ref": {"const": {"$ref": "#/not/a/reference"}},
        },
        "$defs": {"here": {"type": "string"}},
    });
    assert_snapshot!(fault(&schema).replace("; ", "\n"), @"
    `properties.a.$ref`: `#/$defs/missing` leads to nothing in this schema
    `properties.b.items.$ref`: this schema has no anchor `#nowhere`
    `properties.d.$ref`: `#/$defs/two words` is no URI reference
    ` ` in it has to be percent-encoded
    ");
}

#[test]
fn nothing_is_fetched() {
    assert_snapshot!(fault(&json!({"$ref": "http://127.0.0.1:1/schema.json"})), @"`$ref`: `http://127.0.0.1:1/schema.json` is outside this schema; put what it means under `$defs` and write `#/$defs/NAME`");
    assert_snapshot!(fault(&json!({"items": {"$ref": "file:///etc/passwd"}})), @"`items.$ref`: `file:///etc/passwd` is outside this schema; put what it means under `$defs` and write `#/$defs/NAME`");
    assert_snapshot!(fault(&json!({"$schema": "http://example.com/draft"})), @"`$schema`: `http://example.com/draft` is no known draft; leave `$schema` out, or name `https://json-schema.org/draft/2020-12/schema`");
}
