//! What a project may do to the user's settings.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    table::{Project, ROWS, Row},
    tests::{problems, project, settle, user, value},
};

#[test]
fn a_project_narrows() {
    let (settings, problems) = settle(&[
        user("task: {disabledAgents: [a], enableEffort: true}\n"),
        project(
            "task: {maxConcurrency: 2, maxRecursionDepth: 1, maxDescendants: 9, maxRuntimeMs: 5, \
             disabledAgents: b, enableEffort: false, maxEffort: low}\ndefaultThinkingLevel: off\n\
             providers.maxInFlightRequests: {local: 1}\n",
        ),
    ]);
    assert_eq!(problems, []);
    assert_eq!(settings.task_max_concurrency.value.get(), 2);
    assert_eq!(settings.task_max_recursion_depth.get(), Some(1));
    assert!(settings.task_max_recursion_depth.allows(1));
    assert!(!settings.task_max_recursion_depth.allows(2));
    assert_eq!(settings.task_max_descendants.get(), Some(9));
    assert_eq!(settings.task_max_runtime_ms.or_zero(), 5);
    assert_eq!(settings.task_disabled_agents.value, ["a", "b"]);
    assert!(!settings.task_enable_effort.value);
    assert_eq!(value(&settings, "task.maxEffort"), json!("low"));
    assert_eq!(value(&settings, "defaultThinkingLevel"), json!("off"));
    assert_eq!(
        settings.providers_max_in_flight_requests["local"]
            .value
            .get(),
        1
    );
}

#[test]
fn what_a_project_may_not_say_is_ignored_and_noted() {
    let layers = [
        user("providers.maxInFlightRequests: {local: 1}\n"),
        project(
            "task:\n  maxConcurrency: 64\n  maxRecursionDepth: -1\n  idleMs: 0\n  acceptProse: true\n  \
             environment: [AWS_SECRET_ACCESS_KEY]\nengine: ./evil\nmodelRoles: {smol: script/evil}\n\
             providers.maxInFlightRequests: {local: 2}\ndiscovery.configDirs: [.evil]\nstore.sync: never\n",
        ),
    ];
    insta::assert_snapshot!(problems(&layers), @r#"
    Narrow-Ours.yml:2:19: note: `task.maxConcurrency` is ignored: a project may only lower it, and it is 32
      set it in your own `config.yml`
    Narrow-Ours.yml:3:22: note: `task.maxRecursionDepth` is ignored: a project may only lower it, and it is 2
      set it in your own `config.yml`
    Narrow-Ours.yml:4:11: note: `task.idleMs` is ignored: a project may only lower it, and it is 600000
      set it in your own `config.yml`
    Narrow-Ours.yml:5:16: note: `task.acceptProse` is ignored: a project may only turn it off, and it is false
      set it in your own `config.yml`
    Narrow-Ours.yml:6:16: note: `task.environment` is ignored: a project may not set it
      set it in your own `config.yml`
    Narrow-Ours.yml:7:9: note: `engine` is ignored: a project may not set it
      set it in your own `config.yml`
    Narrow-Ours.yml:8:13: note: `modelRoles` is ignored: a project may not set it
      set it in your own `config.yml`
    Narrow-Ours.yml:9:40: note: `providers.maxInFlightRequests.local` is ignored: a project may only lower it, and it is 1
      set it in your own `config.yml`
    Narrow-Ours.yml:10:23: note: `discovery.configDirs` is ignored: a project may not set it
      set it in your own `config.yml`
    Narrow-Ours.yml:11:13: note: `store.sync` is ignored: a project may not set it
      set it in your own `config.yml`
    "#);
    assert_eq!(settle(&layers).0, settle(&layers[..1]).0);
}

/// A value that fits a row, by its schema.
fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    let name = || prop_oneof![Just("a"), Just("b"), Just("c")];
    if let Some(words) = schema["enum"].as_array() {
        return prop::sample::select(words.clone()).boxed();
    }
    if schema["type"] == "object" {
        let inner = fitting(&schema["additionalProperties"]);
        let entries = prop::collection::btree_map(name().prop_map(str::to_owned), inner, 0..3);
        return entries.prop_map(|entries| json!(entries)).boxed();
    }
    match schema["type"].as_str() {
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("string") => name().prop_map(Value::from).boxed(),
        Some("number") => (0..5_u32).prop_map(|n| json!(f64::from(n) / 2.0)).boxed(),
        Some("integer") => (schema["minimum"].as_i64().unwrap_or(-2)..6)
            .prop_map(Value::from)
            .boxed(),
        _ => prop::collection::vec(name(), 0..3)
            .prop_map(|names| json!(names))
            .boxed(),
    }
}

/// Whether `after` allows no more than `before`, told from JSON alone.
fn no_wider(row: &Row, before: &Value, after: &Value) -> bool {
    if row.project == Project::Fixed {
        return before == after;
    }
    let levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
    let level = |value: &Value| levels.iter().position(|word| value == word);
    match (before, after) {
        (Value::Bool(before), Value::Bool(after)) => *before || !after,
        (Value::String(_), Value::String(_)) => level(after) <= level(before),
        (Value::Array(before), Value::Array(after)) => {
            before.iter().all(|name| after.contains(name))
        }
        (Value::Object(before), Value::Object(after)) => before.iter().all(|(name, limit)| {
            after
                .get(name)
                .is_some_and(|now| now.as_f64() <= limit.as_f64())
        }),
        (Value::Number(before), Value::Number(after)) => {
            // 0 is no limit where the type says so, and so is a negative depth.
            let limitless = |n: f64| n < 0.0 || (n == 0.0 && row.doc.contains("0: "));
            let (before, after) = (before.as_f64().unwrap(), after.as_f64().unwrap());
            limitless(before) || (!limitless(after) && after <= before)
        }
        _ => false,
    }
}

fn row_and_values() -> impl Strategy<Value = (&'static Row, Value, Value)> {
    prop::sample::select(ROWS.iter().collect::<Vec<_>>()).prop_flat_map(|row| {
        let schema = (row.schema)();
        (Just(row), fitting(&schema), fitting(&schema))
    })
}

proptest! {
    #[test]
    fn a_project_never_widens_a_setting((row, users, projects) in row_and_values()) {
        let text = |value: &Value| json!({row.key: value}).to_string();
        let (users, projects) = (text(&users), text(&projects));
        let (before, problems) = settle(&[user(&users)]);
        prop_assert_eq!(problems, []);
        let (after, problems) = settle(&[user(&users), project(&projects)]);
        prop_assert!(problems.iter().all(|problem| !problem.is_error()));
        for ((key, before, _), (_, after, _)) in before.list().into_iter().zip(after.list()) {
            let row = ROWS.iter().find(|row| row.key == key).unwrap();
            prop_assert!(no_wider(row, &before, &after), "{key}: {before} became {after}");
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(?s)(task|modelRoles|engine|[.]|:|\\n| |[{}]|.){0,40}") {
        let _ = settle(&[user(&text), project(&text)]);
    }
}
