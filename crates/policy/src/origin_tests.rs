use std::fs;

use sortie_config::{Config, Environment, LoadOptions, Source};

use crate::{
    Grant, RootGrant, RunModel,
    testing::{Bench, root, root_grant, task},
};

fn run(model: RunModel) -> Grant {
    Grant::root(RootGrant {
        model: Some(model),
        ..root_grant()
    })
}

fn batch(model: &str) -> Grant {
    let text = format!("tasks: []\nmodel: {model}\n");
    let place = text.find(model).unwrap();
    run(RunModel::Batch {
        selector: model.into(),
        place: Some((Source::new("batch.yaml", text.as_str()), place..text.len())),
    })
}

fn flag(model: &str) -> Grant {
    run(RunModel::Flag(model.into()))
}

#[test]
fn a_model_that_cannot_be_used_is_the_fault_of_whoever_wrote_it() {
    let bench = Bench::new(
        "modelRoles: {default: foo, smol: mock/gone}\ntask: {agentModelOverrides: {moved: mock/gone}}",
        &[
            ("free", ""),
            ("role", "model: '@smol'"),
            ("moved", "model: mock/small"),
            ("mixed", "model: [keyed/locked, '@smol']"),
            ("lead", "model: mock/small\nspawns: '*'"),
        ],
    );
    let batch = batch("foo");
    insta::assert_snapshot!(bench.refused(&flag("foo"), &task("free")), @"`--model` names `foo`: it is in no catalogue (name another model by `--model PROVIDER/MODEL`)");
    insta::assert_snapshot!(bench.refused(&flag("foo, keyed/locked"), &task("free")), @"`--model` names no model that can be used: `foo`: it is in no catalogue; `keyed/locked`: no key: `TEST_PROVIDER_KEY` is not set (set the variable, or choose another model)");
    insta::assert_snapshot!(bench.refused(&batch, &task("task")), @"batch.yaml:2: `model` of the batch names `foo`: it is in no catalogue (name another model by `model` of the batch, or by `--model PROVIDER/MODEL`)");
    let unnamed = Grant::root(RootGrant {
        model: None,
        ..root_grant()
    });
    insta::assert_snapshot!(bench.refused(&unnamed, &task("free")), @"`modelRoles.default` (USER/config.yml:1) names `foo`: it is in no catalogue (name another model in `modelRoles.default`)");
    insta::assert_snapshot!(bench.refused(&root(), &task("role")), @"`modelRoles.smol` (USER/config.yml:1) names `mock/gone`: it is in no catalogue (name another model in `modelRoles.smol`)");
    insta::assert_snapshot!(bench.refused(&root(), &task("scout")), @"`modelRoles.smol` (USER/config.yml:1) names `mock/gone`: it is in no catalogue (name another model in `modelRoles.smol`)");
    insta::assert_snapshot!(bench.refused(&root(), &task("moved")), @"`task.agentModelOverrides` (USER/config.yml:2) names `mock/gone`: it is in no catalogue (choose another model, or end the list with `@parent` to fall back on the caller's)");
    insta::assert_snapshot!(bench.refused(&root(), &task("mixed")), @"agents/mixed.md:4: `mixed` can use none of its models: `keyed/locked`: no key: `TEST_PROVIDER_KEY` is not set; `mock/gone`: it is in no catalogue (set the variable, or choose another model)");
    let mut request = task("free");
    request.model = Some("foo".into());
    insta::assert_snapshot!(bench.refused(&root(), &request), @"`model` of the task names `foo`: it is in no catalogue (choose another model)");
    // The whole of a run has one fault, not one for each agent.
    assert_eq!(
        bench.refused(&batch, &task("free")),
        bench.refused(&batch, &task("task"))
    );
}

