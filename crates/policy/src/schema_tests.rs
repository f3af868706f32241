use serde_json::json;

use super::*;
use crate::{
    RootGrant,
    testing::{Bench, root, root_grant, task, why},
};

fn bench() -> Bench {
    Bench::new(
        "",
        &[
            ("plain", ""),
            (
                "shaped",
                "output: {properties: {n: {type: number}}, optionalProperties: {}}",
            ),
            ("broken", "output: {type: nonsense}"),
            ("text", "output: '{\"type\": \"object\"}'"),
        ],
    )
}

fn session() -> Grant {
    Grant::root(RootGrant {
        schema: Some(json!({"type": "string"})),
        schema_mode: Some(SchemaMode::Strict),
        ..root_grant()
    })
}

#[test]
fn the_caller_then_the_agent_then_the_session() {
    let bench = bench();
    let schema = |grant: &Grant, request: &TaskRequest| {
        bench.resolve(grant, request).unwrap().schema().cloned()
    };
    assert_eq!(schema(&root(), &task("plain")), None);
    let stated = schema(&session(), &task("plain")).unwrap();
    assert_eq!(
        (stated.source, stated.mode),
        (SchemaSource::Session, SchemaMode::Strict)
    );
    let agent = schema(&session(), &task("shaped")).unwrap();
    assert_eq!(agent.source, SchemaSource::Agent);
    assert_eq!(agent.schema["required"], json!(["n"]));
    let mut request = task("shaped");
    request.output_schema = Some(json!({"type": "array"}));
    request.schema_mode = Some(SchemaMode::Permissive);
    let caller = schema(&session(), &request).unwrap();
    assert_eq!(
        (caller.source, caller.mode),
        (SchemaSource::Caller, SchemaMode::Permissive)
    );
    assert_eq!(caller.schema, json!({"type": "array"}));
    assert_eq!(
        schema(&root(), &task("text")).unwrap().schema,
        json!({"type": "object"})
    );
    insta::assert_snapshot!(why(&bench.policy("shaped"), "schema"), @r#""agent": `output` of the agent (agents/shaped.md:4)"#);
    insta::assert_snapshot!(why(&bench.policy("shaped"), "schema.mode"), @r#""permissive": nobody says, and this is the default"#);
}

#[test]
fn a_batch_of_a_child_states_its_own() {
    let bench = bench();
    let grant = bench.resolve(&session(), &task("task")).unwrap().grant();
    let plain = |grant: &Grant| {
        bench
            .resolve(grant, &task("plain"))
            .unwrap()
            .schema()
            .cloned()
    };
    assert_eq!(plain(&grant), None);
    let nested = plain(&grant.for_batch(Some(json!({"type": "number"})), None)).unwrap();
    assert_eq!(
        (nested.source, nested.mode),
        (SchemaSource::Session, SchemaMode::Strict)
    );
}

#[test]
fn what_is_no_schema_is_refused_whoever_states_it() {
    let bench = bench();
    let mut request = task("plain");
    request.output_schema = Some(json!({"type": "nonsense"}));
    insta::assert_snapshot!(bench.refused(&root(), &request), @r#"`outputSchema` is no schema: `type`: should be "array", "boolean", "integer", "null", "number", "object", "string" or an array, but is the string "nonsense""#);
    insta::assert_snapshot!(bench.refused(&root(), &task("broken")), @r#"agents/broken.md:4: `output` of `broken` is no schema: `type`: should be "array", "boolean", "integer", "null", "number", "object", "string" or an array, but is the string "nonsense""#);
    let session = Grant::root(RootGrant {
        schema: Some(json!(3)),
        ..root_grant()
    });
    insta::assert_snapshot!(bench.refused(&session, &task("plain")), @"`outputSchema` of the batch is no schema: a schema is an object, `true` or `false`; this is the number 3");
}

#[test]
fn bundled_schemas_are_read_as_they_are_meant() {
    let bench = Bench::new("", &[]);
    let required = |agent: &str| bench.policy(agent).schema().unwrap().schema["required"].clone();
    assert_eq!(
        required("scout"),
        json!(["summary", "files", "architecture"])
    );
    assert_eq!(
        required("reviewer"),
        json!(["overall_correctness", "explanation", "confidence"])
    );
    assert_eq!(required("security-reviewer"), json!(["coverage_summary"]));
    for agent in ["task", "sonic", "designer", "librarian"] {
        assert_eq!(bench.policy(agent).schema(), None);
    }
}
