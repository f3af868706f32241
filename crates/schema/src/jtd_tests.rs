use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::check;

fn converted(schema: &Value) -> Value {
    let converted = to_json_schema(schema).unwrap();
    check(&converted).unwrap();
    converted
}

/// One line for each keyword, and for each name under `properties`.
fn listed(schema: &Value) -> String {
    let lines = schema
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(keyword, value)| match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| format!("{keyword}.{name}: {value}"))
                .collect(),
            value => vec![format!("{keyword}: {value}")],
        });
    lines.collect::<Vec<_>>().join("\n")
}

fn fault(schema: &Value) -> String {
    to_json_schema(schema)
        .unwrap_err()
        .to_string()
        .replace("; ", "\n")
}

#[test]
fn a_json_schema_comes_back_as_it_was() {
    for schema in [
        json!(true),
        json!({}),
        json!({"type": "string"}),
        json!({"enum": ["a"]}),
        json!({"type": ["string", "null"]}),
        json!({"properties": {"a": {"type": "string"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true}}}),
        json!({"type": "object", "metadata": {"x": 1}, "properties": {"a": {}}}),
        json!({"definitions": {"a": {}}, "properties": {"a": {"$ref": "#/definitions/a"}}}),
        json!("no schema at all"),
    ] {
        assert_eq!(to_json_schema(&schema).unwrap(), schema);
    }
}

#[test]
fn properties_named_like_keywords_are_properties() {
    for name in [
        "ref",
        "type",
        "properties",
        "enum",
        "elements",
        "values",
        "nullable",
        "metadata",
        "discriminator",
        "mapping",
        "optionalProperties",
        "definitions",
        "required",
        "$ref",
        "items",
    ] {
        let json_schema = json!({"properties": {name: {"type": "string"}}, "required": [name]});
        assert_eq!(to_json_schema(&json_schema).unwrap(), json_schema);
        let bare = json!({"properties": {name: {"type": "string"}}});
        assert_eq!(to_json_schema(&bare).unwrap(), bare);
        let jtd = json!({"properties": {name: {"type": "uint8"}}});
        let closed = converted(&jtd);
        assert_eq!(closed["required"], json!([name]));
        assert_eq!(closed["properties"][name]["type"], "integer");
    }
}

#[test]
fn jtd_is_recognised_at_any_depth() {
    let schema = json!({"properties": {
        "findings": {"elements": {"properties": {"line": {"type": "uint32"}}, "optionalProperties": {"why": {"type": "string"}}}},
        "verdict": {"enum": ["pass", "fail"], "metadata": {"description": "how it went"}},
    }});
    assert_snapshot!(listed(&converted(&schema)), @r#"
    type: "object"
    properties.findings: {"type":"array","items":{"type":"object","properties":{"line":{"type":"integer","minimum":0,"maximum":4294967295},"why":{"type":"string"}},"required":["line"],"additionalProperties":false}}
    properties.verdict: {"description":"how it went","type":"string","enum":["pass","fail"]}
    required: ["findings","verdict"]
    additionalProperties: false
    "#);
}

#[test]
fn every_form_is_converted() {
    let schema = json!({
        "definitions": {"a/b c": {"properties": {}, "optionalProperties": {"next": {"ref": "a/b c", "nullable": true}}}},
        "properties": {
            "r": {"ref": "a/b c"}, "t": {"type": "timestamp", "nullable": true}, "v": {"values": {}},
            "e": {"enum": ["x"], "nullable": true}, "any": {"nullable": true}, "n": {"type": "number"},
            "d": {"discriminator": "kind", "mapping": {"f": {"properties": {"p": {"type": "string"}}}, "g": {}}, "nullable": true},
        },
        "additionalProperties": true,
    });
    assert_snapshot!(listed(&converted(&schema)), @r##"
    type: "object"
    properties.r: {"$ref":"#/$defs/a~1b%20c"}
    properties.t: {"type":["string","null"],"format":"date-time"}
    properties.v: {"type":"object","additionalProperties":{}}
    properties.e: {"type":["string","null"],"enum":["x",null]}
    properties.any: {}
    properties.n: {"type":"number"}
    properties.d: {"anyOf":[{"type":"object","properties":{"kind":{"const":"f"},"p":{"type":"string"}},"required":["kind","p"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"g"}},"required":["kind"],"additionalProperties":false},{"type":"null"}]}
    required: ["r","t","v","e","any","n","d"]
    additionalProperties: true
    $defs.a/b c: {"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/a~1b%20c"},{"type":"null"}]}},"required":[],"additionalProperties":false}
    "##);
}

#[test]
fn a_mixture_is_refused() {
    let schema = json!({"properties": {"a": {"type": "string", "description": "x"}}, "optionalProperties": {"b": {}}});
    assert_snapshot!(fault(&schema), @"
    `optionalProperties`: this is JTD, but `properties.a.description` is JSON Schema, and a schema is one or the other
    list the names that must be there under `required`, or use JTD keywords alone (`metadata.description` for a description)
    ");
}

#[test]
fn every_fault_of_a_jtd_schema_is_named() {
    let schema = json!({
        "definitions": {"known": {"type": "string"}},
        "properties": {
            "a": {"ref": "unknown"}, "b": {"type": "text"}, "c": {"enum": []}, "d": {"enum": ["x", "x", 1]},
            "e": 5, "f": {"elements": {}, "values": {}}, "g": {"nullable": "yes"}, "h": {"metadata": 1},
            "i": {"discriminator": "kind"}, "j": {"foo": 1}, "k": {"definitions": {}}, "l": {"ref": 1},
            "m": {"optionalProperties": [], "additionalProperties": 1},
            "n": {"discriminator": "kind", "mapping": {"a": {"type": "string"}, "b": {"properties": {"kind": {}}}}},
        },
        "optionalProperties": {"a": {}},
    });
    assert_snapshot!(fault(&schema), @r#"
    `properties.a.ref`: `unknown` is not defined
    defined: `known`
    `properties.b.type`: the string "text" is no type of JTD, which has `boolean`, `string`, `timestamp`, `number`, `float32`, `float64`, `integer`, `int8`, `uint8`, `int16`, `uint16`, `int32`, `uint32`
    `properties.c.enum`: should be a list of at least one string
    `properties.d.enum[1]`: "x" is listed twice
    `properties.d.enum[2]`: should be a string, but is the number 1
    `properties.e`: a JTD schema is an object
    this is the number 5
    `properties.f`: has `elements`, `values`, of which a JTD schema has only one
    `properties.g.nullable`: should be a boolean, but is the string "yes"
    `properties.h.metadata`: should be an object, but is the number 1
    `properties.i`: needs both `discriminator`, the name of a field, and `mapping`, an object with a schema for each of its values
    `properties.j.foo`: this is no keyword of JTD, which has `type`, `enum`, `elements`, `properties`, `optionalProperties`, `additionalProperties`, `values`, `discriminator`, `mapping`, `ref`, `definitions`, `nullable`, `metadata`
    `properties.k.definitions`: definitions stand only at the top of a schema
    `properties.l.ref`: should be a name under `definitions`, but is the number 1
    `properties.m.optionalProperties`: should be an object, but is an array
    `properties.m.additionalProperties`: should be a boolean, but is the number 1
    `properties.n.mapping.a`: should have `properties` or `optionalProperties`, and nothing else but `metadata`
    `properties.n.mapping.b.properties.kind`: a field of this name is there already
    `optionalProperties.a`: a field of this name is there already
    "#);
    assert_snapshot!(fault(&json!({"ref": "x"})), @"
    `ref`: `x` is not defined
    this schema has no `definitions`
    ");
}