#[test]
fn what_else_is_wrong_with_a_selector_is_its_author_s_fault_too() {
    let bench = Bench::new(
        "modelRoles: {smol: mid, slow: '@smal', task: 'mock/small:hgih'}\ntask: {maxEffort: medium}",
        &[
            ("free", ""),
            ("role", "model: '@smol'"),
            ("slow", "model: '@slow'"),
        ],
    );
    insta::assert_snapshot!(bench.refused(&flag("mid"), &task("free")), @"`--model`: `mid` fits several models: `mock/mid`, `other/mid` (write `provider/model`)");
    insta::assert_snapshot!(bench.refused(&flag("mock/deep"), &task("free")), @"`--model`: `mock/deep` cannot be used: its lowest effort is high, and `task.maxEffort` is medium (raise `task.maxEffort`, ask for `:off`, or choose another model)");
    insta::assert_snapshot!(bench.refused(&flag("@smal"), &task("free")), @"`--model`: there is no role `@smal` (did you mean `@smol`?)");
    insta::assert_snapshot!(bench.refused(&root(), &task("role")), @"`modelRoles.smol` (USER/config.yml:1): `mid` fits several models: `mock/mid`, `other/mid` (write `provider/model`)");
    insta::assert_snapshot!(bench.refused(&root(), &task("slow")), @"`modelRoles.slow` (USER/config.yml:1): there is no role `@smal` (did you mean `@smol`?)");
}

#[test]
fn a_model_that_is_said_and_left_empty_is_told_so() {
    let bench = Bench::new("", &[("free", "")]);
    for empty in ["", "  ", " , "] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(bench.refused(&flag(empty), &task("free")), @"`--model` is empty (name a model, or leave `--model` out)");
        }
    }
    let batch = batch(",");
    insta::assert_snapshot!(bench.refused(&batch, &task("free")), @"batch.yaml:2: `model` of the batch is empty (name a model there, or leave it out)");
}

#[test]
fn what_a_catalogue_describes_badly_is_told_from_what_it_lacks() {
    let mut bench = Bench::new(
        "",
        &[
            ("list", "model: [faulty/x, mock/gone]"),
            ("pin", "model: faulty/x"),
        ],
    );
    let models = "\
providers:
  faulty:
    baseUrl: http://127.0.0.1:9/v1
    models: [{id: x}]
  mock:
    baseUrl: http://127.0.0.1:9/v1
    api: openai-completions
    models: [{id: small, contextWindow: many}, {id: 'a:low', efforts: 5}, {id: small-2}]
  openai:
    api: telepathy
    models: [{id: mine}]
";
    let user = tempfile::tempdir().unwrap();
    fs::write(user.path().join("models.yml"), models).unwrap();
    bench.config = Config::load(LoadOptions {
        cwd: user.path().to_owned(),
        environment: Environment::from_iter([("SORTIE_AGENT_DIR", user.path())]),
        ..LoadOptions::default()
    })
    .unwrap();
    let refused = |grant: &Grant, agent: &str| bench.refused(grant, &task(agent));
    insta::assert_snapshot!(refused(&flag("faulty/x"), "task"), @"USER/models.yml:2: `--model` names `faulty/x`: `faulty` is faulty: `faulty` says no `api` (say one of openai-completions, openai-responses, anthropic-messages, google-generative-ai)");
    // There is a `small-2`, and it is not meant.
    insta::assert_snapshot!(refused(&flag("mock/small:high"), "task"), @"USER/models.yml:8: `--model` names `mock/small:high`: `mock/small` is faulty: `contextWindow` wants a whole number, 1 or more, not `many`");
    insta::assert_snapshot!(refused(&flag("small"), "task"), @"USER/models.yml:8: `--model` names `small`: `mock/small` is faulty: `contextWindow` wants a whole number, 1 or more, not `many`");
    insta::assert_snapshot!(refused(&flag("mock/a:low"), "task"), @"USER/models.yml:8: `--model` names `mock/a:low`: `mock/a:low` is faulty: `efforts` wants a list, not `5`");
    insta::assert_snapshot!(refused(&flag("openai/mine"), "task"), @"USER/models.yml:10: `--model` names `openai/mine`: `openai` is faulty: `api` wants one of openai-completions, openai-responses, anthropic-messages, google-generative-ai, not `telepathy`");
    insta::assert_snapshot!(refused(&root(), "pin"), @"USER/models.yml:2: `pin` cannot use its model `faulty/x`: `faulty` is faulty: `faulty` says no `api` (say one of openai-completions, openai-responses, anthropic-messages, google-generative-ai)");
    insta::assert_snapshot!(refused(&root(), "list"), @"agents/list.md:4: `list` can use none of its models: `faulty/x`: `faulty` is faulty: `faulty` says no `api` (USER/models.yml:2); `mock/gone`: it is in no catalogue (choose another model, or end the list with `@parent` to fall back on the caller's)");
}
