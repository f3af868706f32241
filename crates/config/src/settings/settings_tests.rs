use std::path::Path;

use serde_json::{Value, json};

use super::{layer::variable_name, table::ROWS, *};
use crate::{Environment, Problem, Source, shown::shown};

/// What layers of text make of the defaults.
pub(super) fn settle(layers: &[(Trust, Owner, &str)]) -> (Settings, Vec<Problem>) {
    let sources: Vec<Source> = layers
        .iter()
        .map(|(trust, owner, text)| Source::new(format!("{trust:?}-{owner:?}.yml"), *text))
        .collect();
    let layers: Vec<Layer<'_>> = sources
        .iter()
        .zip(layers)
        .map(|(source, &(trust, owner, _))| Layer::File(source, trust, owner))
        .collect();
    let mut settings = Settings::default();
    let problems = resolve(&mut settings, &layers);
    (settings, problems)
}

pub(super) fn user(text: &str) -> (Trust, Owner, &str) {
    (Trust::Full, Owner::Ours, text)
}

pub(super) fn project(text: &str) -> (Trust, Owner, &str) {
    (Trust::Narrow, Owner::Ours, text)
}

pub(super) fn problems(layers: &[(Trust, Owner, &str)]) -> String {
    shown(&settle(layers).1, Path::new("/nowhere"))
}

pub(super) fn value(settings: &Settings, key: &str) -> Value {
    let row = ROWS.iter().find(|row| row.key == key).unwrap();
    (row.show)(settings).0
}

#[test]
fn nested_and_dotted_keys_say_the_same() {
    let nested = "task:\n  idleMs: 7\n  budget: {cost: 1.5}\nmodelRoles: {smol: a/b}\n";
    let dotted = "task.idleMs: 7\ntask.budget.cost: 1.5\nmodelRoles.smol: a/b\n";
    let mixed = "task:\n  idleMs: 7\n  budget.cost: 1.5\nmodelRoles:\n  smol: [a/b]\n";
    for text in [nested, dotted, mixed] {
        let (settings, problems) = settle(&[user(text)]);
        assert_eq!(problems, []);
        assert_eq!(settings.task_idle_ms.get(), Some(7));
        assert_eq!(settings.task_budget_cost.get(), Some(1.5));
        assert_eq!(settings.model_roles["smol"].value, ["a/b"]);
    }
}

#[test]
fn every_value_knows_who_said_it() {
    let (settings, _) = settle(&[
        user("task:\n  idleMs: 7\nmodelRoles:\n  smol: a/b\n  slow: a/c\n"),
        user("modelRoles:\n  slow: a/d\n"),
    ]);
    let line = |line| Origin::File {
        path: "Full-Ours.yml".into(),
        line,
    };
    assert_eq!(settings.task_idle_ms.origin, line(2));
    assert_eq!(settings.model_roles["smol"].origin, line(4));
    assert_eq!(settings.model_roles["slow"].origin, line(2));
    assert_eq!(settings.task_max_effort.origin, Origin::Default);
    assert_eq!(settings.task_idle_ms.origin.to_string(), "Full-Ours.yml:2");
}

#[test]
fn an_empty_file_says_nothing() {
    for text in [
        "",
        "# only words\n",
        "---\n",
        "task:\n",
        "task: {idleMs: ~}\n",
    ] {
        let (settings, problems) = settle(&[user(text)]);
        assert_eq!((settings, problems), (Settings::default(), Vec::new()));
    }
}

#[test]
fn null_takes_a_name_out_of_a_map() {
    let (settings, _) = settle(&[
        user("modelRoles: {smol: a/b, slow: a/c}\n"),
        user("modelRoles: {smol: null}\n"),
    ]);
    assert_eq!(value(&settings, "modelRoles"), json!({"slow": ["a/c"]}));
}

