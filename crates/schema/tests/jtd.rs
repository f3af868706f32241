//! A schema converted from JTD takes exactly the values that JTD takes.

use proptest::prelude::*;
use serde_json::{Value, json};
use sortie_schema::{Validator, to_json_schema};

/// What RFC 8927 says of a value, written down a second time and another way.
fn fits(root: &Value, schema: &Value, value: &Value, tag: Option<&str>) -> bool {
    if schema["nullable"] == true && value.is_null() {
        return true;
    }
    if let Some(name) = schema["ref"].as_str() {
        return fits(root, &root["definitions"][name], value, None);
    }
    if let Some(word) = schema["type"].as_str() {
        let within = |low: f64, high: f64| {
            value
                .as_f64()
                .is_some_and(|n| n.fract() == 0.0 && n >= low && n <= high)
        };
        return match word {
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "float32" | "float64" => value.is_number(),
            "int8" => within(-128.0, 127.0),
            "uint8" => within(0.0, 255.0),
            "int16" => within(-32_768.0, 32_767.0),
            "uint16" => within(0.0, 65_535.0),
            "int32" => within(-2_147_483_648.0, 2_147_483_647.0),
            "uint32" => within(0.0, 4_294_967_295.0),
            "timestamp" => value.as_str().is_some_and(|text| text.starts_with("2026-")),
            other => panic!("{other}"),
        };
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.contains(value);
    }
    if let Some(element) = schema.get("elements") {
        return value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(root, element, item, None)));
    }
    if let Some(element) = schema.get("values") {
        return value.as_object().is_some_and(|fields| {
            fields
                .values()
                .all(|field| fits(root, element, field, None))
        });
    }
    if let Some(tag) = schema["discriminator"].as_str() {
        return value[tag]
            .as_str()
            .and_then(|kind| schema["mapping"].get(kind))
            .is_some_and(|shape| fits(root, shape, value, Some(tag)));
    }
    if schema.get("properties").is_some() || schema.get("optionalProperties").is_some() {
        let Some(fields) = value.as_object() else {
            return false;
        };
        let required = schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let optional = schema["optionalProperties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        return required.iter().all(|(name, schema)| {
            fields
                .get(name)
                .is_some_and(|field| fits(root, schema, field, None))
        }) && optional.iter().all(|(name, schema)| {
            fields
                .get(name)
                .is_none_or(|field| fits(root, schema, field, None))
        }) && (schema["additionalProperties"] == true
            || fields.keys().all(|name| {
                required.contains_key(name) || optional.contains_key(name) || tag == Some(name)
            }));
    }
    true
}

fn with_null(schema: &Value, nullable: bool) -> Value {
    let mut schema = schema.clone();
    if nullable {
        schema["nullable"] = true.into();
    }
    schema
}

fn fields() -> impl Strategy<Value = Value> {
    (
        prop::collection::btree_map("[a-c]", leaf(), 0..3),
        prop::collection::btree_map("[d-f]", leaf(), 0..3),
        any::<bool>(),
    )
        .prop_map(|(required, optional, open)| {
            json!({"properties": required, "optionalProperties": optional, "additionalProperties": open})
        })
}

fn leaf() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "boolean",
        "string",
        "timestamp",
        "float32",
        "float64",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
    ]);
    let leaf = prop_oneof![
        word.prop_map(|word| json!({"type": word})),
        Just(json!({"enum": ["x", "y"]})),
        Just(json!({"ref": "leaf"})),
        Just(json!({})),
    ];
    (leaf, any::<bool>()).prop_map(|(schema, nullable)| with_null(&schema, nullable))
}

fn jtd() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 3, |inner| {
        let schema = prop_oneof![
            inner.clone().prop_map(|schema| json!({"elements": schema})),
            inner.clone().prop_map(|schema| json!({"values": schema})),
            (inner.clone(), inner)
                .prop_map(|(a, b)| json!({"properties": {"a": a}, "optionalProperties": {"d": b}})),
            fields(),
            (fields(), fields())
                .prop_map(|(x, y)| json!({"discriminator": "kind", "mapping": {"x": x, "y": y}})),
        ];
        (schema, any::<bool>()).prop_map(|(schema, nullable)| with_null(&schema, nullable))
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec![
            -40_000_i64,
            -129,
            -1,
            0,
            3,
            200,
            256,
            70_000,
            5_000_000_000
        ])
        .prop_map(Value::from),
        Just(json!(1.5)),
        prop::sample::select(vec!["x", "y", "z", "2026-01-02T03:04:05Z"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            (
                prop::collection::btree_map("[a-g]", inner.clone(), 0..4),
                prop::option::of(prop::sample::select(vec!["x", "y", "z"]))
            )
                .prop_map(|(fields, kind)| {
                    let mut value = json!(fields);
                    if let Some(kind) = kind {
                        value["kind"] = kind.into();
                    }
                    value
                }),
        ]
    })
}

/// A value that mostly fits, so that agreement is not agreement on refusal alone.
fn sample(root: &Value, schema: &Value, seed: &mut u64) -> Value {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let dice = *seed >> 60;
    if dice == 0 {
        return json!({"g": 1});
    }
    if schema["nullable"] == true && dice < 4 {
        return Value::Null;
    }
    if schema.get("ref").is_some() {
        return sample(root, &root["definitions"]["leaf"], seed);
    }
    match schema["type"].as_str() {
        Some("boolean") => return true.into(),
        Some("string") => return "z".into(),
        Some("timestamp") => return "2026-01-02T03:04:05Z".into(),
        Some(_) => return if dice < 2 { json!(300) } else { json!(3) },
        None => {}
    }
    if schema.get("enum").is_some() {
        return "x".into();
    }
    if let Some(element) = schema.get("elements") {
        return json!([sample(root, element, seed), sample(root, element, seed)]);
    }
    if let Some(element) = schema.get("values") {
        return json!({"q": sample(root, element, seed)});
    }
    let kind = if dice.is_multiple_of(2) { "x" } else { "y" };
    let shape = schema.get("mapping").map(|mapping| &mapping[kind]);
    let mut value = json!({});
    if shape.is_some() {
        value["kind"] = kind.into();
    }
    for group in ["properties", "optionalProperties"] {
        for (name, schema) in shape.unwrap_or(schema)[group]
            .as_object()
            .into_iter()
            .flatten()
        {
            value[name] = sample(root, schema, seed);
        }
    }
    value
}

proptest! {
    #[test]
    fn a_converted_schema_takes_exactly_what_jtd_takes(
        schema in jtd(), definition in prop::sample::select(vec!["int8", "string"]), value in value(), seed: u64,
    ) {
        let mut schema = schema;
        schema["definitions"] = json!({"leaf": {"type": definition}});
        // A sign of JTD, whatever else is in it.
        schema["metadata"] = json!({});
        let validator = Validator::new(&to_json_schema(&schema).unwrap()).unwrap();
        let mut seed = seed;
        for value in [value, sample(&schema, &schema, &mut seed)] {
            let faults = validator.faults(&value);
            prop_assert_eq!(faults.is_empty(), fits(&schema, &schema, &value, None), "{} {:?}", value, faults);
        }
    }
}