#[test]
fn an_unknown_key_is_warned_of_with_the_nearest() {
    insta::assert_snapshot!(
        problems(&[user("task:\n  maxConcurency: 3\ntask.idlems: 3\nmaxRetries: 2\nbanana: 1\n")]),
        @r#"
    Full-Ours.yml:2:3: warning: `task.maxConcurency` is no setting
      did you mean `task.maxConcurrency`?
    Full-Ours.yml:3:1: warning: `task.idlems` is no setting
      did you mean `task.idleMs`?
    Full-Ours.yml:4:1: warning: `maxRetries` is no setting
      did you mean `retry.maxRetries`?
    Full-Ours.yml:5:1: warning: `banana` is no setting
    "#
    );
}

#[test]
fn a_mistyped_value_is_an_error() {
    insta::assert_snapshot!(
        problems(&[user(
            "task:\n  maxConcurrency: 0\n  idleMs: -1\n  maxRecursionDepth: deep\n  acceptProse: yes\n  \
             maxEffort: huge\n  disabledAgents: [a, {b: c}]\n  budget: {cost: '1', requests: 1.5}\n\
             modelRoles: {smol: {a: b}}\nstore: {sync: sometimes}\nread: false\nengine: []\n\
             discovery.configDirs: [.sortie, a/b]\nproviders: {maxInFlightRequests: {local: 0}}\n\
             defaultThinkingLevel: auto\ntask.agentModelOverrides: [a]\nretry.maxRetries: 5000000000\n"
        )]),
        @r#"
    Full-Ours.yml:11:7: error: `read` is a group of settings, not a switch
    Full-Ours.yml:2:19: error: `task.maxConcurrency` wants a whole number, 1 or more, not `0`
    Full-Ours.yml:3:11: error: `task.idleMs` wants a whole number, 0 or more, not `-1`
    Full-Ours.yml:4:22: error: `task.maxRecursionDepth` wants a whole number, not `deep`
    Full-Ours.yml:5:16: error: `task.acceptProse` wants `true` or `false`, not `yes`
    Full-Ours.yml:6:14: error: `task.maxEffort` wants one of minimal, low, medium, high, xhigh, max, not `huge`
    Full-Ours.yml:7:23: error: `task.disabledAgents` wants a list of names, or one text with commas between them, not a map
    Full-Ours.yml:8:18: error: `task.budget.cost` wants a number, 0 or more, not `1`
    Full-Ours.yml:8:33: error: `task.budget.requests` wants a whole number, 0 or more, not `1.5`
    Full-Ours.yml:9:20: error: `modelRoles.smol` wants a list of names, or one text with commas between them, not a map
    Full-Ours.yml:10:15: error: `store.sync` wants one of batch, always, never, not `sometimes`
    Full-Ours.yml:12:9: error: `engine` wants a path, not a list
    Full-Ours.yml:13:33: error: `discovery.configDirs` wants a list of folder names, without a path in them, not `a/b`
    Full-Ours.yml:14:42: error: `providers.maxInFlightRequests.local` wants a whole number, 1 or more, not `0`
    Full-Ours.yml:15:23: error: `defaultThinkingLevel` wants one of off, minimal, low, medium, high, xhigh, max, not `auto`
    Full-Ours.yml:16:27: error: `task.agentModelOverrides` wants a map, not a list
    Full-Ours.yml:17:19: error: `retry.maxRetries` wants a whole number, 0 or more, not `5000000000`
    "#
    );
}

#[test]
fn what_is_no_map_of_settings_is_an_error() {
    insta::assert_snapshot!(problems(&[user("- a\n")]), @"Full-Ours.yml:1:1: error: settings are a map of names to values, not a list");
    insta::assert_snapshot!(problems(&[user("task: [\n")]), @"Full-Ours.yml:1:7: error: unclosed bracket '['");
    insta::assert_snapshot!(problems(&[user("task: {idleMs: 1}\ntask.idleMs: 2\n")]), @"Full-Ours.yml:2:14: error: `task.idleMs` is set twice");
}

#[test]
fn another_programs_file_stops_nothing() {
    let text = "task: {maxConcurrency: 0, isolation: {enabled: true}, idleMs: 9}\ntheme: dark\n";
    let (settings, _) = settle(&[(Trust::Full, Owner::Foreign, text)]);
    assert_eq!(settings.task_idle_ms.get(), Some(9));
    insta::assert_snapshot!(problems(&[(Trust::Full, Owner::Foreign, text)]), @"Full-Foreign.yml:1:24: warning: `task.maxConcurrency` wants a whole number, 1 or more, not `0`; it is ignored");
    insta::assert_snapshot!(problems(&[(Trust::Full, Owner::Foreign, "a: [\n")]), @"Full-Foreign.yml:1:4: warning: unclosed bracket '['; the file is ignored");
    insta::assert_snapshot!(problems(&[(Trust::Full, Owner::Foreign, "task: 1\n")]), @"Full-Foreign.yml:1:7: warning: `task` is a group of settings, not a number; it is ignored");
}

#[test]
fn variables_win_over_files() {
    let environment = Environment::from_iter([
        ("SORTIE_TASK_MAX_CONCURRENCY", "3"),
        ("SORTIE_TASK_DISABLED_AGENTS", "a, b"),
        ("SORTIE_TASK_ENVIRONMENT", "[C, D]"),
        ("SORTIE_MODEL_ROLES", "{smol: a/b}"),
        ("SORTIE_ENGINE", "/opt/x: y"),
        ("SORTIE_TASK_IDLE_MS", ""),
        ("SORTIE_AGENT_DIR", "/x"),
        ("SORTIE_TEST_FIXTURE", "1"),
    ]);
    let mut settings = Settings::default();
    let problems = resolve(&mut settings, &[Layer::Variables(&environment)]);
    assert_eq!(problems, []);
    assert_eq!(settings.task_max_concurrency.value.get(), 3);
    let origin = Origin::Variable("SORTIE_TASK_MAX_CONCURRENCY".into());
    assert_eq!(settings.task_max_concurrency.origin, origin);
    assert_eq!(settings.task_disabled_agents.value, ["a", "b"]);
    assert_eq!(settings.task_environment.value, ["C", "D"]);
    assert_eq!(settings.model_roles["smol"].value, ["a/b"]);
    assert_eq!(
        settings.engine.value.as_deref(),
        Some(Path::new("/opt/x: y"))
    );
    assert_eq!(settings.task_idle_ms.get(), Some(600_000));
}

#[test]
fn a_variable_that_does_not_fit_is_named() {
    let environment = Environment::from_iter([
        ("SORTIE_TASK_IDLE_MS", "soon"),
        ("SORTIE_TASK_MAXCONCURRENCY", "3"),
        ("SORTIE_MODEL_ROLES", "smol"),
    ]);
    let found = resolve(&mut Settings::default(), &[Layer::Variables(&environment)]);
    insta::assert_snapshot!(shown(&found, Path::new("/nowhere")), @r#"
    warning: the variable `SORTIE_TASK_MAXCONCURRENCY` sets no setting
      did you mean `SORTIE_TASK_MAX_CONCURRENCY`?
    error: `SORTIE_MODEL_ROLES` wants a map, not `smol`
    error: `SORTIE_TASK_IDLE_MS` wants a whole number, 0 or more, not `soon`
    "#);
}

#[test]
fn flags_win_over_all() {
    let flags = [Flag {
        name: "--max-concurrency",
        key: "task.maxConcurrency",
        value: json!(5),
    }];
    let mut settings = Settings::default();
    assert_eq!(resolve(&mut settings, &[Layer::Flags(&flags)]), []);
    assert_eq!(settings.task_max_concurrency.value.get(), 5);
    assert_eq!(
        settings.task_max_concurrency.origin,
        Origin::Flag("--max-concurrency")
    );
    let none = [Flag {
        value: json!(0),
        ..flags[0].clone()
    }];
    let found = resolve(&mut settings, &[Layer::Flags(&none)]);
    insta::assert_snapshot!(shown(&found, Path::new("/nowhere")), @"error: `--max-concurrency` wants a whole number, 1 or more, not `0`");
}

#[test]
fn small_machines_run_fewer_children() {
    let most = |mib| Settings::defaults(mib).task_max_concurrency.value.get();
    assert_eq!(most(None), 32);
    assert_eq!(most(Some(64_000)), 32);
    assert_eq!(most(Some(100)), 6);
    assert_eq!(most(Some(3)), 1);
}

#[test]
fn variables_are_named_after_keys() {
    assert_eq!(
        variable_name("task.maxConcurrency"),
        "SORTIE_TASK_MAX_CONCURRENCY"
    );
    assert_eq!(variable_name("engine"), "SORTIE_ENGINE");
}

#[test]
fn defaults_are_what_the_plan_says() {
    insta::assert_json_snapshot!(
        Settings::default()
            .list()
            .into_iter()
            .map(|(key, value, _)| (key.to_owned(), value))
            .collect::<serde_json::Map<_, _>>(),
        @r#"
    {
      "task.maxConcurrency": 32,
      "task.maxRecursionDepth": 2,
      "task.maxDescendants": 0,
      "task.firstActivityMs": 120000,
      "task.idleMs": 600000,
      "task.maxRuntimeMs": 0,
      "task.killGraceMs": 5000,
      "bash.timeoutMs": 300000,
      "task.softRequestBudget": 200,
      "task.budget.requests": 0,
      "task.budget.tokens": 0,
      "task.budget.cost": 0.0,
      "task.acceptProse": false,
      "task.enableEffort": false,
      "task.maxEffort": "max",
      "task.disabledAgents": [],
      "task.agentModelOverrides": {},
      "task.environment": [],
      "engine": null,
      "defaultThinkingLevel": "high",
      "modelRoles": {},
      "retry.maxRetries": 10,
      "retry.baseDelayMs": 500,
      "retry.maxDelayMs": 300000,
      "read.summarize.enabled": true,
      "store.sync": "batch",
      "discovery.configDirs": [
        ".sortie",
        ".omp",
        ".musepi"
      ],
      "providers.maxInFlightRequests": {}
    }
    "#
    );
}

#[test]
fn the_schema_and_the_page_know_every_row() {
    let schema = settings_schema();
    let page = settings_markdown();
    for row in ROWS {
        let pointer = format!("/properties/{}", row.key.replace('.', "/properties/"));
        let described = schema.pointer(&pointer).unwrap();
        assert!(described["description"].is_string(), "{}", row.key);
        assert!(page.contains(&format!("## `{}`", row.key)));
    }
    insta::assert_snapshot!(page.split("\n## ").nth(2).unwrap(), @r#"
    `task.maxRecursionDepth`

    How deep agents may spawn agents; a task of the run itself is at depth 1. Negative: no limit.

    - Holds: a whole number
    - Default: `2`
    - A project: may only lower it
    - Variable: `SORTIE_TASK_MAX_RECURSION_DEPTH`
    "#);
    insta::assert_json_snapshot!(schema["properties"]["task"]["properties"]["budget"], @r#"
    {
      "type": "object",
      "properties": {
        "requests": {
          "type": "integer",
          "minimum": 0,
          "description": "How many model requests a task may make. 0: no limit.",
          "default": 0
        },
        "tokens": {
          "type": "integer",
          "minimum": 0,
          "description": "How many tokens a task may use. 0: no limit.",
          "default": 0
        },
        "cost": {
          "type": "number",
          "minimum": 0,
          "description": "How many US dollars a task may cost, by the catalogue's list prices. 0: no limit.",
          "default": 0.0
        }
      },
      "additionalProperties": false
    }
    "#);
}
